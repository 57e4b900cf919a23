"""Clients of other services get trees from h3n unchanged: NLTK's of CoreNLP, and what displaCy draws."""

from __future__ import annotations

import json
import urllib.parse
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.parser import Parser
from h3n.serve.pool import Ticket
from h3n.serve.protobuf import document
from tests.serve.conftest import Running

TEXT = "The old dog sees a cat. The cat (a big one) sleeps."


def client(name: str, url: str) -> Any:
    pytest.importorskip("requests", reason="NLTK's clients of CoreNLP need requests")
    corenlp = pytest.importorskip("nltk.parse.corenlp", reason="needs NLTK")
    return getattr(corenlp, name)(url=url)


def test_constituents_by_the_client_of_nltk(service: Running, parser: Parser) -> None:
    nltk = client("CoreNLPParser", service.url)
    trees = list(nltk.parse_text(TEXT))
    results = list(parser.parse(TEXT))
    assert [tree.label() for tree in trees] == ["ROOT"] * len(results)
    for tree, result in zip(trees, results, strict=True):
        expected = result.to_nltk()
        assert (tree if expected.label() == "ROOT" else tree[0]).productions()[0] == expected.productions()[0]
        assert len(tree.leaves()) == len(result)
    (one,) = nltk.raw_parse("The old dog sleeps .")
    assert one.leaves() == ["The", "old", "dog", "sleeps", "."]
    (split,) = nltk.parse(["A", "dog's", "cat"], properties={"tokenize.whitespace": "true"})
    assert split.leaves() == ["A", "dog's", "cat"]
    assert list(nltk.tokenize("The cat sleeps.")) == ["The", "cat", "sleeps", "."]
    nltk.session.close()


def test_dependencies_by_the_client_of_nltk(service: Running, parser: Parser) -> None:
    nltk = client("CoreNLPDependencyParser", service.url)
    (graph,) = nltk.raw_parse("The old dog sees a cat.")
    (result,) = parser.parse("The old dog sees a cat.")
    rows = [row.split("\t") for row in graph.to_conll(4).splitlines()]
    assert [row[0] for row in rows] == list(result.words)
    assert [row[1] for row in rows] == list(result.tags)
    assert [int(row[2]) for row in rows] == list(result.heads)
    assert [row[3] for row, head in zip(rows, result.heads, strict=True) if head] == [
        relation for relation, head in zip(result.relations, result.heads, strict=True) if head
    ]
    nltk.session.close()


def ask(service: Running, body: bytes, properties: object, content_type: str = "text/plain") -> tuple[int, Any]:
    query = urllib.parse.urlencode(
        {"properties": properties if isinstance(properties, str) else json.dumps(properties)}
    )
    return service.send(f"/?{query}", body, headers={"Content-Type": content_type})[:2]


def test_offsets_and_lines_are_those_of_the_text(service: Running) -> None:
    status, answer = ask(service, TEXT.encode(), {"annotators": "tokenize"})
    assert status == 200
    tokens = [token for sentence in answer["sentences"] for token in sentence["tokens"]]
    assert [TEXT[t["characterOffsetBegin"] : t["characterOffsetEnd"]] for t in tokens] == [t["word"] for t in tokens]
    assert "parse" not in answer["sentences"][0]
    _, answer = ask(service, b"A dog. A cat.\nDogs", {"ssplit.eolonly": "true"})
    assert [len(sentence["tokens"]) for sentence in answer["sentences"]] == [6, 1]
    _, escaped = ask(service, b"A+dog%20barks%2E", {}, "application/x-www-form-urlencoded")
    assert [token["word"] for token in escaped["sentences"][0]["tokens"]] == ["A", "dog", "barks", "."]


@pytest.mark.parametrize(
    ("properties", "field"),
    [
        ("{", "properties"),
        ("[]", "properties"),
        ("{'annotators': __import__('os')}", "properties"),
        ("(" * 5_000, "properties"),
        ({"annotators": "ner"}, "properties.annotators"),
        ({"outputFormat": "xml"}, "properties.outputFormat"),
    ],
)
def test_what_is_not_there_is_refused(service: Running, properties: object, field: str) -> None:
    status, answer = ask(service, b"A dog.", properties)
    assert (status, answer["field"]) == (422, field)


def test_properties_may_be_a_literal_of_python_as_stanza_sends_it(service: Running) -> None:
    status, answer = ask(service, b"A dog.", str({"annotators": "tokenize", "outputFormat": "json"}))
    assert status == 200
    assert len(answer["sentences"][0]["tokens"]) == 3


def test_conllu_is_that_of_the_parser(service: Running, parser: Parser) -> None:
    status, answer = ask(service, TEXT.encode(), {"outputFormat": "conllu"})
    assert (status, answer) == (200, "".join(result.conllu() for result in parser.parse(TEXT)))


def read_varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while content[at] & 0x80:
        value |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | content[at] << shift, at + 1


def read_message(content: bytes) -> dict[int, list[Any]]:
    """Return the fields of a protocol buffer by number, as the wire format has them."""
    fields: dict[int, list[Any]] = {}
    at = 0
    while at < len(content):
        key, at = read_varint(content, at)
        value, at = read_varint(content, at)
        if key & 7 == 2:
            at += value
            fields.setdefault(key >> 3, []).append(content[at - value : at])
        else:
            assert key & 7 == 0
            fields.setdefault(key >> 3, []).append(value)
    return fields


def read_tree(content: bytes) -> Any:
    node = read_message(content)
    value = node[2][0].decode()
    return (value, *map(read_tree, node[1])) if 1 in node else value


def tree_of(node: Any) -> Any:
    return node if isinstance(node, str) else (node.label(), *map(tree_of, node))


def test_protocol_buffers_hold_both_trees(parser: Parser) -> None:
    # The numbers are CoreNLP's: text 1, sentence 2; in it tokens 1, tree 7, basic dependencies 8.
    pytest.importorskip("nltk", reason="needs NLTK")
    results = list(parser.parse(TEXT))
    content = document(Ticket(), TEXT, results, frozenset({"parse", "depparse", "pos"}))
    size, start = read_varint(content, 0)
    assert size == len(content) - start
    message = read_message(content[start:])
    assert message[1] == [TEXT.encode()]
    first = 0
    for number, (part, result) in enumerate(zip(message[2], results, strict=True)):
        sentence = read_message(part)
        assert (sentence[2], sentence[3], sentence[4]) == ([first], [first + len(result)], [number])
        first += len(result)
        tokens = [read_message(token) for token in sentence[1]]
        assert [token[1][0].decode() for token in tokens] == list(result.words)
        assert [token[2][0].decode() for token in tokens] == list(result.tags)
        expected = tree_of(result.to_nltk())
        assert read_tree(sentence[7][0]) == (expected if expected[0] == "ROOT" else ("ROOT", expected))
        graph = read_message(sentence[8][0])
        edges = [read_message(edge) for edge in graph[2]]
        heads = {edge[2][0]: (edge[1][0], edge[3][0].decode()) for edge in edges}
        assert heads == {
            word: (head, relation)
            for word, (head, relation) in enumerate(zip(result.heads, result.relations, strict=True), start=1)
            if head
        }
        assert graph[3] == [bytes([result.heads.index(0) + 1])]


def test_client_of_stanza_gets_trees(service: Running, parser: Parser) -> None:
    stanza = pytest.importorskip("stanza.server", reason="needs stanza", exc_type=ImportError)
    client = stanza.CoreNLPClient(start_server=stanza.StartServer.DONT_START, endpoint=service.url)
    answer = client.annotate(TEXT, annotators="tokenize,ssplit,pos,parse,depparse")
    results = list(parser.parse(TEXT))
    for sentence, result in zip(answer.sentence, results, strict=True):
        assert [token.word for token in sentence.token] == list(result.words)
        assert sentence.parseTree.value == "ROOT"
        assert len(sentence.basicDependencies.edge) == len(result) - 1
        assert list(sentence.basicDependencies.root) == [result.heads.index(0) + 1]


def test_displacy_draws_every_sentence_or_all_as_one(service: Running, parser: Parser) -> None:
    _, sentences, _ = service.send("/spacy", {"text": TEXT})
    _, whole, _ = service.send("/spacy/dep", {"text": TEXT, "model": "other"})
    results = list(parser.parse(TEXT))
    assert [[word["text"] for word in one["words"]] for one in sentences] == [list(one.words) for one in results]
    assert whole["words"] == [word for one in sentences for word in one["words"]]
    assert len(whole["arcs"]) == len(whole["words"]) - len(sentences)
    first = len(results[0])
    for arc in whole["arcs"]:
        assert arc["start"] < arc["end"]
        assert (arc["start"] < first) == (arc["end"] < first)
    arc = next(arc for arc in results[1].arcs if arc.governor > arc.word)
    expected = {"start": arc.word, "end": arc.governor, "label": arc.relation, "dir": "left"}
    assert expected in sentences[1]["arcs"]
