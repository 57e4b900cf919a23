"""`h3n bench decode`: what it prints and what it refuses. Nothing here looks at how fast anything is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from h3n.cli import bench_decode, bench_peers
from h3n.cli.bench import bench
from h3n.errors import UnknownName, UsageError

RUN = ["decode", "--lengths", "20,24", "--seconds", "0"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(bench, [*RUN, *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_json_has_a_row_per_decoder_and_length() -> None:
    found = json.loads(run("--json"))
    assert set(found) == {"rows", "exponents"}
    names = {"cky", "mst", "eisner", "h3n", "hpsg", "hpsg_n5"}
    assert {(row["decoder"], row["words"]) for row in found["rows"]} == {(n, w) for n in names for w in (20, 24)}
    assert all(set(row) == {"decoder", "words", "ms"} and row["ms"] > 0 for row in found["rows"])
    assert set(found["exponents"]) == names


def test_the_text_shows_times_ratios_and_the_three_bands() -> None:
    shown = run("--decoders", "cky,h3n")
    for part in ("milliseconds per sentence", "h3n / cky", "two threads", "0-100", "100-200", "200-300"):
        assert part in shown
    assert "hpsg" not in shown


def test_the_published_decoder_is_spared_long_sentences() -> None:
    rows = json.loads(run("--decoders", "hpsg_n5,cky", "--lengths", "20,131", "--json"))["rows"]
    assert [(row["decoder"], row["words"]) for row in rows] == [("hpsg_n5", 20), ("cky", 20), ("cky", 131)]


@pytest.mark.parametrize("name", ["curve.png", "curve.svg"])
def test_the_curve_is_drawn(name: str, tmp_path: Path) -> None:
    run("--decoders", "cky,mst", "--json", "--plot", str(tmp_path / name))
    start = (tmp_path / name).read_bytes()[:200]
    assert start.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--lengths", "20,many"], UsageError, "--lengths 20,many: whole numbers with commas"),
        (["--lengths", "0,5"], UsageError, "0 words; 1 or more"),
        (["--decoders", "viterbi"], UnknownName, "unknown decoder 'viterbi'; known: auto, cky"),
        (["--decoders", "cky", "--json", "--plot", "/nowhere/at/all.png"], UsageError, "--plot /nowhere/at/all.png"),
        (["--decoders", "cky", "--json", "--plot", "curve.jpeg2001"], UsageError, "--plot curve.jpeg2001"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(*arguments)


def test_a_missing_matplotlib_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"--plot needs matplotlib: pip install 'h3n\[plot\]'"):
        run("--decoders", "cky", "--json", "--plot", "curve.png")


def test_missing_rivals_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_peers.importlib.util, "find_spec", lambda _: None)
    notes: list[str] = []
    assert bench_peers.available(notes) == []
    assert notes == [
        "torch_struct: not installed (pip install --no-deps torch-struct)",
        "supar: not installed (pip install --no-deps supar)",
    ]


def test_exponents_are_slopes() -> None:
    rows = [{"decoder": "x", "words": n, "ms": 1e-6 * n**3} for n in (5, 20, 40, 80)]
    rows[0]["ms"] = 100.0  # below 20 words: overhead, not growth
    assert bench_decode.fit_exponent(rows, "x") == pytest.approx(3.0)


def test_bands_have_about_the_lengths_of_the_paper() -> None:
    rng = bench_decode.np.random.default_rng(0)
    for _, mean, top in bench_decode.BANDS:
        lengths = bench_decode._draw_lengths(rng, mean, top, 4000)
        assert top - 100 < min(lengths)
        assert max(lengths) <= top
        assert sum(lengths) / len(lengths) == pytest.approx(mean, rel=0.03)
