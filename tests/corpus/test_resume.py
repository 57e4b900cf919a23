"""Killed at any moment and started again, a run ends with the bytes of an undisturbed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.corpus import Options, local, parse_corpus
from h3n.corpus.shards import Shard
from h3n.corpus.storage import Piece
from h3n.corpus.work import Job, Workers
from h3n.errors import InputError
from tests.corpus.conftest import contents, processes_of
from tests.corpus.losing import workers_of

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
SMALL = Options(shard_size=300)
PATIENCE = 240.0  # seconds, of a machine that does much else


def test_ten_kills_change_nothing(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.corpus.killing", str(tiny_model), str(texts), str(tmp_path), "10"]
    project = Path(__file__).parents[2]
    said = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert said.returncode == 0, said.stderr
    assert '"killed": 10' in said.stdout


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_workers_that_are_killed_are_replaced_and_end_with_their_driver(
    texts: Path, tiny_model: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    parse_corpus([str(texts)], whole, model=str(tiny_model), options=SMALL, workers=1)
    command = [
        sys.executable,
        "-m",
        "h3n",
        "corpus",
        "parse",
        str(texts),
        "--out",
        str(out),
        "--model",
        str(tiny_model),
    ]
    command += ["--workers", "2", "--shard-size", "300"]

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as driver:
        try:
            wait_for(lambda: workers_of(driver.pid) or driver.poll() is not None)
            for number in workers_of(driver.pid):
                os.kill(number, signal.SIGKILL)
            wait_for(lambda: list(out.glob("part-*")) or driver.poll() is not None)
            left = set(processes_of(driver.pid))
        finally:
            driver.kill()
        driver.communicate()
    wait_for(lambda: not any(Path(f"/proc/{number}").exists() for number in left))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert contents(out) == contents(whole)


def test_a_shard_that_kills_its_workers_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three deaths at one shard are enough: a job whose model cannot be named kills nobody, so the death is played."""
    shards = [Shard(at, 1, (Piece(f"{at}.txt", f"{tmp_path}/{at}.txt", "text", 0, 1),)) for at in range(2)]
    job = Job(str(tmp_path), "no model", "", Options())
    monkeypatch.setattr(local, "_serve", _die)
    monkeypatch.setattr(local, "METHOD", "fork")
    before = set(threading.enumerate())  # another test's among them
    with pytest.raises(InputError, match=r"shard \d \(\d\.txt\): 3 processes died at it \(exit code 7\)"):
        list(local.run(job, shards, Workers(2)))
    assert not any(thread.name.startswith("h3n") for thread in set(threading.enumerate()) - before)


def _die(*_: object) -> None:
    os._exit(7)


def test_what_is_wrong_in_a_worker_is_said_by_the_run(tmp_path: Path) -> None:
    shards = [Shard(at, 1, (Piece(f"{at}.txt", f"{tmp_path}/{at}.txt", "text", 0, 1),)) for at in range(2)]
    with pytest.raises(InputError, match="no model 'no model'"):
        list(local.run(Job(str(tmp_path), "no model", "", Options()), shards, Workers(2)))
