"""Numbered examples on the disk instead of in memory, for treebanks larger than that.

An example is a row of whole numbers of 32 bits: how long each of its arrays is (-1 where there is none), then the
arrays. The rows lie one after another in a file without a name, which ends with its process, however that ends; in
memory is where each of them begins.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from h3n.engine.inputs import Inputs
from h3n.engine.pieces import Numbers, Pieces
from h3n.errors import TrainingError
from h3n.model.batch import Targets
from h3n.model.soft_targets import SoftTargets
from h3n.training.data import Numbered

Row = NDArray[np.int32]
TARGETS = ("governors", "relations", "levels", "ranks", "tags", "upos")
SOFT = {"spans": 4, "governors": 3, "relations": 3, "tags": 3, "upos": 3}  # soft targets and the width of their rows
# The arrays of a row: of the inputs, lengths of words in characters and all of those, pieces and the words they are of.
INPUTS = ("words", "tags", "shapes")
ARRAYS = len(INPUTS) + 2 + 2 + 1 + len(TARGETS) + len(SOFT)


class DiskExamples(Sequence[Numbered]):
    """A sequence of examples, each read from the disk when it is asked for."""

    def __init__(self, examples: Iterable[Numbered], *, folder: Path) -> None:
        self._starts = array("q", [0])
        self._weights = array("d")
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  -- lives as long as the run
            weakref.finalize(self, self._file.close)
            for example in examples:
                row = pack(example)
                self._file.write(row.tobytes())
                self._starts.append(self._starts[-1] + row.nbytes)
                self._weights.append(example.weight)
            self._file.flush()
        except OSError as error:
            raise TrainingError(f"{folder}: the examples cannot be written: {error.strerror}") from None

    def __len__(self) -> int:
        return len(self._weights)

    @overload
    def __getitem__(self, at: int) -> Numbered: ...
    @overload
    def __getitem__(self, at: slice) -> list[Numbered]: ...
    def __getitem__(self, at: int | slice) -> Numbered | list[Numbered]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        start, end = self._starts[place], self._starts[place + 1]
        return unpack(np.frombuffer(os.pread(self._file.fileno(), end - start, start), np.int32), self._weights[place])


def pack(example: Numbered) -> Row:
    """Return an example as one row of numbers, without its weight."""
    inputs, targets = example.inputs, example.targets
    characters = inputs.characters
    arrays: list[Numbers | None] = [getattr(inputs, name) for name in INPUTS]
    arrays.append(np.array([len(word) for word in characters], dtype=np.int64))
    arrays.append(np.concatenate(characters) if characters else np.zeros(0, dtype=np.int64))
    arrays += [inputs.pieces.ids, inputs.pieces.words] if inputs.pieces is not None else [None, None]
    arrays.append(targets.spans.ravel() if targets.spans is not None else None)
    arrays += [getattr(targets, name) for name in TARGETS]
    tables = [getattr(targets.soft, name) for name in SOFT]
    arrays += [None if table is None else table.ravel() for table in tables]
    lengths = [-1 if each is None else len(each) for each in arrays]
    present = [each for each in arrays if each is not None]
    return np.concatenate([np.array([inputs.length, inputs.style, *lengths]), *present]).astype(np.int32)


def unpack(row: Row, weight: float) -> Numbered:
    """Return the example of a row: the inverse of `pack`."""
    length, style = int(row[0]), int(row[1])
    lengths = row[2 : 2 + ARRAYS].tolist()
    ends = np.cumsum([2 + ARRAYS, *(max(each, 0) for each in lengths)]).tolist()
    arrays: list[Numbers | None] = [
        None if each < 0 else row[start:end].astype(np.int64)
        for each, start, end in zip(lengths, ends[:-1], ends[1:], strict=True)
    ]
    words, tags, shapes, word_lengths, characters, ids, owners, spans, *rest = arrays
    pieces = Pieces(ids, owners) if ids is not None and owners is not None else None
    return Numbered(
        inputs=Inputs(
            length=length,
            style=style,
            words=_known(words),
            tags=_known(tags),
            shapes=_known(shapes),
            characters=tuple(np.split(_known(characters), np.cumsum(_known(word_lengths))[:-1]))
            if len(_known(word_lengths))
            else (),
            pieces=pieces,
        ),
        targets=Targets(
            spans=spans.reshape(-1, 3) if spans is not None else None,
            soft=SoftTargets(**dict(zip(SOFT, map(_table, rest[len(TARGETS) :], SOFT.values()), strict=True))),
            **dict(zip(TARGETS, rest[: len(TARGETS)], strict=True)),
        ),
        weight=weight,
    )


def _table(numbers: Numbers | None, width: int) -> Numbers | None:
    return None if numbers is None else numbers.reshape(-1, width)


def _known(array: Numbers | None) -> Numbers:
    if array is None:
        raise TrainingError("an example on the disk is damaged")
    return array
