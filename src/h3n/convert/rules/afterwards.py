"""Corrections once all arcs are there, by name from the scheme file's section ``[afterwards]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from h3n.convert.rules.nodes import Node
from h3n.convert.rules.patterns import Vocabulary, Words
from h3n.errors import FormatError, Place
from h3n.trees import ROOT


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

    def is_below(self, word: int, governor: int) -> bool:
        """Return whether this word governs the other one, itself or through others."""
        while word not in (governor, ROOT):
            word = self.governors[word]
        return word == governor


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


def _stranded_case(pronouns: Sequence[str], preposition: str, case: str, nominal: str) -> Correction:
    """A preposition left alone marks an earlier relative pronoun or adjunct: "the house which we lived in"."""

    def correct(arcs: Arcs) -> None:
        for word, relation in enumerate(arcs.relations):
            if relation != preposition:
                continue
            for other in arcs.dependents(arcs.governors[word]):
                if other < word and arcs.relations[other] in pronouns:
                    arcs.governors[word], arcs.relations[word] = other, case
                    arcs.relations[other] = nominal
                    break

    return correct


def _control_object(
    relations: Sequence[str], labels: Sequence[str], clause: str, renamed: str, *, verbs: Words, other: str = ""
) -> Correction:
    """The question word before a verb with an infinitive is the infinitive's object: "what we try to say".

    So it is where the verb is one of ``verbs``, or has a dependent of the relation ``other`` as well.
    """

    def correct(arcs: Arcs) -> None:
        for word, relation in enumerate(arcs.relations):
            verb = arcs.governors[word]
            if relation not in relations or verb == ROOT or not _has_label(arcs.tops[word], labels):
                continue
            siblings = [sibling for sibling in arcs.dependents(verb) if sibling != word]
            lower = next((sibling for sibling in siblings if arcs.relations[sibling] == clause), None)
            has_other = any(arcs.relations[sibling] == other for sibling in siblings)
            if lower is not None and (has_other or verbs[_leaf(arcs.tops[verb]).form or ""]):
                arcs.governors[word], arcs.relations[word] = lower, renamed

    return correct


def _next_conjunct(conjunction: str, conjunct: str) -> Correction:
    """A conjunction is attached to the conjunct it introduces; one before the first stays: "but cats and dogs"."""

    def correct(arcs: Arcs) -> None:
        for word, relation in enumerate(arcs.relations):
            if relation != conjunction or arcs.governors[word] > word:
                continue
            later = (other for other in arcs.dependents(arcs.governors[word]) if other > word)
            following = next((other for other in later if arcs.relations[other] == conjunct), None)
            if following is not None:
                arcs.governors[word] = following

    return correct


def _previous_word(moved: str) -> Correction:
    """A word with this relation is attached to the word right before it, unless that one is below it."""

    def correct(arcs: Arcs) -> None:
        for word in range(1, len(arcs.relations)):
            if arcs.relations[word] == moved and not arcs.is_below(word - 1, word):
                arcs.governors[word] = word - 1

    return correct


def _final_to_root(moved: str) -> Correction:
    """The last word of the sentence is attached to the root if it has this relation."""

    def correct(arcs: Arcs) -> None:
        if arcs.relations[-1] == moved:
            arcs.governors[-1] = arcs.governors.index(ROOT)

    return correct


def _leaf(node: Node) -> Node:
    while node.head is not None:
        node = node.head
    return node


def _has_label(node: Node, labels: Sequence[str]) -> bool:
    return node.label in labels or _leaf(node).label in labels


CORRECTIONS = {
    "rename": "rename OLD NEW, optionally 'beside RELATION': only where the governor has such a dependent",
    "stranded": "stranded RELATIVE PREPOSITION OBJECT [OBJECT ...]",
    "stranded-case": "stranded-case PRONOUN[,PRONOUN] PREPOSITION CASE NOMINAL",
    "next-conjunct": "next-conjunct CONJUNCTION CONJUNCT",
    "previous-word": "previous-word RELATION",
    "final-to-root": "final-to-root RELATION",
    "control-object": "control-object RELATION[,RELATION] LABEL[,LABEL] CLAUSE OBJECT WORD_LIST, optionally "
    "'or beside RELATION': also where the verb has such a dependent",
}


def parse_correction(text: str, place: Place, vocabulary: Vocabulary) -> Correction:
    """Return the correction of one line of the section."""
    match text.split():
        case ["rename", old, new]:
            return _rename(old, new)
        case ["rename", old, new, "beside", sister]:
            return _rename(old, new, sister=sister)
        case ["stranded", relative, preposition, *objects] if objects:
            return _stranded(relative, preposition, objects)
        case ["stranded-case", pronouns, preposition, case, nominal]:
            return _stranded_case(pronouns.split(","), preposition, case, nominal)
        case ["next-conjunct", conjunction, conjunct]:
            return _next_conjunct(conjunction, conjunct)
        case ["previous-word", moved]:
            return _previous_word(moved)
        case ["final-to-root", moved]:
            return _final_to_root(moved)
        case ["control-object", relations, labels, clause, renamed, verbs, *rest] if verbs in vocabulary.words and (
            not rest or (len(rest) == 3 and rest[:2] == ["or", "beside"])
        ):
            words = Words(vocabulary.words[verbs])
            other = rest[-1] if rest else ""
            return _control_object(relations.split(","), labels.split(","), clause, renamed, verbs=words, other=other)
    raise FormatError(place, f"the correction {text!r}", "; or ".join(CORRECTIONS.values()))
