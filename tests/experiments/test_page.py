"""The page made of results, and the commands that list, run and report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.cli import main
from h3n.experiments import experiment_names, write_page

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("H3N_DATA", raising=False)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "experiments", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def example_results(folder: Path) -> None:
    """Write results of the Icelandic experiment by hand, with figures that are known."""
    runs = {}
    for run_name, decoder, label, values in (
        ("constituents", "cky", "constituents only: CKY", (70.0, 71.0)),
        ("joint", "h3n", "with made dependencies: H3n", (70.5, 73.5)),
    ):
        for seed, value in enumerate(values, start=1):
            row = {"label": label, "set": "IcePaHC dev", "decoder": decoder, "sentences": 1322}
            row |= {"weight": None if decoder == "cky" else 0.6, "weight_tuned": decoder != "cky"}
            runs[f"{run_name}-{seed}"] = {
                "run": run_name,
                "variant": "",
                "seed": seed,
                "command": f"h3n experiments run icelandic-constituents --only {run_name} --seed {seed}",
                "code": {"version": "1", "commit": "c0ffee" * 6, "changed_files": seed == 2},
                "machine": {"processor": "a processor", "cores": 2, "threads": 1},
                "data": {"$H3N_DATA/icepahc/train.ptb.xz": "ab" * 32},
                "trained": {"minutes": 4.25, "cpu_minutes": 3.5, "epochs": 5},
                "options": {"data": {"train": [{"limit": 4000}]}},
                "rows": [row | {"figures": {"LF1": value, "sentences/s": 100.0}}],
            }
    found = {"experiment": "icelandic-constituents", "miniature": False, "runs": runs}
    folder.mkdir(exist_ok=True)
    (folder / "icelandic-constituents.json").write_text(json.dumps(found), encoding="utf-8")


def test_page_has_means_seeds_paper_and_provenance(tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    page = write_page(tmp_path / "results", tmp_path / "docs").read_text(encoding="utf-8")
    assert "### IcePaHC dev (1,322 sentences)" in page
    assert "| constituents only: CKY | – | – | 70.50 (70.00, 71.00) | 100 (100, 100) |  |" in page
    assert "| with made dependencies: H3n | – | – | **72.00** (70.50, 73.50) | 100 (100, 100) | 0.6, tuned |" in page
    assert "with made dependencies: CKY" not in page, "a row that was not run is left out"
    assert "| *paper, SPMRL test, mean without Polish: H3n-Par + mBERT, dependencies made by head rules* |" in page
    assert "*90.76*" in page
    made = "`h3n experiments run icelandic-constituents --only joint --seed 2`"
    trained = "5 epochs in 4.2 min, 3.5 min of processor time, by `h3n train`, the first 4,000 sentences of a treebank"
    assert f"| {made} | c0ffeec0ffee* | {trained} |" in page
    assert "`$H3N_DATA/icepahc/train.ptb.xz` abababababab" in page
    assert "miniature" not in page
    assert "$ h3n prepare ptb SOURCE $H3N_DATA/ptb  # https://catalog.ldc.upenn.edu/LDC99T42\n" in page


def test_same_results_same_page(tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    first, second = (write_page(tmp_path / "results", tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    image = Path("images") / "results-icelandic-constituents.png"
    assert (tmp_path / "one" / image).read_bytes() == (tmp_path / "two" / image).read_bytes()


def test_list_shows_every_experiment(run: Run, tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    code, out, _ = run("list")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert set(lines) == {"name", *experiment_names()}
    assert "4 of 4" in lines["icelandic-constituents"]
    assert "missing" in lines["ptb"]


def test_commands(run: Run, small: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(small, encoding="utf-8")
    code, _, err = run("run", "mine.toml", "--only", "joint")
    assert code == 0
    assert "run 1 of 1: joint-1" in err
    assert "joint: H3n: small dev: LF1 " in err
    assert (tmp_path / "results" / "mine.json").is_file()
    code, out, _ = run("report")
    assert (code, out) == (0, "the page is docs/results.md\n")
    page = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert "## A title\n" in page
    assert "| joint: H3n |" in page
    assert "`h3n experiments run mine.toml --only joint --seed 1`" in page, "the command that was run"
    assert str(tmp_path) not in page
    assert (tmp_path / "docs" / "images" / "results-mine.png").is_file()
    code, out, _ = run("list")
    assert "1 of 3" in next(line for line in out.splitlines() if line.startswith("mine"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nix"], "unknown experiment 'nix'; known: ctb"),
        (["run", "nix.toml"], "nix.toml: cannot be read"),
        (["run", "ptb"], "ptb: $H3N_DATA/ptb/train.ptb and 5 more not found"),
        (["run", "speed"], "speed: $H3N_DATA/raw/band-001-099.wiki.txt and 2 more not found"),
        (["run", "gum", "--folder", "joint"], "--folder joint: expected RUN=FOLDER"),
        (["run", "gum", "--seed", "x"], "Invalid value for '--seed'"),
    ],
)
def test_mistakes_are_said_in_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_damaged_results_are_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "gum.json").write_text("[]", encoding="utf-8")
    code, _, err = run("report")
    assert code == 2
    assert "results/gum.json: expected the results of experiment 'gum'" in err
