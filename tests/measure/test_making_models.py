"""The steps of `make models`: skipped where they are done, gone on with where they were stopped; and the cards."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from h3n.config import load_config

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "models"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the folder models is not in every copy of the source")
if FOLDER.is_dir():
    sys.path.insert(0, str(FOLDER))
    import card
    import make
EXAMPLES = ROOT / "examples" / "treebank"


def test_steps_are_run_once_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record = Path("runs/steps.json")
    first = make.Step("first", "echo 1 >> log && touch a", "a")
    broken = make.Step("second", "touch begun && test -n", "b", started="begun", again="again && touch b")
    found = make.Step("third", "touch c && exit 1", "c", findings=True)
    assert make.run_steps([first, broken, found], record) != 0
    assert not Path("c").exists()
    assert broken.line.endswith("again && touch b")
    assert make.run_steps([first, broken, found], record) == 0
    assert Path("log").read_text() == "1\n"
    assert list(make.read_record(record)) == ["first", "second", "third"]
    assert make.read_record(record)["second"][0] == broken.command


def test_a_step_without_a_result_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert make.run_steps([make.Step("idle", "true", "never")], Path("steps.json")) == 2


def test_every_step_of_the_table_leads_to_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    every = list(make.steps())
    assert len({step.name for step in every}) == len({step.result for step in every}) == len(every)
    names = [step.name for step in every]
    assert names.index("temperatures of en-large") < names.index("amalgum, taught") < names.index("train en")
    assert names.index("amalgum, packed") < names.index("train en-taught") < names.index("train en")
    for config, silver in {"en-taught": ("amalgum", "wikinews"), "en": tuple(make.SILVER)}.items():
        text = (ROOT / "configs" / f"{config}.toml").read_text(encoding="utf-8")
        assert all(f"runs/silver/{name}.jsonl.gz" in text for name in silver)
    assert f"{load_config(ROOT / 'configs' / 'en.toml').start}/parser.json" in {step.result for step in every}
    assert make.main(["--list"]) == 0
    assert "h3n train configs/en-large.toml" in capsys.readouterr().out
    assert make.main(["no such step"]) == 2


def test_the_card_says_what_was_learned_from_and_how_good_it_is(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks import everyday
    from h3n.cli.commands import app

    release, figures = shutil.copytree(tiny_model, tmp_path / "en"), tmp_path / "figures"
    figures.mkdir()
    files = [str(EXAMPLES / "dev.ptb"), str(EXAMPLES / "dev.conllu")]
    app(["model", "calibrate", str(release), *files, "--store", "--json"], standalone_mode=False)
    (figures / "calibration.json").write_text(capsys.readouterr().out)
    everyday.main([str(release), "--json"])
    (figures / "everyday.json").write_text(capsys.readouterr().out)
    english = {"rows": {"GUM": {"UAS": 91.234, "LF1": 90.0}}, "text": {"GUM": {"LAS": 88.0}}}
    (figures / "english.json").write_text(json.dumps(english))
    record = tmp_path / "steps.json"
    steps = {"train en-large": ["first", 6.0], "train en": ["h3n train configs/en.toml", 90.0]}
    record.write_text(json.dumps(steps | {"export en-large": ["not its own", 6.0], "export en": ["last", 6.0]}))
    card.write_card("en", ROOT / "configs" / "en.toml", release, figures, record)
    text = (release / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\nlanguage: en\nlicense: cc-by-sa-4.0\n")
    for wanted in (
        "| en-taught | UD English EWT 2.6 | 70% | CC BY-SA 4.0 |",
        "| en | English Wikinews (silver) | 60% | CC BY 2.5 |",
        "| train en-large | `first` | 0.1 |\n| train en | `h3n train configs/en.toml` | 1.5 |\n| export en | `last` |",
        "| **GUM** | 91.23 |  |  |  | 90.00 |  |  |",
        "Of 50 everyday and classic sentences right",
        "Reliability of spans:",
        "| arcs | ",
    ):
        assert wanted in text
    stored = json.loads((release / "parser.json").read_text(encoding="utf-8"))["config"]["decoding"]
    assert f" | {stored['arc_temperature']:.3f} | " in text
