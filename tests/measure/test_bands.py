"""The paper's speed table: a measurement in miniature, its table, its picture and its command."""

from __future__ import annotations

import json
import lzma
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from h3n.cli import main
from h3n.decode import native
from h3n.engine.engine import Engine
from h3n.errors import InputError, UnknownName, UsageError
from h3n.measure import bands as module
from h3n.measure.bands import FILES, NETWORK, ROWS, Band, describe_bands, measure_bands, plot_bands, read_bands, rows_of
from h3n.measure.paper import PUBLISHED, paper_bands
from h3n.measure.plots import check_plot
from h3n.measure.timing import Timing
from h3n.model.model import Model
from h3n.parser import Parser
from h3n.trees import Sentence

WORDS = ("the", "dog", "saw", "Oslo", "and", "a", "cat", ".")


def sentence(words: int) -> Sentence:
    return Sentence(words=tuple(WORDS[at % len(WORDS)] for at in range(words)))


@pytest.fixture(scope="module")
def parser(tiny_model: Path) -> Parser:
    return Parser(Model.load(tiny_model).engine)


@pytest.fixture(scope="module")
def found(parser: Parser) -> dict[str, Any]:
    short = Band("0-100", tuple(map(sentence, (3, 12, 7, 25))))
    long = Band("100-200", tuple(map(sentence, (101, 103, 30, 105, 40))))
    return measure_bands(parser, [short, long], sample=2, repeat=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file, lengths in zip(FILES.values(), ((3, 9, 5), (20, 22), (30, 31)), strict=True):
        text = "".join(" ".join(sentence(n).words) + "\n" for n in lengths)
        if "200" in file:
            (tmp_path / (file + ".xz")).write_bytes(lzma.compress(text.encode()))
        else:
            (tmp_path / file).write_text(text + "\n", encoding="utf-8")
    return tmp_path


def test_rows_have_the_network_in_their_totals() -> None:
    timings = {"h3n": [Timing(10, 2, 1.0)], PUBLISHED: [Timing(10, 1, 20.0)], "mst": []}
    h3n, published = rows_of(timings, lengths=[10, 10], scoring=4.0)
    assert h3n["total_seconds"] == 5
    assert h3n["sentences_per_second"] == pytest.approx(0.4)
    assert h3n["total_speed_up"] == pytest.approx(44 / 5)
    assert h3n["decoding_speed_up"] == pytest.approx(40)
    assert not h3n["extrapolated"]
    assert published["extrapolated"]
    assert published["measured_sentences"] == 1
    assert published["decoding_speed_up"] == 1
    [alone] = rows_of({"h3n": timings["h3n"]}, lengths=[10, 10], scoring=4.0)
    assert alone["total_speed_up"] is alone["decoding_speed_up"] is None


@pytest.mark.parametrize("band", paper_bands())
def test_the_figures_of_the_paper_agree_with_each_other(band: str) -> None:
    rows = paper_bands()[band].rows
    assert set(rows) == {"cky", "mst", PUBLISHED, "h3n"}
    for paper in rows.values():
        assert 1000 / paper.seconds == pytest.approx(paper.sentences_per_second, rel=0.08)  # it prints 0.006
    assert rows[PUBLISHED].seconds / rows["h3n"].seconds == pytest.approx(rows["h3n"].speed_up, rel=0.005)


def test_everything_is_measured(found: dict[str, Any]) -> None:
    short, long = json.loads(json.dumps(found, allow_nan=False))["bands"]
    for band, measured in ((short, 4), (long, 2)):
        assert [row["decoder"] for row in band["rows"]] == list(ROWS)
        assert all(row["decoding_seconds"] > 0 for row in band["rows"])
        for row in band["rows"]:
            assert row["total_seconds"] == pytest.approx(band["scoring_seconds"] + row["decoding_seconds"])
            assert row["extrapolated"] is (row["decoder"] == PUBLISHED and band is long)
        assert band["same_score"]["compared"] == measured
        assert band["same_score"]["different"] == 0
    assert short["mean_words"] == 47 / 4
    assert long["longest"] == 105
    assert sum(point["sentences"] for point in found["curves"]["h3n"]) == 9
    assert sum(point["sentences"] for point in found["curves"][PUBLISHED]) == 6
    assert sum(point["sentences"] for point in found["curves"][NETWORK]) == 9
    assert set(found["exponents"]) == set(ROWS) - {"auto"}


def test_the_share_done_grows_to_the_whole(parser: Parser) -> None:
    told: list[tuple[str, float]] = []
    bands = [Band("a", (sentence(4), sentence(9))), Band("b", (sentence(30),))]
    measure_bands(parser, bands, repeat=1, progress=lambda *news: told.append(news))
    assert [band for band, _ in told] == ["a", "a", "b"]
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert shares[-1] <= 1


def test_another_score_is_reported(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    right = native.decode

    def wrong(sentences: Sequence[Any], names: Sequence[str], **options: Any) -> list[Any]:
        parses = right(sentences, names, **options)
        if names[0] != PUBLISHED or len(sentences[0]) != 9:
            return parses
        return [replace(parse, score=parse.score - 1) for parse in parses if parse is not None]

    monkeypatch.setattr(module.native, "decode", wrong)
    found = measure_bands(parser, [Band("mine", (sentence(4), sentence(9)))], repeat=1)
    same = found["bands"][0]["same_score"]
    assert (same["compared"], same["different"]) == (2, 1)
    assert same["largest"] == pytest.approx(1)
    assert "1 DIFFER (by 1 at most)" in describe_bands(found)


def test_the_time_of_the_tree_that_ranks_heads_is_decoding(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def rank(_: Engine, scored: Any, *, decoder: str) -> Sequence[Any]:
        asked.append(decoder)
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        heads = np.zeros(len(scored.scores[0]), dtype=np.float32)
        return [replace(scores, head=heads) for scores in scored.scores]

    monkeypatch.setattr(Engine, "rank", rank)
    measured = measure_bands(parser, [Band("mine", (sentence(4),))], decoders=("h3n",), repeat=1)
    assert set(asked) == {"h3n"}
    assert measured["bands"][0]["rows"][0]["decoding_seconds"] > 0.05
    assert measured["bands"][0]["scoring_seconds"] < measured["bands"][0]["rows"][0]["total_seconds"]


def test_some_decoders_alone(parser: Parser) -> None:
    found = measure_bands(parser, [Band("mine", (sentence(4),))], decoders=("h3n",), repeat=1)
    [row] = found["bands"][0]["rows"]
    assert row["decoder"] == "h3n"
    assert row["total_speed_up"] is None
    assert found["bands"][0]["same_score"]["compared"] == 0
    assert describe_bands(found).splitlines()[3].split()[-2:] == ["-", "-"]


def test_wrong_arguments_are_refused(parser: Parser) -> None:
    with pytest.raises(UnknownName, match=r"unknown decoder 'best'; known: .*hpsg_n5"):
        measure_bands(parser, [], decoders=("best",))
    with pytest.raises(UsageError, match="a sample of -1 and 3 runs"):
        measure_bands(parser, [], sample=-1)
    with pytest.raises(UsageError, match="0 runs"):
        measure_bands(parser, [], repeat=0)


def test_the_table_marks_what_is_extrapolated(found: dict[str, Any]) -> None:
    text = describe_bands(found)
    short, long = text.split("\n\n")[:2]
    assert "~" not in short
    assert "~ from 2 sentences by the fifth power of the length, standard error" in long
    rows = {line.split()[0]: line for line in long.splitlines()[3:9]}
    assert list(rows) == list(ROWS)
    assert rows[PUBLISHED].count("~") == 3
    assert rows["h3n"].count("~") == 2
    assert rows[PUBLISHED].endswith("|   2,014.2 s       0.5         -")
    assert rows["h3n"].endswith("|     113.5 s       8.8    17.7 x")
    assert "|" not in rows["auto"]
    assert "hpsg and hpsg_n5 on 2 sentences: the same score" in long
    grown = describe_bands(found | {"exponents": {"cky": 1.8, "h3n": 2.0, "mst": None}})
    assert "decoding of more than 100 words grows as: cky n^1.80, h3n n^2.00\n" in grown


def test_bands_are_read_plain_and_compressed(folder: Path) -> None:
    bands = read_bands(folder)
    assert [band.lengths for band in bands] == [[3, 9, 5], [20, 22], [30, 31]]
    assert [band.name for band in bands] == list(paper_bands())
    assert bands[2].file == "band-200-299.txt.xz"
    assert len({band.checksum for band in bands}) == 3
    assert [band.lengths for band in read_bands(folder, limit=1)] == [[5], [22], [31]]


def test_a_missing_and_an_empty_file_are_named(folder: Path) -> None:
    file = folder / "band-100-199.txt"
    file.write_text("\n \n")
    with pytest.raises(InputError, match=r"band-100-199\.txt: there is no sentence in it"):
        read_bands(folder)
    file.unlink()
    with pytest.raises(InputError, match=r"no band-100-199\.txt; expected band-001-099\.wiki\.txt, "):
        read_bands(folder)


def test_the_curves_carry_their_exponents(found: dict[str, Any], tmp_path: Path) -> None:
    plot_bands(found | {"exponents": {"hpsg": 4.125, "h3n": None}}, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<!-- hpsg: $n^{4.12}$ -->" in drawn  # matplotlib keeps the text beside the outlines
    assert "<!-- h3n -->" in drawn
    assert "<!-- network -->" in drawn
    assert "<!-- auto: hpsg, above 100 words h3n -->" in drawn
    plot_bands(found, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_written_is_refused_beforehand(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"accepted endings: .*pdf, .*png"):
        check_plot(tmp_path / "a.docx")
    with pytest.raises(InputError, match="there is no folder"):
        check_plot(tmp_path / "nowhere" / "a.png")


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tiny_model: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("H3N_DATA", raising=False)
    threads = torch.get_num_threads()

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "bench", "speed", "--model", str(tiny_model), *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        torch.set_num_threads(threads)
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def test_the_command_prints_and_draws(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    code, out, _ = run("--bands", "--data", ".", "--limit", "2", "--repeat", "1", "--json", "--plot", "a.png")
    assert code == 0
    measured = json.loads(out)
    assert [band["sentences"] for band in measured["bands"]] == [2, 2, 2]
    assert len(measured["weights"]) == 64
    assert measured["code"]["version"]
    assert measured["machine"]["threads"] == 1
    assert measured["ran"]["precision"] in ("float32", "int8"), "what ran, not what was asked for"
    assert measured["ran"]["decoders"] == native.targets()[0]
    assert measured["ran"]["processor"] == measured["machine"]["processor"]
    assert Path("a.png").is_file()
    assert signal.getsignal(signal.SIGINT) is before
    Path("raw").mkdir()
    for file in Path().glob("band-*"):
        file.rename(Path("raw") / file.name)
    monkeypatch.setenv("H3N_DATA", ".")
    code, out, _ = run("--bands", "--repeat", "1")
    assert code == 0
    assert out.startswith("0-100 words: 3 sentences of 5.7 words (paper: 1,000 of 26.6); network ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bands"], "--bands needs sentences: --data FOLDER"),
        (["--bands", "--data", "nowhere"], "nowhere: no band-001-099.wiki.txt"),
        (["--bands", "--data", ".", "--plot", "a.docx"], "a.docx: not a kind of picture"),
        (["--bands", "mine.txt"], "FILE does nothing with --bands"),
        (["--bands", "--threads", "2"], "--threads does nothing with --bands"),
        (["--sample", "3"], "--sample needs --bands"),
        (["--bands", "--sample", "-1"], "--sample"),
    ],
)
def test_mistakes_are_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
