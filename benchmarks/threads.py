"""How much two threads gain in `h3n parse`: `python -m benchmarks.threads [MODEL]`.

Sentences of GUM's dev part (`H3N_DATA` names the folder of treebanks; without it our own sample) are parsed to CoNLL-U
by the command, in a process of its own each time, with one thread and with several, in turns; the fastest of each
counts. The time to start and load the model is the same for both, and is taken off: it is that of a run on one
sentence. Wall-clock time, so the machine must have nothing else to do. Bound: 1.85 times with two threads. Beside it
stands what the machine itself gains: as many processes of one thread at once, which share nothing but its caches.

With ``--held`` only the processor time is looked at, which a busy machine leaves nearly alone: what several threads use
more than one, and the bound that this alone sets to the gain.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

from benchmarks._processes import children_clock, run_quietly
from h3n import formats, text
from h3n.measure.samples import plain_text
from h3n.measure.timing import least_in_turns

BOUND = 1.85  # with two threads


def lines_of_sample(count: int) -> list[str]:
    """Return so many sentences, each as a line of text, again from the first where there are fewer."""
    folder = os.environ.get("H3N_DATA")
    sentences = formats.read(Path(folder) / "gum/dev.conllu.xz") if folder else text.segment(plain_text())
    return list(islice(cycle([" ".join(sentence.words) for sentence in islice(sentences, count)]), count))


def command(model: str, source: Path, target: Path, threads: int) -> list[str]:
    """Return the command that parses one sentence a line."""
    options = ["--model", model, "--threads", str(threads), "--from", "words", "--output", str(target)]
    return [sys.executable, "-m", "h3n", "parse", *options, str(source)]


def run_together(commands: Sequence[Sequence[str]]) -> None:
    """Run programs at the same time."""
    with ThreadPoolExecutor(len(commands)) as pool:
        list(pool.map(run_quietly, commands))


def measure(model: str, count: int, threads: int, *, repeat: int, clock: Callable[[], float]) -> dict[str, float]:
    """Return the seconds of a start, part of all others: one thread, several, and as many processes at once."""
    lines = lines_of_sample(count)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, many = folder / "one.txt", folder / "many.txt"
        one.write_text(lines[0] + "\n", encoding="utf-8")
        many.write_text("\n".join(lines) + "\n", encoding="utf-8")
        runs = {
            "start": [command(model, one, folder / "start.conllu", 1)],
            "single": [command(model, many, folder / "single.conllu", 1)],
            "several": [command(model, many, folder / "several.conllu", threads)],
            "processes": [command(model, many, folder / f"{copy}.conllu", 1) for copy in range(threads)],
        }
        actions = {label: lambda together=together: run_together(together) for label, together in runs.items()}
        seconds = least_in_turns(actions, repeat=repeat, clock=clock)
        if (folder / "single.conllu").read_bytes() != (folder / "several.conllu").read_bytes():
            raise SystemExit("one thread and several gave different output")
    return seconds


def main(argv: list[str] | None = None) -> int:
    """Print the gain; return 1 if two threads miss the bound."""
    options = argparse.ArgumentParser(prog="benchmarks.threads", description=__doc__)
    options.add_argument("model", nargs="?", default="en", help="a folder or a name")
    options.add_argument("--sentences", type=int, default=2000)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--held", action="store_true", help="processor time alone, for a busy machine")
    given = options.parse_args(argv)
    clock = children_clock if given.held else time.perf_counter
    seconds = measure(given.model, given.sentences, given.threads, repeat=given.repeat, clock=clock)
    start, single, several, processes = seconds.values()
    ratio = (single - start) / (several - start)
    kind = "processor" if given.held else "wall-clock"
    print(f"{given.sentences} sentences, {kind} seconds: start {start:.2f}, 1 thread {single:.2f}, ", end="")
    print(f"{given.threads} threads {several:.2f}")
    if given.held:
        print(f"{given.threads} threads use {1 / ratio:.3f} times the processor time of one, ", end="")
        print(f"so that they gain {given.threads * ratio:.2f} times at most")
        return 0
    print(f"{ratio:.2f} times as fast with {given.threads} threads (bound with two: {BOUND}); ", end="")
    machine = given.threads * (single - start) / (processes - start)
    print(f"{given.threads} processes at once get {machine:.2f} times as much done as one")
    return int(given.threads == 2 and ratio < BOUND)


if __name__ == "__main__":
    sys.exit(main())
