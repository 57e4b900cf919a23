"""The native decoders: arrays into `_native`, parses out of it.

Every function releases the interpreter while it works and gives the same result whatever the number of threads. A
signal that comes meanwhile is answered within a fraction of a second: what its handler raises comes out of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from h3n.decode import _native
from h3n.decode.scores import Parse, Scores
from h3n.errors import DecodeError, UsageError

NEEDS: dict[str, tuple[str, ...]] = _native.DECODERS  # the fields of `Scores` that each decoder reads
_INDEX = {name: index for index, name in enumerate(NEEDS)}
_RANK_NEEDS = ("arc", "root", "head")
_FINE, _NO_TREE, _NOT_NUMBER, _BELOW_FULL, _CHANGED, _TOO_LARGE, _ODD_EMPTY = range(7)


def targets() -> list[str]:
    """Return the instruction sets this machine can run, best first."""
    return _native.targets()


def chart_bytes(name: str, words: int) -> int:
    """Return the memory a decoder's charts take for a sentence."""
    return _native.chart_bytes(_INDEX[name], words)


def decode(
    sentences: Sequence[Scores], names: Sequence[str], *, threads: int = 1, target: str = ""
) -> list[Parse | None]:
    """Return one parse per sentence, each by the decoder named for it; None where no tree has a finite score.

    ``target`` picks one of `targets`, for tests and measurements; otherwise the best.
    """
    if len(names) != len(sentences):
        raise UsageError(f"{len(names)} decoders for {len(sentences)} sentences; one for each is accepted")
    inputs = [_arguments(number, sentences[number], name, NEEDS[name]) for number, name in enumerate(names)]
    parses: list[Parse | None] = []
    found = _native.decode(inputs, [_INDEX[name] for name in names], threads, target)
    for number, (status, spans, governors, score) in enumerate(found):
        if status == _FINE:
            parses.append(Parse(spans, governors, score))
        elif status == _NO_TREE:
            parses.append(None)
        else:
            raise _complaint(sentences[number], NEEDS[names[number]], status, number)
    return parses


class Answer(NamedTuple):
    """What the charts of a sentence tell; see `h3n.decode.forest` for what the parts mean."""

    best: list[Parse]
    samples: list[Parse]
    log_partition: float
    entropy: float
    spans: NDArray[np.float32] | None
    arcs: NDArray[np.float32] | None
    head_cells: NDArray[np.int32] | None
    head_values: NDArray[np.float32] | None


def explore(
    sentences: Sequence[Scores],
    names: Sequence[str],
    *,
    best: int = 0,
    samples: int = 0,
    seed: int = 0,
    marginals: bool = False,
    limit: int,
    target: str = "",
) -> list[Answer]:
    """Return one answer per sentence, each from the charts of the decoder named for it; ``limit`` is in bytes.

    ``target`` is as in `decode`.
    """
    inputs = [
        (*_arguments(number, scores, name, NEEDS[name]), scores.empty)
        for number, (scores, name) in enumerate(zip(sentences, names, strict=True))
    ]
    answers = []
    found = _native.explore(inputs, [_INDEX[name] for name in names], best, samples, seed, marginals, limit, target)
    for number, (status, parses, drawn, *rest) in enumerate(found):
        if status == _TOO_LARGE:
            raise DecodeError(
                f"the sums over all trees of {len(sentences[number])} words take more than {limit / 2**20:.0f} MB; "
                "raise memory_limit, or use `h3n`, which takes less",
                sentence=number,
            )
        if status == _ODD_EMPTY:
            raise DecodeError("a span without a label scores other than 0; 0 or -inf is accepted", sentence=number)
        if status != _FINE:
            raise _complaint(sentences[number], NEEDS[names[number]], status, number)
        answers.append(Answer([Parse(*one) for one in parses], [Parse(*one) for one in drawn], *rest))
    return answers


def tree_head_scores(sentences: Sequence[Scores], *, threads: int = 1) -> list[NDArray[np.float32]]:
    """Return head scores for each sentence that rank a word below its governor, and otherwise by the scores it has.

    In a span that agrees with the best dependency tree its head comes first for sure; in one that does not, words that
    neither governs the other are compared by the head scores given. The tree is the one `eisner` finds, projective as
    `h3n`'s own and in O(n^3), so that `h3n` stays at O(n^3).
    """
    inputs = [_arguments(number, scores, "eisner", _RANK_NEEDS) for number, scores in enumerate(sentences)]
    heads, statuses = _native.tree_head_scores(inputs, threads)
    for number in np.flatnonzero(statuses)[:1].tolist():
        raise _complaint(sentences[number], _RANK_NEEDS, int(statuses[number]), number)
    ends = list(accumulate(len(scores) for scores in sentences))
    return [heads[end - len(scores) : end] for scores, end in zip(sentences, ends, strict=True)]


def cky_nodes(
    full: Any, open_: Any, label: Any, *, lengths: Any, threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the best constituency trees of a padded batch as one array, with their scores.

    The low-level way for training: ``full``, ``open_`` and ``label`` are (batch, n+1, n+1) as `label_scores` makes
    them, of any numbers. One row (sentence, start, end, label) per node of each binary tree, in pre-order; label 0 is
    the empty one. A sentence of n words has 2n-1 rows.
    """
    arrays = [_batch_array(full, "full", np.float32), _batch_array(open_, "open", np.float32)]
    labels = _batch_array(label, "label", np.int32)
    words = np.ascontiguousarray(np.asarray(lengths), dtype=np.int64)
    for name, array in zip(("full", "open", "label"), (*arrays, labels), strict=True):
        if array.shape != arrays[0].shape or array.shape[1] != array.shape[2] or len(words) != len(array):
            raise DecodeError(
                f"{name} has shape {array.shape} for {len(words)} lengths; (batch, n+1, n+1) is accepted, alike for all"
            )
    if len(words) and not (words.min() >= 0 and words.max() < arrays[0].shape[1]):
        raise DecodeError(
            f"lengths run from {words.min()} to {words.max()}; the arrays hold 0 to {arrays[0].shape[1] - 1}"
        )
    nodes, scores, statuses = _native.cky_nodes(arrays[0], arrays[1], labels, words, threads)
    for number in np.flatnonzero(statuses)[:1].tolist():
        posts = int(words[number]) + 1
        scores_of = Scores(full=arrays[0][number, :posts, :posts], open=arrays[1][number, :posts, :posts])
        raise _complaint(scores_of, NEEDS["cky"], int(statuses[number]), number)
    return nodes, scores


def _batch_array(given: Any, name: str, kind: type[np.generic]) -> NDArray[Any]:
    array: NDArray[Any] = np.asarray(given.detach() if hasattr(given, "detach") else given)
    if array.dtype != kind or array.ndim != 3:
        raise DecodeError(f"{name} has type {array.dtype} and {array.ndim} axes; {np.dtype(kind)} and 3 are accepted")
    return array if array.strides[2] == array.itemsize else np.ascontiguousarray(array)


def _arguments(number: int, scores: Scores, name: str, needs: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the sentence as the native module takes it: None where the decoder has no need."""
    spans, arcs, heads = "full" in needs, "arc" in needs, "head" in needs
    given = (
        scores.full if spans else None,
        scores.open if spans else None,
        scores.arc if arcs else None,
        scores.root if arcs else None,
        scores.head if heads else None,
        scores.label if spans else None,
    )
    if (spans and (given[0] is None or given[1] is None)) or (
        (arcs and (given[2] is None or given[3] is None)) or (heads and given[4] is None)
    ):
        missing = next(field for field in needs if getattr(scores, field) is None)
        raise DecodeError(f"`{name}` needs {', '.join(needs)}, but {missing} is None", sentence=number)
    return (len(scores), *given)


def _complaint(scores: Scores, needs: tuple[str, ...], status: int, number: int) -> DecodeError:
    """Return what is wrong with the scores, and where."""
    return DecodeError(_fault(scores, needs, status), sentence=number)


def _fault(scores: Scores, needs: tuple[str, ...], status: int) -> str:
    if status == _NO_TREE:
        return "no tree has a finite score"
    if status == _BELOW_FULL and scores.full is not None and scores.open is not None:
        for cell in _first_cell(np.triu(scores.open < scores.full, 1)):
            return (
                f"open{list(cell)} = {scores.open[cell]} is below full{list(cell)} = {scores.full[cell]}; open is "
                "the best score with the empty label allowed, so it is never less"
            )
    for field in needs:
        array: NDArray[np.float32] = getattr(scores, field)
        wrong = ~(array <= np.finfo(np.float32).max)
        if field in ("full", "open"):
            wrong = np.triu(wrong, 1)
        elif field == "arc":
            np.fill_diagonal(wrong, False)
        for cell in _first_cell(wrong):
            return f"{field}{list(cell)} is {array[cell]}; a finite number or -inf is accepted"
    return "the scores changed while they were decoded, or their sums are too large for 32 bits"


def _first_cell(wrong: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the first cell that is wrong; none if the scores have been mended since they were refused."""
    return [tuple(cell) for cell in np.argwhere(wrong)[:1].tolist()]
