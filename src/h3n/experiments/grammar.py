"""Sentences of a small English-like grammar with both trees, for examples, tests and miniatures.

They are made up, hence free to use, and just rich enough to show every part of a parser at work: flat phrases whose
words govern each other, unary chains, attachment that depends on the words, coordination, relative clauses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

LEXICON = """
DT the a every this some
NN dog cat parser tree garden telescope teacher linguist letter river house song window idea
NNP Mary Kim Lee Anna Oslo
PRP she he it they
JJ red old tall clever quiet green strange
RB very rather quite
VBD saw liked wrote found watched parsed heard painted
VBDI slept laughed arrived smiled waited
VBDS said thought knew claimed
IN with in near from under
AV yesterday often slowly
"""
WORDS = {tag: words for tag, *words in map(str.split, LEXICON.strip().splitlines())}
UNIVERSAL = "DT DET NN NOUN NNP PROPN PRP PRON JJ ADJ RB ADV VBD VERB IN ADP CC CCONJ . PUNCT WP PRON"
UPOS = dict(zip(UNIVERSAL.split()[::2], UNIVERSAL.split()[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Node:
    """A phrase or a word; ``arcs`` are (dependent, governor, relation) among the words below it."""

    text: str
    words: list[tuple[str, str]]
    head: int
    arcs: list[tuple[int, int, str]]


class Grammar:
    """Draws phrases at random: the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def pick(self, tag: str) -> Node:
        word = self.chance.choice(WORDS[tag])
        return self.leaf({"VBDI": "VBD", "VBDS": "VBD", "AV": "RB"}.get(tag, tag), word)

    def leaf(self, tag: str, word: str) -> Node:
        return Node(f"({tag} {word})", [(word, tag)], 0, [])

    def phrase(self, label: str, children: list[Node], head: int, arcs: list[tuple[int, int, str]]) -> Node:
        """Return a phrase; ``arcs`` are among the children, by their places."""
        starts = [sum(len(child.words) for child in children[:at]) for at in range(len(children))]
        heads = [start + child.head for start, child in zip(starts, children, strict=True)]
        below = [(d + s, g + s, r) for s, child in zip(starts, children, strict=True) for d, g, r in child.arcs]
        return Node(
            f"({label} {' '.join(child.text for child in children)})",
            [word for child in children for word in child.words],
            heads[head],
            below + [(heads[dependent], heads[governor], relation) for dependent, governor, relation in arcs],
        )

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def noun_phrase(self, depth: int) -> Node:
        if self.maybe(0.25):
            return self.phrase("NP", [self.pick(self.chance.choice(["NNP", "PRP"]))], 0, [])
        children, arcs = [self.pick("DT")], []
        if self.maybe(0.2):  # flat: the adverb hangs on the adjective, not on the noun
            children += [self.pick("RB"), self.pick("JJ")]
            arcs += [(1, 2, "advmod"), (2, 3, "amod")]
        elif self.maybe(0.4):
            children += [self.pick("JJ")]
            arcs += [(1, 2, "amod")]
        children += [self.pick("NN")]
        last = len(children) - 1
        base = self.phrase("NP", children, last, [*arcs, (0, last, "det")])
        if depth < 2 and self.maybe(0.25):
            return self.phrase("NP", [base, self.prepositional(depth + 1)], 0, [(1, 0, "nmod")])
        if depth < 1 and self.maybe(0.15):
            return self.phrase("NP", [base, self.relative(depth + 1)], 0, [(1, 0, "acl")])
        if depth < 1 and self.maybe(0.1):
            other = self.noun_phrase(2)
            return self.phrase("NP", [base, self.leaf("CC", "and"), other], 0, [(1, 2, "cc"), (2, 0, "conj")])
        return base

    def prepositional(self, depth: int) -> Node:
        return self.phrase("PP", [self.pick("IN"), self.noun_phrase(depth)], 1, [(0, 1, "case")])

    def relative(self, depth: int) -> Node:
        subject = self.phrase("WHNP", [self.leaf("WP", "who")], 0, [])
        clause = self.phrase("S", [self.verb_phrase(depth + 1)], 0, [])
        return self.phrase("SBAR", [subject, clause], 1, [(0, 1, "nsubj")])

    def verb_phrase(self, depth: int) -> Node:
        if self.maybe(0.15) and depth == 0:
            return self.phrase("VP", [self.pick("VBDS"), self.clause(1)], 0, [(1, 0, "ccomp")])
        if self.maybe(0.3):
            children, arcs = [self.pick("VBDI")], []
        else:
            children, arcs = [self.pick("VBD"), self.noun_phrase(depth)], [(1, 0, "obj")]
        if self.maybe(0.3):
            children.append(self.prepositional(depth + 1))
            arcs.append((len(children) - 1, 0, "obl"))
        if self.maybe(0.2):
            children.append(self.phrase("ADVP", [self.pick("AV")], 0, []))
            arcs.append((len(children) - 1, 0, "advmod"))
        return self.phrase("VP", children, 0, arcs)

    def clause(self, depth: int) -> Node:
        return self.phrase("S", [self.noun_phrase(depth), self.verb_phrase(depth)], 1, [(0, 1, "nsubj")])

    def sentence(self) -> Node:
        children = [self.noun_phrase(0), self.verb_phrase(0), self.leaf(".", ".")]
        return self.phrase("S", children, 1, [(0, 1, "nsubj"), (2, 1, "punct")])


def conllu(node: Node) -> str:
    """Return the dependencies of a sentence as CoNLL-U rows."""
    found = {dependent: (governor + 1, relation) for dependent, governor, relation in node.arcs}
    found[node.head] = (0, "root")
    rows = []
    for at, (word, tag) in enumerate(node.words):
        governor, relation = found[at]
        rows.append("\t".join([str(at + 1), word, "_", UPOS[tag], tag, "_", str(governor), relation, "_", "_"]))
    return "\n".join(rows) + "\n\n"


def write_treebank(folder: Path, *, sentences: dict[str, int], seed: int) -> None:
    """Write NAME.ptb and NAME.conllu with so many sentences for each name, all of them drawn one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    grammar = Grammar(seed=seed)
    for name, count in sentences.items():
        drawn = [grammar.sentence() for _ in range(count)]
        brackets = "".join(f"(ROOT {sentence.text})\n" for sentence in drawn)
        (folder / f"{name}.ptb").write_text(brackets, encoding="utf-8")
        (folder / f"{name}.conllu").write_text("".join(map(conllu, drawn)), encoding="utf-8")
