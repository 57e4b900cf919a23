"""The XML of Alpino (Dutch): phrase structure whose heads are marked, so that both trees can be read off it.

``<node cat="np" rel="su">`` is a phrase, ``<node word="huis" rel="hd">`` a word; ``begin`` and ``end`` say where it
stands, and a node with neither word nor category is a trace. Nearly half of the sentences have a phrase with a gap.
Such a phrase keeps the run of words around its head, and the children beyond a gap are raised to the lowest phrase
above that is continuous with them, so that the trees are ordinary ones; governors and relations are those of the
source, from before the raising. Relations are the functions of Alpino (``su``, ``obj1``, ``mod``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from h3n.errors import FormatError, Place
from h3n.files import read_bytes
from h3n.formats import Reading
from h3n.trees import ROOT, Constituent, Dependencies, Leaf, Node, Sentence

# The function of a phrase's head, the first that is there; else the left-most child is it.
HEADS = ("hd", "cmp", "crd", "dlink", "rhd", "whd", "nucl", "mwp", "cnj", "body", "dp", "tag", "sat")
_UNIT = re.compile(rb"<alpino_ds.*?</alpino_ds>", re.DOTALL)
_PUNCTUATION = "--"


@dataclass(slots=True)
class _Phrase:
    """A phrase or word while a sentence is read: the words in it, and the word at its head."""

    label: str
    relation: str
    words: frozenset[int]
    head: int
    children: list[_Phrase]


def read(file: Path, options: Reading) -> Iterator[Sentence]:
    """Yield the sentences of a file that holds one or more of them, one after the other."""
    text = read_bytes(file)
    line, at = 1, 0
    for match in _UNIT.finditer(text):
        line, at = line + text.count(b"\n", at, match.start()), match.start()
        place = Place(str(file), line)
        try:
            yield _sentence(ElementTree.fromstring(match.group()), place)
        except (ElementTree.ParseError, ValueError, KeyError) as error:
            problem = FormatError(place, f"no tree of Alpino: {error}", "<alpino_ds> with <node> elements")
            if options.on_problem is None:
                raise problem from None
            options.on_problem(problem)


def _sentence(unit: ElementTree.Element, place: Place) -> Sentence:
    top = unit.find("node")
    if top is None:
        raise ValueError("no <node>")
    found = {int(node.attrib["begin"]): node for node in top.iter("node") if "word" in node.attrib}
    order = {begin: word for word, begin in enumerate(sorted(found))}
    nodes = [found[begin] for begin in sorted(found)]
    root = _phrase(top, order)
    if root is None:
        raise ValueError("no words")
    _lower_punctuation(root)
    governors, relations = [ROOT] * len(nodes), ["root"] * len(nodes)
    _attach(root, governors, relations)
    leaves = [Leaf(node.get("pt", node.get("pos", "_")), node.attrib["word"]) for node in nodes]
    text = (unit.findtext("sentence") or "").strip()
    return Sentence(
        words=tuple(leaf.word for leaf in leaves),
        tags=tuple(leaf.tag for leaf in leaves),
        lemmas=tuple((node.get("lemma") or node.get("root") or "_").replace(" ", "_") for node in nodes),
        tree=_tree(_continuous(root)[0], leaves),
        dependencies=Dependencies(tuple(governors), tuple(relations)),
        comments=(f"# tokens = {text}",) if text else (),
        place=place,
    )


def _phrase(node: ElementTree.Element, order: dict[int, int]) -> _Phrase | None:
    """Return what stands below a node; None where there is only a trace."""
    relation = node.get("rel", "_")
    if "word" in node.attrib:
        word = order[int(node.attrib["begin"])]
        return _Phrase("", relation, frozenset({word}), word, [])
    children = [child for child in (_phrase(inner, order) for inner in node.findall("node")) if child is not None]
    if not children:
        return None
    children.sort(key=lambda child: min(child.words))
    words = frozenset(word for child in children for word in child.words)
    return _Phrase(node.get("cat", "top").upper(), relation, words, _head(children), children)


def _head(children: list[_Phrase]) -> int:
    for relation in HEADS:
        for child in children:
            if child.relation == relation:
                return child.head
    phrases = [child for child in children if child.label] or children
    return phrases[0].head


def _lower_punctuation(top: _Phrase) -> None:
    """Put marks, which all hang at the top, into the lowest phrase with words on both sides, or each would be a gap."""
    for mark in [child for child in top.children if child.relation == _PUNCTUATION and not child.label]:
        at, place = mark.head, top
        while inner := [c for c in place.children if c.label and min(c.words) < at < max(c.words)]:
            place = inner[0]
            place.words |= mark.words
        if place is not top:
            top.children.remove(mark)
            place.children.append(mark)
            place.children.sort(key=lambda child: min(child.words))


def _attach(phrase: _Phrase, governors: list[int], relations: list[str]) -> None:
    stack = [phrase]
    while stack:
        above = stack.pop()
        for child in above.children:
            if child.head != above.head:
                governors[child.head] = above.head
                punctuation = child.relation == _PUNCTUATION and not child.label
                relations[child.head] = "punct" if punctuation else child.relation
        stack.extend(above.children)


def _continuous(phrase: _Phrase) -> tuple[_Phrase, list[_Phrase]]:
    """Return the phrase around its head without gaps, and the parts beyond a gap, which belong further up."""
    parts: list[_Phrase] = []
    for child in phrase.children:
        kept, beyond = _continuous(child)
        parts.extend([kept, *beyond])
    if not parts:
        return phrase, []
    parts.sort(key=lambda part: min(part.words))
    middle = next(place for place, part in enumerate(parts) if phrase.head in part.words)
    first = last = middle
    while first > 0 and max(parts[first - 1].words) + 1 == min(parts[first].words):
        first -= 1
    while last + 1 < len(parts) and max(parts[last].words) + 1 == min(parts[last + 1].words):
        last += 1
    inside = parts[first : last + 1]
    words = frozenset(word for part in inside for word in part.words)
    return _Phrase(phrase.label, phrase.relation, words, phrase.head, inside), [*parts[:first], *parts[last + 1 :]]


def _tree(phrase: _Phrase, leaves: list[Leaf]) -> Constituent:
    def build(part: _Phrase) -> Node:
        if not part.label:
            return leaves[part.head]
        return Constituent(part.label, tuple(map(build, part.children)))

    built = build(phrase)
    return built if isinstance(built, Constituent) else Constituent("TOP", (built,))
