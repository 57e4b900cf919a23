"""What a client may ask for: the body of a request as data, and the sentences and wishes it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from h3n import draw, text
from h3n.decode import DECODERS, Constraints
from h3n.errors import H3nError, UnknownName
from h3n.model.ranking import check_ranking
from h3n.parser import Parser
from h3n.serve.batching import Wish
from h3n.serve.fields import FIELDS
from h3n.serve.settings import Limits
from h3n.trees import Sentence

# For pydantic, which reads the bodies of requests: a misspelt key is an error, not passed over.
NO_OTHER_KEYS = {"extra": "forbid"}
_HALF = re.compile(r"[\ud800-\udfff]")


class Refused(H3nError):
    """A request that cannot be answered as it is: the status to answer with, and the field that is wrong."""

    def __init__(self, status: int, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.status = status
        self.field = name


@dataclass(frozen=True)
class SentenceConstraints:
    """What the parse of one sentence must have or must not have.

    Spans are [start, end], words counted from 0 and the end not included; arcs are [governor, word], with -1 as the
    governor of the root word. `sentence` is the number of the sentence in the answer, from 0.
    """

    __pydantic_config__ = NO_OTHER_KEYS

    sentence: int = 0
    require_spans: list[tuple[int, int]] = field(default_factory=list)
    forbid_spans: list[tuple[int, int]] = field(default_factory=list)
    require_arcs: list[tuple[int, int]] = field(default_factory=list)
    forbid_arcs: list[tuple[int, int]] = field(default_factory=list)

    def __len__(self) -> int:
        pairs = (self.require_spans, self.forbid_spans, self.require_arcs, self.forbid_arcs)
        return sum(map(len, pairs))

    @property
    def constraints(self) -> Constraints:
        return Constraints(
            require_spans=tuple(self.require_spans),
            forbid_spans=tuple(self.forbid_spans),
            require_arcs=tuple(self.require_arcs),
            forbid_arcs=tuple(self.forbid_arcs),
        )


@dataclass(frozen=True)
class Picture:
    """How the field `svg` is drawn: theme (auto, light, dark, print), widest row in pixels, shades of doubt.

    `parts` names words, phrases and arcs by attributes, for pages that light them up.
    """

    __pydantic_config__ = NO_OTHER_KEYS

    theme: str = "auto"
    fit: int | None = None
    confidence: bool = False
    parts: bool = False


@dataclass(frozen=True)
class ParseRequest:
    """A request to parse. Exactly one of `text`, `texts` and `words` is given."""

    __pydantic_config__ = NO_OTHER_KEYS

    text: str | None = None
    texts: list[str] | None = None
    words: list[str] | list[list[str]] | None = None
    model: str | None = None
    decoder: str | None = None
    head_score: str | None = None
    style: str | None = None
    constraints: list[SentenceConstraints] = field(default_factory=list)
    fields: list[str] | None = None
    picture: Picture = field(default_factory=Picture)
    stream: bool = False

    @property
    def size(self) -> int:
        """The number of characters to be read, or of words where those are given."""
        given = self.texts or self.words or ()
        return len(self.text or "") + sum(map(len, given))


@dataclass(frozen=True, slots=True)
class Work:
    """A request that was read: sentences, each with the number of the input it is from, and how to parse them."""

    wish: Wish
    sentences: Sequence[Sentence]
    sources: Sequence[int]
    constraints: dict[int, Constraints]

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


def wish_of(request: ParseRequest, parsers: Mapping[str, Parser]) -> Wish:
    """Return how to parse, with all names checked."""
    name = request.model if request.model is not None else next(iter(parsers))
    if name not in parsers:
        raise Refused(422, "model", str(UnknownName("model", name, parsers)))
    model = parsers[name].model
    try:
        what = "decoder"
        model.decoder_for(request.decoder)
        what = "head_score"
        if request.head_score is not None:
            check_ranking(request.head_score, ordered=model.network.order is not None)
        what = "style"
        model.vocabulary.style(request.style)
    except H3nError as error:
        raise Refused(422, what, str(error)) from None
    check_picture(request.picture)
    for one in request.fields or ():
        if one not in FIELDS:
            raise Refused(422, "fields", str(UnknownName("field", one, FIELDS)))
    return Wish(name, request.decoder, request.head_score, request.style)


def check_picture(picture: Picture) -> None:
    """Refuse what cannot be drawn."""
    if picture.theme not in draw.THEMES:
        raise Refused(422, "picture.theme", str(UnknownName("theme", picture.theme, draw.THEMES)))
    if picture.fit is not None and picture.fit < draw.NARROWEST_PICTURE:
        raise Refused(422, "picture.fit", f"{picture.fit} pixels; {draw.NARROWEST_PICTURE} or more is accepted")
    if picture.fit is not None and picture.parts:
        raise Refused(422, "picture.parts", "not in a picture of several rows; give either parts or fit")


def work_of(request: ParseRequest, wish: Wish, limits: Limits) -> Work:
    """Return the sentences of a request within the limits; texts are cut into sentences and words."""
    sentences, sources = _sentences(request, limits)
    name = next(one for one in ("text", "texts", "words") if getattr(request, one) is not None)
    check_sizes(name, sentences, wish, limits)
    return Work(wish, sentences, sources, _constraints(request, len(sentences), wish, limits))


def check_sizes(name: str, sentences: Sequence[Sentence], wish: Wish, limits: Limits) -> None:
    """Refuse more words in all, or in one sentence, than the limits allow."""
    words = sum(map(len, sentences))
    if words > limits.words:
        raise Refused(413, name, f"{words} words; at most {limits.words} are accepted in one request")
    longest = max(map(len, sentences), default=0)
    most = limits.exact_words if wish.decoder == "hpsg" else limits.sentence_words
    if longest > most:
        for_exact = f" by the decoder hpsg (others: {limits.sentence_words})" if wish.decoder == "hpsg" else ""
        raise Refused(413, name, f"a sentence of {longest} words; at most {most} are accepted{for_exact}")


def _sentences(request: ParseRequest, limits: Limits) -> tuple[list[Sentence], list[int]]:
    given = [name for name in ("text", "texts", "words") if getattr(request, name) is not None]
    if len(given) != 1:
        said = " and ".join(given) or "none of them"
        raise Refused(422, given[-1] if given else "text", f"{said} given; expected one of text, texts, words")
    if request.words is not None:
        return _given_words(request.words, limits)
    texts = [request.text] if request.text is not None else request.texts or []
    if len(texts) > limits.texts:
        raise Refused(413, "texts", f"{len(texts)} texts; at most {limits.texts} are accepted in one request")
    sentences: list[Sentence] = []
    sources: list[int] = []
    for number, one in enumerate(texts):
        name = "text" if request.text is not None else f"texts.{number}"
        _check_characters(name, one)
        parts = list(text.segment(one))
        sentences += parts
        sources += [number] * len(parts)
    return sentences, sources


def _given_words(words: list[str] | list[list[str]], limits: Limits) -> tuple[list[Sentence], list[int]]:
    """Return one sentence of words, or several."""
    several = bool(words) and not isinstance(words[0], str)
    rows: list[list[str]] = cast("list[list[str]]", words if several else [words])
    if len(rows) > limits.texts:
        raise Refused(413, "words", f"{len(rows)} sentences; at most {limits.texts} are accepted in one request")
    sentences: list[Sentence] = []
    for number, row in enumerate(rows):
        for at, word in enumerate(row):
            name = f"words.{number}.{at}" if several else f"words.{at}"
            if not word or word.isspace():
                raise Refused(422, name, "an empty word; a word has at least one character")
            _check_characters(name, word)
        sentences.append(Sentence(words=tuple(row)))
    return sentences, list(range(len(sentences)))


def _check_characters(name: str, given: str) -> None:
    if not given.isascii() and _HALF.search(given):
        raise Refused(422, name, "half a surrogate pair; expected valid Unicode")


def _constraints(request: ParseRequest, sentences: int, wish: Wish, limits: Limits) -> dict[int, Constraints]:
    asked = [one for one in request.constraints if len(one)]
    if sum(map(len, asked)) > limits.constraints:
        raise Refused(413, "constraints", f"more than {limits.constraints} constraints, which is the limit")
    by_number: dict[int, Constraints] = {}
    for at, one in enumerate(asked):
        if not 0 <= one.sentence < sentences:
            reason = f"{one.sentence}; the request has {sentences} sentences, counted from 0"
            raise Refused(422, f"constraints.{at}.sentence", reason)
        if one.sentence in by_number:
            raise Refused(422, f"constraints.{at}.sentence", f"{one.sentence} comes twice; expected once")
        by_number[one.sentence] = one.constraints
    decoder = DECODERS.get(wish.decoder or "auto")
    for kind, need in (("spans", "full"), ("arcs", "arc")):
        wanted = any(getattr(c, f"{verb}_{kind}") for c in by_number.values() for verb in ("require", "forbid"))
        if decoder is not None and wanted and need not in decoder.needs:
            raise Refused(422, "constraints", f"the decoder {decoder.name} finds no {kind}; name another")
    return by_number
