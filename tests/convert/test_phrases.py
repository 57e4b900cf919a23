"""Phrases from dependencies, against a slow twin that moves parts upward one step at a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert.joint import join, split
from h3n.convert.phrases import to_phrases
from h3n.errors import MismatchError, TreeError, UnknownName
from h3n.trees import ROOT, Constituent, Dependencies, Leaf, is_projective, leaves, spans_of
from tests.strategies import dependencies, projective

LENGTHS = st.integers(1, 9)


def words_of(n: int) -> tuple[str, ...]:
    return tuple(f"w{word}" for word in range(n))


def draw(tree: Constituent | Leaf) -> str:
    if isinstance(tree, Leaf):
        return tree.word
    return f"({tree.label} {' '.join(draw(child) for child in tree.children)})"


def slow_phrases(given_: Dependencies) -> tuple[set[tuple[int, int, str]], int]:
    """Return the phrases and how many parts were lifted, by moving parts upward one step at a time."""

    def below(word: int) -> list[tuple[frozenset[int], int]]:
        """Return the parts of a word's subtree, its own first: each a set of words with the word at its head."""
        beyond = [part for child, g in enumerate(given_.governors) if g == word for part in below(child)]
        own = {word}
        while touching := [p for p in beyond if min(p[0]) == max(own) + 1 or max(p[0]) == min(own) - 1]:
            for part in touching:
                beyond.remove(part)
                own |= part[0]
                lifts.append(given_.governors[part[1]] != word)
        if len(own) > 1 or given_.governors[word] == ROOT:
            phrases.add((min(own), max(own) + 1, given_.relations[word]))
        return [(frozenset(own), word), *beyond]

    phrases: set[tuple[int, int, str]] = set()
    lifts: list[bool] = []
    assert len(below(given_.governors.index(ROOT))) == 1
    return phrases, sum(lifts)


@settings(deadline=None)
@given(LENGTHS.flatmap(lambda n: dependencies(words=n)))
def test_every_tree_has_the_phrases_of_the_slow_twin(given_: Dependencies) -> None:
    made = to_phrases(given_, words_of(len(given_)), labels="main")
    phrases, lifted = slow_phrases(given_)
    assert {(s.start, s.end, s.label) for s in spans_of(made.tree)} == phrases
    assert made.lifted == lifted


@settings(deadline=None)
@given(LENGTHS.flatmap(lambda n: dependencies(words=n)))
def test_words_stay_in_order_and_lifting_is_counted(given_: Dependencies) -> None:
    made = to_phrases(given_, words_of(len(given_)), ["T"] * len(given_))
    assert tuple(leaf.word for leaf in leaves(made.tree)) == words_of(len(given_))
    assert (made.lifted == 0) == is_projective(given_.governors)
    moved = sum(a != b for a, b in zip(made.dependencies.governors, given_.governors, strict=True))
    assert made.recoverable == len(given_) - moved
    assert is_projective(made.dependencies.governors)


@settings(deadline=None)
@given(LENGTHS.flatmap(lambda n: dependencies(words=n)))
def test_joining_moves_the_lifted_words_and_no_others(given_: Dependencies) -> None:
    made = to_phrases(given_, words_of(len(given_)), labels="main")
    joined = join(made.tree, given_)
    assert joined.counts.moved == made.lifted
    assert split(joined.tree) == (made.tree, made.dependencies)


@settings(deadline=None)
@given(LENGTHS.flatmap(lambda n: projective(words=n)))
def test_projective_trees_come_back_through_the_joint_tree(given_: Dependencies) -> None:
    made = to_phrases(given_, words_of(len(given_)), labels="main")
    assert made.lifted == 0
    assert split(join(made.tree, given_, strict=True).tree) == (made.tree, given_)


def test_a_word_with_its_dependents_is_a_phrase_and_a_word_alone_a_leaf() -> None:
    given_ = Dependencies((1, 2, ROOT, 4, 2), ("det", "nsubj:pass", "root", "case", "obl"))
    made = to_phrases(given_, ["the", "car", "was", "in", "gear"], ["DT", "NN", "VBD", "IN", "NN"], labels="main")
    assert draw(made.tree) == "(TOP (root (nsubj the car) was (obl in gear)))"
    assert next(leaves(made.tree)) == Leaf("DT", "the")
    assert made.dependencies is given_


def test_subtypes_are_kept_on_request() -> None:
    given_ = Dependencies((1, 2, ROOT), ("det", "nsubj:pass", "root"))
    assert draw(to_phrases(given_, ["the", "car", "went"], labels="full").tree) == (
        "(TOP (root (nsubj:pass the car) went))"
    )


def test_a_part_beyond_a_gap_is_lifted_to_the_nearest_ancestor_it_touches() -> None:
    # "a hearing is scheduled on the issue today": the issue belongs to the hearing, today to the scheduling.
    given_ = Dependencies((1, 3, 3, ROOT, 6, 6, 1, 3), ("det", "nsubj", "aux", "root", "case", "det", "nmod", "advmod"))
    made = to_phrases(given_, ["a", "hearing", "is", "scheduled", "on", "the", "issue", "today"], labels="main")
    assert draw(made.tree) == "(TOP (root (nsubj a hearing) is scheduled (nmod on the issue) today))"
    assert made.lifted == 1
    assert made.recoverable == 7
    assert made.dependencies.governors == (1, 3, 3, ROOT, 6, 6, 3, 3)


def test_one_word_is_one_phrase() -> None:
    assert draw(to_phrases(Dependencies((ROOT,), ("root",)), ["Go"], labels="main").tree) == "(TOP (root Go))"


@pytest.mark.parametrize(
    ("relation", "label"),
    [("ROOT", "root"), ("", "_"), ("_", "_"), ("a b", "a_b"), ("x(y)", "x-LRB-y-RRB-"), ("p::q", "p:q"), (":x", ":x")],
)
def test_labels_can_always_stand_in_brackets(relation: str, label: str) -> None:
    made = to_phrases(Dependencies((ROOT,), (relation,)), ["Go"], labels="full")
    assert made.tree.children[0] == Constituent(label, (Leaf("_", "Go"),))


@pytest.mark.parametrize(
    ("governors", "message"),
    [
        ((1, 0), "0 root words"),
        ((ROOT, 2, 1), "the governors of words 2, 3 form a cycle"),
        ((ROOT, ROOT), r"2 root words \(1, 2\)"),
        ((ROOT, 5), "word 2 has governor 6, outside the sentence of 2 words"),
        ((), "a sentence without words has no phrases"),
    ],
)
def test_what_is_no_tree_is_refused(governors: tuple[int, ...], message: str) -> None:
    with pytest.raises(TreeError, match=message):
        to_phrases(Dependencies(governors, ("dep",) * len(governors)), words_of(len(governors)))


def test_sentences_of_different_length_are_refused() -> None:
    with pytest.raises(MismatchError, match="2 words, 2 tags and 1 governors"):
        to_phrases(Dependencies((ROOT,), ("root",)), ["a", "b"])


def test_unknown_labels_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: full, main"):
        to_phrases(Dependencies((ROOT,), ("root",)), ["a"], labels="short")


def test_long_and_deep_trees_need_no_recursion() -> None:
    n = 50_000
    chain = Dependencies((ROOT, *range(n - 1)), ("dep",) * n)
    assert to_phrases(chain, words_of(n), labels="main").lifted == 0
    # Odd words hang on the next odd one, even words on the next even one: everything crosses everything.
    crossing = Dependencies((*range(2, n), n - 1, ROOT), ("dep",) * n)
    made = to_phrases(crossing, words_of(n), labels="main")
    assert made.recoverable + made.lifted == n
    assert made.lifted > n // 3


def named(rows: str) -> str:
    """Return the phrases of rows like `dogs/NOUN/2/nsubj`, governors counted from 1."""
    words, upos, governors, relations = zip(*(row.split("/") for row in rows.split()), strict=True)
    heads = tuple(int(governor) - 1 for governor in governors)
    return draw(to_phrases(Dependencies(heads, relations), words, upos, upos=upos).tree)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "the/DET/2/det dog/NOUN/3/nsubj sleeps/VERB/0/root in/ADP/6/case the/DET/6/det sun/NOUN/3/obl",
            "(TOP (S (NP the dog) sleeps (PP in the sun)))",
        ),
        (
            "I/PRON/2/nsubj know/VERB/0/root that/SCONJ/5/mark he/PRON/5/nsubj left/VERB/2/ccomp",
            "(TOP (S I know (SBAR that he left)))",
        ),
        (
            "people/NOUN/0/root who/PRON/3/nsubj sing/VERB/1/acl:relcl very/ADV/5/advmod well/ADV/3/advmod",
            "(TOP (NP people (SBAR who sing (ADVP very well))))",
        ),
        (
            "try/VERB/0/root to/PART/3/mark eat/VERB/1/xcomp very/ADV/5/advmod hot/ADJ/6/amod soup/NOUN/3/obj",
            "(TOP (S try (VP to eat (NP (ADJP very hot) soup))))",
        ),
        ("she/PRON/3/nsubj is/AUX/3/cop tall/ADJ/0/root", "(TOP (S she is tall))"),
        ("because/ADP/3/case of/ADP/1/fixed rain/NOUN/0/root", "(TOP (PP (PP because of) rain))"),
    ],
)
def test_phrases_have_names(rows: str, expected: str) -> None:
    assert named(rows) == expected


def test_without_universal_tags_the_relation_names_a_phrase() -> None:
    tree = to_phrases(
        Dependencies((1, 2, ROOT), ("det", "nsubj", "root")), ("the", "dog", "barks"), ("D", "N", "V")
    ).tree
    assert draw(tree) == "(TOP (S (NP the dog) barks))"


@settings(deadline=None)
@given(LENGTHS.flatmap(lambda n: dependencies(words=n)))
def test_names_change_labels_only(given_: Dependencies) -> None:
    named_, related = (to_phrases(given_, words_of(len(given_)), labels=labels) for labels in ("names", "main"))
    assert [(s.start, s.end) for s in spans_of(named_.tree)] == [(s.start, s.end) for s in spans_of(related.tree)]
    assert named_.dependencies == related.dependencies
    assert split(join(named_.tree, named_.dependencies).tree)[1].governors == named_.dependencies.governors
