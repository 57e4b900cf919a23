"""`make fuzz`: many damaged inputs for every part, and what came of them.

    python -m tests.fuzz --inputs 100000 --seed 1 --log fuzz.jsonl
    python -m tests.fuzz --minutes 10 --only conllu,text --keep findings/

With `--inputs` the inputs are always the same, and targets that take little time get most of them; with `--minutes` all
targets get equal times. With `--log` the counts of several runs add up in a file. Exit code 1 if something was found: a
traceback, a loss, or an input that takes more than five seconds. Each finding can be kept as a file; put into
tests/fuzz/findings under the name TARGET-WHAT, it is tried with every run of the tests.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

from tests.fuzz.driver import Counts, fuzz, portions
from tests.fuzz.everything import ALL


def main() -> int:
    """Fuzz all parts."""
    options = _options()
    for kind in (FutureWarning, RuntimeWarning):  # lines that a user would see
        warnings.simplefilter("error", kind)
    targets = {name: ALL[name] for name in options.only.split(",")}
    wanted: dict[str, int | None] = dict.fromkeys(targets)
    seconds = 60 * options.minutes / len(targets)
    if options.inputs is not None:
        wanted, seconds = {**portions(targets, options.inputs)}, None
    total, found = 0, 0
    for name, target in targets.items():
        started = time.process_time()
        counts = fuzz(name, target, seed=options.seed, inputs=wanted[name], seconds=seconds)
        used = time.process_time() - started
        outcome = f"{counts.inputs} inputs, {counts.refused} refused, {len(counts.findings)} findings"
        print(f"{name}: {outcome}, {used:.0f} s", flush=True)
        _report(counts, options.keep)
        _log(options.log, options.seed, name, counts)
        total, found = total + counts.inputs, found + len(counts.findings)
    print(f"in all: {total} inputs, {found} findings (seed {options.seed})")
    _sum_up(options.log)
    return int(found > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--inputs", type=int, help="so many in all, in place of a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(ALL), help=f"of: {', '.join(ALL)}")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs with which something went wrong")
    parser.add_argument("--log", type=Path, help="a file in which the counts of several runs add up")
    return parser.parse_args()


def _report(counts: Counts, keep: Path | None) -> None:
    for number, finding in enumerate(counts.findings):
        print(f"  {finding.kind}: {finding.said}\n  input: {finding.content[:300]!r}", flush=True)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{finding.target}-{number}").write_bytes(finding.content)


def _log(log: Path | None, seed: int, name: str, counts: Counts) -> None:
    if log is not None:
        line = {"seed": seed, "target": name, "inputs": counts.inputs, "findings": len(counts.findings)}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _sum_up(log: Path | None) -> None:
    """Print what all runs of a log tried; what one seed tried twice counts once."""
    if log is None:
        return
    most: dict[tuple[int, str], int] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = (row["seed"], row["target"])
        most[key] = max(most.get(key, 0), row["inputs"])
    by_target: Counter[str] = Counter()
    for (_, name), inputs in most.items():
        by_target[name] += inputs
    listed = ", ".join(f"{name} {inputs}" for name, inputs in by_target.items())
    print(f"in all runs, {len({seed for seed, _ in most})} seeds: {by_target.total()} inputs ({listed})")


if __name__ == "__main__":
    sys.exit(main())
