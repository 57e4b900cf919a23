"""The page, and what it alone asks for: treebank files as lists of sentences, and pictures of those.

Files of the page are read once, when the application is made, by names that stand here: no request leads to the file
system. A treebank is read from the body of a request and nothing of it is kept.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files as package_files
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse

from h3n import draw, files, formats, text
from h3n.convert import governors_of
from h3n.draw.figure import figure_of, joint_of
from h3n.errors import H3nError
from h3n.formats import jsonl
from h3n.serve.answers import attended
from h3n.serve.pool import Ticket, attentively
from h3n.serve.requests import NO_OTHER_KEYS, Picture, Refused, check_picture, dumped
from h3n.serve.schemas import DRAWN, TEXT, TREEBANK, answers, content, text_body
from h3n.serve.settings import ServiceLimits
from h3n.trees import Constituent, Sentence

SCRIPTS = ("page.js", "dom.js", "pictures.js", "copies.js", "treebanks.js")
FILES = {"index.html": "text/html", "page.css": "text/css", **dict.fromkeys(SCRIPTS, "text/javascript")}


@dataclass(frozen=True)
class DrawRequest:
    """A sentence with its trees, as a line of JSON lines holds it, and how to draw it."""

    __pydantic_config__ = NO_OTHER_KEYS

    sentence: dict[str, Any]
    picture: Picture = field(default_factory=Picture)


def add_page_routes(app: Any) -> None:
    """Add the page with its files, and the paths it uses."""
    folder = package_files("h3n.serve") / "static"
    for name, kind in FILES.items():
        path = "/" if name == "index.html" else f"/static/{name}"
        page = (folder / name).read_bytes()
        app.add_api_route(
            path,
            _file(page, f"{kind}; charset=utf-8"),
            response_class=HTMLResponse,
            include_in_schema=path == "/",  # a path that POST has, too
            summary="The page",
            responses=answers("The page.", content(TEXT, "text/html")),
        )
    first = {"operationId": "draw", "requestBody": {"sentence": "$response.body#/sentences/0/sentence"}}
    app.add_api_route(
        "/v1/treebank",
        treebank,
        methods=["POST"],
        summary="Read a treebank file, sent as the body",
        responses=answers("The sentences.", content(TREEBANK), links={"draw": first}),
        openapi_extra=text_body("(S (NP (PRP It)) (VP (VBZ rains)))"),
    )
    app.add_api_route(
        "/v1/draw",
        drawn,
        methods=["POST"],
        operation_id="draw",
        summary="Draw a sentence that has trees",
        responses=answers("The picture.", content(DRAWN)),
    )


def _file(content: bytes, kind: str) -> Any:
    async def answer() -> Response:
        """Answer with a file of the page."""
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    return answer


async def treebank(
    request: Request,
    name: Annotated[str, Query(examples=["x.ptb"])],
    second: Annotated[str | None, Query(examples=["x.conllu"])] = None,
    size: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Answer with the sentences of a file; the ending of `name` says its format, and nothing of that name is opened.

    Two files over the same sentences, such as brackets and CoNLL-U, are read as one: the body holds the first and then
    the second, `second` is its name and `size` the number of bytes of the first.
    """
    service = request.app.state.service
    body = await request.body()
    if second is not None and not 0 <= size <= len(body):
        raise Refused(422, "size", f"{size} bytes of the first file; the body has {len(body)}")
    parts = [(name, body)] if second is None else [(name, body[:size]), (second, body[size:])]
    reading = service.aside(_read, parts, service.settings.limits)
    return Response(await attended(request, reading, service), media_type="application/json")


async def drawn(request: Request, body: DrawRequest) -> Response:
    """Answer with the picture of a sentence, and its words, spans and arcs."""
    service = request.app.state.service
    check_picture(body.picture, service.settings.limits)
    drawing = service.aside(_drawn, body, service.settings.limits)
    return Response(await attended(request, drawing, service), media_type="application/json")


class _Asking(io.BytesIO):
    """Bytes that ask the ticket whenever a piece of them is read: files may be long and have no sentence."""

    def __init__(self, ticket: Ticket, content: bytes) -> None:
        super().__init__(content)
        self._ticket = ticket

    def readinto(self, buffer: Any) -> int:
        self._ticket.check()
        return super().readinto(buffer)


def _read(ticket: Ticket, parts: Sequence[tuple[str, bytes]], limits: ServiceLimits) -> bytes:
    kinds = [_kind(name) for name, _ in parts]
    rows: list[bytes] = []
    words = 0
    try:
        plain = [_Asking(ticket, _unpacked(part, limits)) for _, part in parts]
        sources = [formats.read(part, format=kind) for kind, part in zip(kinds, plain, strict=True)]
        for sentence in attentively(ticket, formats.pair(*sources) if len(sources) > 1 else sources[0]):
            words += len(sentence)
            if len(rows) == limits.treebank_sentences or words > limits.treebank_words:
                most = f"{limits.treebank_sentences} sentences or {limits.treebank_words} words"
                raise Refused(413, "body", f"more than {most}, which is the limit")
            rows.append(dumped(_row(sentence)))
    except Refused:
        raise
    except H3nError as error:
        raise Refused(422, "body", str(error)) from None
    return b'{"format":"%b","sentences":[%b]}' % (kinds[0].encode(), b",".join(rows))


def _unpacked(part: bytes, limits: ServiceLimits) -> bytes:
    """Return a file unpacked: 4 MB may stand for gigabytes."""
    with files.opened(io.BytesIO(part)) as handle:
        content = handle.read(limits.treebank_bytes + 1)
    if len(content) > limits.treebank_bytes:
        raise Refused(413, "body", f"more than {limits.treebank_bytes} bytes when unpacked, which is the limit")
    return content


def _kind(name: str) -> str:
    ending = "".join(PurePath(name).suffixes[-2:])
    try:
        return formats.guess_format(f"treebank{ending}")
    except H3nError as error:
        raise Refused(422, "name", str(error)) from None


def _row(sentence: Sentence) -> dict[str, Any]:
    ids = (line.partition("=")[2].strip() for line in sentence.comments if line.startswith("# sent_id"))
    return {
        "id": next(ids, ""),
        "text": text.written(sentence),
        "sentence": jsonl.object_of(sentence),
        "disagreements": disagreements(sentence),
    }


def disagreements(sentence: Sentence) -> list[int]:
    """Return the words whose governor the phrase structure does not allow, as joining the two trees moves it."""
    if sentence.tree is None or sentence.dependencies is None:
        return []
    try:
        governors = governors_of(joint_of(sentence))
    except H3nError:  # trees that cannot be joined at all, such as with two roots
        return []
    pairs = enumerate(zip(governors, sentence.dependencies.governors, strict=True))
    return [word for word, (joint, own) in pairs if joint != own]


def _sizes(sentence: Sentence, limits: ServiceLimits) -> Iterator[tuple[str, int, int]]:
    yield "words", len(sentence), limits.sentence_words
    yield "characters in a word", max(map(len, sentence.words), default=0), limits.word_characters
    if sentence.tree is not None:
        yield "phrases", _phrases(sentence.tree), limits.phrases


def _phrases(tree: Constituent) -> int:
    count, stack = 0, [tree]
    while stack:
        count += 1
        stack += [child for child in stack.pop().children if isinstance(child, Constituent)]
    return count


def _drawn(ticket: Ticket, body: DrawRequest, limits: ServiceLimits) -> bytes:
    try:
        (sentence,) = formats.read(io.StringIO(json.dumps(body.sentence)), format="jsonl")
        for name, count, most in _sizes(sentence, limits):
            if count > most:
                raise Refused(413, "sentence", f"{count} {name}; at most {most} are accepted")
        ticket.check()
        figure = figure_of(sentence)
        ticket.check()
        picture = draw.svg(sentence, theme=body.picture.theme, fit=body.picture.fit, parts=body.picture.parts)
    except Refused:
        raise
    except H3nError as error:
        raise Refused(422, "sentence", str(error)) from None
    spans = [{"label": p.label, "start": p.start, "end": p.end, "head": p.head} for p in figure.phrases]
    answer: dict[str, Any] = {"words": figure.words, "tags": figure.tags, "spans": spans, "svg": picture}
    if figure.arcs:
        answer |= {
            "heads": [arc.governor + 1 for arc in figure.arcs],
            "relations": [arc.relation for arc in figure.arcs],
        }
    return dumped(answer)
