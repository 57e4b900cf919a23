"""What goes into a decoder and what comes out: `Scores` and `Parse`, and the steps from a model's output to them.

Words are 0 .. n-1, spans half-open: ``full[i, j]`` is about words i .. j-1. Matrices read in index order: ``arc[h, m]``
is the arc from governor h to word m. Label 0 is the empty label, carried by spans that only binarize their parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from h3n.errors import DecodeError

Floats: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int32]

# field -> (type, how many axes, what to add to the number of words along each)
_FIELDS: dict[str, tuple[type[np.generic], int, int]] = {
    "full": (np.float32, 2, 1),
    "open": (np.float32, 2, 1),
    "arc": (np.float32, 2, 0),
    "root": (np.float32, 1, 0),
    "head": (np.float32, 1, 0),
    "label": (np.int32, 2, 1),
    "empty": (np.float32, 2, 1),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scores:
    """The scores of one sentence; a decoder leaves alone what it does not need, which may then be None.

    Numpy arrays and CPU torch tensors of 32-bit floats are taken as they are, without a copy, as long as each row is
    contiguous: slices of a padded batch are fine. Minus infinity forbids a span or an arc; NaN and plus infinity are
    refused by the decoders. Cells with i >= j and self-loops are never read.
    """

    full: Floats | None = None  # (n+1, n+1): the best non-empty label of span (i, j)
    open: Floats | None = None  # (n+1, n+1): the best label, the empty one included; never below full
    arc: Floats | None = None  # (n, n)
    root: Floats | None = None  # (n,)
    head: Floats | None = None  # (n,): how much a word is a head; for `h3n` only
    label: Labels | None = None  # (n+1, n+1): the label that `full` is the score of
    # (n+1, n+1): what no label is worth, 0 or -inf, where `open` does not tell because `full` is higher: on a required
    # span no label is barred. None means 0 there. Only the trees beside the best one depend on it.
    empty: Floats | None = None
    # (n+1, n+1, labels): what each label is worth, the empty one first. Only constraints on labels ask for it.
    labels: Floats | None = None

    def __post_init__(self) -> None:
        words = None
        for name, (kind, axes, more) in _FIELDS.items():
            given = getattr(self, name)
            if given is None:
                continue
            array = _as_array(given, name=name, kind=kind, axes=axes)
            if words is None:
                words = array.shape[0] - more
                if words < 0:
                    raise DecodeError(f"{name} is empty; for a sentence of no words its shape is (1, 1)")
            if array.shape != (words + more,) * axes:
                raise DecodeError(
                    f"{name} has shape {array.shape}; for {words} words {(words + more,) * axes} is accepted"
                )
            if array is not given:
                object.__setattr__(self, name, array)
        if self.labels is not None:
            array = np.asarray(self.labels)
            if array.dtype != np.float32 or array.ndim != 3 or array.shape[:2] != ((words or 0) + 1,) * 2:
                raise DecodeError(
                    f"labels has type {array.dtype} and shape {array.shape}; float32 and "
                    f"{((words or 0) + 1,) * 2} by the number of labels is accepted"
                )
            object.__setattr__(self, "labels", array)
        if words is None:
            raise DecodeError("no scores at all; give full and open, arc and root, or all of them")

    def __repr__(self) -> str:
        given = [name for name in _FIELDS if getattr(self, name) is not None]
        return f"Scores({len(self)} words: {', '.join(given)})"

    def __len__(self) -> int:
        """Return the number of words."""
        if self.arc is not None:
            return len(self.arc)
        for spans in (self.full, self.open, self.label):
            if spans is not None:
                return len(spans) - 1
        words = self.root if self.root is not None else self.head
        return 0 if words is None else len(words)


def trusted(
    *,
    full: Floats | None,
    open: Floats | None,  # noqa: A002
    arc: Floats | None,
    root: Floats | None,
    label: Labels | None,
    head: Floats | None = None,
    empty: Floats | None = None,
    labels: Floats | None = None,
) -> Scores:
    """Return scores that are known to fit each other, without a look at them: a parser makes many."""
    made = object.__new__(Scores)
    put = object.__setattr__
    put(made, "full", full)
    put(made, "open", open)
    put(made, "arc", arc)
    put(made, "root", root)
    put(made, "head", head)
    put(made, "label", label)
    put(made, "empty", empty)
    put(made, "labels", labels)
    return made


@dataclass(frozen=True, slots=True)
class Parse:
    """A parse: what the decoder found, in numbers.

    ``spans`` are the labelled ones, in pre-order (outer before inner, left before right), each ``(start, end, label,
    head)``: label is the index from ``Scores.label`` (-1 if that was None), head is -1 if the decoder finds no arcs.
    ``governors`` has one entry per word, `h3n.trees.ROOT` for the root word. What the decoder does not find is empty.
    ``score`` is the sum over the tree.
    """

    spans: tuple[tuple[int, int, int, int], ...]
    governors: tuple[int, ...]
    score: float


def _as_array(given: Any, *, name: str, kind: type[np.generic], axes: int) -> NDArray[Any]:
    """Return the data as a numpy array with contiguous rows, sharing memory wherever that is possible."""
    if not isinstance(given, np.ndarray):
        if not hasattr(given, "__array__"):
            raise DecodeError(f"{name} is a {type(given).__name__}; a numpy array or CPU torch tensor is accepted")
        try:
            given = np.asarray(given.detach() if hasattr(given, "detach") else given)
        except (TypeError, RuntimeError) as error:
            raise DecodeError(f"{name} cannot be read as an array: {error}") from None
    array: NDArray[Any] = given
    if array.dtype != kind:
        raise DecodeError(f"{name} has type {array.dtype}; {np.dtype(kind)} is accepted")
    if array.ndim != axes:
        raise DecodeError(f"{name} has {array.ndim} axes; {axes} are accepted")
    item = array.itemsize
    usable = array.flags.aligned and (
        array.flags.c_contiguous or (axes == 2 and array.strides[1] == item and array.strides[0] > 0)
    )
    return array if usable and array.dtype.isnative else np.ascontiguousarray(array, dtype=kind)


def weigh(scores: Scores, weight: float) -> Scores:
    """Return the scores with spans weighted by ``weight`` and arcs by ``1 - weight``.

    The weight is lambda (paper, section IV-A). Head scores are only compared with each other and stay as they are. At 0
    and 1 forbidden cells stay forbidden.
    """
    if not 0.0 <= weight <= 1.0:
        raise DecodeError(f"the weight of the spans is {weight}; 0 to 1 is accepted")

    def times(values: Floats | None, factor: float) -> Floats | None:
        if values is None or factor == 1.0:
            return values
        if factor == 0.0:  # 0 x -inf would be NaN
            return np.where(np.isneginf(values), values, np.float32(0.0))
        return values * np.float32(factor)

    return trusted(
        full=times(scores.full, weight),
        open=times(scores.open, weight),
        arc=times(scores.arc, 1.0 - weight),
        root=times(scores.root, 1.0 - weight),
        head=scores.head,
        label=scores.label,
        empty=scores.empty,
        labels=times(scores.labels, weight),
    )


def empty_scores(scores: Scores) -> Floats:
    """Return what no label is worth on each span: as given, or as far as ``open`` tells, or else 0."""
    if scores.empty is not None:
        return scores.empty
    assert scores.full is not None
    assert scores.open is not None
    free = np.where(scores.full >= 0, np.float32(0.0), np.float32(-np.inf))
    return np.where(scores.open > scores.full, scores.open, free)


def label_scores(cube: Any, *, helper: int | None = None, lengths: Sequence[int] | None = None) -> tuple[Any, Any, Any]:
    """Return ``full``, ``open`` and ``label`` of a cube of label scores (..., n+1, n+1, labels).

    Numpy or torch, one sentence or a padded batch, on whatever device the cube is. The result is of the same kind, the
    labels are int32. ``helper`` is the index of a label not allowed on one word or on the whole sentence; ``lengths``
    gives the words per sentence of a padded batch, without which the last fencepost ends every sentence.
    """
    numpy = isinstance(cube, np.ndarray)
    if cube.ndim not in (3, 4) or cube.shape[-1] < 2 or cube.shape[-2] != cube.shape[-3]:
        raise DecodeError(
            f"label scores have shape {tuple(cube.shape)}; (n+1, n+1, labels) or (batch, n+1, n+1, labels) with at "
            "least one label beside the empty one is accepted"
        )
    if helper is not None:
        if not 0 < helper < cube.shape[-1]:
            raise DecodeError(f"the helper label has index {helper}; 1 to {cube.shape[-1] - 1} is accepted")
        cube = cube.copy() if numpy else cube.clone()
        _bar_helper(cube, helper, lengths)
    rest = cube[..., 1:]
    if numpy:
        label = rest.argmax(axis=-1)
        full = np.take_along_axis(rest, label[..., None], axis=-1)[..., 0]
        return full, np.maximum(full, cube[..., 0]), (label + 1).astype(np.int32)
    full, label = rest.max(dim=-1)
    return full, full.maximum(cube[..., 0]), (label + 1).int()


def bars_helper(start: Any, end: Any, words: Any) -> Any:
    """Return where a span may not carry the helper label: on one word, and on a whole sentence of so many words.

    Takes numbers, numpy arrays and torch tensors. The native layers have a copy of this rule and are tested against it.
    """
    return (end - start == 1) | (end - start == words)


def _bar_helper(cube: Any, helper: int, lengths: Sequence[int] | None) -> None:
    """Forbid the helper label where it may not stand, in place."""
    posts = np.arange(cube.shape[-2])
    words = len(posts) - 1 if lengths is None else np.array([int(length) for length in lengths])[:, None, None]
    barred = np.array(np.broadcast_to(bars_helper(posts[:, None], posts, words), tuple(cube.shape[:-1])))
    cube[..., helper][barred] = float("-inf")
