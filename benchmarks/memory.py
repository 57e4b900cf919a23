"""How much memory commands take on large files, each in a process of its own.

`python -m benchmarks.memory --megabytes 100` makes treebanks of that size from the examples, runs `validate`, `stats`,
`convert` and `evaluate` on them, `parse` on a text of `--text-megabytes`, and prints the most memory that each held at
once. Bound: 600 MB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from h3n.measure.samples import plain_text

BOUND = 600.0  # MB
EXAMPLES = Path(__file__).parents[1] / "examples" / "treebank"


def repeat(content: bytes, target: Path, size: float) -> None:
    """Write the content again and again, until the file has so many megabytes."""
    with target.open("wb") as file:
        while file.tell() < size * 1e6:
            file.write(content)


def peak(arguments: list[str]) -> tuple[float, float]:
    """Return the most memory, in MB, that a command of h3n held, and its processor time in seconds."""
    process = subprocess.Popen([sys.executable, "-m", "h3n", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"h3n {' '.join(arguments)}: exit code {process.returncode}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def commands(folder: Path, size: float, text_size: float, model: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what is run, by name; the files are made on the way."""
    brackets, rows, text = folder / "a.ptb", folder / "a.conllu", folder / "a.txt"
    repeat((EXAMPLES / "train.ptb").read_bytes(), brackets, size)
    repeat((EXAMPLES / "train.conllu").read_bytes(), rows, size)
    yield "validate brackets", ["validate", str(brackets)]
    yield "validate CoNLL-U", ["validate", str(rows)]
    yield "stats brackets", ["stats", str(brackets)]
    yield "convert brackets to JSON lines", ["convert", str(brackets), str(folder / "b.jsonl")]
    (folder / "b.jsonl").unlink(missing_ok=True)
    yield "convert CoNLL-U to CoNLL-X", ["convert", str(rows), str(folder / "b.conllx")]
    (folder / "b.conllx").unlink(missing_ok=True)
    yield "evaluate brackets", ["evaluate", str(brackets), str(brackets)]
    yield "evaluate CoNLL-U", ["evaluate", str(rows), str(rows)]
    repeat(plain_text().encode() + b"\n\n", text, text_size)
    output = str(folder / "c.conllu")
    yield f"parse text of {text_size:g} MB", ["parse", str(text), "-o", output, "--model", model, "--threads", "1"]


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 1 if the bound is exceeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.memory", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100.0)
    parser.add_argument("--text-megabytes", type=float, default=1.0)
    parser.add_argument("--model", default="en")
    parser.add_argument("--only", default="", help="commands whose name contains this")
    options = parser.parse_args(argv)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in commands(Path(folder), options.megabytes, options.text_megabytes, options.model):
            if options.only not in name:
                continue
            held, seconds = peak(arguments)
            worst = max(worst, held)
            print(f"{name}: {held:.0f} MB, {seconds:.0f} s of processor time", flush=True)
    print(f"bound: {BOUND:.0f} MB")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
