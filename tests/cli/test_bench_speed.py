"""`h3n bench speed` as a user meets it; what it measures is not tested, only that it measures all of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from h3n.cli import main
from h3n.engine.engine import Engine
from h3n.measure.parsing import describe_parsing
from h3n.measure.profile import PARTS, TimedEngine
from h3n.parser import load

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()

    def command(*arguments: str) -> tuple[int, str, str]:
        given = ["h3n", "bench", "speed", "--model", str(tiny_model), "--repeat", "1", *arguments]
        monkeypatch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as left:
            main()
        torch.set_num_threads(threads)
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def test_json_has_the_rate_and_every_part(run: Run) -> None:
    code, out, _ = run("--json", "--sentences", "80", "--profile")
    assert code == 0
    found = json.loads(out)
    assert found["ran"]["precision"] in ("float32", "int8"), "what ran, not what was asked for"
    assert found["ran"]["decoders"]
    assert found["ran"]["processor"]
    assert found["sentences"] >= 80
    assert found["words"] > 10 * 80
    assert found["sentences_per_second"] == pytest.approx(found["sentences"] / found["seconds"])
    assert list(found["parts"]) == list(PARTS)
    assert all(found["parts"][name] > 0 for name in PARTS)


def test_a_text_of_ones_own(run: Run) -> None:
    Path("mine.txt").write_text("Oslo found a dog. The dog saw Oslo.\n", encoding="utf-8")
    code, out, _ = run("mine.txt", "--sentences", "3", "--decoder", "h3n", "--threads", "1")
    assert code == 0
    assert out.startswith("4 sentences, 20 words; ")
    assert re.search(r"; 1 thread\(s\)\n(float32|int8), encoder on ", out)
    assert "sentences/s   text in, both trees out" in out
    assert "%" not in out, "the parts are for those who ask"


def test_the_profile_shows_every_part(run: Run) -> None:
    code, out, _ = run("--sentences", "3", "--profile")
    assert code == 0
    shares = [line.split(" %  ") for line in out.splitlines()[4:]]
    assert [name for _, name in shares] == list(PARTS)
    assert sum(float(share) for share, _ in shares) == pytest.approx(100.0, abs=0.5)


def test_a_part_inside_a_part_is_not_counted_twice(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = TimedEngine(load(tiny_model).engine)
    ticks = iter([0.0, 2.0, 5.0, 9.0])  # the outer part starts, the inner one starts and ends, the outer one ends
    monkeypatch.setattr("h3n.measure.profile.time.process_time", lambda: next(ticks))
    with engine.part("decoding"), engine.part("head ranking", within="decoding"):
        pass
    assert {name: taken for name, taken in engine.seconds.items() if taken} == {"head ranking": 3.0, "decoding": 6.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nix.txt"], "nix.txt: cannot be read: No such file"),
        (["empty.txt"], "there is no text in it"),
        (["--decoder", "best"], "unknown decoder 'best'"),
        (["--precision", "int2"], "unknown precision 'int2'"),
        (["--spacy", "nothing", "--sentences", "1"], "spaCy"),
    ],
)
def test_mistakes_are_one_line(run: Run, arguments: list[str], message: str) -> None:
    Path("empty.txt").write_text("\n")
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_the_table_compares() -> None:
    parts = dict.fromkeys(PARTS, 1.0)
    ran = {"precision": "int8", "encoder": "avx2_vnni", "decoders": "avx2", "processor": "a processor"}
    measured = {"sentences": 10, "words": 90, "model": "en", "decoder": "auto", "ran": ran, "threads": 2}
    rates = {"sentences_per_second": 50.0, "parts": parts, "spacy": {"whole": 25.0, "parser": 200.0}}
    lines = describe_parsing(measured | rates).splitlines()
    assert lines[0] == "10 sentences, 90 words; en, auto; 2 thread(s)"
    assert lines[1] == "int8, encoder on avx2_vnni, decoders on avx2; a processor"
    assert lines[3] == "parts, in processor time on one thread (800.00 ms a sentence):"
    assert lines[4] == "   12.5 %  segmenting"
    assert lines[-2].endswith("spaCy (whole), dependencies alone: h3n is 2.00 times as fast")
    assert lines[-1].endswith("h3n is 0.25 times as fast")


def test_heads_are_ranked_for_the_decoder_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts are those of the parse that is measured: `h3n` with the head scores of the model."""
    asked: list[str] = []
    rank = Engine.rank

    def ranked(self: Engine, scored: Any, *, decoder: str, head_score: str | None = None) -> Any:
        asked.append(decoder)
        return rank(self, scored, decoder=decoder, head_score=head_score)

    monkeypatch.setattr(Engine, "rank", ranked)
    code, _, _ = run("--json", "--sentences", "5", "--decoder", "h3n", "--profile")
    assert code == 0
    assert set(asked) == {"h3n"}
