"""What a client may ask for: the body of a request as data, and the sentences and options it stands for."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, TypeVar, cast

from pydantic import Field

from h3n import draw, text
from h3n.decode import DECODERS, PARTS, Constraints
from h3n.engine.ranking import check_ranking
from h3n.errors import H3nError, UnknownName
from h3n.parser import Parser
from h3n.serve.batching import ParseOptions
from h3n.serve.fields import FIELDS
from h3n.serve.pool import Ticket
from h3n.serve.settings import ServiceLimits
from h3n.trees import HALF_SURROGATE, Sentence

# For pydantic, which reads the bodies of requests: a misspelt key is an error, not passed over.
NO_OTHER_KEYS = {"extra": "forbid"}
Item = TypeVar("Item")
# The first wrong item of a list is enough: to describe each of 100,000 takes a second.
List: TypeAlias = Annotated[list[Item], Field(fail_fast=True)]
KINDS = ("require_spans", "forbid_spans", "require_arcs", "forbid_arcs")


def dumped(content: object) -> bytes:
    """Return JSON; a quarter of the time of what the framework does by itself."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


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
    require_spans: List[tuple[int, int]] = field(default_factory=list)
    forbid_spans: List[tuple[int, int]] = field(default_factory=list)
    require_arcs: List[tuple[int, int]] = field(default_factory=list)
    forbid_arcs: List[tuple[int, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(getattr(self, kind)) for kind in KINDS)

    @property
    def constraints(self) -> Constraints:
        return Constraints(**{kind: tuple(getattr(self, kind)) for kind in KINDS})


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
    texts: List[str] | None = None
    words: List[str] | List[List[str]] | None = None
    newlines: Literal["paragraph", "sentence"] = "paragraph"
    model: str | None = None
    decoder: str | None = None
    head_score: str | None = None
    projective: bool | None = None
    style: str | None = None
    constraints: List[SentenceConstraints] = field(default_factory=list)
    fields: List[str] | None = None
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

    parse_options: ParseOptions
    sentences: Sequence[Sentence]
    sources: Sequence[int]
    constraints: dict[int, Constraints]

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


def parse_options_of(request: ParseRequest, parsers: Mapping[str, Parser], limits: ServiceLimits) -> ParseOptions:
    """Return how to parse, with all names checked."""
    name = request.model if request.model is not None else next(iter(parsers))
    if name not in parsers:
        raise Refused(422, "model", str(UnknownName("model", name, parsers)))
    parser = parsers[name]
    try:
        what = "decoder"
        parser.decoder_for(request.decoder)
        what = "head_score"
        if request.head_score is not None:
            check_ranking(request.head_score, ordered=parser.engine.network.ordered)
        what = "style"
        parser.engine.vocabulary.style(request.style)
    except H3nError as error:
        raise Refused(422, what, str(error)) from None
    check_picture(request.picture, limits)
    for one in request.fields or ():
        if one not in FIELDS:
            raise Refused(422, "fields", str(UnknownName("field", one, FIELDS)))
    check_once("fields", request.fields or ())
    return ParseOptions(name, request.decoder, request.head_score, request.style, request.projective)


def check_once(name: str, values: Iterable[Hashable]) -> None:
    """Refuse a value that comes twice: the one rule for all lists in which that means nothing."""
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            raise Refused(422, name, f"{value!r} comes twice; expected once")
        seen.add(value)


def check_picture(picture: Picture, limits: ServiceLimits) -> None:
    """Refuse what cannot be drawn."""
    if picture.theme not in draw.THEMES:
        raise Refused(422, "picture.theme", str(UnknownName("theme", picture.theme, draw.THEMES)))
    narrowest, widest = draw.NARROWEST_PICTURE, limits.picture_width
    if picture.fit is not None and not narrowest <= picture.fit <= widest:
        raise Refused(422, "picture.fit", f"{picture.fit} pixels; {narrowest} to {widest} are accepted")
    if picture.fit is not None and picture.parts:
        raise Refused(422, "picture.parts", "not in a picture of several rows; give either parts or fit")


def work_of(
    ticket: Ticket, request: ParseRequest, parse_options: ParseOptions, limits: ServiceLimits, segmenter: text.Segmenter
) -> Work:
    """Return the sentences of a request within the limits; texts are split into sentences and words."""
    sentences, sources = _sentences(ticket, request, limits, segmenter)
    name = next(one for one in ("text", "texts", "words") if getattr(request, one) is not None)
    check_sizes(name, sentences, parse_options, limits)
    return Work(parse_options, sentences, sources, _constraints(request, len(sentences), parse_options, limits))


def check_sizes(name: str, sentences: Sequence[Sentence], parse_options: ParseOptions, limits: ServiceLimits) -> None:
    """Refuse more words in all, or in one sentence, than the limits allow."""
    words = sum(map(len, sentences))
    if words > limits.words:
        raise Refused(413, name, f"{words} words; at most {limits.words} are accepted in one request")
    letters = max((len(word) for sentence in sentences for word in sentence.words), default=0)
    if letters > limits.word_characters:
        raise Refused(413, name, f"a word of {letters} characters; at most {limits.word_characters} are accepted")
    longest = max(map(len, sentences), default=0)
    most = limits.exact_words if parse_options.decoder == "hpsg" else limits.sentence_words
    if longest > most:
        for_exact = f" by the decoder hpsg (others: {limits.sentence_words})" if parse_options.decoder == "hpsg" else ""
        raise Refused(413, name, f"a sentence of {longest} words; at most {most} are accepted{for_exact}")


def within(
    ticket: Ticket, name: str, found: Iterable[Sentence], limits: ServiceLimits, before: int = 0
) -> list[Sentence]:
    """Return sentences as they are found, up to the limit of words; ``before`` so many stood in other texts."""
    sentences: list[Sentence] = []
    for sentence in found:
        ticket.check()
        sentences.append(sentence)
        before += len(sentence)
        if before > limits.words:
            raise Refused(413, name, f"{before} words or more; at most {limits.words} are accepted in one request")
    return sentences


def _sentences(
    ticket: Ticket, request: ParseRequest, limits: ServiceLimits, segmenter: text.Segmenter
) -> tuple[list[Sentence], list[int]]:
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
    words = 0
    for number, one in enumerate(texts):
        name = "text" if request.text is not None else f"texts.{number}"
        _check_characters(name, one)
        parts = within(ticket, name, segmenter.segment(one, newlines=request.newlines), limits, words)
        words += sum(map(len, parts))
        sentences += parts
        sources += [number] * len(parts)
    return sentences, sources


def _given_words(words: list[str] | list[list[str]], limits: ServiceLimits) -> tuple[list[Sentence], list[int]]:
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
    if not given.isascii() and HALF_SURROGATE.search(given):
        raise Refused(422, name, "half a surrogate pair; expected valid Unicode")


def _constraints(
    request: ParseRequest, sentences: int, parse_options: ParseOptions, limits: ServiceLimits
) -> dict[int, Constraints]:
    asked = {at: one for at, one in enumerate(request.constraints) if len(one)}
    if sum(map(len, asked.values())) > limits.constraints:
        raise Refused(413, "constraints", f"more than {limits.constraints} constraints, which is the limit")
    by_number: dict[int, Constraints] = {}
    check_once("constraints", (f"sentence {one.sentence}" for one in asked.values()))
    for at, one in asked.items():
        if not 0 <= one.sentence < sentences:
            reason = f"{one.sentence}; the request has {sentences} sentences, counted from 0"
            raise Refused(422, f"constraints.{at}.sentence", reason)
        for kind in KINDS:
            check_once(f"constraints.{at}.{kind}", getattr(one, kind))
        by_number[one.sentence] = one.constraints
    decoder = DECODERS.get(parse_options.decoder or "auto")
    for part, kind in PARTS.items():
        if decoder is not None and kind not in decoder.finds and any(one.has(part) for one in by_number.values()):
            raise Refused(422, "constraints", f"the decoder {decoder.name} finds no {part}; name another")
    return by_number
