"""Patterns of rules and of `h3n corpus find`, whole files of rules, and constraints, as targets."""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from random import Random
from typing import Any

import numpy as np

from h3n.convert.rules import load_scheme, to_dependencies
from h3n.convert.rules.finding import compiled
from h3n.convert.rules.matching import Bound, compile_pattern
from h3n.convert.rules.nodes import LinkedNode, bottom_up
from h3n.convert.rules.patterns import Vocabulary, parse
from h3n.convert.rules.source import SCHEMES
from h3n.corpus.finding import linked
from h3n.decode import DECODERS, Constraints, Scores, decode_batch
from h3n.errors import Place, UsageError
from h3n.trees import ROOT
from tests.formats.helpers import parse as read
from tests.fuzz.driver import Target
from tests.fuzz.mutations import VALUES, mutated

VOCABULARY = Vocabulary({"noun": ["NN*", "NP"]}, {"be": ["is", "/w.s/"]}, {"verb": "VP < (VB* = x)", "self": "&self"})
PATTERNS = [
    'NP|WHNP !< EX $++ (VP < VB*"{be}")',
    "NP @ nsubj < PP",
    'NP|NN @lemma dog|cat !@feature Number=Pl* @upos NOUN @lemma !"/x.*/"',
    "S <1 (NP=subject $+ VP) [ < X | !> Y ] ![ << {noun} | <-1 . ]",
    '=x <+VP (VB*!"/i[sn]g?/" >+VP S)',
    "&verb !<< &self",
    "* << (NP <2 (PP $- NP)) >> S",
]
TREE = "(TOP (S (NP (NP (DT the) (NN dog)) (PP (IN in) (NP (NN town)))) (VP (VBZ is) (VP (VBG sleeping))) (. .)))\n"
ROW: dict[str, Any] = {
    "words": ["the", "dog", "is", "in", "town"],
    "tags": ["DT", "NN", "VBZ", "IN", "NN"],
    "upos": ["DET", "NOUN", "AUX", "ADP", "NOUN"],
    "lemmas": ["the", "dog", "be", "in", "town"],
    "features": ["_", "Number=Sing", "Mood=Ind|Tense=Pres", "_", "_"],
    "governors": [1, 2, -1, 4, 2],
    "relations": ["det", "nsubj", "root", "case", "obl"],
    "spans": [
        {"start": 0, "end": 5, "label": "S", "head": 2},
        {"start": 0, "end": 2, "label": "NP", "head": 1},
        {"start": 2, "end": 5, "label": "VP", "head": 2},
        {"start": 3, "end": 5, "label": "PP", "head": None},
    ],
}


def try_pattern(content: bytes) -> None:
    """A pattern is refused, or says of every node whether it fits, twice the same."""
    text = content.decode(errors="surrogateescape")
    try:
        fits = compiled(text)
    except UsageError:
        fits = compile_pattern(parse(text, VOCABULARY, Place("the pattern", 1)))
    nodes = [node for root in linked(ROW).roots for node in bottom_up(root) if isinstance(node, LinkedNode)]
    answers = [bool(fits(node, Bound())) for node in nodes]
    assert answers == [bool(fits(node, Bound())) for node in nodes]


@cache
def _rules() -> list[bytes]:
    """Return files of rules: short ones over ours, and parts of ours."""
    own = b"extends ud2\n[words]\nbe = is was\n[sets]\nnoun = NN NNS\n[heads]\nNP = right NN NP ; left *\n"
    whole = (SCHEMES / "ud2.rules").read_bytes()
    pieces = [b"extends sd\n" + b"[" + part for part in whole.split(b"\n[")[1:]]
    return [own, own, *(piece[:4_000] for piece in pieces)]


def try_rules(content: bytes) -> None:
    """A file of rules is refused, or makes one tree over all words."""
    with tempfile.NamedTemporaryFile(suffix=".rules", delete=False) as file:
        file.write(content)
    try:
        scheme = load_scheme(file.name)
        (sentence,) = read(TREE, "brackets")
        assert sentence.tree is not None
        dependencies = to_dependencies(sentence.tree, scheme)
        assert len(dependencies.governors) == len(sentence)
        assert dependencies.governors.count(ROOT) == 1
    finally:
        os.unlink(file.name)  # noqa: PTH108


KINDS = ("require_spans", "forbid_spans", "require_arcs", "forbid_arcs")


def make_constraints(chance: Random) -> bytes:
    """Return a decoder, a number of words, and constraints of which some cannot be."""
    words = chance.randint(0, 6)

    def pair(kind: str) -> list[Any]:
        if chance.random() < 0.02:
            return [chance.choice(VALUES), chance.randint(-1, words + 1)]
        first, second = chance.randint(0, words), chance.randint(0, words)
        return sorted((first, second)) if kind.endswith("spans") else [first - 1, max(0, second - 1)]

    chosen = {kind: [pair(kind) for _ in range(chance.choice((0, 0, 0, 1, 1, 2)))] for kind in KINDS}
    return json.dumps([chance.choice(list(DECODERS)), words, chance.randrange(1 << 30), chosen]).encode()


def obey(content: bytes) -> None:
    """Constraints are refused, contradict each other, or are obeyed."""
    name, n, seed, chosen = json.loads(content)
    constraints = Constraints(**chosen)
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, shape).astype(np.float32)

    full = draw(n + 1, n + 1)
    scores = Scores(full=full, open=np.maximum(full, 0), arc=draw(n, n), root=draw(n), head=draw(n))
    (parse_found,) = decode_batch([scores], name, constraints=[constraints])
    spans = {(start, end) for start, end, _, _ in parse_found.spans}
    arcs = {(governor, word) for word, governor in enumerate(parse_found.governors)}
    assert spans.issuperset(constraints.require_spans)
    assert spans.isdisjoint(constraints.forbid_spans)
    assert arcs.issuperset(constraints.require_arcs)
    assert arcs.isdisjoint(constraints.forbid_arcs)


PATTERN_TARGETS = {
    "patterns": Target(lambda chance: mutated([one.encode() for one in PATTERNS], chance), try_pattern, share=120),
    "rules": Target(lambda chance: mutated(_rules(), chance), try_rules, share=1),
    "constraints": Target(make_constraints, obey, share=120),
}
