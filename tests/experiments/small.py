"""An experiment that is trained in seconds."""

from __future__ import annotations

from typing import Any

from h3n.experiments.catalogue import parse_experiment

SMALL = """
title = "A title"
question = "A question?"
[[train]]
files = ["FOLDER/train.ptb", "{made}/train.conllu"]
[[make]]
source = "FOLDER/train.ptb"
target = "{made}/train.conllu"
scheme = "ud2"
[[dev]]
name = "small dev"
files = ["FOLDER/dev.ptb", "FOLDER/dev.conllu"]
[[dev]]
name = "small test"
files = ["FOLDER/dev.ptb", "FOLDER/dev.conllu"]
test = true
[options]
preset = "small"
training = { epochs = 1, checks = 1, tune = false, threads = 1, device = "cpu" }
encoder = { layers = { count = 1, size = 32, heads = 2, head_size = 16, inner = 32 } }
scorers = { span = 16, pair = 16, arc = 16, relation = 16, head = 16, tag = 16 }
batches = { words = 150 }
[[runs]]
name = "joint"
[[runs]]
name = "phrases"
learns = ["constituents"]
seeds = [1, 2]
[[rows]]
label = "joint: H3n"
run = "joint"
decoder = "h3n"
[[rows]]
label = "joint: CKY and MST"
run = "joint"
decoder = "cky+mst"
[[rows]]
label = "phrases: CKY"
run = "phrases"
decoder = "cky"
"""


def parse(text: str) -> Any:
    """Return the experiment of a data file's text."""
    return parse_experiment(text, name="small", source="small.toml")
