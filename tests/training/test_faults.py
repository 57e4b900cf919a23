"""Trainings that are killed at random moments, on one machine and on several, end with the same weights."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from h3n.config import Config
from h3n.errors import UsageError
from h3n.training.checkpoint import last_checkpoint
from h3n.training.processes import _check_restarts
from tests.training.runs import write_config

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
ELASTIC = {**ENVIRONMENT, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


def test_kill_9_at_random_moments(tmp_path: Path) -> None:
    """Three rounds here; `python -m tests.training.killing FOLDER 20` does more."""
    command = [sys.executable, "-m", "tests.training.killing", str(tmp_path), "3"]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["killed"] == 3


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def node(config: Path, port: int) -> list[str]:
    """Return the command that each of two machines runs."""
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "run"]
    elastic = ["--nnodes", "2", "--nproc-per-node", "1", "--max-restarts", "3", "--monitor-interval", "0.1"]
    return [*TORCHRUN, *meeting, *elastic, "-m", "h3n", "train", str(config), "--resume"]


def run_nodes(config: Path) -> list[subprocess.Popen[str]]:
    port = free_port()
    return [subprocess.Popen(node(config, port), env=ELASTIC, stderr=subprocess.PIPE, text=True) for _ in range(2)]


def finish(processes: list[subprocess.Popen[str]]) -> None:
    try:
        said = [process.communicate(timeout=400)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    assert [process.returncode for process in processes] == [0, 0], said


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs a POSIX system")
def test_a_killed_worker_is_replaced_and_training_goes_on(tmp_path: Path, options: Callable[..., Config]) -> None:
    """Two nodes of one process each; the process that writes is killed after its first checkpoint."""
    settings = ("training.epochs=3", "training.checks=1", "training.save_every=1", "training.tune=false")
    for name in ("calm", "killed"):
        config = options(tmp_path / name, *settings)
        write_config(tmp_path / f"{name}.toml", config, train_limit=60, dev_limit=5)
    finish(run_nodes(tmp_path / "calm.toml"))
    nodes = run_nodes(tmp_path / "killed.toml")
    deadline = time.monotonic() + 600
    while last_checkpoint(tmp_path / "killed") is None:
        assert all(process.poll() is None for process in nodes), "the run ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.kill(int((tmp_path / "killed" / ".lock").read_text()), signal.SIGKILL)
    assert not (tmp_path / "killed" / "model").exists()
    finish(nodes)
    one, other = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("calm", "killed"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_restarts_that_would_hang_are_refused() -> None:
    shared = {"GROUP_WORLD_SIZE": "2", "TORCHELASTIC_MAX_RESTARTS": "3", "TORCHELASTIC_USE_AGENT_STORE": "True"}
    with pytest.raises(UsageError, match="set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1"):
        _check_restarts(shared)
    for name, value in (("GROUP_WORLD_SIZE", "1"), ("TORCHELASTIC_MAX_RESTARTS", "0")):
        _check_restarts(shared | {name: value})
    _check_restarts(shared | {"TORCHELASTIC_USE_AGENT_STORE": "False"})
    _check_restarts({})
