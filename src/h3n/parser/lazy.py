"""Parts of a result that are made when they are first asked for.

A result of the parser has the numbers that were found, and empty slots. Python asks `Lazy.__getattr__` for a slot that
is empty, which fills it. All else (comparing, copying, pickling) is that of any dataclass. Two threads may fill a slot
at the same time: what they put there is equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from h3n.decode import Parse
from h3n.engine.naming import Named
from h3n.formats.characters import is_writable
from h3n.trees import HELPER, UNARY, Sentence

NO_PARSE = Parse((), (), 0.0)


@dataclass(frozen=True, slots=True, order=True)
class LabelledSpan:
    """A phrase. ``head`` is None where the decoder finds no heads; ``label`` is a whole unary chain, such as S::VP."""

    start: int
    end: int
    label: str
    head: int | None
    confidence: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The unary chain, outermost first: mostly one label."""
        return tuple(self.label.split(UNARY))


@dataclass(frozen=True, slots=True, order=True)
class Arc:
    """A word, its governor (-1 for the root word) and the relation between them."""

    word: int
    governor: int
    relation: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Found:
    """What the parts of a result are made of."""

    named: Named
    span_confidences: tuple[float, ...]
    arc_confidences: tuple[float, ...]

    def spans(self) -> tuple[LabelledSpan, ...]:
        """Return the phrases; helper spans are left out."""
        labels = self.named.vocabulary.labels
        return tuple(
            LabelledSpan(start, end, labels[label], None if head < 0 else head, confidence)
            for (start, end, label, head), confidence in zip(self.named.parse.spans, self.span_confidences, strict=True)
            if labels[label] != HELPER
        )

    def arcs(self) -> tuple[Arc, ...]:
        """Return the arcs, word by word."""
        tree, sure = self.named.sentence.dependencies, self.arc_confidences
        return tuple(map(Arc, range(len(sure)), tree.governors, tree.relations, sure)) if tree is not None else ()


MAKERS: dict[str, Callable[[Found], Any]] = {
    "sentence": lambda found: found.named.complete(),
    "joint": lambda found: found.named.joint(),
    "spans": Found.spans,
    "arcs": Found.arcs,
}


class Lazy:
    """A base of `h3n.parser.Result`: ``found`` is empty in one that was made with all its parts."""

    __slots__ = ("_found",)
    _found: Found
    if TYPE_CHECKING:
        sentence: Sentence

    @property
    def parse(self) -> Parse:
        """What the decoder found, in numbers; nothing in a result that was made with all its parts."""
        try:
            return self._found.named.parse
        except AttributeError:
            return NO_PARSE

    @property
    def flat(self) -> Sentence:
        """The sentence; where its phrase structure is not yet made, without it."""
        try:
            return self._found.named.sentence
        except AttributeError:
            return self.sentence

    def bracket_line(self) -> str | None:
        """Return the brackets of what was found without a tree being made, or None where that cannot be."""
        try:
            named = self._found.named
        except AttributeError:
            return None
        return named.brackets() if is_writable(named.sentence) else None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in MAKERS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            value = MAKERS[name](self._found)
            object.__setattr__(self, name, value)
            return value


def fill_lazily(result: Any, found: Found, **parts: Any) -> None:
    """Give a result that has nothing yet the parts that are known, and what the others are made of."""
    object.__setattr__(result, "_found", found)
    for name, value in parts.items():
        object.__setattr__(result, name, value)
