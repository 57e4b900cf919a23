"""The checks of Universal Dependencies that need no data of a language: levels 1 and 2 of its validator, in the main.

Tags, features, relations, the root, multiword ranges and empty nodes, `# sent_id` and `# text`. That the file can be
read at all (columns, numbers, one tree) is checked in reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from h3n.errors import NotUniversal, Place
from h3n.formats.rows import number_of
from h3n.text import spelled
from h3n.trees import ROOT, MultiwordToken, Sentence

_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
_RELATIONS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed
    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
"""
TAGS = tuple(_TAGS.split())
RELATIONS = tuple(_RELATIONS.split())
_RELATION = re.compile(r"[a-z]+(:[a-z]+)?")
_FEATURE = re.compile(r"[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9]*(,[A-Z0-9][A-Za-z0-9]*)*")
_NOTHING = "_"


@dataclass(slots=True)
class Checks:
    """Reports what is wrong with one sentence after another; names must differ in all of them."""

    report: Callable[[NotUniversal], object]
    names: dict[str, Place] = field(default_factory=dict)

    def __call__(self, sentence: Sentence) -> None:
        """Check one sentence."""
        place = sentence.place or Place("sentence", 1)
        rows = _row_lines(sentence, place)
        found = (
            *self._comments(sentence, place),
            *(problem for word in range(len(sentence)) for problem in _word(sentence, word, rows[word])),
            *_inserts(sentence, rows),
        )
        for where, what, expected in found:
            self.report(NotUniversal(where, what, expected))

    def _comments(self, sentence: Sentence, place: Place) -> Iterator[tuple[Place, str, str]]:
        names = _values(sentence, "sent_id")
        if len(names) != 1:
            yield place, f"{len(names)} comments with a sent_id", "one: # sent_id = ..."
        for name in names:
            if not name or re.search(r"\s", name):
                yield place, f"sent_id {name!r}", "a name without blanks"
            if name in self.names:
                yield place, f"sent_id {name!r} again, as at {self.names[name]}", "another name for every sentence"
            self.names.setdefault(name, place)
        texts = _values(sentence, "text")
        if len(texts) != 1:
            yield place, f"{len(texts)} comments with the text", "one: # text = ..."
        elif (difference := _difference(texts[0], spelled(sentence))) is not None:
            yield place, difference, "the words with their spacing (SpaceAfter=No in MISC)"


def _values(sentence: Sentence, key: str) -> list[str]:
    pattern = re.compile(rf"#\s*{key}\s*=\s?(.*)")
    return [match[1] for comment in sentence.comments if (match := pattern.fullmatch(comment))]


def _difference(text: str, words: str) -> str | None:
    if text == words:
        return None
    at = next((i for i, (a, b) in enumerate(zip(text, words, strict=False)) if a != b), min(len(text), len(words)))
    return f"the text goes on with {text[at : at + 20]!r} where the words go on with {words[at : at + 20]!r}"


def _row_lines(sentence: Sentence, place: Place) -> list[Place]:
    """Return where the row of every word stands."""
    first = place.line + len(sentence.comments)
    return [
        Place(place.file, first + word + sum(insert.before <= word for insert in sentence.inserts))
        for word in range(len(sentence))
    ]


def _word(sentence: Sentence, word: int, place: Place) -> Iterator[tuple[Place, str, str]]:
    tag = sentence.upos[word] if sentence.upos is not None else _NOTHING
    if tag not in TAGS:
        yield place, f"the tag {tag!r} in UPOS", f"one of {', '.join(TAGS)}"
    if sentence.features is not None and sentence.features[word] != _NOTHING:
        yield from ((place, *problem) for problem in _features(sentence.features[word]))
    if sentence.dependencies is None:
        if word == 0:
            yield place, "no dependencies", "a head and a relation for every word"
        return
    relation, governor = sentence.dependencies.relations[word], sentence.dependencies.governors[word]
    if not _RELATION.fullmatch(relation) or relation.partition(":")[0] not in RELATIONS:
        yield place, f"the relation {relation!r}", f"one of {', '.join(RELATIONS)}, or a subtype such as nsubj:pass"
    if (governor == ROOT) != (relation.partition(":")[0] == "root"):
        yield place, f"the relation {relation!r} with head {governor + 1}", "root with head 0, and only there"


def _features(features: str) -> Iterator[tuple[str, str]]:
    parts = features.split("|")
    for part in parts:
        if not _FEATURE.fullmatch(part):
            yield f"the feature {part!r}", "Name=Value, both with a capital first"
    names = [part.partition("=")[0] for part in parts]
    if len(set(names)) < len(names):
        yield f"a feature twice in {features!r}", "each once, several values with commas"
    elif names != sorted(names, key=str.lower):
        yield f"the features {features!r} out of order", "features in the order of the alphabet"


def _inserts(sentence: Sentence, rows: list[Place]) -> Iterator[tuple[Place, str, str]]:
    for insert in sentence.inserts:
        lemma, upos, tag, features, head, relation, enhanced = insert.columns
        place = rows[min(insert.before, len(rows) - 1)] if rows else sentence.place or Place("sentence", 1)
        if isinstance(insert, MultiwordToken):
            others = (lemma, upos, tag, head, relation, enhanced)
            if any(value != _NOTHING for value in others) or features not in (_NOTHING, "Typo=Yes"):
                yield (
                    place,
                    f"the multiword range {number_of(insert)} with more than its form",
                    "_ but in FORM and MISC",
                )
        elif head != _NOTHING or relation != _NOTHING:
            yield (
                place,
                f"the empty node {number_of(insert)} with a head or a relation",
                "_ there, and its arcs in DEPS",
            )
