"""How fast h3n reads treebanks beside NLTK and the package `conllu`, from text in memory.

Both readers build every tree and keep none. Ours also checks what it reads and collects words and tags.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from h3n import formats
from h3n.measure.timing import least_in_turns


def compare_readers(name: str, text: str, *, repeat: int) -> dict[str, Any]:
    """Return processor seconds of our reader of a format and of the other one, and their ratio."""
    other, read = OTHERS[name]
    times = least_in_turns({"h3n": lambda: _ours(text, name), other: lambda: read(text)}, repeat=repeat)
    return {
        "sentences": _ours(text, name),
        "other": other,
        "h3n_seconds": round(times["h3n"], 4),
        "other_seconds": round(times[other], 4),
        "ratio": round(times[other] / times["h3n"], 2),
    }


def _ours(text: str, name: str) -> int:
    return sum(1 for _ in formats.read(io.StringIO(text), format=name))


def _nltk(text: str) -> int:
    from nltk import Tree

    return sum(1 for line in text.splitlines() if Tree.fromstring(line) is not None)


def _conllu(text: str) -> int:
    import conllu

    return sum(1 for _ in conllu.parse_incr(io.StringIO(text)))


OTHERS: dict[str, tuple[str, Callable[[str], int]]] = {"brackets": ("nltk", _nltk), "conllu": ("conllu", _conllu)}
