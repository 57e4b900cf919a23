"""Kill a worker, or a node of a Ray cluster, at random moments, and compare what comes out with an undisturbed run.

    python -m tests.corpus.losing worker|node MODEL TEXTS FOLDER ROUNDS [SEED]

In each round one is killed with signal 9; the run has to go on by itself, without being started again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from h3n.corpus import Options, parse_corpus
from tests.corpus.conftest import contents, processes_of

SMALL = Options(shard_size=300)
POLL = 0.02  # seconds


def run_losing_a_worker(model: Path, texts: Path, out: Path, *, wait: float) -> bool:
    """Parse with two workers of which one is killed after so many seconds; return whether there was one to kill."""
    command = [sys.executable, "-m", "h3n", "corpus", "parse", str(texts), "--out", str(out), "--model", str(model)]
    command += ["--workers", "2", "--shard-size", str(SMALL.shard_size)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as driver:
        while not (workers := workers_of(driver.pid)) and driver.poll() is None:
            time.sleep(POLL)
        time.sleep(wait)
        workers = workers_of(driver.pid) or workers
        killed = False
        if workers and driver.poll() is None:
            try:
                os.kill(random.Random(wait).choice(workers), signal.SIGKILL)
                killed = True
            except ProcessLookupError:
                pass  # it was done
        _, said = driver.communicate()
    if driver.returncode:
        raise RuntimeError(f"the run did not go on: {said[-2000:]}")
    return killed


def workers_of(driver: int) -> list[int]:
    """Return the processes that parse: children of the server that they are forked from."""
    below = processes_of(driver)
    servers = [number for number, said in below.items() if "forkserver" in said]
    return [number for number in below for server in servers if number in processes_of(server)]


def losing_a_node() -> tuple[Callable[..., bool], Callable[[], None]]:
    """Return what parses on a cluster that loses a node, and what ends the cluster."""
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})

    def run(model: Path, texts: Path, out: Path, *, wait: float) -> bool:
        lost = cluster.add_node(**node)
        cluster.wait_for_nodes()
        began = threading.Event()
        ended = threading.Event()
        killed: list[bool] = []

        def lose() -> None:
            began.wait()
            killed.append(not ended.wait(wait))
            cluster.remove_node(lost, allow_graceful=False)  # kills its processes with signal 9

        thread = threading.Thread(target=lose)
        thread.start()
        try:
            parse_corpus(
                [str(texts)],
                out,
                model=str(model),
                options=SMALL,
                engine="ray",
                address=cluster.address,
                on_progress=lambda _: began.set(),
            )
        finally:
            ended.set()
            began.set()
            thread.join()
        return killed[0]

    def end() -> None:
        ray.shutdown()
        cluster.shutdown()

    return run, end


def lose_rounds(who: str, model: Path, texts: Path, folder: Path, rounds: int, *, seed: int = 1) -> dict[str, int]:
    """Return how many were killed, and how many runs there were; every one had the bytes of an undisturbed run."""
    chance = random.Random(seed)
    whole, out = folder / "whole", folder / "lost"
    began = time.monotonic()
    parse_corpus([str(texts)], whole, model=str(model), options=SMALL, workers=1)
    longest = time.monotonic() - began
    run, end = (run_losing_a_worker, lambda: None) if who == "worker" else losing_a_node()
    told = {"killed": 0, "runs": 0}
    try:
        while told["killed"] < rounds:
            told["killed"] += run(model, texts, out, wait=chance.uniform(0, longest / 2))
            told["runs"] += 1
            sys.stderr.write(f"{json.dumps(told)}\n")
            if contents(whole) != contents(out):
                raise RuntimeError(f"another result in run {told['runs']}")
            shutil.rmtree(out)
    finally:
        end()
    return told


if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    who, *paths = sys.argv[1:5]
    rounds = lose_rounds(who, *(Path(path) for path in paths), int(sys.argv[5]), seed=int((*sys.argv, "1")[6]))
    sys.stdout.write(json.dumps(rounds) + "\n")
