"""A bracketing as it is scored: read from a line or a tree, then reduced to what counts.

A bracketing comes as *events*: its brackets opened, its words, its brackets closed, in file order. A line of text and a
tree give the same events, so both are scored by one piece of code, and a line is scored without building a tree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from h3n.errors import FormatError, Place
from h3n.evaluate.parameters import LabelTable, Parameters
from h3n.trees import TRACE, Constituent, Leaf, Node

# (label or tag, word, closing brackets that follow, anything else). A word makes it a leaf; "anything else" is either
# closing brackets on their own or text that has no place in a bracketing; else a bracket opens.
Event: TypeAlias = tuple[str, str, str, str]

_EVENTS = re.compile(r"\(([^\s()]*+)(?:\s++([^\s()]++)\s*+\))?+(\)*+)|(\)++|[^\s()]++)", re.ASCII)
_CLOSE: Event = ("", "", "", ")")


@dataclass(frozen=True, slots=True)
class Bracketed:
    """One sentence's bracketing, and where it stands."""

    events: Sequence[Event]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Brackets:
    """What counts of one bracketing: words, their tags, and labelled spans, inner before outer."""

    words: list[str]
    tags: list[str]
    spans: list[tuple[int, int]]
    labels: list[str]
    length: int


def bracketed_line(line: str, place: Place | None = None) -> Bracketed:
    """Return the bracketing of a line as EVALB reads it: no top bracket needed; an empty line has no parse."""
    return Bracketed(_EVENTS.findall(line), place)


def bracketed_tree(tree: Constituent | None, place: Place | None = None) -> Bracketed:
    """Return the bracketing of a tree; None means that there is no parse."""
    events: list[Event] = []
    stack: list[Node | None] = [tree] if tree is not None else []
    while stack:
        node = stack.pop()
        if node is None:
            events.append(_CLOSE)
        elif isinstance(node, Leaf):
            events.append((node.tag, node.word, "", ""))
        else:
            events.append((node.label, "", "", ""))
            stack.append(None)
            stack.extend(reversed(node.children))
    return Bracketed(events, place)


def is_empty(sentence: Bracketed) -> bool:
    """Return whether there is nothing at all, not even a bracket: a blank line."""
    return not sentence.events


def with_tags_of(gold: Bracketed, predicted: Bracketed) -> Bracketed:
    """Return the predicted bracketing with the tags of gold; as it is if they are the same or the words are others.

    Traces, which only gold may have, are passed over on both sides.
    """
    wanted, found = leaf_tags(gold), leaf_tags(predicted)
    if wanted == found or [word for _, word in wanted] != [word for _, word in found]:
        return predicted
    return _with_leaves(predicted, wanted)


def with_words_of(gold: Bracketed, predicted: Bracketed) -> Bracketed:
    """Return the predicted bracketing with the words of gold as they are spelled there, if it has as many."""
    wanted, found = leaf_tags(gold), leaf_tags(predicted)
    if len(wanted) != len(found) or all(one[1] == other[1] for one, other in zip(wanted, found, strict=True)):
        return predicted
    return _with_leaves(predicted, [(tag, word) for (_, word), (tag, _) in zip(wanted, found, strict=True)])


def _with_leaves(sentence: Bracketed, leaves: Iterable[tuple[str, str]]) -> Bracketed:
    rest = iter(leaves)
    events: list[Event] = [
        (*next(rest), closing, other) if word and label != TRACE else (label, word, closing, other)
        for label, word, closing, other in sentence.events
    ]
    return Bracketed(events, sentence.place)


def leaf_tags(sentence: Bracketed) -> list[tuple[str, str]]:
    """Return tag and word of every leaf that is not a trace."""
    return [(tag, word) for tag, word, _, _ in sentence.events if word and tag != TRACE]


@lru_cache(maxsize=64)
def _label_table(parameters: Parameters) -> LabelTable:
    return LabelTable(parameters)


def count_brackets(sentence: Bracketed, *, parameters: Parameters, spared: Counter[int] | None = None) -> Brackets:
    """Return what counts of a bracketing. ``spared`` says how often the words of some events count all the same."""
    labels_of = _label_table(parameters)
    deleted = frozenset[str]() if parameters.keep_words else parameters.delete_labels
    no_length = parameters.delete_labels_for_length
    words: list[str] = []
    tags: list[str] = []
    spans: list[tuple[int, int]] = []
    labels: list[str] = []
    stack: list[tuple[int, str | None]] = []
    position = length = 0
    for index, (label, word, closing, other) in enumerate(sentence.events):
        if word:
            length += label not in no_length
            if label not in deleted:
                words.append(word)
                tags.append(label)
                position += 1
            elif spared:
                words += [word] * spared[index]
                tags += [label] * spared[index]
                position += spared[index]
        elif other:
            if other[0] != ")":
                raise _damage(sentence, f"{other!r} outside a (tag word) pair", "brackets that hold a word or brackets")
            closing = other
        else:
            stack.append((position, labels_of[label]))
        if closing:
            if len(closing) > len(stack):
                raise _damage(sentence, "a closing bracket too many", "balanced brackets")
            for _ in closing:
                start, name = stack.pop()
                if name is not None and start != position:
                    spans.append((start, position))
                    labels.append(name)
    if stack:
        raise _damage(sentence, f"{len(stack)} brackets left open", "balanced brackets")
    return Brackets(words, tags, spans, labels, length)


def _damage(sentence: Bracketed, found: str, expected: str) -> FormatError:
    return FormatError(sentence.place or Place("<bracketing>", 1), found, expected)
