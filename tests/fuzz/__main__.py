"""`make fuzz`: many damaged inputs for every part, and what came of them.

    python -m tests.fuzz --minutes 10 --seed 1 --only conllu,text --keep findings/

Exit code 1 if something was found: a traceback, a loss, or an input that takes more than five seconds. Each finding can
be kept as a file; put into tests/fuzz/findings under the name TARGET-WHAT, it is tried with every run of the tests.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.driver import Counts, fuzz
from tests.fuzz.service import SERVICE
from tests.fuzz.targets import TARGETS

ALL = TARGETS | SERVICE


def main() -> int:
    """Fuzz all parts for equal times."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(ALL), help=f"of: {', '.join(ALL)}")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs with which something went wrong")
    options = parser.parse_args()
    names = options.only.split(",")
    total, found = 0, 0
    for name in names:
        started = time.process_time()
        counts = fuzz(name, ALL[name], seed=options.seed, seconds=60 * options.minutes / len(names))
        used = time.process_time() - started
        print(
            f"{name}: {counts.inputs} inputs, {counts.refused} refused, {len(counts.findings)} findings, {used:.0f} s"
        )
        _report(counts, options.keep)
        total, found = total + counts.inputs, found + len(counts.findings)
    print(f"in all: {total} inputs, {found} findings (seed {options.seed})")
    return int(found > 0)


def _report(counts: Counts, keep: Path | None) -> None:
    for number, finding in enumerate(counts.findings):
        print(f"  {finding.kind}: {finding.said}\n  input: {finding.content[:300]!r}", flush=True)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{finding.target}-{number}").write_bytes(finding.content)


if __name__ == "__main__":
    sys.exit(main())
