"""The Chinese scheme: small trees checked by hand, and agreement with the stored output of the real converter."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.trees import check_dependencies
from tests.convert.handmade import Example, examples, shown


@pytest.mark.parametrize("example", examples("chinese"), ids=lambda example: example.name)
def test_by_hand(example: Example) -> None:
    assert shown(example) == example.expected


@pytest.mark.parametrize(("start", "end"), [(0, 2000), (2000, 3000)], ids=["developed on", "looked at last"])
def test_agreement_with_the_real_converter(data: Path, start: int, end: int) -> None:
    rules = load_scheme("zh")
    folder = data / "convert"
    trees = formats.read(folder / "zh-synthetic.mrg.xz")
    reference = formats.read(folder / "zh-synthetic.sd330.truebasic.conllx.xz")
    words = governors = relations = 0
    for sentence, expected in islice(zip(trees, reference, strict=True), start, end):
        assert sentence.tree is not None
        assert expected.dependencies is not None
        made = to_dependencies(sentence.tree, rules)
        check_dependencies(made)
        for word in range(len(expected)):
            words += 1
            if made.governors[word] == expected.dependencies.governors[word]:
                governors += 1
                relations += made.relations[word] == expected.dependencies.relations[word]
    assert words > 15_000
    assert 100 * governors / words >= 99.99
    assert 100 * relations / words >= 99.99
