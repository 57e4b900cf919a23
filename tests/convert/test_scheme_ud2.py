"""Universal Dependencies version 2: small trees checked by hand, the rules only it uses, and the real converter."""

from __future__ import annotations

from pathlib import Path

import pytest

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.errors import FormatError
from h3n.trees import check_dependencies, strip_tree
from tests.convert.handmade import Example, examples, read_tree, shown


@pytest.mark.parametrize("example", examples("ud2"), ids=lambda example: example.name)
def test_by_hand(example: Example) -> None:
    assert shown(example) == example.expected


CLAUSE = "[heads]\nS = left V\n[relations]\ncc\n  - C > *\nconj\n  - D > *\nx\n  - X > *\no\n  - O > *\ni\n  - I > *\n"


def relations_of(folder: Path, text: str, tree: str) -> list[tuple[int, str]]:
    """Return the governor, counted from 1, and relation of each word by the scheme written here."""
    path = folder / "own.rules"
    path.write_text(text, encoding="utf-8")
    made = to_dependencies(read_tree(tree), load_scheme(path))
    check_dependencies(made)
    return [(g + 1, r) for g, r in zip(made.governors, made.relations, strict=True)]


@pytest.mark.parametrize(
    ("tree", "governors"),
    [
        ("(S (V a) (C b) (D c) (C d) (D e))", [0, 3, 1, 5, 1]),
        ("(S (V a) (D b) (C c))", [0, 1, 1]),  # nothing follows
        ("(S (C a) (V b) (D c))", [2, 0, 2]),  # before the first conjunct
        ("(S (V a) (C b) (C c) (D d))", [0, 4, 4, 1]),
        ("(C a)", [0]),
    ],
)
def test_next_conjunct(tmp_path: Path, tree: str, governors: list[int]) -> None:
    made = relations_of(tmp_path, f"{CLAUSE}[afterwards]\nnext-conjunct cc conj\n", tree)
    assert [governor for governor, _ in made] == governors


@pytest.mark.parametrize(
    ("ending", "tree", "governor"),
    [
        ("", "(S (O what) (V try) (X say))", 3),
        ("", "(S (O what) (V ask) (X say))", 2),
        ("", "(S (O what) (V ask) (I me) (X say))", 2),
        ("or beside i", "(S (O what) (V ask) (I me) (X say))", 4),
        ("or beside i", "(S (O what) (V ask) (X say))", 2),
    ],
)
def test_control_object(tmp_path: Path, ending: str, tree: str, governor: int) -> None:
    text = f"[words]\ncontrol = try\n{CLAUSE}[afterwards]\ncontrol-object o O x o control {ending}\n"
    assert relations_of(tmp_path, text, tree)[0] == (governor, "o")


@pytest.mark.parametrize(
    "line", ["next-conjunct cc", "control-object o O x o be beside i", "control-object o O x o no"]
)
def test_corrections_that_are_incomplete(tmp_path: Path, line: str) -> None:
    path = tmp_path / "own.rules"
    path.write_text(f"extends ud2\n[afterwards]\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="the correction"):
        load_scheme(path)


def test_patterns_of_a_scheme_further_up(tmp_path: Path) -> None:
    # Version 1 has no "no" among its determiners, the Stanford Dependencies have.
    tree = "(TOP (NP (DT no) (NN cat)))"
    assert relations_of(tmp_path, "extends ud1\n[relations]\nd\n  - as det\n", tree)[0] == (2, "dep")
    assert relations_of(tmp_path, "extends ud1\n[relations]\nd\n  - as det of sd\n", tree)[0] == (2, "d")
    with pytest.raises(FormatError, match="'as det of zh'"):
        relations_of(tmp_path, "extends ud1\n[relations]\nd\n  - as det of zh\n", tree)


def test_agreement_with_the_real_converter(data: Path) -> None:
    rules = load_scheme("ud2")
    folder = data / "convert"
    trees, reference = formats.read(folder / "gum-dev.mrg.xz"), formats.read(folder / "gum-dev.ud4510.conllx.xz")
    words = governors = relations = 0
    for sentence, expected in zip(trees, reference, strict=True):
        assert sentence.tree is not None
        assert expected.dependencies is not None
        bare = strip_tree(sentence.tree)  # the reference was made from trees without function tags
        assert bare is not None
        made = to_dependencies(bare, rules)
        check_dependencies(made)
        for word in range(len(expected)):
            words += 1
            if made.governors[word] == expected.dependencies.governors[word]:
                governors += 1
                relations += made.relations[word] == expected.dependencies.relations[word]
    assert words == 28_119
    assert 100 * governors / words >= 99.8
    assert 100 * relations / words >= 99.55
