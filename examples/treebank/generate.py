"""Write the example treebank: sentences of a small English-like grammar with both trees.

    python examples/treebank/generate.py

The grammar is in h3n/experiments/grammar.py.
"""

from __future__ import annotations

from pathlib import Path

from h3n.experiments.grammar import write_treebank

if __name__ == "__main__":
    write_treebank(Path(__file__).parent, sentences={"train": 200, "dev": 50}, seed=7)
