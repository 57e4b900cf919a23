"""Edit scripts: every word becomes its lemma, and words of one kind share a script."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h3n.engine.lemmas import apply_script, choose_lemma, count_lemmas, edit_script, is_script, table_of_irregular
from h3n.engine.vocabulary import Vocabulary
from h3n.engine.words import name_lemmas

TEXT = st.text(alphabet="abcABC|.+-=\u0130\u00df\u01c5 ", min_size=1, max_size=7) | st.text(min_size=1, max_size=6)


@given(word=TEXT, lemma=TEXT)
def test_a_script_makes_the_word_its_lemma(word: str, lemma: str) -> None:
    script = edit_script(word, lemma)
    assert apply_script(script, word) == lemma
    assert is_script(script)


@given(script=st.text(alphabet="lktu=.-+|ab", max_size=9), word=TEXT)
def test_whatever_is_a_script_can_be_applied_and_nothing_else(script: str, word: str) -> None:
    if is_script(script):
        assert apply_script(script, word) is None or isinstance(apply_script(script, word), str)


@pytest.mark.parametrize(
    ("word", "lemma", "script"),
    [
        ("dogs", "dog", "l|-"),
        ("Dogs", "dog", "l|-"),
        ("the", "the", "l|"),
        ("Paris", "Paris", "k|"),
        ("NASA", "NASA", "k|"),
        ("PARIS", "Paris", "t|"),
        ("sang", "sing", "l.-+i|"),
        ("geklopt", "kloppen", "l--|-+p+e+n"),
        ("is", "be", "=be"),
        ("n't", "not", "l|-+o."),
    ],
)
def test_scripts(word: str, lemma: str, script: str) -> None:
    assert edit_script(word, lemma) == script


def test_a_script_is_not_applied_to_a_word_that_is_too_short() -> None:
    assert apply_script("l--|-", "ab") is None
    assert apply_script("l--|-", "abc") == ""


def test_frequent_scripts_are_classes_and_what_is_left_is_in_the_table() -> None:
    seen = {("dogs", "NOUN", "dog"): 5, ("Cats", "NOUN", "cat"): 1, ("trees", "NOUN", "tree"): 1}
    seen |= {("Is", "AUX", "be"): 2, ("is", "AUX", "be"): 3, ("is", "AUX", "is"): 1, ("mice", "NOUN", "mouse"): 1}
    scripts, irregular = count_lemmas(seen)
    assert scripts == ("l|-",)
    assert irregular == (("is", "AUX", "be"), ("mice", "NOUN", "mouse"))
    table = table_of_irregular(irregular)
    assert choose_lemma("IS", "AUX", scripts=scripts, table=table) == "be"
    assert choose_lemma("Houses", "NOUN", scripts=scripts, table=table) == "house"
    assert choose_lemma("s", "NOUN", scripts=scripts, table=table) == "s"


def test_a_word_with_several_lemmas_is_left_to_the_classes() -> None:
    seen = {
        ("his", "PRON", "he"): 3,
        ("His", "PRON", "his"): 2,
        ("his", "PRON", "his"): 2,
        ("mice", "NOUN", "mouse"): 9,
    }
    scripts, irregular = count_lemmas(seen)
    assert set(scripts) == {edit_script("his", "he"), "l|"}
    assert irregular == (("mice", "NOUN", "mouse"),)
    scripts, irregular = count_lemmas(seen | {("his", "PRON", "he"): 2})
    assert (scripts, irregular) == ((), (("his", "PRON", "his"), ("mice", "NOUN", "mouse")))


def test_the_best_script_that_fits_is_taken() -> None:
    known = Vocabulary(scripts=("l--|--", "k|", "l|-"))
    scores = np.array([[3.0, 1.0, 2.0]] * 2, dtype=np.float32)
    assert name_lemmas(("abc", "abcdef"), ("X", "X"), scores, known) == ["ab", "cd"]
