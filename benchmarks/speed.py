"""How fast a saved parser starts and parses, beside what others need.

`python -m benchmarks.speed MODEL` (a folder or a name) prints the rate and its parts, as `h3n bench speed` does, and

- the start: processor seconds of a cold `h3n parse` up to its first tree, beside those of a process that loads the
  same encoder with transformers and runs it once. Bound: 1.5 times as long.
- with --peers, SuPar's dependency parser followed by its constituency parser on the same sentences, already cut into
  words for them, on one thread as ours. They are untrained. Bound: half our rate.
- the memory that parsing a long file takes at most, measured on a text made here. Bound: 1 GB.

All runs are alternated and the least of each counts, so that the ratio holds on a busy machine too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from h3n.cli.bench_speed import describe, measure
from h3n.models import ENCODER, locate
from h3n.text import segment

START_BOUND = 1.5
PEERS_BOUND = 2.0
MEMORY_BOUND = 1 << 30
ENCODE = """
import sys, torch
from transformers import AutoConfig, AutoModel, AutoTokenizer
from safetensors.torch import load_file
folder, weights = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
model = AutoModel.from_config(AutoConfig.from_pretrained(folder, trust_remote_code=False)).eval()
prefix = "encoder.model."
state = {name.removeprefix(prefix): value for name, value in load_file(weights).items() if name.startswith(prefix)}
model.load_state_dict(state, strict=False)
with torch.inference_mode():
    model(**tokenizer("She is carefully making the cake.", return_tensors="pt"))
"""


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed", description=__doc__)
    parser.add_argument("model", nargs="?", default="en", help="a folder or a name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="runs, of which the fastest counts")
    parser.add_argument("--megabytes", type=float, default=1.0, help="of text for the memory")
    parser.add_argument("--peers", action="store_true", help="also SuPar, if it is installed")
    options = parser.parse_args(argv)
    folder = locate(options.model)
    report_rate(folder, threads=options.threads, repeat=options.repeat)
    exceeded = options.peers and report_peers(folder, repeat=options.repeat)
    exceeded |= report_start(folder, repeat=options.repeat)
    return int(exceeded | report_memory(folder, megabytes=options.megabytes))


def bench_text() -> str:
    return (files("h3n.cli") / "bench_text.txt").read_text(encoding="utf-8").strip()


def report_rate(folder: Path, *, threads: int, repeat: int) -> None:
    from h3n.parser import load

    text = "\n\n".join([bench_text()] * 8)
    for precision in ("float32", "int8"):
        found = measure(load(folder, threads=threads, precision=precision), text, decoder="auto", repeat=repeat)
        settings = {"model": folder.name, "decoder": "auto", "precision": precision, "threads": threads}
        print(describe(found | settings))


def report_peers(folder: Path, *, repeat: int) -> bool:
    """Print the rate of SuPar's two parsers one after the other; return whether ours is below twice that."""
    from benchmarks.training import build_supar
    from h3n.parser import load

    text = "\n\n".join([bench_text()] * 8)
    words = [list(sentence.words) for sentence in segment(text)]
    ours = load(folder, threads=1)
    with tempfile.TemporaryDirectory() as made:
        try:
            peers = [build_supar(kind, made, 1000)[0] for kind in ("biaffine", "crf")]
        except ImportError as error:
            print(f"peers          not measured: {error}")
            return False
        runs: dict[str, Callable[[], object]] = {
            "h3n, text in, both trees out": lambda: deque(ours.parse(text), 0),
            "SuPar biaffine, dependencies": lambda: peers[0].predict(words, verbose=False),
            "SuPar CRF, constituents": lambda: peers[1].predict([[(w, "_") for w in s] for s in words], verbose=False),
        }
        least = dict.fromkeys(runs, float("inf"))
        for _ in range(repeat):
            for name, run in runs.items():
                started = time.process_time()
                run()
                least[name] = min(least[name], time.process_time() - started)
    for name, seconds in least.items():
        print(f"{len(words) / seconds:8.1f} sentences/s   {name}")
    mine, *theirs = least.values()
    print(f"{sum(theirs) / mine:8.2f} times as fast as SuPar's two in sequence (bound: {PEERS_BOUND})")
    return sum(theirs) / mine < PEERS_BOUND


def report_start(folder: Path, *, repeat: int) -> bool:
    """Print the ratio of the two starts; return whether it is above the bound."""
    if not (folder / ENCODER / "config.json").is_file():
        print("start          not measured: the model has no pretrained encoder")
        return False
    ours = [sys.executable, "-m", "h3n", "parse", "--model", str(folder), "--text", "She is carefully making the cake."]
    theirs = [sys.executable, "-c", ENCODE, str(folder / ENCODER), str(folder / "model.safetensors")]
    least = [float("inf"), float("inf")]
    for _ in range(repeat):
        least = [min(old, child(command)) for old, command in zip(least, (ours, theirs), strict=True)]
    ratio = least[0] / least[1]
    print(f"start          h3n {least[0]:.2f} s, transformers {least[1]:.2f} s: {ratio:.2f} (bound: {START_BOUND})")
    return ratio > START_BOUND


def report_memory(folder: Path, *, megabytes: float) -> bool:
    """Print the most memory that a long file took; return whether it is above the bound."""
    text = bench_text()
    # Not `getrusage`, whose most memory of a new process starts with that of the process which started it.
    program = (
        "import re, sys\nfrom pathlib import Path\nfrom h3n.cli import main\n"
        "sys.argv = ['h3n', 'parse', *sys.argv[1:]]\n"
        "try:\n    main()\nfinally:\n"
        "    print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1], file=sys.stderr)\n"
    )
    with tempfile.TemporaryDirectory() as made:
        file, out = Path(made) / "text.txt", Path(made) / "text.conllu"
        file.write_text((text + "\n\n") * max(1, round(megabytes * 1e6 / len(text))), encoding="utf-8")
        command = [sys.executable, "-c", program, str(file), "--model", str(folder), "--threads", "1", "-o", str(out)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    taken = int(json.loads(said.splitlines()[-1])) * 1024
    print(f"memory         {taken / 2**20:.0f} MB for {megabytes:g} MB of text (bound: {MEMORY_BOUND / 2**20:.0f} MB)")
    return taken > MEMORY_BOUND


def child(command: list[str]) -> float:
    """Return the processor time of another program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
