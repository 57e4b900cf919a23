"""What `h3n train` leaves for people to read: the page of a run, the card of a model, the page of options."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.cli import main
from h3n.cli.train import Display
from h3n.config import describe_options, load_config
from h3n.training import Check, Update
from h3n.training.report import confusions
from h3n.trees import Dependencies, Sentence

ROOT = Path(__file__).parents[2]
CONFIG = """
preset = "small"
output = "run"
[encoder.layers]
count = 1
size = 32
inner = 32
[training]
epochs = 1
threads = 1
device = "cpu"
save_every = 1
[[data.train]]
files = ["data/train.ptb", "data/train.conllu"]
limit = 20
[[data.dev]]
files = ["data/dev.ptb", "data/dev.conllu"]
limit = 4
"""
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "treebank", tmp_path / "data")
    manifest = {"title": "A little grammar", "language": "English", "licence": "CC0 | 1.0"}
    (tmp_path / "data" / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "c.toml").write_text(CONFIG)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "train", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return run


def test_a_run_leaves_a_page_and_a_draft_of_a_card(command: Command, tmp_path: Path) -> None:
    code, _, err = command("c.toml", "--set", "training.seed=3")
    assert code == 0, err
    assert "a report is in run/report.html" in err
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert 'src="data:image/png;base64,' in page
    for wanted in (
        "<h2>Scores on dev</h2>",
        "LF1",
        "<h2>Worst sentences</h2>",
        "h3n train c.toml --set training.seed=3",
    ):
        assert wanted in page
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    assert record["train"]["files"]["data/train.ptb"] in page
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert page.count("<svg") == 8  # each of four sentences, gold and parsed
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "- Language: English\n" in card
    assert "| A little grammar | 100% | CC0 \\| 1.0 |" in card
    assert "| LP | LR | LF1 | UAS | LAS |" in card
    assert "h3n train c.toml --set training.seed=3" in card
    assert "million weights" in card


def test_the_card_takes_titles_and_licences_from_the_options(command: Command, tmp_path: Path) -> None:
    named = CONFIG.replace("limit = 20", 'limit = 20\ntitle = "My grammar"\nlicence = "CC BY 4.0"')
    (tmp_path / "c.toml").write_text(named)
    code, _, err = command("c.toml")
    assert code == 0, err
    assert "| My grammar | 100% | CC BY 4.0 |" in (tmp_path / "run" / "model" / "README.md").read_text()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (1, "interrupted before the first checkpoint: nothing is saved"),
        (
            3,
            "interrupted; saved up to checkpoint-0000002; go on with: h3n train c.toml --set batches.words=40 --resume",
        ),
    ],
)
def test_ctrl_c_says_what_is_saved(
    step: int, said: str, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    original = Display.__call__

    def stop(self: Display, event: object) -> None:
        original(self, event)
        if isinstance(event, Update) and event.step == step:
            raise KeyboardInterrupt

    monkeypatch.setattr(Display, "__call__", stop)
    code, _, err = command("c.toml", "--set", "batches.words=40")
    assert (code, err.splitlines()[-1]) == (130, said)
    assert not (tmp_path / "run" / "model").exists()


def test_the_page_of_options_is_current(command: Command) -> None:
    code, out, _ = command("--options")
    assert code == 0
    assert out == describe_options()
    assert (ROOT / "docs" / "options.md").read_text(encoding="utf-8") == out, "h3n train --options > docs/options.md"


def test_the_moving_line_has_time_left_losses_and_scores() -> None:
    show = Display(load_config(settings=["preset=small"]), quiet=True)
    show(Check(row={"step": 4, "epoch": 1, "seconds": 1.0, "loss": 1.0, "LF1": 71.25, "LAS": 69.0}, best=True))
    event = Update(step=10, total=70, epoch=1, done=3, updates=7, loss=2.5, words=600, terms={"span": 1.5, "arc": 0.0})
    show(event)
    assert show.postfix(event, 30.0) == "30 min left, loss 2.500 (span 1.50), LF1 71.2, LAS 69.0, 20 words/s"


def test_confusions_are_of_right_arcs_alone() -> None:
    gold = Sentence(words=("a", "b"), tags=("X", "Y"), dependencies=Dependencies((1, -1), ("det", "root")))
    found = Sentence(words=("a", "b"), tags=("X", "Z"), dependencies=Dependencies((1, -1), ("amod", "root")))
    wrong = Sentence(words=("a", "b"), tags=("X", "Y"), dependencies=Dependencies((-1, 0), ("root", "obj")))
    counts = confusions([(gold, found), (gold, wrong)])
    assert counts["relations"] == {("det", "amod"): 1}
    assert counts["tags"] == {("Y", "Z"): 1}
