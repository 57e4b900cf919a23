"""Kill a training with signal 9 at random moments, again and again, and compare its weights with an undisturbed one's.

    python -m tests.training.killing FOLDER ROUNDS [SEED]

Each training runs in a fork of this process, which has everything imported already, so that most moments fall into
updates, checks and the writing of checkpoints. A training that gets through is compared and begun anew.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

from h3n.config import Treebank, load_config
from h3n.training import load_examples, train
from tests.training.conftest import SETTINGS, TREEBANK

SHORT = ("training.epochs=2", "training.checks=2", "training.save_every=1", "training.tune=false")


def start(folder: Path) -> int:
    """Train in a process of its own and return its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        config = load_config(settings=[*SETTINGS, *SHORT, f"output={folder}"])
        parts = {
            name: [Treebank(files=tuple(str(TREEBANK / f"{name}.{kind}") for kind in ("ptb", "conllu")), limit=limit)]
            for name, limit in (("train", 40), ("dev", 4))
        }
        examples, dev = (load_examples(part, data=config.data) for part in parts.values())
        train(config, examples, dev, resume=True)
        code = 0
    finally:
        os._exit(code)


def same_weights(one: Path, other: Path) -> bool:
    left, right = (load_file(folder / "model" / "model.safetensors") for folder in (one, other))
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def kill_rounds(folder: Path, rounds: int, *, seed: int = 1) -> dict[str, float]:
    """Return how many kills there were, and how many trainings got through, all with the same weights."""
    chance = random.Random(seed)
    whole, run = folder / "whole", folder / "killed"
    began = time.monotonic()
    _, status = os.waitpid(start(whole), 0)
    if status:
        raise SystemExit("the undisturbed training failed")
    duration = time.monotonic() - began
    killed = finished = 0
    while True:
        number = start(run)
        if killed < rounds:
            time.sleep(chance.uniform(0, duration))
            os.kill(number, signal.SIGKILL)  # one that has just ended is still there to be waited for
        _, status = os.waitpid(number, 0)
        if status == signal.SIGKILL:
            killed += 1
        elif status:
            raise SystemExit(f"a training failed after {killed} kills")
        else:
            finished += 1
            if not same_weights(whole, run):
                raise SystemExit(f"other weights after {killed} kills")
            if killed >= rounds:
                return {"killed": killed, "finished": finished, "seconds_undisturbed": round(duration, 1)}
            shutil.rmtree(run)


if __name__ == "__main__":
    torch.set_num_threads(1)
    result = kill_rounds(Path(sys.argv[1]), int(sys.argv[2]), seed=int((*sys.argv, "1")[3]))
    sys.stdout.write(json.dumps(result) + "\n")
