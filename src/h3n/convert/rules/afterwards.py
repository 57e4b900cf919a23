"""Corrections once all arcs are there, by name from the scheme file's section ``[afterwards]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from h3n.convert.rules.nodes import Node
from h3n.errors import FormatError, Place


@dataclass(slots=True)
class Arcs:
    """Governors and relations as they stand; ``tops`` is the highest node each word heads."""

    governors: list[int]
    relations: list[str]
    tops: Sequence[Node]

    def dependents(self, governor: int) -> list[int]:
        """Return the words this word governs."""
        return [word for word, other in enumerate(self.governors) if other == governor]

    def has_dependent(self, governor: int, relations: Sequence[str]) -> bool:
        """Return whether this word governs one with such a relation."""
        return any(self.relations[word] in relations for word in self.dependents(governor))


Correction: TypeAlias = Callable[[Arcs], None]


def _rename(old: str, new: str, *, sister: str = "") -> Correction:
    def correct(arcs: Arcs) -> None:
        for word, relation in enumerate(arcs.relations):
            if relation == old and (not sister or arcs.has_dependent(arcs.governors[word], (sister,))):
                arcs.relations[word] = new

    return correct


def _stranded(relative: str, preposition: str, objects: Sequence[str]) -> Correction:
    """The relative pronoun becomes the object of a preposition left without one: "the house which we lived in"."""

    def correct(arcs: Arcs) -> None:
        for word, relation in enumerate(arcs.relations):
            if relation != relative:
                continue
            for other in arcs.dependents(arcs.governors[word]):
                if arcs.relations[other] == preposition and not arcs.has_dependent(other, objects):
                    arcs.governors[word], arcs.relations[word] = other, objects[0]
                    break

    return correct


CORRECTIONS = {
    "rename": "rename OLD NEW, optionally 'beside RELATION': only where the governor has such a dependent",
    "stranded": "stranded RELATIVE PREPOSITION OBJECT [OBJECT ...]",
}


def parse_correction(text: str, place: Place) -> Correction:
    """Return the correction of one line of the section."""
    match text.split():
        case ["rename", old, new]:
            return _rename(old, new)
        case ["rename", old, new, "beside", sister]:
            return _rename(old, new, sister=sister)
        case ["stranded", relative, preposition, *objects] if objects:
            return _stranded(relative, preposition, objects)
    raise FormatError(place, f"the correction {text!r}", "; or ".join(CORRECTIONS.values()))
