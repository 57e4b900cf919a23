"""The same sentence has the same parse alone, in a batch, in another order and in two threads, in 32 and in 8 bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.sameness import WAYS, alone, compare, sentences_of_sample
from h3n.parser import load


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_what_stands_beside_a_sentence_changes_nothing(tiny_model: Path, precision: str) -> None:
    sentences = sentences_of_sample(60)
    assert len(set(sentences)) == 60
    expected = alone(load(tiny_model, precision=precision, threads=1), sentences)
    for threads, run in WAYS.values():
        found = compare(expected, run(load(tiny_model, precision=precision, threads=threads), sentences))
        assert (found.sentences, found.trees) == (60, 0)
        assert found.confidence < 1e-3


def test_another_tree_is_counted(tiny_model: Path) -> None:
    results = alone(load(tiny_model, threads=1), sentences_of_sample(3))
    other = [results[0], results[1], replace(results[2], spans=())]
    assert compare(results, other).bytes == 1
    swapped = [results[1], results[0], results[2]]
    assert compare(results, swapped).trees == 2
