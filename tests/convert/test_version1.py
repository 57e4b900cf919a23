"""Version 1 of Universal Dependencies renamed to version 2."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert.version1 import to_version_2
from h3n.trees import ROOT, Dependencies, Sentence, check_dependencies
from tests.strategies import dependencies


def sentence(*rows: str, features: tuple[str, ...] | None = None) -> Sentence:
    """Return the sentence of rows like `dogs NOUN 2 nsubj`, governors counted from 1."""
    words, tags, governors, relations = zip(*(row.split() for row in rows), strict=True)
    heads = tuple(int(governor) - 1 for governor in governors)
    return Sentence(words=words, upos=tags, features=features, dependencies=Dependencies(heads, relations))


def renamed(*rows: str) -> list[str]:
    result = to_version_2(sentence(*rows))
    assert result.dependencies is not None
    assert result.upos is not None
    parts = zip(result.words, result.upos, result.dependencies.governors, result.dependencies.relations, strict=True)
    return [f"{word} {tag} {governor + 1} {relation}" for word, tag, governor, relation in parts]


def test_conjunctions_and_commas_go_to_the_conjunct_that_follows() -> None:
    assert renamed(
        "apples NOUN 0 root",
        ", PUNCT 1 punct",
        "sour ADJ 4 amod",
        "pears NOUN 1 conj",
        ", PUNCT 1 punct",
        "and CONJ 1 cc",
        "figs NOUN 1 conj",
        ". PUNCT 1 punct",
    ) == [
        "apples NOUN 0 root",
        ", PUNCT 4 punct",
        "sour ADJ 4 amod",
        "pears NOUN 1 conj",
        ", PUNCT 7 punct",
        "and CCONJ 7 cc",
        "figs NOUN 1 conj",
        ". PUNCT 1 punct",
    ]


def test_a_conjunction_before_the_first_conjunct_stays() -> None:
    rows = ("both CONJ 2 cc:preconj", "cats NOUN 0 root", "and CONJ 2 cc", "dogs NOUN 2 conj")
    assert renamed(*rows)[0] == "both CCONJ 2 cc:preconj"


def test_a_conjunction_with_an_adverb_after_it_moves_too() -> None:
    rows = ("ate VERB 0 root", "and CONJ 1 cc", "then ADV 1 advmod", "slept VERB 1 conj")
    assert renamed(*rows)[1:3] == ["and CCONJ 4 cc", "then ADV 1 advmod"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("not PART 2 neg", "not PART 2 advmod"),
        ("no DET 2 neg", "no DET 2 det"),
        ("ei VERB 2 neg", "ei VERB 2 aux"),
        ("it PRON 2 dobj", "it PRON 2 obj"),
        ("it PRON 2 nsubjpass", "it PRON 2 nsubj:pass"),
        ("was AUX 2 auxpass", "was AUX 2 aux:pass"),
        ("is VERB 2 cop", "is AUX 2 cop"),
        ("Paris PROPN 2 nmod", "Paris PROPN 2 obl"),
        ("today NOUN 2 nmod:tmod", "today NOUN 2 obl:tmod"),
        ("in ADP 2 mwe", "in ADP 2 fixed"),
        ("well ADV 2 advmod", "well ADV 2 advmod"),
    ],
)
def test_relations_and_tags(row: str, expected: str) -> None:
    assert renamed(row, "done VERB 0 root")[0] == expected


def test_a_modifier_of_a_noun_stays_one() -> None:
    assert renamed("house NOUN 0 root", "Ann PROPN 1 nmod", "Lee PROPN 2 name")[1:] == [
        "Ann PROPN 1 nmod",
        "Lee PROPN 2 flat:name",
    ]


def test_features_are_renamed_and_sorted() -> None:
    given_ = sentence("ei VERB 0 root", features=("Negative=Yes|Number=Sing",))
    assert to_version_2(given_).features == ("Number=Sing|Polarity=Neg",)


def test_a_sentence_without_dependencies_has_its_tags_renamed() -> None:
    assert to_version_2(Sentence(words=("and",), upos=("CONJ",))).upos == ("CCONJ",)


NAMES = st.sampled_from(["conj", "cc", "punct", "nmod", "neg", "dobj", "name"])


@settings(deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: st.tuples(dependencies(words=n), st.lists(NAMES, min_size=n, max_size=n))))
def test_every_tree_stays_a_tree(drawn: tuple[Dependencies, list[str]]) -> None:
    tree, names = drawn
    n = len(tree)
    old = Sentence(words=("w",) * n, upos=("NOUN",) * n, dependencies=Dependencies(tree.governors, tuple(names)))
    new = to_version_2(old).dependencies
    assert new is not None
    check_dependencies(new)
    assert new.governors.index(ROOT) == tree.governors.index(ROOT)
