"""Whatever a reader accepts, every writer writes so that it reads back the same, or refuses with the place."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from h3n.errors import TreeError
from h3n.formats import FORMATS, Writing
from h3n.formats.builder import unescape
from h3n.trees import TOPS, Constituent, Leaf, Node, Sentence, map_leaves, rebuild
from tests.formats.helpers import parse, problems, show

QUICK = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
ODD = st.text("aB(){}-_=|#%: \u00a0\u2028\u0085\t\n\r\0\x1b\ud800\ufeff語", max_size=4)
STRING = ODD | st.sampled_from(["-LRB-", "-NONE-", "_", "``", "a b", "PHead=1|PDeprel=a%7Cb", "lem=x|y", "##", "x" * 9])
BLANK = re.compile("[ \t\r\n]")

SAMPLES = {
    "brackets": "(S (NP (NN dogs)) (VP (VBP bark)))\n\n( (S (NP-SBJ (-NONE- *)) (VP (-LRB- -LRB-))) )\n"
    "(())\n(X a b)\n(TOP x)\n",
    "spmrl": "(NP (DET##lem=le|g=m## le) (NC##_## chat))\n(S (V##a|lem=b## x) y)\n",
    "conllu": "# text = ab\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\ta\tl\tX\tY\tf=1\t2\tdep\t2:dep\t_\n"
    "1.1\tz\t_\t_\t_\t_\t_\t_\t1:x\t_\n2\tb c\t_\t_\t_\t_\t0\troot\t_\tq\n\n"
    "# none\n\n1\t(\t_\t_\t-NONE-\t_\t_\t_\t_\t_\n\n",
    "conllx": "# c\n1\ta\tl\tX\tY\tf\t2\tdep\t2\ta|b\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n",
    "jsonl": '{"version": 1, "words": ["a b", "("], "tags": ["X", ""], "heads": [0, 1], "relations": ["r", "d"], '
    '"tree": "(S (X a_b) -LRB-)", "comments": ["# t"], "inserts": [[2, "2.1\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_"]]}\n'
    '{"version": 1, "words": ["a", "b"], "heads": [0, 1], "relations": ["r", "d"], "soft_labels": {"heads": [[[0, 9], '
    '[2, 10]], [[1, 1000]]], "relations": [[["r", 1]], []], "tags": [[], [["X", 500]]], "spans": [[0, 2, "S", 7]]}}\n',
}


def column(values: tuple[str, ...] | None, none: str = "_") -> tuple[str, ...] | None:
    filled = tuple(value or none for value in values or ())
    return filled if any(value != none for value in filled) else None


def symbol(text: str) -> str:
    return BLANK.sub("_", text).replace("(", "-LRB-").replace(")", "-RRB-")


def in_brackets(tree: Constituent) -> Constituent:
    """Return the tree as bracket notation can show it."""
    spelled = map_leaves(tree, lambda leaf: Leaf(symbol(leaf.tag), unescape(BLANK.sub("_", leaf.word))))

    def bracket(node: Constituent, children: tuple[Node, ...]) -> Constituent:
        alone = children[0] if len(children) == 1 else None
        if isinstance(alone, Leaf) and not alone.tag and not (node is spelled and node.label in TOPS):
            children = (Leaf("_", alone.word),)
        return Constituent(symbol(node.label), children)

    shown = rebuild(spelled, lambda leaf: leaf, bracket)
    assert isinstance(shown, Constituent)
    return shown


def as_shown(sentence: Sentence, name: str) -> Sentence:
    """Return what a format can show of a sentence, in its notation."""
    shown = Sentence(words=sentence.words)
    if name in ("brackets", "spmrl"):
        assert sentence.tree is not None or not sentence.words
        shown = Sentence(words=tuple(unescape(BLANK.sub("_", word)) for word in sentence.words))
        if name == "spmrl":
            lemmas, features = (
                column(tuple(unescape(BLANK.sub("_", v)) for v in values)) if values else None
                for values in (sentence.lemmas, sentence.features)
            )
            shown = replace(shown, lemmas=lemmas, features=features)
        return shown
    shown = replace(sentence, tags=column(sentence.tags), tree=None, soft_labels=None)
    if name == "conllx":
        shown = replace(
            shown,
            comments=(),
            enhanced=None,
            inserts=(),
            misc=None if "misc" in FORMATS[name].loses(sentence) else shown.misc,
        )
    return sentence if name == "jsonl" else shown


def check(sentence: Sentence) -> None:
    """Write the sentence in every format, twice, and read it again."""
    for name, known in FORMATS.items():
        try:
            text = show([sentence, sentence], name)
        except TreeError as error:
            if not str(error).startswith(f"{sentence.place}: "):
                raise
            continue
        again = parse(text, name)
        assert len(again) == 2, (name, text)
        assert show(again, name) == text
        expected = as_shown(sentence, name)
        for found in again:
            if name in ("brackets", "spmrl") and sentence.tree is not None and sentence.words:
                assert found.tree is not None
                if name == "brackets":
                    assert found.tree == in_brackets(sentence.tree)
                found = replace(found, tree=None, tags=None)
            elif name in ("brackets", "spmrl"):
                found = replace(found, tree=None)
            elif "misc" in known.loses(sentence):
                found = replace(found, misc=None)
            assert found == expected, (name, text)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """Return objects that are sentences of JSON lines, or nearly."""
    n = draw(st.integers(0, 3))
    strings = st.lists(STRING, min_size=n, max_size=n)
    values: dict[str, Any] = {"version": 1, "words": draw(strings)}
    for key in ("tags", "upos", "lemmas", "features", "enhanced", "misc"):
        if draw(st.booleans()):
            values[key] = draw(strings)
    if draw(st.booleans()):
        values["heads"] = list(range(n))
        values["relations"] = draw(strings)
    if draw(st.booleans()):
        inside = " ".join(f"({symbol(draw(STRING)) or 'X'} {symbol(word)})" for word in values["words"])
        values["tree"] = f"({draw(st.sampled_from(['', 'S', 'TOP', 'a#b##c##']))} {inside})"
    if draw(st.booleans()):
        values["comments"] = draw(st.lists(STRING.map("#".__add__) | STRING, max_size=2))
    if draw(st.booleans()):
        number = draw(st.sampled_from(["1-2", "2-1", "0.1", "1.1", "1-1", "x"]))
        values["inserts"] = [
            [draw(st.integers(0, n)), "\t".join([number, *draw(st.lists(STRING, min_size=9, max_size=9))])]
        ]
    return values


@given(values=objects())
@QUICK
def test_what_json_lines_can_hold(values: dict[str, Any]) -> None:
    for sentence in problems(json.dumps(values) + "\n", "jsonl")[1]:
        check(sentence)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
@QUICK
def test_what_damaged_files_still_hold(name: str, data: st.DataObject) -> None:
    text = SAMPLES[name]
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from(["", "(", ")", "\t", "\n", " ", "_", "-", "1", "#", "##", "|", "\r", "x", "%"])
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 2)) :]
    for sentence in problems(text.encode(), name)[1]:
        check(sentence)


@given(trees=st.lists(st.sampled_from(["(S (NN x))", "(S (NP (NN x)) (VP (V y)))", "", "()", "(TOP x)"]), max_size=6))
@QUICK
def test_indented_trees_keep_their_number(trees: list[str]) -> None:
    found = parse("".join(f"{tree}\n" for tree in trees), "brackets")
    assert len(found) == len(trees)
    again = parse(show(found, "brackets", Writing(indent=True)), "brackets")
    assert [sentence.words for sentence in again] == [sentence.words for sentence in found]
