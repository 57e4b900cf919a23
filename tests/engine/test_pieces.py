"""Pieces and windows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from h3n.engine import pieces
from h3n.engine.pieces import Tokenizer, _nearest, _windows
from h3n.model.library import wrapped


@settings(deadline=None)
@given(count=st.integers(1, 400), room=st.integers(2, 60))
def test_windows_cover_all_pieces_and_give_them_context(count: int, room: int) -> None:
    windows = _windows(count, room)
    assert windows[0][0] == 0
    assert windows[-1][1] == count
    assert all(end - start == min(room, count) for start, end in windows)
    for piece, at in enumerate(_nearest(count, windows).tolist()):
        start, end = windows[at]
        assert start <= piece < end
        left = piece - start if start else room
        right = end - 1 - piece if end < count else room
        assert min(left, right) >= room // 4 - 1


@settings(deadline=None)
@given(count=st.integers(1, 400), room=st.integers(2, 60))
def test_every_piece_is_taken_from_the_window_with_most_context(count: int, room: int) -> None:
    windows = _windows(count, room)

    def context(piece: int, start: int, end: int) -> int:
        if not start <= piece < end:
            return -1
        return min(piece - start if start else count, end - 1 - piece if end < count else count)

    expected = [max(range(len(windows)), key=lambda at: context(piece, *windows[at])) for piece in range(count)]
    assert _nearest(count, windows).tolist() == expected


@cache
def _tokenizer(folder: Path) -> Tokenizer:
    from transformers import AutoTokenizer

    return wrapped(AutoTokenizer.from_pretrained(folder, add_prefix_space=True), limit=12)


@pytest.fixture
def tokenizer(tiny_encoder: Callable[[str], Path]) -> Tokenizer:
    from transformers import AutoTokenizer

    return wrapped(AutoTokenizer.from_pretrained(tiny_encoder("bert")), limit=12)


def test_every_word_has_its_pieces(tokenizer: Tokenizer) -> None:
    found = tokenizer.tokenize(["the", "unbelievableness", "\u200b", "tree"])
    assert sorted(set(found.words.tolist())) == [0, 1, 2, 3]
    assert found.words.tolist() == sorted(found.words.tolist())
    assert found.ids[found.words == 2].tolist() == [tokenizer.unknown]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@given(
    words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9), min_size=1, max_size=6)
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_words_that_were_seen_before_are_cut_as_in_their_sentence(
    tiny_encoder: Callable[[str], Path], kind: str, words: list[str]
) -> None:
    tokenizer = _tokenizer(tiny_encoder(kind))
    assert tokenizer.word_by_word
    together = tokenizer._tokenize_together(words)
    for _ in range(2):
        found = tokenizer.tokenize(words)
        assert found.ids.tolist() == together.ids.tolist()
        assert found.words.tolist() == together.words.tolist()


def test_only_so_many_words_are_remembered(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "REMEMBERED", 2)
    words = ["the", "tree", "river", "the"]
    assert tokenizer.tokenize(words).ids.tolist() == tokenizer._tokenize_together(words).ids.tolist()
    assert len(tokenizer._known) <= 2


def test_rows_put_every_word_at_its_own_pieces(tokenizer: Tokenizer) -> None:
    sentences = [["the", "tree"], ["river"] * 30]
    cut = [tokenizer.tokenize(words) for words in sentences]
    rows = tokenizer.lay_out(cut, [2, 30])
    flat = rows.ids.ravel()
    word_of = rows.word_of
    assert sorted(set(word_of.tolist())) == list(range(2 + 2 + 30 + 2))
    expected = np.concatenate([[tokenizer.before[0]], cut[0].ids, [tokenizer.after[0]]])
    assert flat[rows.word_pieces[word_of < 4]].tolist() == expected.tolist()
    second = (word_of >= 5) & (word_of < 35)
    assert flat[rows.word_pieces[second]].tolist() == cut[1].ids.tolist()
    assert rows.ids.shape[1] <= 12
    assert rows.mask.sum() == (rows.ids != tokenizer.padding).sum()


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_sentences_that_fit_are_laid_out_as_by_windows(tiny_encoder: Callable[[str], Path], kind: str) -> None:
    tokenizer = _tokenizer(tiny_encoder(kind))
    sentences = [["the", "dogs"], ["a"], ["the", "river", "the", "the"]]
    pieces = [tokenizer.tokenize(words) for words in sentences]
    lengths = [len(words) for words in sentences]
    together, one_by_one = tokenizer._lay_out_whole(pieces, lengths), tokenizer._lay_out_windows(pieces, lengths)
    for name in ("ids", "types", "mask", "word_pieces", "word_of"):
        assert np.array_equal(getattr(together, name), getattr(one_by_one, name)), name
