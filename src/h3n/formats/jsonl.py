"""JSON lines: one object per sentence that carries both trees and everything else a sentence knows.

Version 1. ``version`` and ``words`` are always there, every other key only where the sentence has a value:

=============  =========================================================================================
``version``    1
``words``      list of strings
``tags``       likewise, and so ``upos``, ``lemmas``, ``features``, ``enhanced``, ``misc``: one string per word
``heads``      list of numbers: the governor of every word, counted from 1; 0 is the root
``relations``  list of strings, with ``heads``
``tree``       the phrase structure in Penn brackets. Its leaves are the words in order, besides traces; the spelling
               of a word is that in ``words`` where the two differ in escapes only, and a blank in a word is ``_``
``comments``   list of strings: CoNLL-U comment lines
``inserts``    list of [number, row]: CoNLL-U rows that are no words, each after that many words
=============  =========================================================================================

A parser adds ``text`` (the sentence as it was written), ``offsets`` ([start, end] of every word in that text),
``spans`` (objects with the label, start, end and head of a phrase, words counted from 0, and a confidence) and
``arc_confidences`` (a number for every head). They are passed over in reading.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import IO, Any

from h3n.errors import BadJson, FormatError, MisplacedLine, Place
from h3n.formats import brackets
from h3n.formats.files import Source, name_of, read_lines
from h3n.formats.options import READING, WRITING, Problems, Reading, Writing
from h3n.formats.rows import check_governors
from h3n.trees import Constituent, Dependencies, Insert, Leaf, Sentence

VERSION = 1
COLUMNS = ("tags", "upos", "lemmas", "features", "enhanced", "misc")
ADDED = ("text", "offsets", "spans", "arc_confidences")
_KEYS = frozenset({"version", "words", "heads", "relations", "tree", "comments", "inserts", *COLUMNS, *ADDED})
_BLANK = "_"
_FREE = Reading(layout="free")


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentences, with memory for one."""
    problems = Problems(options.on_problem)
    name = name_of(source)
    for number, line in enumerate(read_lines(source, problems), start=1):
        place = Place(name, number)
        if not line.strip():
            problems.noticed(MisplacedLine(place, "an empty line", "a JSON object on every line"))
        elif problems.none_in(number, number):
            try:
                sentence = _sentence(_checked(line, place), place, problems)
            except BadJson as error:
                problems.found(error)
            else:
                if problems.none_in(number, number):
                    yield replace(sentence, tree=options.strip(sentence.tree))


def _checked(line: str, place: Place) -> dict[str, Any]:
    """Return the object on the line, or raise what is wrong with its shape."""
    try:
        made = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadJson(place, f"{error.msg} at column {error.colno}", "one JSON object per line") from None
    except RecursionError:
        raise BadJson(place, "brackets nested too deeply", "one flat JSON object per line") from None
    if not isinstance(made, dict):
        raise BadJson(place, f"JSON that is no object: {line[:20]!r}", "one JSON object per line")
    if made.get("version") != VERSION:
        raise BadJson(place, f"version {made.get('version')!r}", f'"version": {VERSION}')
    if unknown := made.keys() - _KEYS:
        raise BadJson(place, f"unknown key {min(unknown)!r}", f"keys out of {', '.join(sorted(_KEYS))}")
    words = _strings(made, "words", None, place)
    for key in (*COLUMNS, "relations"):
        if key in made:
            _strings(made, key, len(words), place)
    return made


def _strings(made: dict[str, Any], key: str, length: int | None, place: Place) -> list[str]:
    values = made.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadJson(place, f"{key!r} is no list of strings", f'"{key}": ["...", ...]')
    if length is not None and len(values) != length:
        raise BadJson(place, f"{len(values)} {key} for {length} words", "one for every word")
    return values


def _sentence(made: dict[str, Any], place: Place, problems: Problems) -> Sentence:
    words = tuple(made["words"])
    return Sentence(
        words=words,
        **{key: tuple(made[key]) for key in COLUMNS if key in made},
        tree=_tree(made["tree"], words, place) if "tree" in made else None,
        dependencies=_dependencies(made, place, problems),
        comments=tuple(_strings(made, "comments", None, place)) if "comments" in made else (),
        inserts=_inserts(made.get("inserts", []), len(words), place),
        place=place,
    )


def _dependencies(made: dict[str, Any], place: Place, problems: Problems) -> Dependencies | None:
    heads, relations = made.get("heads"), made.get("relations")
    if heads is None and relations is None:
        return None
    if heads is None or relations is None:
        raise BadJson(
            place, f"{'relations' if heads is None else 'heads'} alone", "both heads and relations, or neither"
        )
    if not isinstance(heads, list) or not all(type(head) is int for head in heads):
        raise BadJson(place, "'heads' is no list of numbers", '"heads": [2, 0, ...]')
    if len(heads) != len(made["words"]):
        raise BadJson(place, f"{len(heads)} heads for {len(made['words'])} words", "one for every word")
    governors = tuple(head - 1 for head in heads)
    check_governors(governors, lambda _: place, problems)
    return Dependencies(governors, tuple(relations))


def _inserts(pairs: Any, n: int, place: Place) -> tuple[Insert, ...]:
    try:
        made = tuple(Insert(before, row) for before, row in pairs)
        sound = all(type(one.before) is int and 0 <= one.before <= n and isinstance(one.row, str) for one in made)
    except (TypeError, ValueError):
        sound = False
    if not sound or any(one.before > two.before for one, two in pairwise(made)):
        raise BadJson(place, "'inserts' is no list of [number, row] in order", '"inserts": [[0, "1-2\\t..."], ...]')
    return made


def _tree(text: Any, words: tuple[str, ...], place: Place) -> Constituent:
    """Return the tree with the real spelling of its words."""
    expected = "one tree in brackets over the words"
    if not isinstance(text, str):
        raise BadJson(place, "'tree' is no string", expected)
    try:
        found = list(brackets.read(io.StringIO(text), _FREE))
    except FormatError as error:
        raise BadJson(place, f"in 'tree': {error.found}", error.expected) from None
    tree = found[0].tree if len(found) == 1 else None
    if tree is None:
        raise BadJson(place, f"{len(found)} trees", expected)
    if len(found[0]) != len(words):
        raise BadJson(place, f"a tree over {len(found[0])} words for {len(words)} words", expected)
    rest = iter(words)

    def respelled(leaf: Leaf) -> Leaf:
        word = next(rest)
        return Leaf(leaf.tag, word) if brackets.spelled(word, _BLANK) == leaf.word else leaf

    return tree if found[0].words == words else brackets.map_words(tree, respelled)


def write(sentences: Iterable[Sentence], stream: IO[str], options: Writing = WRITING) -> None:
    """Write the sentences, one object on each line."""
    for sentence in sentences:
        stream.write(json.dumps(object_of(sentence, options), ensure_ascii=False) + options.newline)


def object_of(sentence: Sentence, options: Writing = WRITING) -> dict[str, Any]:
    """Return the object that stands for a sentence."""
    made: dict[str, Any] = {"version": VERSION, "words": sentence.words}
    made |= {key: values for key in COLUMNS if (values := getattr(sentence, key)) is not None}
    if sentence.dependencies is not None:
        made["heads"] = [governor + 1 for governor in sentence.dependencies.governors]
        made["relations"] = sentence.dependencies.relations
    if sentence.tree is not None:
        made["tree"] = brackets.to_text(sentence.tree, replace(options, indent=False, blank=_BLANK))
    if sentence.comments:
        made["comments"] = sentence.comments
    if sentence.inserts:
        made["inserts"] = [[insert.before, insert.row] for insert in sentence.inserts]
    return made
