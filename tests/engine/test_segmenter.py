"""A learned segmenter, run: with weights that are chance it cuts anywhere, and what has to hold holds all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.engine.native import is_built, targets
from h3n.engine.segmenter import (
    Alphabet,
    LearnedSegmenter,
    encode,
    implied_shapes,
    is_spacing,
    read_segmenter,
    write_segmenter,
)
from h3n.errors import InputError
from h3n.models import SEGMENTER_RULES, SEGMENTER_WEIGHTS
from h3n.text import offsets
from h3n.text.boundaries import LONGEST
from h3n.text.expansions import learn_expansions

EXPANSIONS = learn_expansions([("ab", ("x", "b")), ("ac", ("x", "c")), ("bab", ("b", "ab")), ("cab", ("c", "ab"))])


def by_chance(seed: int, *, blanks: bool = False, marks: str = "", pairs: int = 7) -> LearnedSegmenter:
    """Return a segmenter whose weights are chance."""
    alphabet = Alphabet("abc.,'é中", pairs, marks)
    chance = np.random.default_rng(seed)
    weights = {
        name: chance.normal(0, 0.5, shape).astype(np.float32)
        for name, shape in implied_shapes(8, alphabet, EXPANSIONS).items()
    }
    return LearnedSegmenter(alphabet, EXPANSIONS, blanks, weights)


TEXTS = st.text(st.sampled_from("aabbccABC.,'! \n\t\r\f\u200b\u00a0\u2029é中İ\ud800\x00"), max_size=80)
SEGMENTERS = [by_chance(1), by_chance(2, blanks=True), by_chance(3, marks="english"), by_chance(4, pairs=0)]


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@settings(deadline=None)
@given(text=TEXTS)
def test_nothing_visible_is_lost_and_offsets_are_exact(segmenter: LearnedSegmenter, text: str) -> None:
    tokens = [token for sentence in segmenter.split(text) for token in sentence]
    assert all(text[token.start : token.end] == token.text and token.text for token in tokens)
    assert all(one.end <= two.start for one, two in pairwise(tokens))
    covered = {at for token in tokens for at in range(token.start, token.end)}
    assert all(is_spacing(character) or at in covered for at, character in enumerate(text))
    assert not any(is_spacing(token.text[0]) or is_spacing(token.text[-1]) for token in tokens)
    assert segmenter.blanks or not any(is_spacing(one) for token in tokens for one in token.text)


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@settings(deadline=None)
@given(text=TEXTS, data=st.data())
def test_sentences_do_not_depend_on_the_pieces(segmenter: LearnedSegmenter, text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert list(segmenter.segment(pieces)) == list(segmenter.segment(text))


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@settings(deadline=None)
@given(text=TEXTS)
def test_words_of_a_sentence_stand_where_offsets_say(segmenter: LearnedSegmenter, text: str) -> None:
    whole = [token for sentence in segmenter.split(text) for token in sentence]
    tokens = iter(whole)
    for sentence in segmenter.segment(text):
        assert not any("\n" in line or "\t" in line for line in sentence.comments)
        places, at = offsets(sentence), 0
        while at < len(sentence):
            token = next(tokens)
            count = len(token.words)
            assert sentence.words[at : at + count] == token.words
            assert (places[at][0], places[at + count - 1][1]) == (token.start, token.end)
            at += count
    assert next(tokens, None) is None


def test_a_layer_in_stretches_is_a_layer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    segmenter = by_chance(5)
    encoded = encode("abc. Abc, 'bab' cab! " * 20, segmenter.alphabet)
    whole = segmenter.scores(encoded)
    monkeypatch.setattr("h3n.engine.convolutions.STRETCH", 7)
    np.testing.assert_allclose(segmenter.scores(encoded), whole, atol=1e-4)


def test_long_sentences_are_shortened() -> None:
    segmenter = by_chance(6)
    weights = dict(segmenter.weights)
    weights["out.weight"] = np.zeros_like(weights["out.weight"])
    weights["out.bias"] = np.array([1, -1, 1, *[-1] * (len(weights["out.bias"]) - 3)], np.float32)
    found = list(replace(segmenter, weights=weights).split("ab " * (2 * LONGEST + 5)))
    assert sum(map(len, found)) == 2 * (2 * LONGEST + 5)
    assert max(map(len, found)) == LONGEST


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_segmenter(SEGMENTERS[2], tmp_path)
    return tmp_path


def test_what_is_written_is_read(folder: Path) -> None:
    segmenter = read_segmenter(folder)
    assert (segmenter.alphabet, segmenter.expansions) == (SEGMENTERS[2].alphabet, EXPANSIONS)
    text = "Ab cab. Bab 'a' abc, b! " * 5
    encoded = encode(text, segmenter.alphabet)
    np.testing.assert_allclose(segmenter.scores(encoded), SEGMENTERS[2].scores(encoded), rtol=0.05, atol=0.5)
    write_segmenter(segmenter, folder)
    assert list(read_segmenter(folder).segment(text)) == list(segmenter.segment(text))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("version", 2, "another version"),
        ("size", 9, "shape"),
        ("size", "8", "size is not"),
        ("pairs", -1, "pairs is not"),
        ("pairs", 8, "shape"),
        ("marks", "klingon", "marks is not"),
        ("blanks", 1, "blanks is not"),
        ("characters", "aa", "characters is not"),
        ("characters", "a", "shape"),
        ("expansions", {}, "expansions"),
        ("sha256", "0", "checksum"),
        ("unknown", 1, "not known"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(folder: Path, name: str, value: object, message: str) -> None:
    about = json.loads((folder / SEGMENTER_RULES).read_text(encoding="utf-8"))
    (folder / SEGMENTER_RULES).write_text(json.dumps(about | {name: value}), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_segmenter(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_cut_file_is_refused(folder: Path) -> None:
    weights = folder / SEGMENTER_WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-5])
    with pytest.raises(InputError, match="cannot be read"):
        read_segmenter(folder)
    (folder / SEGMENTER_RULES).unlink()
    with pytest.raises(InputError, match=SEGMENTER_RULES):
        read_segmenter(folder)


native = pytest.mark.skipif(not is_built(), reason="without native code")


@native
@settings(max_examples=30, deadline=None)
@given(TEXTS, st.integers(1, 5))
def test_native_code_gives_the_same_bits_on_every_instruction_set(text: str, seed: int) -> None:
    segmenter = by_chance(seed, marks="english")
    encoded = encode(text, segmenter.alphabet)
    first, *others = [segmenter.natively(at).scores(encoded) for at in range(len(targets()))]
    assert all(first.tobytes() == other.tobytes() for other in others)


@native
def test_native_code_computes_what_numpy_computes_up_to_rounding() -> None:
    segmenter = by_chance(7)
    for count in (1, 2, 7, 30, 3000):
        encoded = encode("Ab cab. Bab 'a' abc, b! " * count, segmenter.alphabet)
        plain, ours = segmenter.scores(encoded), segmenter.natively(0).scores(encoded)
        assert np.abs(ours - plain).max() < 0.05 * np.abs(plain).max()


@native
def test_native_scores_do_not_depend_on_what_is_far_away() -> None:
    segmenter = by_chance(8).natively(0)
    around = "abc. bab, " * 20
    middle = "Ab cab. Bab 'a' abc, b! " * 5
    whole = segmenter.scores(encode(around + middle + around, segmenter.alphabet))[len(around) :][: len(middle)]
    near = around[-60:] + middle + around[:60]
    part = segmenter.scores(encode(near, segmenter.alphabet))[60:][: len(middle)]
    assert whole.tobytes() == part.tobytes()
