"""Kill a run with signal 9 at random moments, again and again, and compare what comes out with an undisturbed run.

    python -m tests.corpus.killing MODEL TEXTS FOLDER ROUNDS [SEED]

Each run is a fork of this process, which has everything imported already, so that most moments fall into the work.
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

import pyarrow.parquet  # noqa: F401 - imported once, not in every fork
import torch

import h3n
from h3n.corpus import Options, parse_corpus
from tests.corpus.conftest import contents


def start(model: Path, texts: Path, out: Path) -> int:
    """Parse in a process of its own and return its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        parse_corpus([str(texts)], out, model=str(model), options=Options(shard_size=300), workers=1)
        code = 0
    finally:
        os._exit(code)


def kill_rounds(model: Path, texts: Path, folder: Path, rounds: int, *, seed: int = 1) -> dict[str, int]:
    """Return how many kills there were, how many of them left shards behind, and how many runs got through.

    A run that gets through is compared and begun anew, and so is one that was killed so often that little was left.
    """
    chance = random.Random(seed)
    h3n.load(model)  # what is imported for it is imported once, too
    whole, out = folder / "whole", folder / "killed"
    began = time.monotonic()
    _, status = os.waitpid(start(model, texts, whole), 0)
    if status:
        raise RuntimeError("the undisturbed run failed")
    duration = time.monotonic() - began
    told = {"killed": 0, "unfinished": 0, "finished": 0}
    while True:
        number = start(model, texts, out)
        if told["killed"] < rounds:
            time.sleep(chance.uniform(0.3, 0.9) * duration)
            os.kill(number, signal.SIGKILL)  # one that has just ended is still there to be waited for
        _, status = os.waitpid(number, 0)
        if status == signal.SIGKILL:
            told["killed"] += 1
            told["unfinished"] += 0 < len(list(out.glob("part-*"))) < len(list(whole.glob("part-*")))
        elif status:
            raise RuntimeError(f"a run failed after {told['killed']} kills")
        else:
            told["finished"] += 1
            if contents(whole) != contents(out):
                raise RuntimeError(f"another result after {told['killed']} kills")
            if told["killed"] >= rounds:
                return told
            shutil.rmtree(out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    paths = [Path(argument) for argument in sys.argv[1:4]]
    rounds = kill_rounds(*paths, int(sys.argv[4]), seed=int((*sys.argv, "1")[5]))
    sys.stdout.write(json.dumps(rounds) + "\n")
