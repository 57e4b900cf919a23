"""A first annotation by the parser, with how sure it is of everything, so that a person corrects where it matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from h3n.parser import Result
from h3n.trees import ROOT, Sentence

KEY = "Confidence"
LEAST_SURE = "# least_sure"


@dataclass(frozen=True, slots=True, order=True)
class Doubt:
    """A decision of the parser. ``confidence`` is from 0 to 1; ``sentence`` counts from 1, words from 0."""

    confidence: float
    sentence: int
    start: int
    end: int
    kind: str  # "arc" or "phrase"
    text: str
    decision: str
    sent_id: str | None = None


def annotate(result: Result) -> Sentence:
    """Return the parsed sentence with the confidence of each arc in its MISC column, and that of the least sure arc in
    a comment. A confidence that is there already is replaced."""
    sentence = result.sentence
    if not result.arcs:
        return sentence
    given = sentence.misc or ("_",) * len(sentence)
    misc = tuple(_with_confidence(row, arc.confidence) for row, arc in zip(given, result.arcs, strict=True))
    least = min(result.arcs, key=lambda arc: arc.confidence)
    comments = tuple(line for line in sentence.comments if not line.startswith(f"{LEAST_SURE} ="))
    comment = f"{LEAST_SURE} = {least.word + 1} {least.confidence:.4f}"
    return replace(sentence, misc=misc, comments=(*comments, comment))


def _with_confidence(misc: str, confidence: float) -> str:
    kept = [part for part in misc.split("|") if part not in ("_", "") and not part.startswith(f"{KEY}=")]
    return "|".join([*kept, f"{KEY}={confidence:.4f}"])


def doubts_of(result: Result, number: int, *, phrases: bool = False) -> Iterator[Doubt]:
    """Yield the decisions of one sentence: its arcs and, if asked, its phrases."""
    words, name = result.words, result.sentence.sent_id
    for arc in result.arcs:
        decision = arc.relation if arc.governor == ROOT else f"{arc.relation} of {words[arc.governor]}"
        yield Doubt(arc.confidence, number, arc.word, arc.word + 1, "arc", words[arc.word], decision, name)
    for span in result.spans if phrases else ():
        text = " ".join(words[span.start : span.end])
        yield Doubt(span.confidence, number, span.start, span.end, "phrase", text, span.label, name)


def least_sure(doubts: Iterable[Doubt], *, top: int | None = None) -> list[Doubt]:
    """Return the decisions, the least sure first."""
    return sorted(doubts)[:top]
