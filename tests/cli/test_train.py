"""`h3n train` as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.cli import main
from h3n.engine.segmenter import read_segmenter
from h3n.parser import load

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
CONFIG = f"""
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
[[data.train]]
files = ["{TREEBANK}/train.ptb", "{TREEBANK}/train.conllu"]
limit = 30
[[data.dev]]
files = ["{TREEBANK}/dev.ptb", "{TREEBANK}/dev.conllu"]
limit = 5
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command in a folder of its own: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(CONFIG)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "train", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return command


def test_a_run_says_what_it_does_and_leaves_a_parser(run: Run, tmp_path: Path) -> None:
    code, out, err = run("c.toml", "--set", "training.epochs=2")
    assert (code, out) == (0, "")
    lines = err.splitlines()
    assert lines[0].startswith("30 sentences to learn from, 5 to check against, ")
    assert lines[1].startswith("saved after ")
    assert lines[2].startswith("epoch 1  update ")
    assert "  LF1 " in lines[2]
    assert "  LAS " in lines[2]
    assert lines[3].startswith("epoch 2  update ")
    assert lines[4].startswith("spans weigh 0.")
    assert lines[-1] == "the parser is in run/model"
    assert (tmp_path / "run" / "curves.png").stat().st_size > 1000
    [result] = load(tmp_path / "run" / "model").parse([["hello", "there"]])
    assert result.joint is not None
    code, _, err = run("c.toml", "--set", "training.epochs=2")
    assert (code, err) == (
        2,
        "h3n: run holds a run already; --resume goes on with it, --set output=... starts elsewhere\n",
    )
    code, _, err = run("c.toml", "--set", "training.epochs=2", "--resume")
    assert code == 0
    assert "going on from run/checkpoint-" in err


def test_quiet_says_nothing(run: Run) -> None:
    assert run("c.toml", "--quiet", "--set", "training.tune=false") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.toml"], "none.toml: cannot read the configuration: No such file or directory"),
        (["."], "cannot read the configuration: Is a directory"),
        (
            ["c.toml", "--set", "optimizer.rate=1"],
            "unknown option optimizer (did you mean optimiser?); accepted here: ",
        ),
        (["c.toml", "--set", "training.epochs=many"], "option training.epochs: expected a whole number, found 'many'"),
        (["c.toml", "--set", "training.epochs"], "expected name=value"),
        (["c.toml", "--set", "data.train=[]"], "c.toml: no data to learn from; expected [[data.train]] with files"),
        (["c.toml", "--set", "data.train=[{files=['none.ptb']}]"], "none.ptb"),
        (["c.toml", "--set", "data.train=[{files=['empty.ptb']}]"], "no sentence to learn from"),
        (["c.toml", "--set", "data.train=[{files=['$NOT_SET_ANYWHERE/x.ptb']}]"], "NOT_SET_ANYWHERE is not set"),
        (["c.toml", "--set", "decoding.decoder=viterbi"], "unknown decoder 'viterbi'; known: auto, cky"),
        (["c.toml", "--set", "encoder.kind=pretrained"], "encoder.name is empty"),
        (["c.toml", "--set", "training.device=abacus"], "device 'abacus' cannot be used; accepted: auto, cpu, cuda"),
        (["c.toml", "--set", "output=c.toml/run"], "output c.toml/run: cannot be made: Not a directory"),
        (["c.toml", "--set", "optimiser.betas=[0.9]"], "option optimiser.betas: expected a list of 2, found one of 1"),
        (["c.toml", "--sett", "a=b"], "--sett"),
        ([], "CONFIG.toml"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.ptb").write_text("")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "run" / "model").exists()


def test_python_m_h3n_is_the_command(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("nonsense = 1\n")
    made = subprocess.run(
        [sys.executable, "-m", "h3n", "train", "c.toml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert made.returncode == 2
    assert made.stderr.startswith("h3n: unknown option nonsense; accepted here: output, ")


TEXT = """# text = Nas ruas.
1-2\tNas\t_\t_\t_\t_\t_\t_\t_\t_
1\tEm\t_\tADP\t_\t_\t3\tcase\t_\t_
2\tas\t_\tDET\t_\t_\t3\tdet\t_\t_
3\truas\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""


def test_a_segmenter_is_learned_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(TEXT * 8, encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'output = "run"\n[segmenter]\nsize = 8\nepochs = 1\n[[data.train]]\nfiles = ["t.conllu"]'
    )
    code, _, said = run("s.toml", "--only", "segmenter")
    assert (code, "the segmenter (learned) is in run/model" in said) == (0, True)
    found = read_segmenter(tmp_path / "run" / "model")
    assert "".join(token.text for sentence in found.split("Nas ruas.") for token in sentence) == "Nasruas."


def test_only_a_part_that_is_known_is_learned_alone(run: Run) -> None:
    code, _, said = run("c.toml", "--only", "lemmas")
    assert code != 0
    assert "segmenter" in said


def test_a_segmenter_that_cannot_be_learned_is_reported(run: Run) -> None:
    code, _, said = run("c.toml", "--only", "segmenter")
    assert (code, "the segmenter (english) is in run/model" in said) == (0, True)
    code, _, said = run("c.toml", "--only", "segmenter", "--set", "segmenter.kind=learned")
    assert code != 0
    assert "segmenter.kind" in said


def test_a_segmenter_is_learned_with_the_parser_where_the_text_is_known(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(TEXT * 8, encoding="utf-8")
    head = CONFIG.split("[[data.train]]")[0]
    (tmp_path / "t.toml").write_text(f'{head}[segmenter]\nsize = 16\nepochs = 60\n[[data.train]]\nfiles = ["t.conllu"]')
    code, _, said = run("t.toml")
    assert (code, "segmenter: epoch 60 of 60" in said) == (0, True)
    assert read_segmenter(tmp_path / "run" / "model").expansions.table == {"nas": (0,)}
    result = next(load(tmp_path / "run" / "model").parse("Nas ruas."))
    assert (result.text, result.words) == ("Nas ruas.", ("Em", "as", "ruas", "."))
    assert "\n1-2\tNas\t" in result.conllu()
