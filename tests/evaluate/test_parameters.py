"""Parameter files: what they say, and what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from h3n.errors import FormatError, InputError, UnknownName, UsageError
from h3n.evaluate import BUILT_IN, as_spmrl, load_parameters, parse_parameters, without_top

STORED = {"collins": "COLLINS.prm", "new": "new.prm", "spmrl": "spmrl.prm", "spmrl-hebrew": "spmrl_hebrew.prm"}


def test_a_file_says_everything_a_parameter_can() -> None:
    text = (
        "# comment\n\nDEBUG 2\nMAX_ERROR 7\nCUTOFF_LEN 12\nLABELED 0  \nDELETE_LABEL ,\nDELETE_LABEL TOP\n"
        "DELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\nQUOTE_TERM ''\nEQ_LABEL ADVP PRT\nEQ_WORD This this\n"
        "DISC_ONLY 0\n"
    )
    found = parse_parameters(text, name="x.prm")
    assert found.delete_labels == {",", "TOP"}
    assert found.delete_labels_for_length == {"-NONE-"}
    assert found.quote_labels == {"POS", "''"}
    assert found.equal_labels == {("ADVP", "PRT"), ("PRT", "ADVP")}
    assert found.equal_words == {("This", "this"), ("this", "This")}
    assert (found.labelled, found.cutoff_length, found.maximum_errors) == (False, 12, 7)


def test_an_empty_file_gives_the_defaults_of_evalb() -> None:
    found = parse_parameters("", name="x")
    assert (found.labelled, found.cutoff_length, found.maximum_errors) == (True, 40, 10)
    assert not found.delete_labels


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_parameters_load(name: str) -> None:
    found = load_parameters(name)
    assert found.name == name
    assert {"TOP", "-NONE-"} <= found.delete_labels
    assert found.keep_words == name.startswith("spmrl")


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_parameters_are_those_everybody_uses(name: str, data: Path) -> None:
    stored = load_parameters(data / "evalb" / STORED[name])
    stored = as_spmrl(stored) if name.startswith("spmrl") else stored
    assert replace(stored, name=name) == load_parameters(name)


def test_without_top_deletes_every_top_label() -> None:
    assert {"TOP", "ROOT", "S1", "VROOT", "", ","} <= without_top(load_parameters("collins")).delete_labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nDELETE_LABELS X\n", "x.prm:2: unknown keyword 'DELETE_LABELS'"),
        ("EQ_LABEL ADVP\n", "x.prm:1: 1 values ('ADVP'); expected two"),
        ("CUTOFF_LEN forty\n", "x.prm:1: 'forty'; expected a whole number"),
        ("LABELED\n", "x.prm:1: 'LABELED' alone; expected a keyword and a value"),
    ],
)
def test_damage_says_where(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_parameters(text, name="x.prm")
    assert message in str(caught.value)


def test_discontinuous_scoring_is_refused() -> None:
    with pytest.raises(UsageError, match="DISC_ONLY"):
        parse_parameters("DISC_ONLY 1\n", name="x")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="collins, new, spmrl, spmrl-hebrew"):
        load_parameters("colins")


def test_a_missing_or_broken_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.prm"):
        load_parameters(tmp_path / "gone.prm")
    broken = tmp_path / "broken.prm"
    broken.write_bytes(b"EQ_WORD a \xff\n")
    with pytest.raises(InputError, match="byte 11"):
        load_parameters(broken)
