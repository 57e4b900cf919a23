"""How fast a saved parser starts and parses, beside what others need.

`python -m benchmarks.speed MODEL` (a folder or a name) prints the rate and its parts, as
`h3n bench speed --profile` does, and

- the start: processor seconds of a cold `h3n parse` up to its first tree, beside those of a process that loads the
  same encoder with transformers and runs it once. Bound: 1.5 times as long.
- with --peers, SuPar's dependency parser followed by its constituency parser on the same sentences, already cut into
  words for them, on one thread as ours. They are untrained. Bound: half our rate. And a pipeline of spaCy on the text.
- the memory that parsing a long file takes at most, measured on a text made here. Bound: 400 MB.

All runs are alternated and the least of each counts, so that the ratio holds on a busy machine too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks._other_parsers import compare_with_spacy, compare_with_supar
from benchmarks._processes import children_clock, peak_memory, run_quietly
from benchmarks.training import training_files
from h3n.config import Treebank
from h3n.measure.parsing import describe_parsing, measure_parsing
from h3n.measure.samples import plain_text
from h3n.measure.timing import least_in_turns
from h3n.models import ENCODER, WEIGHTS, locate
from h3n.parser import load
from h3n.text import segment

SENTENCE = "She is carefully making the cake."
# A process that loads a pretrained encoder with transformers and runs it once.
ENCODE = f"""
import sys, torch
from transformers import AutoConfig, AutoModel, AutoTokenizer
from safetensors.torch import load_file
folder, weights = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
model = AutoModel.from_config(AutoConfig.from_pretrained(folder, trust_remote_code=False)).eval()
prefix = "encoder.model."
state = {{name.removeprefix(prefix): value for name, value in load_file(weights).items() if name.startswith(prefix)}}
model.load_state_dict(state, strict=False)
with torch.inference_mode():
    model(**tokenizer({SENTENCE!r}, return_tensors="pt"))
"""
PARSE = "from h3n.cli import main; sys.argv = ['h3n', 'parse', *sys.argv[1:]]; main()"


def has_encoder(folder: Path) -> bool:
    """Return whether a model has a pretrained encoder to compare its start with."""
    return (folder / ENCODER / "config.json").is_file()


def measure_start(folder: Path, *, repeat: int) -> dict[str, float]:
    """Return processor seconds of a cold ``h3n parse``, and of loading and running its encoder with transformers."""
    ours = [sys.executable, "-m", "h3n", "parse", "--model", str(folder), "--text", SENTENCE]
    theirs = [sys.executable, "-c", ENCODE, str(folder / ENCODER), str(folder / WEIGHTS)]
    actions = {"h3n": partial(run_quietly, ours), "transformers": partial(run_quietly, theirs)}
    return least_in_turns(actions, repeat=repeat, clock=children_clock)


def measure_memory(folder: Path, text: str, *, megabytes: float) -> int:
    """Return the most memory in bytes that ``h3n parse`` takes for a text repeated to so many megabytes."""
    with tempfile.TemporaryDirectory() as scratch:
        file, out = Path(scratch) / "text.txt", Path(scratch) / "text.conllu"
        file.write_text((text + "\n\n") * max(1, round(megabytes * 1e6 / len(text))), encoding="utf-8")
        return peak_memory(PARSE, [str(file), "--model", str(folder), "--threads", "1", "-o", str(out)])


START_BOUND = 1.5
PEERS_BOUND = 2.0
MEMORY_BOUND = 400 << 20


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed", description=__doc__)
    parser.add_argument("model", nargs="?", default="en", help="a folder or a name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="runs, of which the fastest counts")
    parser.add_argument("--megabytes", type=float, default=1.0, help="of text for the memory")
    parser.add_argument("--peers", action="store_true", help="also SuPar and spaCy, if they are installed")
    parser.add_argument("--spacy", default="en_core_web_sm", help="with --peers: spaCy's pipeline, a name or a folder")
    options = parser.parse_args(argv)
    folder = locate(options.model)
    report_rate(folder, threads=options.threads, repeat=options.repeat)
    exceeded = options.peers and report_peers(folder, repeat=options.repeat)
    if options.peers:
        report_spacy(folder, options.spacy, repeat=options.repeat)
    exceeded |= report_start(folder, repeat=options.repeat)
    return int(exceeded | report_memory(folder, megabytes=options.megabytes))


def report_rate(folder: Path, *, threads: int, repeat: int) -> None:
    """Print the rate in both precisions and its parts."""
    text = "\n\n".join([plain_text()] * 8)
    for precision in ("float32", "int8"):
        parser = load(folder, threads=threads, precision=precision)
        measured = {"model": folder.name} | measure_parsing(parser, text, decoder="auto", repeat=repeat, profile=True)
        print(describe_parsing(measured))


def report_peers(folder: Path, *, repeat: int) -> bool:
    """Print rates of SuPar's parsers beside ours; return whether the ratio is below the bound."""
    text = "\n\n".join([plain_text()] * 8)
    count = sum(1 for _ in segment(text))
    try:
        times = compare_with_supar(
            load(folder, threads=1), text, treebank=Treebank(files=training_files(), limit=1000), repeat=repeat
        )
    except ImportError as error:
        print(f"peers          not measured: {error}")
        return False
    for name, seconds in times.items():
        print(f"{count / seconds:8.1f} sentences/s   {name}")
    ours, *theirs = times.values()
    print(f"{sum(theirs) / ours:8.2f} times as fast as SuPar's two in sequence (bound: {PEERS_BOUND})")
    return sum(theirs) / ours < PEERS_BOUND


def report_spacy(folder: Path, name: str, *, repeat: int) -> None:
    """Print rates of a spaCy pipeline beside ours, in the same turns."""
    text = "\n\n".join([plain_text()] * 8)
    count = sum(1 for _ in segment(text))
    try:
        times = compare_with_spacy(load(folder, threads=1), name, text, repeat=repeat)
    except (ImportError, OSError) as error:
        print(f"spaCy          not measured: {str(error).splitlines()[0]}")
        return
    ours, *_ = times.values()
    for what, seconds in times.items():
        print(f"{count / seconds:8.1f} sentences/s   {what}: h3n is {seconds / ours:.2f} times as fast")


def report_start(folder: Path, *, repeat: int) -> bool:
    """Print the ratio of the two starts; return whether it is above the bound."""
    if not has_encoder(folder):
        print("start          not measured: the model has no pretrained encoder")
        return False
    ours, theirs = measure_start(folder, repeat=repeat).values()
    print(f"start          h3n {ours:.2f} s, transformers {theirs:.2f} s: {ours / theirs:.2f} (bound: {START_BOUND})")
    return ours / theirs > START_BOUND


def report_memory(folder: Path, *, megabytes: float) -> bool:
    """Print the most memory that a long file took; return whether it is above the bound."""
    taken = measure_memory(folder, plain_text(), megabytes=megabytes)
    print(f"memory         {taken / 2**20:.0f} MB for {megabytes:g} MB of text (bound: {MEMORY_BOUND / 2**20:.0f} MB)")
    return taken > MEMORY_BOUND


if __name__ == "__main__":
    sys.exit(main())
