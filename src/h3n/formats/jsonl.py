"""JSON lines: one object per sentence that carries both trees and everything else a sentence knows.

Version 1. ``version`` and ``words`` are always there, every other key only where the sentence has a value:

=============  =========================================================================================
``version``    1
``words``      list of strings
``tags``       likewise, and so ``upos``, ``lemmas``, ``features``, ``enhanced``, ``misc``: one string per word
``heads``      list of numbers: the governor of every word, counted from 1; 0 is the root
``relations``  list of strings, with ``heads``
``tree``       the phrase structure in Penn brackets. Its leaves are the words in order, besides traces; they are
               spelled as in ``words``, but for a blank in a word, which is ``_``, and the escapes of brackets
``comments``   list of strings: CoNLL-U comment lines
``inserts``    list of [number, row]: CoNLL-U rows that are not words, each after that many words
``soft_labels``  what a teacher finds likely; see `h3n.formats.soft_labels`
=============  =========================================================================================

A parser adds ``text`` (the sentence as it was written), ``offsets`` ([start, end] of every word in that text),
``spans`` (objects with the label, start, end and head of a phrase, words counted from 0, and a confidence),
``helpers`` ([start, end, head] of the spans that are in the joint tree alone), ``arc_confidences`` (a number for every
head), ``score``, ``source`` and ``note`` (why it was not parsed). `read` passes over them; `h3n.read` gives them back.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from h3n.errors import BadCharacter, BadJson, FormatError, MisplacedLine, Place
from h3n.files import Source, name_of
from h3n.formats import brackets
from h3n.formats.characters import COLUMNS, fault_of
from h3n.formats.lines import read_lines
from h3n.formats.options import BLANK, READING, WRITING, Problems, Reading, Writing
from h3n.formats.rows import EMPTY, check_governors, inserts_of, row_of
from h3n.formats.soft_labels import SOFT, object_of_soft_labels, read_soft_labels
from h3n.formats.spelling import differing_word, respelled
from h3n.trees import Constituent, Dependencies, Insert, Sentence

VERSION = 1
ADDED = ("text", "offsets", "spans", "helpers", "arc_confidences", "score", "source", "note")
_KEYS = frozenset({"version", "words", "heads", "relations", "tree", "comments", "inserts", SOFT, *COLUMNS, *ADDED})
_FREE = Reading(layout="free")
_LONGEST_SHOWN = 20


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    return (sentence for _, sentence in read_objects(source, options))


def read_objects(source: Source, options: Reading = READING) -> Iterator[tuple[dict[str, Any], Sentence]]:
    """Yield the objects, each with its sentence: what a parser added is in the object alone."""
    problems = Problems(options.on_problem)
    name = name_of(source)
    for number, line in enumerate(read_lines(source, problems), start=1):
        place = Place(name, number)
        if not line.strip():
            problems.noticed(MisplacedLine(place, "an empty line", "a JSON object on every line"))
        elif problems.none_in(number, number):
            try:
                found = _object(line, place)
                sentence = _sentence(_checked(found, place), place, problems)
            except (BadJson, BadCharacter) as error:
                problems.found(error)
            else:
                if problems.none_in(number, number):
                    yield found, replace(sentence, tree=options.strip(sentence.tree))


def sentence_of(found: dict[str, Any], place: Place) -> Sentence:
    """Return the sentence that an object stands for: the inverse of `object_of`. Damage is raised."""
    return _sentence(_checked(found, place), place, Problems(None))


def _object(line: str, place: Place) -> dict[str, Any]:
    """Return the object on the line."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadJson(place, f"{error.msg} at column {error.colno}", "one JSON object per line") from None
    except RecursionError:
        raise BadJson(place, "brackets nested too deeply", "one flat JSON object per line") from None
    except ValueError:  # Python makes no number of thousands of digits
        raise BadJson(place, "a number of thousands of digits", "numbers of words and sentences") from None
    if not isinstance(found, dict):
        raise BadJson(place, f"JSON that is not an object: {line[:_LONGEST_SHOWN]!r}", "one JSON object per line")
    return found


def _checked(found: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return the object, or raise what is wrong with its shape."""
    if found.get("version") != VERSION:
        raise BadJson(place, f"version {found.get('version')!r}", f'"version": {VERSION}')
    if unknown := found.keys() - _KEYS:
        raise BadJson(place, f"unknown key {min(unknown)!r}", f"keys out of {', '.join(sorted(_KEYS))}")
    words = _strings(found, "words", None, place)
    for key in (*COLUMNS, "relations"):
        if key in found:
            values = _strings(found, key, len(words), place)
            if "" in values and key != "tags":
                raise BadJson(place, f"an empty string in {key!r}", "'_' where there is no value")
    return found


def _strings(found: dict[str, Any], key: str, length: int | None, place: Place) -> Sequence[str]:
    values = found.get(key)
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise BadJson(place, f"{key!r} is not a list of strings", f'"{key}": ["...", ...]')
    if length is not None and len(values) != length:
        raise BadJson(place, f"{len(values)} {key} for {length} words", "one for every word")
    return values


def _sentence(found: dict[str, Any], place: Place, problems: Problems) -> Sentence:
    words = tuple(found["words"])
    sentence = Sentence(
        words=words,
        **{key: _column(found[key]) for key in COLUMNS if key in found},
        tree=_tree(found["tree"], words, place) if "tree" in found else None,
        dependencies=_dependencies(found, place, problems),
        comments=tuple(_strings(found, "comments", None, place)) if "comments" in found else (),
        inserts=_inserts(found.get("inserts", []), len(words), place),
        soft_labels=read_soft_labels(found, place) if SOFT in found else None,
        place=place,
    )
    if (fault := fault_of(sentence)) is not None:
        raise BadCharacter(place, fault, "words, columns and comments that every format can show")
    return sentence


def _column(values: Sequence[str]) -> tuple[str, ...] | None:
    """Return the column, or None if it is empty throughout, as in every format."""
    return None if all(value in ("", EMPTY) for value in values) else tuple(values)


def _dependencies(found: dict[str, Any], place: Place, problems: Problems) -> Dependencies | None:
    heads, relations = found.get("heads"), found.get("relations")
    if heads is None and relations is None:
        return None
    if heads is None or relations is None:
        raise BadJson(
            place, f"{'relations' if heads is None else 'heads'} alone", "both heads and relations, or neither"
        )
    if not isinstance(heads, list) or not all(type(head) is int for head in heads):
        raise BadJson(place, "'heads' is not a list of numbers", '"heads": [2, 0, ...]')
    if len(heads) != len(found["words"]):
        raise BadJson(place, f"{len(heads)} heads for {len(found['words'])} words", "one for every word")
    if not heads:
        return None
    governors = tuple(head - 1 for head in heads)
    check_governors(governors, lambda _: place, problems)
    return Dependencies(governors, tuple(relations))


def _inserts(pairs: Any, n: int, place: Place) -> tuple[Insert, ...]:
    try:
        rows = [(before, row) for before, row in pairs]
        sound = all(type(before) is int and 0 <= before <= n and isinstance(row, str) for before, row in rows)
    except (TypeError, ValueError):
        sound = False
    if not sound or any(one[0] > two[0] for one, two in pairwise(rows)):
        expected = '"inserts": [[0, "1-2\\t..."], ...]'
        raise BadJson(place, "'inserts' is not a list of [number, row] in order", expected)
    try:
        return inserts_of(rows, n, place) if rows else ()
    except FormatError as error:
        raise BadJson(place, f"in 'inserts': {error.found}", error.expected) from None


def _tree(text: Any, words: tuple[str, ...], place: Place) -> Constituent:
    """Return the tree with the real spelling of its words."""
    expected = "one tree in brackets over the words"
    if not isinstance(text, str):
        raise BadJson(place, "'tree' is not a string", expected)
    try:
        found = list(brackets.read(io.StringIO(text), _FREE))
    except FormatError as error:
        raise BadJson(place, f"in 'tree': {error.found}", error.expected) from None
    tree = found[0].tree if len(found) == 1 else None
    if tree is None:
        raise BadJson(place, f"{len(found)} trees", expected)
    if len(found[0]) != len(words):
        raise BadJson(place, f"a tree over {len(found[0])} words for {len(words)} words", expected)
    if (at := differing_word(found[0].words, words)) is not None:
        raise BadJson(place, f"word {at + 1} is {words[at]!r}, but {found[0].words[at]!r} in the tree", expected)
    return respelled(tree, words)


def written(sentence: Sentence, options: Writing = WRITING) -> str:
    """Return the line of a sentence."""
    return json.dumps(object_of(sentence, options), ensure_ascii=False) + options.newline


def object_of(sentence: Sentence, options: Writing = WRITING) -> dict[str, Any]:
    """Return the object that stands for a sentence."""
    values: dict[str, Any] = {"version": VERSION, "words": sentence.words}
    values |= {key: column for key in COLUMNS if (column := getattr(sentence, key)) is not None}
    if sentence.dependencies is not None:
        values["heads"] = [governor + 1 for governor in sentence.dependencies.governors]
        values["relations"] = sentence.dependencies.relations
    if sentence.tree is not None:
        values["tree"] = brackets.to_text(sentence.tree, replace(options, indent=False, blank=BLANK))
    if sentence.comments:
        values["comments"] = sentence.comments
    if sentence.inserts:
        values["inserts"] = [[insert.before, row_of(insert)] for insert in sentence.inserts]
    if sentence.soft_labels is not None:
        values[SOFT] = object_of_soft_labels(sentence.soft_labels)
    return values
