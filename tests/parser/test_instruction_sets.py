"""Every instruction set this machine has gives the same parses, to the last bit of their scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

import h3n
from benchmarks.instruction_sets import parse_with_all
from h3n import formats
from h3n.engine import native
from h3n.errors import UsageError

COUNT, LONGEST = 40, 25  # sentences, and words in each
TEXT = (
    "She is carefully making the cake that her brother, who never eats any, asked for. Who knows? "
    "On Monday, the 2 committees -- neither of which had met since 1994 -- voted to 'suspend' Mr. O'Neill's licence. "
    "Colourless green ideas sleep furiously."
)


def sentences() -> Sequence[str | list[str]]:
    """Return sentences of a treebank, or a few where there is none; `benchmarks.instruction_sets` takes many more."""
    folder = os.environ.get("H3N_DATA")
    if not folder:
        return [TEXT]
    short = (s for s in formats.read(Path(folder) / "gum/dev.conllu.xz") if len(s) <= LONGEST)
    return [TEXT, *(list(s.words) for s in islice(short, COUNT))]


@pytest.mark.skipif(len(native.targets()) < 2, reason="this machine has one instruction set, or no native layers")
def test_all_instruction_sets_give_the_same_trees() -> None:
    first, *others = parse_with_all("en", sentences()).values()
    assert all(len(parse.spans) and len(parse.arcs) for parse in first if len(parse.sentence.words) > 3)
    for other in others:
        assert other == first


def test_instruction_sets_may_be_skipped() -> None:
    first, *others = native.targets()
    assert list(parse_with_all("en", ["Who knows?"], skipped=others)) == [first]


def test_an_unknown_instruction_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ", ".join(native.targets())
    monkeypatch.setenv("H3N_ISA", "mmx")
    with pytest.raises(UsageError, match=f"^H3N_ISA is 'mmx'; accepted on this machine: {known}$"):
        h3n.load("en", precision="int8")
