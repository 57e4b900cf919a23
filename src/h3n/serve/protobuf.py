"""CoreNLP's binary answer: a document as protocol buffers, with the numbers that CoreNLP's clients know its fields by.

Only what h3n knows is written: text, words, tags, phrase structure, dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from h3n.parser import Result
from h3n.serve.pool import Ticket, attentively
from h3n.trees import Constituent, Leaf, Node

DOCUMENT = {"text": 1, "sentence": 2}
SENTENCE = {"token": 1, "first": 2, "end": 3, "number": 4, "start_char": 5, "end_char": 6, "tree": 7, "basic": 8}
SENTENCE |= {"text": 12, "enhanced": 17, "enhanced_plus": 18}
TOKEN = {"word": 1, "tag": 2, "value": 3, "original": 7, "lemma": 10, "start_char": 11, "end_char": 12}
TOKEN |= {"first": 17, "end": 18, "index": 79}
TREE = {"child": 1, "value": 2}
GRAPH = {"node": 1, "edge": 2, "root": 3}
NODE = {"sentence": 1, "index": 2}
EDGE = {"source": 1, "target": 2, "relation": 3}
_NUMBER, _BYTES = 0, 2  # how the value of a field is written


def document(ticket: Ticket, text: str, results: Sequence[Result], wanted: frozenset[str]) -> bytes:
    """Return the document with its length before it, as CoreNLP sends it."""
    first = 0
    parts = [_field(DOCUMENT["text"], text)]
    for number, result in enumerate(attentively(ticket, results)):
        parts.append(_field(DOCUMENT["sentence"], _sentence(number, first, result, wanted)))
        first += len(result)
    content = b"".join(parts)
    return _varint(len(content)) + content


def _sentence(number: int, first: int, result: Result, wanted: frozenset[str]) -> bytes:
    tokens = [_field(SENTENCE["token"], _token(result, word, first, wanted)) for word in range(len(result))]
    start, end = (result.offsets[0][0], result.offsets[-1][1]) if len(result) else (0, 0)
    numbers = {"first": first, "end": first + len(result), "number": number, "start_char": start, "end_char": end}
    parts = [*tokens, *(_field(SENTENCE[name], value) for name, value in numbers.items())]
    if "parse" in wanted and result.tree is not None:
        tree = result.tree if result.tree.label == "ROOT" else Constituent("ROOT", (result.tree,))
        parts.append(_field(SENTENCE["tree"], _tree(tree)))
    if wanted & {"parse", "depparse"} and result.governors:
        graph = _graph(number, result)
        parts += [_field(SENTENCE[name], graph) for name in ("basic", "enhanced", "enhanced_plus")]
    return b"".join([*parts, _field(SENTENCE["text"], result.text)])


def _token(result: Result, word: int, first: int, wanted: frozenset[str]) -> bytes:
    form = result.words[word]
    start, end = result.offsets[word]
    values: dict[str, str | int] = {"word": form, "value": form, "original": form}
    values |= {"start_char": start, "end_char": end, "first": first + word, "end": first + word + 1, "index": word + 1}
    if wanted - {"tokenize", "ssplit"}:
        tags = result.tags or result.upos
        values |= {"tag": tags[word] if tags else "", "lemma": result[word].lemma or form}
    return b"".join(_field(TOKEN[name], value) for name, value in values.items())


def _tree(tree: Constituent) -> bytes:
    """Return a tree, written from the leaves up; does not recurse."""
    written: list[bytes] = []
    stack: list[tuple[Node, bool]] = [(tree, False)]
    while stack:
        node, children_done = stack.pop()
        if isinstance(node, Leaf):
            word = _field(TREE["value"], node.word)
            written.append(_field(TREE["child"], word) + _field(TREE["value"], node.tag) if node.tag else word)
        elif not children_done:
            stack += [(node, True), *((child, False) for child in reversed(node.children))]
        else:
            at = len(written) - len(node.children)
            children = b"".join(_field(TREE["child"], child) for child in written[at:])
            written[at:] = [children + _field(TREE["value"], node.label)]
    return written[0]


def _graph(number: int, result: Result) -> bytes:
    arcs = list(enumerate(zip(result.heads, result.relations, strict=True), start=1))
    nodes = (_message(NODE, sentence=number, index=word) for word, _ in arcs)
    edges = (_message(EDGE, source=head, target=word, relation=relation) for word, (head, relation) in arcs if head)
    roots = b"".join(_varint(word) for word, (head, _) in arcs if not head)
    return _all(GRAPH["node"], nodes) + _all(GRAPH["edge"], edges) + _field(GRAPH["root"], roots)


def _message(numbers: dict[str, int], **values: str | int) -> bytes:
    return b"".join(_field(numbers[name], value) for name, value in values.items())


def _all(number: int, messages: Iterable[bytes]) -> bytes:
    return b"".join(_field(number, message) for message in messages)


def _field(number: int, value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | _NUMBER) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; a set eighth bit says that more come."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
