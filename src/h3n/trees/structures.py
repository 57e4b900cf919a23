"""The data: words with tags, brackets, spans, dependencies, sentences, joint trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from h3n.errors import Place, TreeError

ROOT = -1
HELPER = "<H>"
UNARY = "::"
TRACE = "-NONE-"
NOTHING = "_"  # an empty column of CoNLL-U
WHOLE = 1000  # the share of a choice that has no rival, see `SoftLabels`
TOPS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
HALF_SURROGATE = re.compile(r"[\ud800-\udfff]")  # no file and no tokenizer takes it


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word with its part-of-speech tag, at the bottom of a phrase structure tree. No tag at all is ``""``."""

    tag: str
    word: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constituent:
    """A labelled bracket with what stands inside it."""

    label: str
    children: tuple[Node, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constituent):
            return NotImplemented
        return self is other or list(_preorder(self)) == list(_preorder(other))

    def __hash__(self) -> int:
        return hash(tuple(_preorder(self)))

    def __str__(self) -> str:
        """The tree in brackets on one line; `h3n.formats` writes files."""
        parts: list[str] = []
        stack: list[Node | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                parts.append(node)
            elif isinstance(node, Leaf):
                word = node.word.replace("(", "-LRB-").replace(")", "-RRB-")
                parts.append(f" ({node.tag} {word})" if node.tag else f" {word}")
            else:
                parts.append(f" ({node.label}")
                stack += [")", *reversed(node.children)]
        return "".join(parts).lstrip()

    def __repr__(self) -> str:
        return f"Constituent({self.label!r}, {len(self.children)} children, {sum(1 for _ in leaves(self))} words)"


Node: TypeAlias = Constituent | Leaf


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A labelled stretch of words (paper, section II); ``label`` is a whole unary chain."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Dependencies:
    """One governor and one relation per word (paper, section II)."""

    governors: tuple[int, ...]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.governors)


@dataclass(frozen=True, slots=True)
class MultiwordToken:
    """Words that are written in one piece, such as *don't*. ``columns`` are LEMMA .. DEPS of its row in CoNLL-U."""

    start: int
    end: int
    form: str
    misc: str = NOTHING
    columns: tuple[str, ...] = (NOTHING,) * 7

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            words = f"from word {self.start} up to {self.end}"
            raise TreeError(f"multiword token {self.form!r} {words}; expected one word or more")

    @property
    def before(self) -> int:
        """How many words stand before it."""
        return self.start


@dataclass(frozen=True, slots=True)
class EmptyWord:
    """A word that is not written (an empty node of CoNLL-U): the ``number``-th, from 1, after ``before`` words."""

    before: int
    number: int
    form: str = NOTHING
    misc: str = NOTHING
    columns: tuple[str, ...] = (NOTHING,) * 7


Insert: TypeAlias = MultiwordToken | EmptyWord


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLabels:
    """What a model finds likely in a sentence, for another to learn from: choices, each with its share in thousandths.

    For every word its governors, its relations (to the governor that the sentence's dependencies name) and its tags;
    spans with helper spans among them. Choices of small shares are left out; what is not known is empty.
    """

    governors: tuple[tuple[tuple[int, int], ...], ...] = ()
    relations: tuple[tuple[tuple[str, int], ...], ...] = ()
    tags: tuple[tuple[tuple[str, int], ...], ...] = ()
    upos: tuple[tuple[tuple[str, int], ...], ...] = ()
    spans: tuple[tuple[Span, int], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return every relation, tag and label that is named."""
        words = chain.from_iterable(chain(self.relations, self.tags, self.upos))
        return (*(name for name, _ in words), *(span.label for span, _ in self.spans))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with whatever is known of it. A column that is missing or empty throughout is None."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    upos: tuple[str, ...] | None = None
    lemmas: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None
    enhanced: tuple[str, ...] | None = None
    misc: tuple[str, ...] | None = None
    tree: Constituent | None = None
    dependencies: Dependencies | None = None
    comments: tuple[str, ...] = ()
    inserts: tuple[Insert, ...] = ()
    soft_labels: SoftLabels | None = None
    place: Place | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def sent_id(self) -> str | None:
        """Return the sentence's name in its treebank: what the comment ``# sent_id = NAME`` says."""
        for comment in self.comments:
            key, equals, value = comment.lstrip("# ").partition("=")
            if equals and key.strip() == "sent_id":
                return value.strip()
        return None


@dataclass(frozen=True, slots=True, order=True)
class HeadedSpan:
    """A span of the joint tree: it knows its head word."""

    start: int
    end: int
    label: str
    head: int


@dataclass(frozen=True, slots=True)
class JointTree:
    """The simplified HPSG tree: phrase structure in which every span knows its head word (paper, section I).

    ``spans`` stand in pre-order (outer before inner, left before right); those labelled `HELPER` group a word with its
    dependents inside a flat phrase and are spliced out when the phrase structure is shown. ``top`` is the top label of
    the bracketing, None where it had none. Governors are not stored: `h3n.convert.split` derives them from the heads.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[HeadedSpan, ...]
    relations: tuple[str, ...]
    top: str | None = "TOP"

    def __len__(self) -> int:
        return len(self.words)


def _preorder(tree: Constituent) -> Iterator[object]:
    """Yield labels, child counts and leaves in pre-order: a flat image that two equal trees share."""
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            yield node.label
            yield len(node.children)
            stack.extend(reversed(node.children))


def leaves(tree: Constituent) -> Iterator[Leaf]:
    """Yield the leaves from left to right, traces included."""
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Leaf):
            yield node
        else:
            stack.extend(reversed(node.children))
