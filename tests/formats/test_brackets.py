"""Penn brackets: what is read, and that it is written back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.errors import LineTooLong, TreeError
from h3n.formats import Layout, Reading, Writing, brackets
from h3n.formats.builder import Builder, escape, unescape
from h3n.formats.layout import guess_layout
from h3n.formats.options import Problems
from h3n.trees import TRACE, Constituent, Leaf, Sentence, leaves
from tests.formats.helpers import parse, show
from tests.formats.samples import sentences, words

DOG = Constituent(
    "S",
    (
        Constituent("NP-SBJ", (Leaf("DT", "the"), Leaf("NN", "dog"))),
        Constituent("VP", (Leaf("VBZ", "barks"), Constituent("NP", (Leaf(TRACE, "*T*-1"),)))),
    ),
)
LINE = "(S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *T*-1))))\n"
PENN = """
( (S
    (NP-SBJ (DT the) (NN dog) )
    (VP (VBZ barks)
      (NP (-NONE- *T*-1) ))))
"""


@pytest.mark.parametrize("text", [LINE, PENN.replace("( (S", "(S").replace("))))", ")))"), LINE.replace(" ", "\n ")])
def test_one_tree_in_any_layout(text: str) -> None:
    [sentence] = parse(text, "brackets")
    assert sentence.tree == DOG
    assert sentence.words == ("the", "dog", "barks")
    assert sentence.tags == ("DT", "NN", "VBZ")


def test_traces_and_functions_go_on_request() -> None:
    [sentence] = parse(LINE, "brackets", Reading(strip_traces=True, strip_functions=True))
    assert show([sentence], "brackets") == "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n"


@pytest.mark.parametrize("top", ["", "TOP", "ROOT", "S1", "VROOT", "FRAG"])
def test_any_top_label_is_kept(top: str) -> None:
    line = f"({top} (NP (NN x)))\n" if top else "( (NP (NN x)) )\n"
    [sentence] = parse(line, "brackets")
    assert sentence.tree is not None
    assert sentence.tree.label == top
    assert show([sentence], "brackets") == line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("( (S (NP (NN x))) )\n", "(ROOT (S (NP (NN x))))\n"),
        ("(TOP (S (NP (NN x))))\n", "(ROOT (S (NP (NN x))))\n"),
        ("(S (NP (NN x)))\n", "(ROOT (S (NP (NN x))))\n"),
        ("()\n", "()\n"),
        ("\n", "\n"),
    ],
)
def test_a_new_top_label(line: str, expected: str) -> None:
    assert show(parse(line, "brackets"), "brackets", Writing(top="ROOT")) == expected


def test_words_that_are_brackets() -> None:
    line = "(NP (-LRB- -LRB-) (NN gamma-LRB-c-RRB-) (SYM -LCB-) (-RRB- -RRB-))\n"
    [sentence] = parse(line, "brackets")
    assert sentence.words == ("(", "gamma(c)", "-LCB-", ")")
    assert sentence.tags == ("-LRB-", "NN", "SYM", "-RRB-")
    assert [leaf.word for leaf in leaves(sentence.tree or DOG)] == list(sentence.words)
    assert show([sentence], "brackets") == line


def test_the_other_escapes_on_request() -> None:
    line = "(NP|A/B (NN 1\\/2) (N/A -LCB-) (SYM -RSB-) (SYM \\*))\n"
    [sentence] = parse(line, "brackets", Reading(all_escapes=True))
    assert sentence.words == ("1/2", "{", "]", "*")
    assert show([sentence], "brackets", Writing(all_escapes=True)) == line


@given(word=words())
@settings(deadline=None)
def test_escapes_have_an_inverse(word: str) -> None:
    for every in (False, True):
        if unescape(word, every=every) == word:  # not spelled like an escape itself
            assert unescape(escape(word, every=every), every=every) == word
        assert not set("()") & set(escape(word, every=every))


def test_words_without_a_tag() -> None:
    line = "(S (NP the dog) barks (. .))\n"
    [sentence] = parse(line, "brackets")
    assert sentence.words == ("the", "dog", "barks", ".")
    assert sentence.tags == ("", "", "", ".")
    assert sentence.tree == Constituent(
        "S", (Constituent("NP", (Leaf("", "the"), Leaf("", "dog"))), Leaf("", "barks"), Leaf(".", "."))
    )
    assert show([sentence], "brackets") == line


def test_a_label_on_the_next_line_is_still_a_label() -> None:
    assert parse("(\nS (NP\n  (NN\n  x)\n)\n)", "brackets", Reading(layout="free"))[0].tree == Constituent(
        "S", (Constituent("NP", (Leaf("NN", "x"),)),)
    )


def test_only_blank_tab_and_line_end_separate() -> None:
    [sentence] = parse("(NP\t(NN a\u00a0b\u2028c)  (NN d\u3000))\n", "brackets")
    assert sentence.words == ("a\u00a0b\u2028c", "d\u3000")


def test_one_leaf_is_a_tree_too() -> None:
    tagged, topped = parse("(UH yes)\n(TOP yes)\n", "brackets")
    assert tagged.tree == Constituent("", (Leaf("UH", "yes"),))
    assert topped.tree == Constituent("TOP", (Leaf("", "yes"),))
    assert show([tagged, topped], "brackets") == "( (UH yes) )\n(TOP yes)\n"


@pytest.mark.parametrize("line", ["()\n", "(())\n", "(TOP)\n", "(TOP ())\n", "\n"])
def test_no_parse_is_a_sentence_without_words(line: str) -> None:
    text = LINE + line + LINE
    found = parse(text, "brackets")
    assert [len(sentence) for sentence in found] == [3, 0, 3]
    assert show(found, "brackets") == text


def test_brackets_side_by_side_on_a_line_are_one_sentence() -> None:
    found = parse(LINE + "(P this) (Q is)\n" + LINE, "brackets")
    assert [sentence.words for sentence in found][1] == ("this", "is")
    assert show(found, "brackets").splitlines()[1] == "( (P this) (Q is) )"


def test_trees_side_by_side_throughout_are_sentences() -> None:
    assert len(parse(LINE.strip() * 3 + " " + LINE, "brackets")) == 4


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("", "lines"),
        (LINE, "lines"),
        ("\n\n" + LINE, "lines"),
        (LINE.replace(")\n", "\n") + LINE * 3, "lines"),  # a damaged line among sound ones
        (" " + LINE + " " + LINE, "lines"),
        (PENN, "indented"),
        (LINE + LINE + PENN, "indented"),
        (PENN.replace("    ", ""), "free"),
        (LINE.strip() + LINE, "free"),
    ],
)
def test_layout(text: str, layout: str) -> None:
    assert guess_layout(text) == layout


def test_place_is_the_line_a_tree_starts_on() -> None:
    found = parse(PENN * 2, "brackets")
    assert [sentence.place.line for sentence in found if sentence.place] == [2, 7]


def test_indented_and_back() -> None:
    found = parse(LINE + LINE.replace("(S ", "( (S ").replace("\n", " )\n"), "brackets")
    text = show(found, "brackets", Writing(indent=True))
    assert text.splitlines()[:3] == ["(S", "  (NP-SBJ (DT the) (NN dog))", "  (VP"]
    assert parse(text, "brackets") == found


@given(found=sentences())
@settings(deadline=None)
def test_written_and_read_again(found: Sentence) -> None:
    tree = found.tree
    if any(unescape(leaf.word) != leaf.word for leaf in leaves(tree or DOG)):
        return
    for options, layout in itertools.product((Writing(), Writing(indent=True)), ("auto", "free")):
        text = brackets.to_text(tree, options)
        [again] = parse(text, "brackets", Reading(layout=layout))  # type: ignore[arg-type]
        assert again.tree == tree
        assert again.words == found.words
        assert brackets.to_text(again.tree, options) == text


@given(found=sentences(), size=st.integers(1, 9))
@settings(deadline=None)
def test_a_long_line_comes_in_pieces(found: Sentence, size: int) -> None:
    text = brackets.to_text(found.tree)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    builder = Builder("x", Problems(None), all_escapes=False)
    for piece in brackets._whole_words(pieces):
        builder.feed(piece)
    [(_, node, _)] = builder.finished
    assert node == parse(text, "brackets", Reading(layout="free"))[0].tree


def test_a_deep_tree_is_read_written_and_compared() -> None:
    depth = 100_000
    text = "(S " * depth + "(NN x)" + ")" * depth + "\n"
    [one], [two] = parse(text, "brackets"), parse(text, "brackets")
    assert one == two
    assert hash(one.tree) == hash(two.tree)
    assert show([one], "brackets") == text
    assert parse(show([one], "brackets", Writing(indent=True)), "brackets")[0].tree == one.tree


def test_what_brackets_cannot_show_is_refused() -> None:
    tree = Constituent("NP", (Leaf("CD", "15 000"), Leaf("NN", "x")))
    sentence = Sentence(words=("15 000", "x"), tree=tree)
    with pytest.raises(TreeError, match="sentence 1: '15 000' holds a blank"):
        show([sentence], "brackets", Writing(blank=None))
    assert show([sentence], "brackets") == "(NP (CD 15_000) (NN x))\n"
    traced = Sentence(words=("x", "y"), tree=Constituent("NP", (Leaf("-NONE-", "x"), Leaf("NN", "y"))))
    with pytest.raises(TreeError, match=r"sentence 1: the tree has 1 words besides traces \(-NONE-\), the sentence 2"):
        show([traced], "brackets")
    with pytest.raises(TreeError, match="an empty word"):
        brackets.to_text(Constituent("NP", (Leaf("NN", ""), Leaf("NN", "x"))))
    with pytest.raises(TreeError, match=r"the bracket \(X\) holds nothing"):
        brackets.to_text(Constituent("NP", (Leaf("NN", "x"), Constituent("X", ()))))
    with pytest.raises(TreeError, match="the word 'x' without a tag would be read as the label"):
        brackets.to_text(Constituent("", (Leaf("", "x"), Leaf("NN", "y"))))
    with pytest.raises(TreeError, match="no phrase structure"):
        show([Sentence(words=("x",))], "brackets")


def test_a_word_without_a_tag_alone_in_its_phrase_keeps_the_phrase() -> None:
    tree = Constituent("S", (Constituent("NP", (Leaf("", "dogs"),)), Constituent("VP", (Leaf("", "bark"),))))
    text = show([Sentence(words=("dogs", "bark"), tree=tree)], "brackets")
    assert text == "(S (NP (_ dogs)) (VP (_ bark)))\n"
    assert show(parse(text, "brackets"), "brackets") == text


def test_a_long_first_line_does_not_change_the_layout() -> None:
    long = "(S " + "(NN dog) " * 20_000 + "(NN x))\n"
    found = parse(long + "\n(S (NN y))\n", "brackets")
    assert [len(sentence) for sentence in found] == [20_001, 0, 1]


@pytest.mark.parametrize("layout", ["lines", "free"])
def test_a_tree_without_end_is_refused(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brackets, "LONGEST", 100_000)
    text = "(S (NN x))\n" + "(S (NN dog) " * 20_000 + "\n(S (NN y))\n"
    with pytest.raises(LineTooLong, match="<text>:2: a tree of more than 100,000 characters; expected trees"):
        parse(text, "brackets", Reading(layout=layout))
