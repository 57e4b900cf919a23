"""Treebanks larger than memory: examples on the disk are the same as those in memory."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from h3n.config import Config, Treebank
from h3n.engine.inputs import Inputs
from h3n.engine.pieces import Pieces
from h3n.model.batch import Targets
from h3n.model.soft_targets import SoftTargets
from h3n.training import train
from h3n.training.data import Example, Numbered, StreamedExamples
from h3n.training.disk import SOFT, DiskExamples, pack, unpack
from h3n.training.plan import choose_batch_words
from h3n.training.processes import Processes
from h3n.training.run import prepare

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
Part = Callable[..., list[Example]]
Options = Callable[..., Config]
SHORT = ("training.epochs=1", "training.checks=1", "training.tune=false")


def same(one: Any, other: Any) -> bool:
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one is other is None or (np.asarray(one).dtype == np.asarray(other).dtype and np.array_equal(one, other))


def full(length: int, *, numbers: np.random.Generator) -> Numbered:
    """Return an example in which every field is set."""

    def column() -> Any:
        return numbers.integers(-100, 2**31 - 1, length)

    inputs = Inputs(
        length=length,
        style=3,
        words=column(),
        tags=column(),
        shapes=column(),
        characters=tuple(numbers.integers(0, 99, 1 + at % 3) for at in range(length)),
        pieces=Pieces(numbers.integers(0, 99, 2 * length), np.repeat(np.arange(length), 2)),
    )
    named = {field.name: column() for field in dataclasses.fields(Targets)}
    named["spans"] = numbers.integers(0, 9, (4, 3))
    named["soft"] = SoftTargets(**{name: numbers.integers(0, 1000, (5, width)) for name, width in SOFT.items()})
    return Numbered(inputs=inputs, targets=Targets(**named), weight=0.5)


def test_a_row_holds_all_of_an_example() -> None:
    numbers = np.random.default_rng(1)
    for length in (1, 2, 7):
        example = full(length, numbers=numbers)
        assert same(unpack(pack(example), 0.5), example)
        bare = replace(example, targets=Targets(), inputs=replace(example.inputs, characters=(), pieces=None))
        assert same(unpack(pack(bare), 0.5), bare)
        empty = replace(example, targets=Targets(spans=np.zeros((0, 3), dtype=np.int64)))
        assert same(unpack(pack(empty), 0.5), empty)


def test_examples_on_the_disk_are_a_sequence(tmp_path: Path) -> None:
    numbers = np.random.default_rng(2)
    examples = [replace(full(length, numbers=numbers), weight=length / 2) for length in range(1, 9)]
    stored = DiskExamples(iter(examples), folder=tmp_path)
    assert len(stored) == 8
    assert all(same(stored[at], examples[at]) for at in (0, 7, 3, -1))
    assert all(map(same, stored[2:5], examples[2:5]))
    with pytest.raises(IndexError):
        stored[8]
    assert list(tmp_path.iterdir()) == []  # the file has no name, so that nothing is left of it


def test_a_streamed_run_ends_with_the_same_weights(tmp_path: Path, options: Options, treebank: Part) -> None:
    files = (str(TREEBANK / "train.ptb"), str(TREEBANK / "train.conllu"))
    config = options(tmp_path / "disk", *SHORT, "data.stream=true", "data.longest=25")
    train(config, StreamedExamples(treebanks=(Treebank(files=files, limit=40),), data=config.data), treebank("dev", 3))
    train(options(tmp_path / "memory", *SHORT, "data.longest=25"), treebank("train", 40), treebank("dev", 3))
    one, other = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("disk", "memory"))
    assert one.keys() == other.keys()
    assert all(bool((one[name] == other[name]).all()) for name in one)


class Repeated:
    """A few examples gone through again and again: a treebank of any size that takes no memory by itself."""

    def __init__(self, examples: list[Example], times: int) -> None:
        self.examples, self.times = examples, times

    def __iter__(self) -> Iterator[Example]:
        for _ in range(self.times):
            yield from self.examples


def peak(examples: Repeated, config: Config) -> int:
    tracemalloc.start()
    try:
        run = prepare(config, examples, [], here=Processes(), resume=False, report=lambda _: None)
        assert len(run.train) == len(examples.examples) * examples.times
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded(tmp_path: Path, options: Options, treebank: Part) -> None:
    """More sentences take a few numbers each when they are streamed, and kilobytes each when they are not."""
    few = treebank("train", 50)
    growth = {}
    for stream in ("true", "false"):
        tops = []
        for times in (4, 24):
            folder = tmp_path / f"{stream}-{times}"
            folder.mkdir()
            tops.append(peak(Repeated(few, times), options(folder, *SHORT, f"data.stream={stream}")))
        growth[stream] = (tops[1] - tops[0]) / (20 * len(few))
    assert growth["true"] < 600  # bytes a sentence: where it begins, its sizes, its place in the plan of an epoch
    assert growth["false"] > 4 * growth["true"]


@pytest.mark.parametrize(
    ("words", "batch"), [(100, 250), (17_500, 250), (33_878, 500), (72_846, 1050), (105_000, 1500), (10**9, 1500)]
)
def test_small_treebanks_get_small_batches(words: int, batch: int) -> None:
    assert choose_batch_words(words) == batch


def test_a_batch_that_is_asked_for_wins(tmp_path: Path, options: Options, treebank: Part) -> None:
    def words_of(*settings: str) -> int:
        config = options(tmp_path, *SHORT, *settings)
        run = prepare(config, treebank("train", 20), [], here=Processes(), resume=False, report=lambda _: None)
        return run.config.batches.words

    assert words_of("batches.words=0") == 250
    assert words_of("batches.words=77") == 77
