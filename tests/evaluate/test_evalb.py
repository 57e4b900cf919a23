"""Bracket scores against a twin that shares no code with them, against the C program, and by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.errors import FormatError, MismatchError, Place
from h3n.evaluate import (
    BracketCounts,
    Bracketed,
    BracketTotals,
    Parameters,
    Status,
    as_spmrl,
    bracketed_line,
    bracketed_tree,
    compact_line,
    count_labels,
    evalb_lines,
    load_parameters,
    score_brackets,
    score_sentence,
    without_top,
)
from h3n.evaluate.bracketing import count_brackets
from h3n.trees import Constituent
from tests.evaluate.twin import Twin, text, tree_pairs

COLLINS = load_parameters("collins")


@settings(deadline=None, max_examples=300)
@given(pair=tree_pairs())
def test_scores_are_those_of_the_slow_twin(pair: tuple[Constituent, Constituent]) -> None:
    gold, predicted = (Twin(tree, COLLINS) for tree in pair)
    found = score_sentence(*map(bracketed_tree, pair))
    if not predicted.words:
        assert found.status is Status.SKIPPED
    elif gold.words != predicted.words:
        assert found.status is Status.ERROR
    else:
        c = found.counts
        assert (c.matched, c.gold, c.predicted, c.crossing, c.tags) == gold.score(predicted)
        assert c.complete == (c.matched == c.gold == c.predicted)
        assert (c.none_crossing, c.few_crossing) == (c.crossing == 0, c.crossing <= 2)


@settings(deadline=None)
@given(pair=tree_pairs())
def test_a_line_and_a_tree_count_the_same(pair: tuple[Constituent, Constituent]) -> None:
    for tree in pair:
        line = bracketed_line(text(tree))
        assert count_brackets(line, parameters=COLLINS) == count_brackets(bracketed_tree(tree), parameters=COLLINS)


@settings(deadline=None)
@given(pair=tree_pairs())
def test_gold_and_predicted_change_places(pair: tuple[Constituent, Constituent]) -> None:
    one, other = (score_sentence(*map(bracketed_tree, order)) for order in (pair, pair[::-1]))
    if one.status is other.status is Status.VALID:
        assert (one.counts.precision, one.counts.recall) == (other.counts.recall, other.counts.precision)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 12), min_size=2, max_size=5))
def test_counts_add_up(rows: list[tuple[int, ...]]) -> None:
    total = sum((BracketCounts(*row) for row in rows), BracketCounts())
    assert total == BracketCounts(*map(sum, zip(*rows, strict=True)))


def lines(path: Path) -> list[Bracketed]:
    with path.open(encoding="utf-8") as handle:
        return [bracketed_line(line, Place(path.name, number)) for number, line in enumerate(handle, start=1)]


def report(gold: Path, predicted: Path, parameters: Parameters) -> str:
    scores = score_brackets(lines(gold), lines(predicted), parameters=parameters, strict=False)
    return "\n".join(evalb_lines(scores, BracketTotals(parameters))) + "\n"


@pytest.mark.parametrize("labelled", [True, False])
def test_the_report_is_that_of_the_c_program(samples: Path, labelled: bool) -> None:
    parameters = replace(load_parameters(samples / "random.prm"), labelled=labelled)
    expected = (samples / ("random.evalb.txt" if labelled else "random.unlabelled.evalb.txt")).read_text()
    assert report(samples / "random.gold.ptb", samples / "random.pred.ptb", parameters) == expected


def test_its_own_sample_is_scored_as_by_the_c_program(data: Path) -> None:
    folder = data / "evalb"
    made = report(folder / "sample.gld", folder / "sample.tst", load_parameters(folder / "sample.prm"))
    assert made == (folder / "sample.actual-output.txt").read_text()


@pytest.mark.parametrize("name", ["COLLINS", "new", "nk", "spmrl"])
def test_real_trees_are_scored_as_by_the_c_program(data: Path, name: str) -> None:
    folder = data / "evalb"
    parameters = load_parameters(folder / f"{name}.prm")
    parameters = as_spmrl(parameters) if name == "spmrl" else parameters
    made = report(folder / "masc-dev.gold.ptb", folder / "masc-dev.perturbed.ptb", parameters)
    assert made == (folder / f"masc-dev.expected.{name}.txt").read_text()


def score(gold: str, predicted: str, parameters: Parameters = COLLINS) -> tuple[Status, BracketCounts]:
    found = score_sentence(bracketed_line(gold), bracketed_line(predicted), parameters=parameters)
    return found.status, found.counts


def test_nothing_matched_prints_what_the_c_program_prints() -> None:
    pair = [bracketed_line("(S (N a))")], [bracketed_line("(T (N a))")]
    made = list(evalb_lines(score_brackets(*pair), BracketTotals(COLLINS)))
    assert "Bracketing FMeasure       =   -nan" in made
    assert score("(S (N a))", "(T (N a))")[1].f1 == 0.0


@pytest.mark.parametrize("empty", ["", "  ", "()", "(())", "( )", "(TOP (-NONE- *))"])
def test_no_parse_is_skipped(empty: str) -> None:
    assert score("(S (N a))", empty) == (Status.SKIPPED, BracketCounts(sentences=1, skipped=1))


def test_no_parse_may_count_as_missed() -> None:
    gold = "(TOP (S (NP (N a) (N b)) (VP)))"
    status, counts = score(gold, "()", replace(COLLINS, unparsed="miss"))
    assert status is Status.UNPARSED
    assert (counts.gold, counts.predicted, counts.words, counts.valid) == (2, 0, 2, 1)
    # EVALB_SPMRL -X: five deleted labels, so 1 + 5 for S and for NP, and 1 + 4 for TOP; VP is over no word.
    assert score(gold, "()", replace(load_parameters("spmrl"), unparsed="spmrl"))[1].gold == 17


def test_the_spmrl_variant_cuts_features_and_keeps_words() -> None:
    gold, predicted = "(ROOT (NP##a=1## (N##b## x) (, ,)))", "((NP-2 (N y) (, ,)))".replace("y", "x")
    _, counts = score(gold, predicted, load_parameters("spmrl"))
    assert (counts.matched, counts.gold, counts.predicted, counts.words, counts.tags) == (1, 1, 1, 2, 2)
    _, counts = score(gold, predicted)
    assert (counts.matched, counts.gold, counts.predicted, counts.words, counts.tags) == (0, 2, 2, 1, 0)


def test_a_mistaken_quotation_mark_is_no_error() -> None:
    gold, predicted = "(S (NP (N a) (POS ')) (V b))", "(S (NP (N a) ('' ')) (V b))"
    assert score(gold, predicted)[0] is Status.ERROR
    status, counts = score(gold, predicted, load_parameters("new"))
    assert status is Status.VALID
    assert (counts.matched, counts.words, counts.tags) == (2, 3, 2)


def test_top_brackets_count_unless_told_otherwise() -> None:
    gold, predicted = "(ROOT (S (N a)))", "( (S (N a)))"
    assert score(gold, predicted)[1].matched == 1
    assert score(gold, predicted)[1].gold == 2
    counts = score(gold, predicted, without_top(COLLINS))[1]
    assert (counts.matched, counts.gold, counts.predicted) == (1, 1, 1)


def test_helper_spans_never_count() -> None:
    assert score("(S (N a) (N b) (N c))", "(S (N a) (<H> (N b) (N c)))")[1].complete == 1


def test_a_non_breaking_space_is_part_of_a_word() -> None:
    assert count_brackets(bracketed_line("(S (N a\u00a0b))"), parameters=COLLINS).words == ["a\u00a0b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(S (N a)", "1 brackets left open"),
        ("(S (N a)))", "a closing bracket too many"),
        ("(S (N a)) )", "a closing bracket too many"),
        ("(S a b)", "'a' outside a"),
        ("x", "'x' outside a"),
    ],
)
def test_damage_says_where(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        score_sentence(bracketed_line("(S (N a))"), bracketed_line(line, Place("x.ptb", 7)))
    assert str(caught.value).startswith(f"x.ptb:7: {message}")


def test_very_deep_brackets_are_no_trouble() -> None:
    deep = "(S " * 100_000 + "(N a)" + ")" * 100_000
    assert score(deep, deep)[1].matched == 100_000
    assert score(deep, deep.replace("(S", "(T"))[1].matched == 0
    assert score(deep, deep.replace("(S", "(T"), replace(COLLINS, labelled=False))[1].matched == 100_000


def test_other_words_raise_and_say_where() -> None:
    gold = [bracketed_line("(S (N a))", Place("g", 1)), bracketed_line("(S (N a) (N b))", Place("g", 2))]
    predicted = [bracketed_line("(S (N a))", Place("p", 1)), bracketed_line("(S (N a) (N c))", Place("p", 2))]
    with pytest.raises(MismatchError, match=r"sentence 2 \(gold g:2, predicted p:2\): word 2 is 'b' in gold, 'c'"):
        list(score_brackets(gold, predicted))
    scores = list(score_brackets(gold, predicted, strict=False))
    assert [one.status for one in scores] == [Status.VALID, Status.ERROR]
    assert "word 2 is 'b'" in str(scores[1].problem)


@pytest.mark.parametrize(
    ("predicted", "problem"),
    [
        ("(S (N This) (, ,) (N c))", "word 3 is 'b' in gold, 'c' predicted"),
        ("(S (N This) (, ,))", "3 words in gold, 2 predicted"),
        ("(S (N This) (, ,) (, b))", "other words are deleted by their tags: 2 count in gold, 1 predicted"),
    ],
)
def test_a_difference_is_told_by_all_the_words(predicted: str, problem: str) -> None:
    parameters = replace(COLLINS, equal_words=frozenset({("this", "This")}))
    pair = bracketed_line("(S (N this) (, ,) (N b))"), bracketed_line(predicted)
    assert score_sentence(*pair, parameters=parameters).problem == problem


def test_as_many_errors_pass_as_in_the_c_program() -> None:
    gold, predicted = [bracketed_line("(S (N a))")] * 4, [bracketed_line("(S (N b))")] * 4
    assert len(list(score_brackets(gold, predicted, parameters=replace(COLLINS, maximum_errors=3), strict=False))) == 4
    with pytest.raises(MismatchError, match="MAX_ERROR 2"):
        list(score_brackets(gold, predicted, parameters=replace(COLLINS, maximum_errors=2), strict=False))


@pytest.mark.parametrize(
    ("gold", "predicted", "message"), [(2, 3, "gold ends after 2"), (3, 2, "predicted ends after 2")]
)
def test_other_numbers_of_sentences_raise(gold: int, predicted: int, message: str) -> None:
    sentence = bracketed_line("(S (N a))", Place("f", 9))
    with pytest.raises(MismatchError, match=rf"{message} .* at f:9"):
        list(score_brackets([sentence] * gold, [sentence] * predicted))


def test_blank_lines_at_the_end_do_not_count() -> None:
    sentence, blank = bracketed_line("(S (N a))"), bracketed_line("\n")
    assert len(list(score_brackets([sentence, blank], [sentence]))) == 1
    assert len(list(score_brackets([sentence], [sentence, blank, blank]))) == 1
    skipped = list(score_brackets([sentence, sentence, blank], [sentence, blank, blank]))
    assert [one.status for one in skipped] == [Status.VALID, Status.SKIPPED]


def test_labels_are_counted_on_both_sides() -> None:
    gold = [bracketed_line("(S (ADVP (N a)) (NP (N b)))")]
    predicted = [bracketed_line("(S (PRT (N a)) (VP (N b)))")]
    found = count_labels(gold, predicted)
    assert (found["ADVP"].recall, found["ADVP"].predicted) == (100.0, 0)
    assert (found["PRT"].precision, found["PRT"].gold) == (100.0, 0)
    assert (found["NP"].recall, found["VP"].precision, found["S"].f1) == (0.0, 0.0, 100.0)


def test_the_compact_line_names_precision_precision() -> None:
    _, counts = score("(S (A (N a)) (B (N b)))", "(S (N a) (N b))")
    assert compact_line(counts, file="x.ptb") == (
        "F1:  50.00 %\tPrec: 100.00 %\tRec:  33.33 %\tPOS: 100.00 %\tEX:   0.00 %\tUnparsed:      0\tSent:      1\t"
        "file: x.ptb"
    )
