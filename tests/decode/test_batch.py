"""What the decoders take, what they refuse, and what they promise about batches."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
import torch

from h3n.decode import DECODERS, Parse, Scores, cky_nodes, decode_batch, label_scores, native, weigh
from h3n.errors import DecodeError, UnknownName, UsageError

from .samples import random_scores

NAMES = list(DECODERS)
FIELDS = ("full", "open", "arc", "root", "head", "label")


def fields_of(scores: Scores) -> dict[str, Any]:
    return {name: getattr(scores, name) for name in FIELDS}


@pytest.fixture
def scores() -> Scores:
    return random_scores(np.random.default_rng(0), 9)


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


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("full", np.zeros((10, 10)), "full has type float64; float32 is accepted"),
        ("arc", np.zeros((9, 9), dtype=np.float16), "arc has type float16; float32"),
        ("label", np.zeros((10, 10), dtype=np.int64), "label has type int64; int32"),
        ("full", np.zeros((10, 9), dtype=np.float32), r"full has shape \(10, 9\); for 9 words \(10, 10\)"),
        ("arc", np.zeros((10, 10), dtype=np.float32), r"arc has shape \(10, 10\); for 9 words \(9, 9\)"),
        ("root", np.zeros((9, 1), dtype=np.float32), "root has 2 axes; 1 are accepted"),
        ("head", np.zeros(8, dtype=np.float32), r"head has shape \(8,\); for 9 words \(9,\)"),
        ("root", [0.0] * 9, "root is a list; a numpy array or CPU torch tensor"),
        ("arc", torch.zeros(9, 9, dtype=torch.float64), "arc has type float64"),
        ("arc", torch.zeros(9, 9, device="meta"), "arc cannot be read as an array"),
    ],
)
def test_wrong_types_and_shapes_are_refused(field: str, value: Any, message: str, scores: Scores) -> None:
    with pytest.raises(DecodeError, match=message):
        Scores(**{**fields_of(scores), field: value})


def test_scores_show_what_they_have(scores: Scores) -> None:
    assert repr(scores) == "Scores(9 words: full, open, arc, root, head, label)"
    assert [len(Scores(**{field: getattr(scores, field)})) for field in FIELDS] == [9] * 6


def test_scores_of_nothing_are_refused() -> None:
    with pytest.raises(DecodeError, match="no scores at all"):
        Scores()
    with pytest.raises(DecodeError, match="full is empty"):
        Scores(full=np.zeros((0, 0), dtype=np.float32))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["read-only", "slice of a batch", "transposed", "backwards", "torch", "torch slice"])
def test_memory_of_any_layout_gives_the_same_parse(name: str, how: str, scores: Scores) -> None:
    def lay(array: np.ndarray) -> Any:
        if how == "read-only":
            array = array.copy()
            array.flags.writeable = False
            return array
        if how == "slice of a batch":
            batch = np.full((3, *(2 * size for size in array.shape)), 99, dtype=array.dtype)
            batch[(1, *(slice(size) for size in array.shape))] = array
            return batch[(1, *(slice(size) for size in array.shape))]
        if how == "transposed":
            return np.ascontiguousarray(array.T).T
        if how == "backwards":
            return np.ascontiguousarray(array[::-1])[::-1]
        if how == "torch":
            return torch.from_numpy(array).requires_grad_(array.dtype == np.float32)
        wide = torch.zeros([2 * size for size in array.shape], dtype=torch.from_numpy(array).dtype)
        part = wide[tuple(slice(size) for size in array.shape)]
        part.copy_(torch.from_numpy(array))
        return part

    laid = Scores(**{field: lay(getattr(scores, field)) for field in FIELDS})
    assert DECODERS[name](laid) == DECODERS[name](scores)


def test_numpy_and_torch_are_taken_without_a_copy(scores: Scores) -> None:
    batch = np.zeros((2, 20, 20), dtype=np.float32)
    tensor = torch.zeros(4, 12, 12)
    taken = Scores(full=batch[1, :10, :10], open=tensor[2, :10, :10], arc=scores.arc)
    assert np.shares_memory(taken.full, batch)
    assert taken.arc is scores.arc
    tensor[2, 3, 4] = 17
    assert taken.open[3, 4] == 17


def test_big_endian_arrays_are_refused(scores: Scores) -> None:
    with pytest.raises(DecodeError, match="full has type >f4"):
        Scores(**{**fields_of(scores), "full": scores.full.astype(">f4")})


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


def test_weights_share_between_spans_and_arcs(scores: Scores) -> None:
    weighed = weigh(scores, 0.75)
    assert np.array_equal(weighed.full, scores.full * 0.75)
    assert np.array_equal(weighed.open, scores.open * 0.75)
    assert np.array_equal(weighed.arc, scores.arc * 0.25)
    assert np.array_equal(weighed.root, scores.root * 0.25)
    assert weighed.head is scores.head
    assert weighed.label is scores.label


def test_weights_of_zero_and_one_keep_what_is_forbidden() -> None:
    scores = random_scores(np.random.default_rng(0), 6, forbid=0.5)
    only_arcs, only_spans = weigh(scores, 0.0), weigh(scores, 1.0)
    assert np.array_equal(np.isneginf(only_arcs.full), np.isneginf(scores.full))
    assert set(np.unique(only_arcs.full)) == {-np.inf, 0}
    assert np.array_equal(only_arcs.arc, scores.arc)
    assert set(np.unique(only_spans.arc)) == {-np.inf, 0}
    for weight in (-0.1, 1.1, np.nan):
        with pytest.raises(DecodeError, match="0 to 1 is accepted"):
            weigh(scores, weight)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_label_scores_are_the_best_labels(kind: str) -> None:
    rng = np.random.default_rng(0)
    cube = rng.normal(size=(3, 8, 8, 5)).astype(np.float32)
    cube[..., 0] = 0
    given = cube.copy() if kind == "numpy" else torch.from_numpy(cube.copy())
    full, open_, label = (np.asarray(part) for part in label_scores(given, helper=3, lengths=[7, 4, 1]))
    assert np.array_equal(np.asarray(given), cube)
    assert (full.dtype, open_.dtype, label.dtype) == (np.float32, np.float32, np.int32)
    for b, n in enumerate([7, 4, 1]):
        for i in range(n):
            for j in range(i + 1, n + 1):
                labels = [1, 2, 4] if j - i in (1, n) else [1, 2, 3, 4]
                best = max(labels, key=lambda one: cube[b, i, j, one])
                assert (label[b, i, j], full[b, i, j]) == (best, cube[b, i, j, best])
                assert open_[b, i, j] == max(full[b, i, j], 0)
    one = [np.asarray(part) for part in label_scores(given[0], helper=3)]
    for part, of_batch in zip(one, (full, open_, label), strict=True):
        assert np.array_equal(part, of_batch[0])


def test_label_scores_refuse_what_is_no_cube() -> None:
    with pytest.raises(DecodeError, match=r"label scores have shape \(4, 5, 3\)"):
        label_scores(np.zeros((4, 5, 3), dtype=np.float32))
    with pytest.raises(DecodeError, match="at least one label beside the empty one"):
        label_scores(np.zeros((4, 4, 1), dtype=np.float32))
    with pytest.raises(DecodeError, match="helper label has index 0; 1 to 2"):
        label_scores(np.zeros((4, 4, 3), dtype=np.float32), helper=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_cky_nodes_are_the_whole_trees_of_a_padded_batch(threads: int) -> None:
    rng = np.random.default_rng(0)
    lengths = [12, 0, 5, 1]
    cube = rng.integers(-4, 5, (4, 13, 13, 6)).astype(np.float32)  # the empty label scores, too: as in training
    full, open_, label = label_scores(torch.from_numpy(cube))
    nodes, scores = cky_nodes(full, open_, label, lengths=torch.tensor(lengths), threads=threads)
    assert nodes.dtype == np.int32
    assert len(nodes) == sum(max(2 * n - 1, 0) for n in lengths)
    for b, n in enumerate(lengths):
        own = nodes[nodes[:, 0] == b]
        assert scores[b] == sum(cube[tuple(node)] for node in own.tolist())
        posts = n + 1
        alone = Scores(full=full[b, :posts, :posts], open=open_[b, :posts, :posts], label=label[b, :posts, :posts])
        parse = DECODERS["cky"](alone)
        assert parse.score == scores[b]
        assert [tuple(node[1:]) for node in own.tolist() if node[3]] == [span[:3] for span in parse.spans]


def test_cky_nodes_refuse_what_does_not_fit() -> None:
    full, label = np.zeros((2, 5, 5), dtype=np.float32), np.ones((2, 5, 5), dtype=np.int32)
    for arguments, message in (
        ((full, full, label, [5, 1]), "lengths run from 1 to 5; the arrays hold 0 to 4"),
        ((full, full, label, [4]), "for 1 lengths"),
        ((full, full[:, :4], label, [4, 4]), r"open has shape \(2, 4, 5\)"),
        ((full, full, full, [4, 4]), "label has type float32 and 3 axes; int32"),
        ((full[0], full, label, [4, 4]), "full has type float32 and 2 axes"),
        (
            (np.where(full == 0, np.nan, full).astype(np.float32), full, label, [4, 4]),
            r"sentence 0 .* full\[0, 1\] is nan",
        ),
        ((full, full - 1, label, [0, 4]), r"sentence 1 .* open\[0, 1\] = -1.0 is below"),
        ((full - np.inf, full, label, [0, 4]), "sentence 1 of the batch: no tree has a finite score"),
    ):
        with pytest.raises(DecodeError, match=message):
            cky_nodes(*arguments[:3], lengths=arguments[3])
