"""Runs that are stopped, killed or out of space go on to the weights of a run that nothing disturbed."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from h3n.errors import TrainingError
from h3n.training import Update, train
from h3n.training.checkpoint import last_checkpoint
from h3n.training.record import read_metrics
from tests.training.runs import SHORT, Options, Part, assert_same_weights, write_config


class Killed(BaseException):
    """Stands for the moment a process ends: nothing may catch it and tidy up."""


def kill_after(step: int) -> Callable[[Any], None]:
    def report(event: Any) -> None:
        if isinstance(event, Update) and event.step == step:
            raise Killed

    return report


@pytest.mark.parametrize("step", [1, 4, 8, 11])
def test_a_run_stopped_anywhere_goes_on_to_the_same_weights(
    step: int, uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    config = options(tmp_path, *SHORT)
    examples, dev = treebank("train", 60), treebank("dev", 10)
    with pytest.raises(Killed):
        train(config, examples, dev, report=kill_after(step))
    train(config, examples, dev, resume=True)
    assert_same_weights(uninterrupted / "model", tmp_path / "model")
    kept = ("step", "loss", "LF1", "LAS")
    rows = [[{name: row[name] for name in kept} for row in read_metrics(run)] for run in (uninterrupted, tmp_path)]
    assert rows[0] == rows[1]


def with_moves(patch: pytest.MonkeyPatch, before: Callable[[], None]) -> None:
    """Call ``before`` ahead of every rename or replacement of a file."""
    for name in ("rename", "replace"):
        act = getattr(Path, name)

        def run(*given: Any, act: Callable[..., Any] = act) -> Any:
            before()
            return act(*given)

        patch.setattr(Path, name, run)


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory, treebank: Part, options: Options) -> int:
    """Return how many renames and replacements a short run makes; it depends on which checks are the best so far."""
    count = 0

    def one_more() -> None:
        nonlocal count
        count += 1

    with pytest.MonkeyPatch.context() as patch:
        with_moves(patch, one_more)
        train(options(tmp_path_factory.mktemp("moves"), *SHORT), treebank("train", 60), treebank("dev", 10))
    return count


@pytest.mark.parametrize("moment", range(7))
def test_a_run_killed_while_it_writes_goes_on_to_the_same_weights(
    moment: int,
    moves: int,
    uninterrupted: Path,
    tmp_path: Path,
    treebank: Part,
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process ends at one rename or replacement after another, with everything before it done."""
    config = options(tmp_path, *SHORT)
    examples, dev = treebank("train", 60), treebank("dev", 10)
    left = moment * (moves - 1) // 6  # from the first to the last

    def die_in_time() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    with monkeypatch.context() as patch:
        with_moves(patch, die_in_time)
        with pytest.raises(Killed):
            train(config, examples, dev)
    train(config, examples, dev, resume=True)
    assert_same_weights(uninterrupted / "model", tmp_path / "model")


def test_kill_9_and_resume_on_the_command_line(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    config = options(tmp_path / "run", *SHORT)
    write_config(tmp_path / "c.toml", config, train_limit=60, dev_limit=10)
    process = subprocess.Popen([sys.executable, "-m", "h3n", "train", str(tmp_path / "c.toml")])
    deadline = time.monotonic() + 300
    while last_checkpoint(tmp_path / "run") is None:
        assert process.poll() is None, "the run ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "run" / "model").exists()
    train(config, treebank("train", 60), treebank("dev", 10), resume=True)
    assert_same_weights(uninterrupted / "model", tmp_path / "run" / "model")


def test_a_full_disk_stops_the_run_and_the_last_checkpoint_is_whole(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    config = options(tmp_path, *SHORT)
    examples, dev = treebank("train", 60), treebank("dev", 10)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_disk(event: Any) -> None:
        if isinstance(event, Update) and event.step == 5:  # a checkpoint was written at 3; none can be at 6
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))

    try:
        with pytest.raises(TrainingError, match=r"cannot be written: .*last good checkpoint is .*checkpoint-0000003"):
            train(config, examples, dev, report=fill_disk)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-0000003"
    assert not list(tmp_path.glob(".checkpoint*"))
    train(config, examples, dev, resume=True)
    assert_same_weights(uninterrupted / "model", tmp_path / "model")
