"""`h3n bench decode`: what it prints and what it refuses. Nothing here looks at how fast anything is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from h3n.cli.bench import bench
from h3n.errors import InputError, UnknownName, UsageError
from h3n.measure import peers
from h3n.measure.decoders import draw_lengths
from h3n.measure.paper import paper_bands

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
        (
            ["--decoders", "cky", "--json", "--plot", "/nowhere/at/all.png"],
            InputError,
            "all.png: there is no folder",
        ),
        (
            ["--decoders", "cky", "--json", "--plot", "curve.jpeg2001"],
            UsageError,
            "jpeg2001: not a kind of picture",
        ),
    ],
)
def test_bad_options_are_refused(arguments: list[str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(*arguments)


def test_a_missing_matplotlib_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"plots need the extra 'plot', .*pip install 'h3n\[plot\]'"):
        run("--decoders", "cky", "--json", "--plot", "curve.png")


def test_missing_rivals_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda _: None)
    notes: list[str] = []
    assert peers.available(notes) == []
    assert notes == [
        "torch_struct: not installed (pip install --no-deps torch-struct)",
        "supar: not installed (pip install --no-deps supar)",
    ]


def test_bands_have_about_the_lengths_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    for band in paper_bands().values():
        lengths = draw_lengths(rng, band.words, band.top, 4000)
        assert band.top - 100 < min(lengths)
        assert max(lengths) <= band.top
        assert sum(lengths) / len(lengths) == pytest.approx(band.words, rel=0.03)
