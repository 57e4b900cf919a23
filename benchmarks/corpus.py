"""`h3n corpus parse` with one and two workers and on Ray: rate, processor time, memory of a worker, the same bytes.

    python -m benchmarks.corpus LINES [--sentences 20000] [--workers 1,2] [--model en] [--no-ray]

LINES has a sentence on each line, words between blanks; it is repeated until there are enough. The rate is that of the
time between the beginning of the first shard and the end of the last; start is what comes before and after. Processor
time is that of the shards alone, which a busy machine changes less than the rate.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

EVERY = 5.0  # seconds between two looks at the memory, each of which takes a processor for a moment


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        lines = options.lines.read_text(encoding="utf-8").splitlines(keepends=True)
        (work / "input.txt").write_text("".join(islice(cycle(lines), options.sentences)), encoding="utf-8")
        runs = [("local", workers) for workers in options.workers]
        runs += [] if options.no_ray else [("ray", max(options.workers))]
        rows = [_measure(work, engine, workers, model=options.model) for engine, workers in runs]
    print(json.dumps(rows, indent=2) if options.json else _table(rows))
    return 0 if len({row["bytes"] for row in rows}) == 1 else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus")
    parser.add_argument("lines", type=Path)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--workers", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2])
    parser.add_argument("--model", default="en")
    parser.add_argument("--no-ray", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _measure(work: Path, engine: str, workers: int, *, model: str) -> dict[str, Any]:
    out = work / f"{engine}-{workers}"
    command = [sys.executable, "-m", "h3n", "corpus", "parse", str(work / "input.txt"), "--from", "words"]
    command += ["--out", str(out), "--model", model, "--engine", engine, "--workers", str(workers)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    began = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        memory = _watch(process)
        if process.wait():
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
    total = time.monotonic() - began
    records = [json.loads(file.read_text()) for file in sorted((out / "progress").glob("*.json"))]
    seconds = max(record["ended"] for record in records) - min(record["began"] for record in records)
    sentences = sum(record["counts"]["sentences"] for record in records)
    processor = sum(record["processor"] for record in records)
    return {
        "engine": engine,
        "workers": workers,
        "sentences": sentences,
        "sentences_per_second": round(sentences / seconds, 1),
        "start_seconds": round(total - seconds, 1),
        "processor_milliseconds_per_sentence": round(1000 * processor / sentences, 3),
        "worker_megabytes": round(memory["own"] / 1024),
        "worker_megabytes_with_shared": round(memory["share"] / 1024),
        "bytes": hash(tuple(file.read_bytes() for file in sorted(out.glob("part-*")))),
    }


def _watch(process: subprocess.Popen[bytes]) -> dict[str, int]:
    """Look at the memory of the processes below one while it runs; the most a worker had, in kilobytes."""
    most: dict[int, dict[str, int]] = {}
    parents: set[int] = set()
    while process.poll() is None:
        family = _family(process.pid)
        parents |= set(family.values())
        for number in family:
            for name, size in _memory(number).items():
                before = most.setdefault(number, {"own": 0, "share": 0})
                before[name] = max(before[name], size)
        time.sleep(EVERY)
    # A worker has no children; where there is one alone, it is the process itself.
    workers = [sizes for number, sizes in most.items() if number not in parents]
    return {name: max(sizes[name] for sizes in workers) for name in ("own", "share")}


def _family(number: int) -> dict[int, int]:
    """Return a process and all below it, each with its parent."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it has ended meanwhile
    family = {number: 0}
    for _ in range(5):
        family |= {one: parent for one, parent in parents.items() if parent in family}
    return family


def _memory(number: int) -> dict[str, int]:
    """Return the memory of a process's own, and with its share of what several have, in kilobytes."""
    try:
        lines = (Path("/proc") / str(number) / "smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines if ":" in line}
    return {"own": sizes.get("Private_Clean", 0) + sizes.get("Private_Dirty", 0), "share": sizes.get("Pss", 0)}


def _table(rows: Sequence[dict[str, Any]]) -> str:
    names = [name for name in rows[0] if name != "bytes"]
    lines = ["| " + " | ".join(name.replace("_", " ") for name in names) + " |", "|---" * len(names) + "|"]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    same = "the same bytes" if len({row["bytes"] for row in rows}) == 1 else "DIFFERENT BYTES"
    return "\n".join([*lines, "", same])


if __name__ == "__main__":
    sys.exit(main())
