"""What a process that parses takes: the seconds up to its first tree, and memory for a long text."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from h3n.measure.timing import children_clock, least_in_turns, peak_memory, run_quietly
from h3n.models import ENCODER, WEIGHTS

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
