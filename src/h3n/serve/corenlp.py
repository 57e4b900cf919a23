"""What a client of CoreNLP asks for, and the answer in CoreNLP's forms: JSON, CoNLL-U, protocol buffers."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from h3n import text
from h3n.parser import Result
from h3n.serve.pool import Ticket, attentively
from h3n.serve.protobuf import document
from h3n.serve.requests import Refused, check_once, dumped
from h3n.trees import Sentence

# CoreNLP's annotators that h3n can stand in for
ANNOTATORS = ("tokenize", "ssplit", "pos", "lemma", "parse", "depparse")
DEFAULT = "tokenize,ssplit,pos,parse,depparse"
LONGEST_LITERAL = 10_000  # characters
_TRUE = ("true", "1", "yes")


@dataclass(frozen=True, slots=True)
class Properties:
    """What a client of CoreNLP wants."""

    annotators: frozenset[str]
    output: str
    options: Mapping[str, str]

    def asked(self, name: str) -> bool:
        """Return whether an option is set."""
        return self.options.get(name, "false").lower() in _TRUE


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A form of the answer."""

    media_type: str
    write: Callable[[Ticket, str, Sequence[Result], frozenset[str]], bytes]


def read_properties(given: str) -> Properties:
    """Return what the parameter `properties` asks for."""
    options = _object(given)
    if not isinstance(options, dict):
        raise Refused(422, "properties", "not a JSON object")
    values = {str(name): str(value) for name, value in options.items()}
    names = [name.strip() for name in values.get("annotators", DEFAULT).split(",") if name.strip()]
    wanted = frozenset(names)
    if unknown := wanted - set(ANNOTATORS):
        raise Refused(422, "properties.annotators", f"{min(unknown)!r}; accepted: {', '.join(ANNOTATORS)}")
    check_once("properties.annotators", names)
    output = values.get("outputFormat", "json")
    if output not in OUTPUTS:
        raise Refused(422, "properties.outputFormat", f"{output!r}; accepted: {', '.join(OUTPUTS)}")
    return Properties(wanted, output, values)


def _object(given: str) -> Any:
    """Return what JSON says, or a literal of Python: stanza's client sends one, and CoreNLP takes it."""
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        reason = str(error)
    try:
        return ast.literal_eval(given[:LONGEST_LITERAL])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise Refused(422, "properties", f"not JSON: {reason}") from None


def read_text(body: bytes, content_type: str) -> str:
    """Return the text of a request."""
    try:
        given = body.decode()
    except UnicodeDecodeError:
        raise Refused(422, "body", "not UTF-8") from None
    # Programs that send no type of their own, such as curl, escape the text; CoreNLP takes that off, too.
    return unquote_plus(given) if content_type.startswith("application/x-www-form-urlencoded") else given


def sentences_of(given: str, properties: Properties, segmenter: text.Segmenter) -> Iterable[Sentence]:
    """Return the sentences one by one as CoreNLP's properties say: by the model's segmenter, by line, or all as one."""
    if properties.asked("tokenize.whitespace"):
        pieces = given.splitlines() if properties.asked("ssplit.eolonly") else [given]
        return (Sentence(words=tuple(piece.split())) for piece in pieces if piece.strip())
    if properties.asked("ssplit.eolonly"):
        return (sentence for sentence in segmenter.lines(given) if sentence.words)
    if properties.asked("ssplit.isOneSentence"):
        return (sentence for sentence in segmenter.lines(" ".join(given.splitlines())) if sentence.words)
    return segmenter.segment(given)


def _json(ticket: Ticket, _: str, results: Sequence[Result], wanted: frozenset[str]) -> bytes:
    numbered = enumerate(attentively(ticket, results))
    return b'{"sentences":[%b]}' % b",".join(dumped(_corenlp(at, result, wanted)) for at, result in numbered)


def _conllu(ticket: Ticket, _: str, results: Sequence[Result], wanted: frozenset[str]) -> bytes:  # noqa: ARG001
    return "".join(result.conllu() for result in attentively(ticket, results)).encode()


OUTPUTS = {
    "json": AnswerForm("application/json", _json),
    "conllu": AnswerForm("text/plain; charset=utf-8", _conllu),
    "serialized": AnswerForm("application/x-protobuf", document),
}


def _corenlp(index: int, result: Result, wanted: frozenset[str]) -> dict[str, Any]:
    answer: dict[str, Any] = {"index": index}
    if "parse" in wanted and result.tree is not None:
        brackets = result.brackets()
        answer["parse"] = brackets if result.tree.label == "ROOT" else f"(ROOT {brackets})"
    if wanted & {"parse", "depparse"}:
        answer["basicDependencies"] = [_dependency(result, word) for word in _root_first(result)]
    answer["tokens"] = [_token(result, word, wanted) for word in range(len(result))]
    return answer


def _root_first(result: Result) -> list[int]:
    return sorted(range(len(result.governors)), key=lambda word: (result.governors[word] >= 0, word))


def _dependency(result: Result, word: int) -> dict[str, Any]:
    governor = result.governors[word]
    root = governor < 0
    return {
        "dep": "ROOT" if root else result.relations[word],
        "governor": governor + 1,
        "governorGloss": "ROOT" if root else result.words[governor],
        "dependent": word + 1,
        "dependentGloss": result.words[word],
    }


def lemma_of(result: Result, word: int) -> str:
    """Return the lemma of a word, or the word itself where the model finds none."""
    return result[word].lemma or result.words[word]


def _token(result: Result, word: int, wanted: frozenset[str]) -> dict[str, Any]:
    start, end = result.offsets[word]
    form = result.words[word]
    token = {"index": word + 1, "word": form, "originalText": form}
    token |= {"characterOffsetBegin": start, "characterOffsetEnd": end}
    if wanted - {"tokenize", "ssplit"}:
        token |= {"lemma": lemma_of(result, word), "pos": (result.tags or result.upos or ("",) * len(result))[word]}
    return token
