"""Dependencies that a sentence has already, held while its phrases are found.

What a treebank says stays: governors become constraints, relations are taken over. Arcs that cross have no joint tree,
and beyond `EXACT_UP_TO` words the heads that `h3n` takes beforehand might not allow them: such a sentence keeps its
dependencies and gets no phrases.
"""

from __future__ import annotations

from dataclasses import replace

from h3n.decode import EXACT_UP_TO, Constraints, Parse
from h3n.engine.naming import Named
from h3n.errors import UsageError
from h3n.trees import Sentence, is_projective


def check_holding(decoder: str | None, *, constrained: bool) -> None:
    """Raise unless arcs can be held: with a decoder that is exact, and without other constraints."""
    if constrained:
        raise UsageError("both constraints and keep_arcs are given; expected one of them")
    if decoder == "h3n":
        raise UsageError("keep_arcs with decoder 'h3n', whose heads might not allow the arcs; accepted: auto, hpsg")


def held_arcs(sentence: Sentence) -> Constraints | None:
    """Return the sentence's own arcs as constraints, or None where it has none or they cannot be held."""
    own = sentence.dependencies
    if own is None or len(sentence) > EXACT_UP_TO or not is_projective(own.governors):
        return None
    return Constraints(require_arcs=tuple((governor, word) for word, governor in enumerate(own.governors)))


def own_parse(parse: Parse, sentence: Sentence) -> Parse:
    """Return the parse if it has the sentence's own arcs, or else those arcs alone."""
    own = sentence.dependencies
    return parse if own is None or parse.governors == own.governors else Parse((), own.governors, 0.0)


def with_own_relations(named: Named, sentence: Sentence) -> Named:
    """Return what was found with the sentence's own dependencies, where it has some."""
    own = sentence.dependencies
    return named if own is None else replace(named, sentence=replace(named.sentence, dependencies=own))
