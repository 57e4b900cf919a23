"""The SPMRL dialect: morphology on the tags."""

from __future__ import annotations

import pytest

from h3n.formats import Reading
from h3n.trees import Constituent, Leaf, Sentence
from tests.formats.helpers import parse, show

LINE = (
    "( (SENT (NP-SUJ (DET##lem=le|g=m|n=s## Le) (NC##lem=chat## chat)) (V##t=pst|lem=dormir## dort) (PONCT##_## .)) )\n"
)


def test_morphology_moves_to_columns() -> None:
    [sentence] = parse(LINE, "spmrl")
    assert sentence.tags == ("DET", "NC", "V", "PONCT")
    assert sentence.lemmas == ("le", "chat", "dormir", "_")
    assert sentence.features == ("g=m|n=s", "_", "t=pst|lem=dormir", "_")
    assert sentence.tree == Constituent(
        "",
        (
            Constituent(
                "SENT",
                (
                    Constituent("NP-SUJ", (Leaf("DET", "Le"), Leaf("NC", "chat"))),
                    Leaf("V", "dort"),
                    Leaf("PONCT", "."),
                ),
            ),
        ),
    )


def test_bytes_come_back() -> None:
    assert show(parse(LINE, "spmrl"), "spmrl") == LINE


@pytest.mark.parametrize(
    "line",
    [
        "(TOP (NP (NN x)))\n",
        "(NP##x=y## (NN##a=b## x) (NP (-NONE- *)) (NN##lem=##|c=d## y))\n",
        "(TOP (S (ADI##lem=joan|AZP=ADI_SIN|ADM=PART## joan)))\n",
        "\n",
        "()\n",
    ],
)
def test_other_lines_come_back(line: str) -> None:
    assert show(parse(line, "spmrl"), "spmrl") == line


def test_hashes_on_labels_go_with_the_functions() -> None:
    [sentence] = parse("(NP##x=y## (NN##a=b## x))\n", "spmrl", Reading(strip_functions=True))
    assert sentence.tree == Constituent("NP", (Leaf("NN", "x"),))


def test_columns_of_another_format_are_written() -> None:
    tree = Constituent("NP", (Leaf("DET", "Le"), Leaf("NC", "chat")))
    sentence = Sentence(words=("Le", "chat"), tags=("DET", "NC"), lemmas=("le", "_"), features=("g=m", "_"), tree=tree)
    assert show([sentence], "spmrl") == "(NP (DET##lem=le|g=m## Le) (NC##_## chat))\n"
