"""What the decoders take, what they refuse, and what they promise about batches."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from h3n.decode import DECODERS, Parse, Scores, decode_batch, native
from h3n.errors import DecodeError, UnknownName, UsageError

from .samples import fields_of, random_scores

NAMES = list(DECODERS)


@pytest.mark.parametrize("name", NAMES)
def test_no_words_is_an_empty_parse(name: str) -> None:
    nothing = random_scores(np.random.default_rng(0), 0)
    assert DECODERS[name](nothing) == Parse((), (), 0.0)
    assert DECODERS[name].reference(nothing) == Parse((), (), 0.0)
    assert decode_batch([], name) == []


@pytest.mark.parametrize("name", ["hpsg", "h3n", "auto"])
@pytest.mark.parametrize("full", [-2.0, 3.0])
def test_one_word_is_labelled_even_if_no_label_would_score_more(name: str, full: float) -> None:
    one = Scores(
        full=np.full((2, 2), full, dtype=np.float32),
        open=np.full((2, 2), max(full, 0), dtype=np.float32),
        arc=np.zeros((1, 1), dtype=np.float32),
        root=np.array([5], dtype=np.float32),
        head=np.zeros(1, dtype=np.float32),
        label=np.full((2, 2), 4, dtype=np.int32),
    )
    assert DECODERS[name](one) == DECODERS[name].reference(one) == Parse(((0, 1, 4, 0),), (-1,), full + 5)


def test_a_tie_with_the_empty_label_goes_to_the_label() -> None:
    zeros = np.zeros((4, 4), dtype=np.float32)
    parse = DECODERS["cky"](Scores(full=zeros, open=zeros))
    assert len(parse.spans) == 5
    assert parse == DECODERS["cky"].reference(Scores(full=zeros, open=zeros))


def test_the_first_of_equal_splits_is_taken() -> None:
    full = np.full((4, 4), -9, dtype=np.float32)
    full[0, 3] = 0
    full[0, 2] = full[1, 3] = 1
    parse = DECODERS["cky"](Scores(full=full, open=np.maximum(full, 0)))
    assert [span[:2] for span in parse.spans] == [(0, 3), (1, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_threads_and_neighbours_change_nothing(name: str) -> None:
    rng = np.random.default_rng(4)
    batch = [random_scores(rng, int(words)) for words in rng.integers(0, 70, 60)]
    alone = [DECODERS[name](scores) for scores in batch]
    for threads in (1, 2, 3, 200):
        assert decode_batch(batch, name, threads=threads) == alone


def test_the_interpreter_runs_on_while_we_decode() -> None:
    """Another Python thread makes headway during one long native call."""
    long = random_scores(np.random.default_rng(0), 230)
    steps = 0
    done = threading.Event()

    def count() -> None:
        nonlocal steps
        while not done.is_set():
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = steps
    native.decode([long] * 4, ["hpsg"] * 4)
    during = steps - before
    done.set()
    thread.join()
    assert during > 0


def test_mixed_decoders_in_one_call(scores: Scores) -> None:
    names = ["cky", "mst", "eisner", "hpsg", "h3n"]
    assert native.decode([scores] * 5, names) == [DECODERS[name](scores) for name in names]


def test_auto_is_exact_up_to_a_length(scores: Scores) -> None:
    assert decode_batch([scores], "auto", exact_up_to=9) == decode_batch([scores], "hpsg")
    assert decode_batch([scores], "auto", exact_up_to=8) == decode_batch([scores], "h3n")
    assert decode_batch([scores], "hpsg") != decode_batch([scores], "h3n")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_decoder_does_not_need_may_be_missing(name: str, scores: Scores) -> None:
    needed = {field: getattr(scores, field) for field in DECODERS[name].needs}
    found = DECODERS[name](Scores(**needed, label=scores.label if "full" in needed else None))
    assert found == DECODERS[name](scores)
    for field in needed:
        if name == "auto" and field == "head":
            continue
        with pytest.raises(DecodeError, match=f"sentence 0 of the batch: .* but {field} is None"):
            DECODERS[name](Scores(**{**fields_of(scores), field: None}))


def test_without_label_indices_the_label_is_minus_one(scores: Scores) -> None:
    parse = DECODERS["h3n"](Scores(**{**fields_of(scores), "label": None}))
    assert {label for _, _, label, _ in parse.spans} == {-1}


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf])
@pytest.mark.parametrize(
    ("field", "cell"), [("full", (2, 5)), ("open", (0, 9)), ("arc", (8, 0)), ("root", (4,)), ("head", (8,))]
)
def test_nan_and_infinity_are_refused_with_their_place(
    field: str, cell: tuple[int, ...], bad: float, scores: Scores
) -> None:
    getattr(scores, field)[cell] = bad
    fine = random_scores(np.random.default_rng(3), 5)
    for name in NAMES:
        if field not in DECODERS[name].needs or (name == "auto" and field == "head"):
            continue
        with pytest.raises(DecodeError) as caught:
            decode_batch([fine, scores], name)
        assert f"sentence 1 of the batch: {field}{list(cell)} is {bad}".replace("-nan", "nan") in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_cells_that_are_no_spans_are_never_read(name: str, scores: Scores) -> None:
    expected = DECODERS[name](scores)
    for matrix in (scores.full, scores.open):
        matrix[np.tril_indices(10)] = np.nan
    scores.label[np.tril_indices(10)] = -77
    assert DECODERS[name](scores) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_self_loops_are_never_read(name: str, bad: float) -> None:
    for words in (1, 2, 9, 16, 17, 40):
        scores = random_scores(np.random.default_rng(words), words)
        twin = DECODERS[name].reference if words < 10 else DECODERS[name]
        expected, expected_of_twin = DECODERS[name](scores), twin(scores)
        np.fill_diagonal(scores.arc, bad)
        assert DECODERS[name](scores) == expected
        assert twin(scores) == expected_of_twin


def test_what_decoders_need_is_said_once() -> None:
    assert native.NEEDS == {
        "cky": ("full", "open"),
        "mst": ("arc", "root"),
        "eisner": ("arc", "root"),
        "hpsg": ("full", "open", "arc", "root"),
        "h3n": ("full", "open", "arc", "root", "head"),
        "hpsg_n5": ("full", "open", "arc", "root"),
    }


def test_open_below_full_is_refused(scores: Scores) -> None:
    scores.full[3, 6], scores.open[3, 6] = 2, 1
    with pytest.raises(DecodeError, match=r"open\[3, 6\] = 1.0 is below full\[3, 6\] = 2.0"):
        DECODERS["cky"](scores)


def test_unknown_names_and_thread_counts_are_refused(scores: Scores) -> None:
    with pytest.raises(UnknownName, match=r"unknown decoder 'viterbi'; known: auto, cky, eisner, h3n, hpsg, mst"):
        decode_batch([scores], "viterbi")
    with pytest.raises(UsageError, match="0 threads"):
        decode_batch([scores], threads=0)
    with pytest.raises(ValueError, match="no kernels for abacus"):
        native.decode([scores], ["cky"], target="abacus")


def test_hpsg_over_the_memory_limit_names_h3n(scores: Scores) -> None:
    long = random_scores(np.random.default_rng(0), 120)
    with pytest.raises(
        DecodeError, match=r"sentence 1 of the batch: `hpsg` needs 7 MB for 120 words, .* `h3n` needs 0.2 MB"
    ):
        decode_batch([scores, long], "hpsg", memory_limit=6_000_000)
    assert decode_batch([scores, long], "hpsg", memory_limit=8_000_000)
    assert decode_batch([scores, long], "auto", memory_limit=6_000_000, exact_up_to=100)


def test_the_error_carries_the_number_of_its_sentence(scores: Scores) -> None:
    broken = Scores(**{**fields_of(scores), "root": np.full(9, np.nan, dtype=np.float32)})
    never = Scores(**{**fields_of(scores), "root": np.full(9, -np.inf, dtype=np.float32)})
    headless = Scores(**{**fields_of(scores), "head": None})
    for bad, reason in ((broken, "root[0] is nan"), (never, "no tree has a finite score"), (headless, "`h3n` needs")):
        with pytest.raises(DecodeError) as caught:
            decode_batch([scores, scores, bad], "h3n")
        for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
            assert error.sentence == 2
            assert error.reason.startswith(reason)
            assert str(error) == f"sentence 2 of the batch: {error.reason}"
    assert DecodeError("alone").sentence is None


def test_memory_grows_as_promised() -> None:
    assert native.chart_bytes("hpsg", 300) < 250e6
    assert native.chart_bytes("h3n", 1000) < 20e6
    for name in ("cky", "h3n", "eisner", "mst"):
        assert native.chart_bytes(name, 2000) < 4.2 * native.chart_bytes(name, 1000)


def test_a_thousand_words() -> None:
    long = random_scores(np.random.default_rng(0), 1000)
    for name in ("cky", "mst", "eisner", "auto"):
        parse = DECODERS[name](long)
        assert parse.spans[:1] == (((0, 1000, long.label[0, 1000], parse.spans[0][3]),) if parse.spans else ())
        assert len(parse.governors) in (0, 1000)
