"""Whether all instruction sets of this machine give the same parses: `python -m benchmarks.instruction_sets [MODEL]`.

Sentences of GUM's dev part (`H3N_DATA` names the folder of treebanks) are parsed in 8 bits with each of them; results
are compared with their scores and confidences, to the last bit. With --emulated those of x86 that this machine lacks
are compared, too: SIMDe computes them in plain C++, which takes some minutes. A small part of this is a test.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks._emulation import build_layers, missing
from h3n import formats
from h3n.config import expand

if TYPE_CHECKING:
    from h3n.parser import Result


def parse_with_all(
    model: str, sentences: Sequence[str | list[str]], *, skipped: Container[str] = ()
) -> dict[str, list[Result]]:
    """Return the parses in 8 bits by each instruction set but those skipped, the best one first."""
    from h3n.engine.native import targets
    from h3n.parser import load

    parses = {}
    for name in targets():
        if name in skipped:
            continue
        with _chosen(name):
            parser = load(model, precision="int8")
        parses[name] = list(parser.parse(sentences))
    return parses


@contextmanager
def _chosen(name: str) -> Iterator[None]:
    from h3n.engine.native import CHOICE

    before = os.environ.get(CHOICE)
    os.environ[CHOICE] = name
    try:
        yield
    finally:
        del os.environ[CHOICE]
        if before is not None:
            os.environ[CHOICE] = before


GUM = "$H3N_DATA/gum/dev.conllu.xz"


def main(argv: list[str] | None = None) -> int:
    """Print how many parses differ from those of the best instruction set; return 1 if any does."""
    options = argparse.ArgumentParser(prog="benchmarks.instruction_sets", description=__doc__)
    options.add_argument("model", nargs="?", default="en", help="a folder or a name")
    options.add_argument("--sentences", type=int, default=500)
    options.add_argument("--emulated", action="store_true", help="also what this machine lacks, as SIMDe computes it")
    given = options.parse_args(argv)
    if given.emulated and (reason := missing()):
        options.error(f"--emulated: {reason}")
    sentences = [list(s.words) for s in islice(formats.read(expand(GUM)), given.sentences)]
    parses = parse_with_all(given.model, sentences)
    best, *_ = parses.values()
    if given.emulated:
        parses |= parse_emulated(given.model, sentences, skipped=list(parses))
    differing = 0
    for name, found in parses.items():
        count = sum(one != other for one, other in zip(found, best, strict=True))
        print(f"{name:22} {count} of {len(best)} parses differ from those of {next(iter(parses))}")
        differing += count
    return int(differing > 0)


def parse_emulated(model: str, sentences: Sequence[list[str]], *, skipped: Sequence[str]) -> dict[str, list[Result]]:
    """Return the parses by each instruction set of x86 but some, computed by SIMDe."""
    with TemporaryDirectory() as folder, patch("h3n.engine.native._layers", build_layers(Path(folder))):
        parses = parse_with_all(model, sentences, skipped=skipped)
    return {f"{name}, emulated": results for name, results in parses.items()}


if __name__ == "__main__":
    sys.exit(main())
