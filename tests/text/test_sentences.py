"""Sentences from text: nothing is lost and everything can be found again."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from h3n import formats, text
from h3n.errors import UnknownName
from h3n.text import boundaries
from h3n.trees import MultiwordToken, Sentence

ANY = st.text(st.characters(exclude_categories=()), max_size=80)
TRICKY = st.text(st.sampled_from("aAsn't.’'-/&\n\n \t\r!?\"()[]10,:;—…😀🏽\u200d\u0301\x00\xa0\ufeff\\|"), max_size=120)
WORDY = st.lists(
    st.sampled_from(["don't", "U.S.", "The", "e.g.", "cannot", "etc.", "girls'", ":)", '"', "well-known", "\n", "\n\n"])
).map(" ".join)
TEXTS = st.one_of(ANY, TRICKY, WORDY)


def is_spacing(character: str) -> bool:
    """Return whether no token may hold the character, said in other words than the code says it."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cs"} or character in "\u200b\ufeff"


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_tokens_and_what_lies_between_are_the_text(source: str) -> None:
    at = 0
    for sentence in text.split(source):
        assert sentence
        for token in sentence:
            assert all(map(is_spacing, source[at : token.start]))
            assert source[token.start : token.end] == token.text == "".join(token.words)
            assert all(token.words)
            assert not any(map(is_spacing, token.text))
            at = token.end
    assert all(map(is_spacing, source[at:]))


def unescaped(spacing: str) -> str:
    found = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), spacing)
    return found.replace(r"\s", " ").replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\r", "\r")


def rebuilt(sentences: list[Sentence]) -> str:
    """Return the text as a reader of CoNLL-U puts it together from tokens and the column MISC."""
    made = ""
    for sentence in sentences:
        stream = io.StringIO()
        formats.write([sentence], stream, format="conllu")
        inside = 0
        for row in stream.getvalue().split("\n"):
            if row and not row.startswith("#"):
                number, form, *_, misc = row.split("\t")
                first, _, last = number.partition("-")
                if int(first) <= inside:
                    continue
                inside = int(last or 0)
                values = dict(value.partition("=")[::2] for value in misc.split("|"))
                after = "" if "SpaceAfter" in values else values.get("SpacesAfter", r"\s")
                made += unescaped(values.get("SpacesBefore", "")) + form + unescaped(after)
    return made


@settings(deadline=None, max_examples=300)
@given(TEXTS)
@example("\n- a\n\n\n b  don't\tgo")
def test_spacing_puts_the_text_together_again(source: str) -> None:
    end = max((number + 1 for number, c in enumerate(source) if not is_spacing(c)), default=0)
    made = rebuilt(list(text.segment(source)))
    assert made[:end] == source[:end]
    assert all(map(is_spacing, made[end:]))


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_offsets_find_the_words(source: str) -> None:
    for read in (text.segment, text.lines):
        for sentence in read(source):
            assert tuple(source[start:end] for start, end in text.offsets(sentence)) == sentence.words


@settings(deadline=None)
@given(TEXTS)
def test_sentences_can_be_written_and_read(source: str) -> None:
    sentences = list(text.segment(source))
    stream = io.StringIO()
    formats.write(sentences, stream, format="conllu")
    assert list(formats.read(io.BytesIO(stream.getvalue().encode()), format="conllu")) == sentences


@settings(deadline=None)
@given(TEXTS, st.integers(1, 30))
def test_pieces_make_no_difference(source: str, size: int) -> None:
    pieces = [source[at : at + size] for at in range(0, len(source), size)]
    for read in (text.segment, text.split, text.lines, text.words):
        assert list(read(pieces)) == list(read(source))
    for read in (text.segment, text.split):
        assert list(read(pieces, newlines="sentence")) == list(read(source, newlines="sentence"))


def test_a_sentence_carries_what_conllu_has_room_for() -> None:
    first, second = text.segment("Don't  go.\nStay (here)!\n")
    assert first == Sentence(
        words=("Do", "n't", "go", "."),
        misc=("_", "_", "SpaceAfter=No", r"SpacesAfter=\n"),
        comments=("# newdoc", "# newpar", "# sent_id = 1", "# start_char = 0", "# text = Don't go."),
        inserts=(MultiwordToken(0, 2, "Don't", r"SpacesAfter=\s\s"),),
    )
    assert second.comments == ("# sent_id = 2", "# start_char = 11", "# text = Stay (here)!")
    assert text.offsets(second) == ((11, 15), (16, 17), (17, 21), (21, 22), (22, 23))


def test_each_paragraph_is_marked() -> None:
    marks = ["# newpar" in sentence.comments for sentence in text.segment("\n- One. Two.\n\nThree. Four.")]
    assert marks == [True, False, True, False]


def test_offsets_of_a_sentence_from_elsewhere_start_at_0() -> None:
    assert text.offsets(Sentence(words=("a", "bc"))) == ((0, 1), (2, 4))
    assert text.offsets(Sentence(words=("a",), comments=("# start_char = soon",))) == ((0, 1),)


def test_words_that_do_not_spell_what_is_written_have_all_of_it() -> None:
    rows = MultiwordToken(0, 2, "zum"), MultiwordToken(3, 5, "gehts", "SpaceAfter=No")
    sentence = Sentence(words=("zu", "dem", "Haus", "geht", "s", "."), inserts=rows)
    assert text.offsets(sentence) == ((0, 3), (0, 3), (4, 8), (9, 13), (13, 14), (14, 15))
    assert text.written(sentence) == "zum Haus gehts."


@settings(deadline=None)
@given(TEXTS)
def test_what_is_written_is_where_the_offsets_say(source: str) -> None:
    for sentence in text.segment(source):
        bare = replace(sentence, comments=())
        made = text.written(bare)
        assert tuple(made[start:end] for start, end in text.offsets(bare)) == sentence.words


def test_the_text_of_a_treebank_comes_first() -> None:
    assert text.written(Sentence(words=("a", "b"), comments=("# text = a  b",))) == "a  b"
    assert text.written(Sentence(words=())) == ""


def test_lines_are_sentences() -> None:
    found = list(text.lines("One. Two.\n\n  don't\n"))
    assert [sentence.words for sentence in found] == [("One", ".", "Two", "."), (), ("do", "n't")]
    assert [len(sentence.inserts) for sentence in found] == [0, 0, 1]


def test_words_stay_as_they_are() -> None:
    found = list(text.words("don't U.S.  -LRB- \n\n\tx,y\r\n"))
    assert [sentence.words for sentence in found] == [("don't", "U.S.", "-LRB-"), (), ("x,y",)]
    assert all(sentence.misc is None and not sentence.inserts for sentence in found)


@pytest.mark.parametrize("read", [text.segment, text.split, text.lines, text.words])
def test_nothing_gives_nothing(read: object) -> None:
    assert callable(read)
    assert list(read("")) == []
    assert list(read([])) == []


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        ".",
        "a-",
        "ha-",
        "a.",
        ".)",
        '"',
        "'a ",
        "\n",
        "这。",
        "http://",
        "a@",
        "1,",
        "[",
        "a(s)",
        "don't",
        "A&",
        "a/",
        ". ",
    ],
)
def test_a_long_monotonous_text_is_cut_and_kept(unit: str) -> None:
    source = unit * (70_000 // len(unit))
    found = list(text.split(source))
    assert "".join(t.text for tokens in found for t in tokens) == "".join(c for c in source if not is_spacing(c))
    assert all(len(tokens) <= boundaries.LONGEST for tokens in found)


def test_the_scores_on_gum(data: os.PathLike[str]) -> None:
    from pathlib import Path

    from h3n.evaluate import score_segmentation
    from h3n.text.documents import documents as documents_of

    documents = list(documents_of(formats.read(Path(data) / "gum" / "dev.conllu.xz")))
    found = [s for d in documents for s in text.segment("\n\n".join(d.paragraphs))]
    scores = score_segmentation([s for d in documents for s in d.gold], found)
    assert scores["Words"].f1 > 99.7
    assert scores["Tokens"].f1 > 99.7
    assert scores["Sentences"].f1 > 96


@pytest.mark.parametrize("end", [1, 3, 9, 10**20])
def test_odd_ranges_lead_on(end: int) -> None:
    for start in range(min(end, 4)):
        tokens = MultiwordToken(start, end, "ab"), MultiwordToken(start, start + 1, "c")
        sentence = Sentence(words=("a", "b", "c"), inserts=tokens)
        assert len(text.offsets(sentence)) == 3
        assert text.written(sentence)


@settings(deadline=None)
@given(TEXTS)
def test_a_line_end_may_always_end_a_sentence(source: str) -> None:
    found = list(text.split(source, newlines="sentence"))
    assert not any("\n" in source[tokens[0].start : tokens[-1].end] for tokens in found)
    whole = [token.text for tokens in text.split(source) for token in tokens]
    if "\n" not in source:
        assert [token.text for tokens in found for token in tokens] == whole
    for tokens in found:
        for token in tokens:
            assert source[token.start : token.end] == token.text
    for tokens, sentence in zip(found, text.segment(source, newlines="sentence"), strict=True):
        starts = [start for start, _ in text.offsets(sentence)]
        assert starts[0] == tokens[0].start
        assert {token.start for token in tokens} <= set(starts)


def test_lines_of_tweets() -> None:
    tweets = "so tired of\nwaiting. Really!\n\nthe end is\nnear"
    found = list(text.segment(tweets, newlines="sentence"))
    assert [text.written(one) for one in found] == ["so tired of", "waiting.", "Really!", "the end is", "near"]
    assert [("# newpar" in one.comments, "# newdoc" in one.comments) for one in found] == [
        (True, True),
        (False, False),
        (False, False),
        (True, False),
        (False, False),
    ]
    assert [text.written(one) for one in text.segment(tweets)] == [
        "so tired of waiting.",
        "Really!",
        "the end is near",
    ]
    long = "word " * 40_000
    assert sum(len(tokens) for tokens in text.split(long, newlines="sentence")) == 40_000
    with pytest.raises(UnknownName, match="'page'; known: paragraph, sentence"):
        list(text.segment("a", newlines="page"))


def test_names_and_texts_are_added_where_they_are_missing() -> None:
    bare = Sentence(words=("It", "is", "n't", "."), misc=("_", "SpaceAfter=No", "SpaceAfter=No", "_"))
    named = text.named(bare, "a-1")
    assert named.comments == ("# sent_id = a-1", "# text = It isn't.")
    assert text.named(named, "b") == named
    assert text.named(Sentence(words=()), "b") == Sentence(words=())
