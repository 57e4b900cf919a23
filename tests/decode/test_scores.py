"""Scores as they are given: types, shapes and memory; their weights, the best labels, and trees of a padded batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from h3n.decode import DECODERS, Scores, cky_nodes, label_scores, weigh
from h3n.errors import DecodeError

from .samples import FIELDS, fields_of, random_scores


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


@pytest.mark.parametrize("name", DECODERS)
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
