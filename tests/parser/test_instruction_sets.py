"""Every instruction set this machine has gives the same parses, to the last bit of their scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

import h3n
from h3n import formats
from h3n.errors import UsageError
from h3n.model import native

TEXT = (
    "She is carefully making the cake that her brother, who never eats any, asked for. Who knows? "
    "On Monday, the 2 committees -- neither of which had met since 1994 -- voted to 'suspend' Mr. O'Neill's licence. "
    "Colourless green ideas sleep furiously."
)


def sentences() -> Sequence[str | list[str]]:
    """Return 500 sentences of a treebank, or a few where there is none."""
    folder = os.environ.get("H3N_DATA")
    if not folder:
        return [TEXT]
    return [list(s.words) for s in islice(formats.read(Path(folder) / "gum/dev.conllu.xz"), 500)]


@pytest.mark.skipif(len(native.targets()) < 2, reason="this machine has one instruction set, or no native layers")
def test_all_instruction_sets_give_the_same_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    parses = {}
    for name in native.targets():
        monkeypatch.setenv("H3N_ISA", name)
        parses[name] = list(h3n.load("en", precision="int8").parse(sentences()))
    first, *others = parses.values()
    assert all(len(parse.spans) and len(parse.arcs) for parse in first if len(parse.sentence.words) > 3)
    for other in others:
        assert other == first


def test_an_unknown_instruction_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ", ".join(native.targets())
    monkeypatch.setenv("H3N_ISA", "mmx")
    with pytest.raises(UsageError, match=f"^H3N_ISA is 'mmx'; accepted on this machine: {known}$"):
        h3n.load("en", precision="int8")
