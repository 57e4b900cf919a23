"""What an answer may hold of a parsed sentence, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from h3n.outputs import OUTPUTS, Look, Output
from h3n.parser import Result
from h3n.serve.pool import Ticket

if TYPE_CHECKING:
    from h3n.serve.requests import Picture

# fmt: off
PLAIN = (
    "words", "tags", "upos", "lemmas", "features", "heads", "relations", "tree", "text", "offsets", "spans", "helpers",
    "arc_confidences",
)
# fmt: on


# Digits of a number in an answer: so many do not depend on what other clients send at the same time.
DIGITS = 4


def displacy(result: Result) -> dict[str, Any]:
    """Return the dependencies as spaCy's displaCy draws them (``displacy.render(..., manual=True)``)."""
    tags = result.upos or result.tags or ("",) * len(result)
    words = [{"text": word, "tag": tag} for word, tag in zip(result.words, tags, strict=True)]
    arcs = [
        {
            "start": min(arc.word, arc.governor),
            "end": max(arc.word, arc.governor),
            "label": arc.relation,
            "dir": "left" if arc.word < arc.governor else "right",
        }
        for arc in result.arcs
        if arc.governor >= 0
    ]
    return {"words": words, "arcs": arcs}


def _plain(name: str) -> Callable[[Result, Picture], Any]:
    return lambda result, _: result.to_dict(digits=DIGITS).get(name)


def _written(output: Output) -> Callable[[Result, Picture], Any]:
    """Return what writes a result, or gives None where it lacks what the output shows."""

    def field(result: Result, picture: Picture) -> str | None:
        look = Look(theme=picture.theme, fit=picture.fit, confidence=picture.confidence, parts=picture.parts)
        return output.write(result, look) if output.write is not None and output.found_in(result) else None

    return field


_NAMES = {"joint": "joint_brackets"}  # as the method of `Result` is called
# name -> what it holds; None where the decoder does not find it
FIELDS: dict[str, Callable[[Result, Picture], Any]] = {
    **{name: _plain(name) for name in PLAIN},
    "score": lambda result, _: result.score,
    "displacy": lambda result, _: displacy(result),
    **{_NAMES.get(output.name, output.name): _written(output) for output in OUTPUTS.values() if output.write},
}
# What takes longer than a look-up
DRAWN = frozenset(FIELDS) - {*PLAIN, "score", "displacy"}


def sentence_of(
    ticket: Ticket, result: Result, *, source: int, wanted: Sequence[str] | None, picture: Picture
) -> dict[str, Any]:
    """Return a sentence of an answer: the wanted fields, or what `Result.to_dict` holds."""
    ticket.check()
    if wanted is None:
        return result.to_dict(digits=DIGITS) | {"source": source}
    plain = result.to_dict(digits=DIGITS) if any(name in PLAIN for name in wanted) else {}
    sentence: dict[str, Any] = {"source": source} if result.note is None else {"source": source, "note": result.note}
    for name in wanted:
        ticket.check()
        sentence[name] = plain.get(name) if name in PLAIN else FIELDS[name](result, picture)
    return sentence
