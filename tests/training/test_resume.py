"""A run goes on with what it was started with, alone in its folder, and leaves nothing half written."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from h3n.config import Config
from h3n.errors import H3nError, InputError, TrainingError, UsageError
from h3n.files import draft_of
from h3n.system import locked
from h3n.training import Note, Update, train
from h3n.training.checkpoint import last_checkpoint, write_folder
from h3n.training.data import Example
from h3n.training.record import read_metrics

Part = Callable[..., list[Example]]
Options = Callable[..., Config]
SHORT = ("training.epochs=1", "training.checks=1", "training.save_every=2", "training.tune=false")


class Stopped(BaseException):
    """Stands for the end of a process."""


def stop_at(step: int) -> Callable[[Any], None]:
    def report(event: Any) -> None:
        if isinstance(event, Update) and event.step == step:
            raise Stopped

    return report


@pytest.fixture
def stopped(tmp_path: Path, treebank: Part, options: Options) -> Path:
    """Return the folder of a run that was stopped after its first checkpoint."""
    with pytest.raises(Stopped):
        train(options(tmp_path / "run", *SHORT), treebank("train", 60), treebank("dev", 3), report=stop_at(3))
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["optimiser.rate=0.5"], "option optimiser.rate was 0.002 and is 0.5"),
        (
            ["training.seed=2", "loss.head=0"],
            "option loss.head was 0.5 and is 0.0; option training.seed was 1 and is 2",
        ),
        (["training.epochs=3"], "option training.epochs was 1 and is 3"),  # the rate falls to 0 at the end of the run
        (["batches.accumulate=2"], "batches per update were 1 and are 2"),
    ],
)
def test_other_options_are_refused_by_name(
    settings: list[str], message: str, stopped: Path, treebank: Part, options: Options
) -> None:
    config = options(stopped, *SHORT, *settings)
    with pytest.raises(UsageError) as refused:
        train(config, treebank("train", 60), treebank("dev", 3), resume=True)
    said = str(refused.value)
    assert f"holds a run with other data or options: {message}; --accept-changes goes on all the same" in said
    assert "\n" not in said


def test_other_data_are_refused_or_accepted(stopped: Path, treebank: Part, options: Options) -> None:
    config = options(stopped, *SHORT)
    examples, dev = treebank("train", 60), treebank("dev", 3)
    other = [*examples[:-1], replace(examples[-1], weight=2.0)]
    with pytest.raises(UsageError, match=r"data\.train had 60 sentences and has 60 others"):
        train(config, other, dev, resume=True)
    with pytest.raises(UsageError, match=r"data\.dev had 3 sentences and has 2 others"):
        train(config, examples, dev[:2], resume=True)
    before = json.loads((stopped / "vocabulary.json").read_text())
    notes: list[Any] = []
    train(config, treebank("train", 70), dev, resume=True, accept_changes=True, report=notes.append)
    said = [note.text for note in notes if isinstance(note, Note)]
    assert said[0] == "going on in spite of changes: data.train had 60 sentences and has 70 others"
    assert json.loads((stopped / "vocabulary.json").read_text()) == before  # the weights were made for it
    assert json.loads((stopped / "record.json").read_text())["train"]["sentences"] == 70


def test_options_that_change_nothing_learned_are_not_compared(stopped: Path, treebank: Part, options: Options) -> None:
    free = ("training.save_every=5", "training.patience=9", "training.tune=true", "batches.parse_words=99")
    train(options(stopped, *SHORT, *free), treebank("train", 60), treebank("dev", 3), resume=True)
    assert (stopped / "model").is_dir()


def test_a_run_that_ended_in_its_first_check_goes_on_with_that_check(
    tmp_path: Path, treebank: Part, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples, dev = treebank("train", 30), treebank("dev", 3)
    two = ("training.epochs=2", "training.checks=1", "training.save_every=0", "training.tune=false")

    def fail(*_: object) -> None:
        raise MemoryError

    notes: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr("h3n.training.loop.evaluate_each", fail)
        with pytest.raises(MemoryError):
            train(options(tmp_path / "ended", *two), examples, dev, report=notes.append)
    assert last_checkpoint(tmp_path / "ended") is not None
    last = [event.text if isinstance(event, Note) else event for event in notes][-1]
    assert last == f"saved after {notes[-2].step} updates; checking 3 sentences"
    # The check itself may have been written, but not what came of it.
    (tmp_path / "ended" / "metrics.jsonl").write_text(json.dumps({"step": notes[-2].step, "loss": 9.0}) + "\n")
    train(options(tmp_path / "ended", *two), examples, dev, resume=True)
    train(options(tmp_path / "whole", *two), examples, dev)
    rows = [read_metrics(tmp_path / run) for run in ("ended", "whole")]
    kept = [[{key: row[key] for key in ("step", "loss", "LF1", "LAS")} for row in part] for part in rows]
    assert kept[0] == kept[1]
    ended, whole = (load_file(tmp_path / run / "model" / "model.safetensors") for run in ("ended", "whole"))
    assert all(bool((ended[name] == whole[name]).all()) for name in whole)


def test_a_run_with_a_constant_rate_may_be_made_longer(tmp_path: Path, treebank: Part, options: Options) -> None:
    constant = (*SHORT, "optimiser.schedule=constant", "optimiser.warmup=2")
    train(options(tmp_path, *constant), treebank("train", 20), [])
    done = json.loads((last_checkpoint(tmp_path) / "state.json").read_text())["step"]  # type: ignore[operator]
    train(options(tmp_path, *constant, "training.epochs=2"), treebank("train", 20), [], resume=True)
    longer = json.loads((last_checkpoint(tmp_path) / "state.json").read_text())["step"]  # type: ignore[operator]
    assert longer == 2 * done


def test_a_changed_file_is_named(tmp_path: Path, treebank: Part, options: Options) -> None:
    source = Path(__file__).parents[2] / "examples" / "treebank" / "train.conllu"
    copy = tmp_path / "copy.conllu"
    copy.write_bytes(source.read_bytes())
    setting = f"data.train=[{{files=['{copy}']}}]"
    config = options(tmp_path / "run", *SHORT, setting)
    train(config, treebank("train", 20), [])
    copy.write_bytes(copy.read_bytes() + b"\n")
    with pytest.raises(UsageError, match=rf"other data or options: data\.train: {copy} has other contents; --accept"):
        train(config, treebank("train", 19), [], resume=True)
    copy.rename(copy.with_name("moved.conllu"))
    moved = options(tmp_path / "run", *SHORT, setting.replace("copy", "moved"))
    train(moved, treebank("train", 20), [], resume=True)  # the same sentences under another name


def test_a_run_without_its_record_is_refused(stopped: Path, treebank: Part, options: Options) -> None:
    (stopped / "record.json").unlink()
    with pytest.raises(UsageError, match=r"record\.json, which says with what it was started, is missing"):
        train(options(stopped, *SHORT), treebank("train", 60), treebank("dev", 3), resume=True)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("state.json", "{}"),
        ("state.json", "[]"),
        ("state.json", "null"),
        ("state.json", "{"),
        ("state.json", '{"epoch": "0"}'),
        ("../last.json", "[]"),
        ("../last.json", '{"checkpoint": "../elsewhere"}'),
        ("../last.json", '{"checkpoint": 3}'),
        ("../last.json", '{"checkpoint": "checkpoint-0000001"}'),
        ("../record.json", "{}"),
        ("../record.json", "[]"),
        ("../vocabulary.json", '{"odd": 1}'),
        ("../vocabulary.json", "[1]"),
        ("model.safetensors", ""),
        ("optimiser.safetensors", "x"),
    ],
)
def test_damage_in_a_run_is_one_line(file: str, text: str, stopped: Path, treebank: Part, options: Options) -> None:
    (last_checkpoint(stopped) / file).resolve().write_text(text)  # type: ignore[operator]
    with pytest.raises(H3nError) as refused:
        train(options(stopped, *SHORT), treebank("train", 60), treebank("dev", 3), resume=True)
    assert "\n" not in str(refused.value)
    assert str(stopped) in str(refused.value)


def test_a_state_of_another_update_is_refused(stopped: Path, treebank: Part, options: Options) -> None:
    path = last_checkpoint(stopped) / "state.json"  # type: ignore[operator]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"step": 0}))
    with pytest.raises(InputError, match=r"state\.json is of update 0"):
        train(options(stopped, *SHORT), treebank("train", 60), treebank("dev", 3), resume=True)


def test_a_second_training_in_a_folder_is_refused(tmp_path: Path, treebank: Part, options: Options) -> None:
    with (
        locked(tmp_path),
        pytest.raises(UsageError, match=rf"another training \(process {os.getpid()}\) is at work in this folder"),
    ):
        train(options(tmp_path, *SHORT), treebank("train", 5), [])
    with locked(tmp_path):
        pass  # the lock was let go of


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = f"""
import pathlib, time
from h3n.system import locked
with locked(pathlib.Path({str(tmp_path)!r})):
    print("held", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match="another training"), locked(tmp_path):
            pass
        process.kill()
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing_half_written(number: signal.Signals, tmp_path: Path) -> None:
    code = f"""
import pathlib, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which whoever runs the tests under nohup ignores
import h3n.cli.stats
def stats(file: str) -> None:
    from h3n.training.checkpoint import write_folder
    def fill(folder):
        (folder / "half").write_text("x")
        print("writing", flush=True)
        time.sleep(600)
    write_folder(pathlib.Path(file) / "checkpoint", fill)
h3n.cli.stats.stats = stats
from h3n.cli import main
sys.argv = ["h3n", "stats", {str(tmp_path)!r}]
main()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + number, "")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(stopped: Path, treebank: Part, options: Options) -> None:
    draft_of(stopped / "checkpoint-0000009").mkdir()
    draft_of(stopped / "metrics.jsonl").write_text("half")
    assert len(list(stopped.glob(".*.part"))) == 2
    train(options(stopped, *SHORT), treebank("train", 60), treebank("dev", 3), resume=True)
    assert not list(stopped.glob(".*.part"))


@pytest.mark.parametrize("moment", ["fsync", "rename", "replace"])
def test_a_disk_that_fails_leaves_what_was_there(
    moment: str, stopped: Path, treebank: Part, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file layer fails in each of its steps; the checkpoint before stays whole, and one line says so."""
    before = last_checkpoint(stopped)
    assert before is not None

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill_disk(event: Any) -> None:
        if isinstance(event, Update):
            monkeypatch.setattr(*{"fsync": (os, "fsync", fail)}.get(moment, (Path, moment, fail)))

    config = options(stopped, *SHORT)
    with pytest.raises(TrainingError) as stop:
        train(config, treebank("train", 60), treebank("dev", 3), resume=True, report=fill_disk)
    monkeypatch.undo()
    assert "cannot be written: No space left on device; the last good checkpoint is " in str(stop.value)
    assert "\n" not in str(stop.value)
    assert last_checkpoint(stopped) == before
    assert load_file(before / "model.safetensors")
    assert not list(stopped.glob(".*.part"))
    train(config, treebank("train", 60), treebank("dev", 3), resume=True)
    assert (stopped / "model").is_dir()


def test_contents_are_on_the_disk_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order that survives a loss of power: files, their folder, the rename, the folder above."""
    steps: list[str] = []
    flush, rename = os.fsync, Path.rename

    def watched_flush(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        steps.append("flush file" if path.is_file() else "flush run" if path == tmp_path else "flush draft")
        flush(handle)

    def watched_rename(path: Path, target: Path) -> Any:
        steps.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", watched_flush)
    monkeypatch.setattr(Path, "rename", watched_rename)
    write_folder(tmp_path / "c", lambda folder: (folder / "weights").write_text("x") and None)
    monkeypatch.undo()
    assert steps == ["flush file", "flush draft", "rename", "flush run"]


def test_the_clock_does_not_matter(
    tmp_path: Path, treebank: Part, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wall clock that jumps back and forth changes neither weights nor the time that is booked."""
    jumps = iter([1e9, -1e6, 5e9] * 10_000)
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    train(options(tmp_path / "jumping", *SHORT), treebank("train", 30), treebank("dev", 3))
    monkeypatch.undo()
    train(options(tmp_path / "steady", *SHORT), treebank("train", 30), treebank("dev", 3))
    one, other = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("jumping", "steady"))
    assert all(bool((one[name] == other[name]).all()) for name in one)
    row = json.loads((tmp_path / "jumping" / "metrics.jsonl").read_text().splitlines()[-1])
    assert 0 <= row["seconds"] < 600
