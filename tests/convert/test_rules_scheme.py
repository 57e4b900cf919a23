"""Scheme files: inheritance, transforms, corrections, what damage says."""

from __future__ import annotations

from pathlib import Path

import pytest

from h3n.convert.rules import load_scheme, to_dependencies
from h3n.errors import FormatError, InputError, UnknownName
from h3n.trees import check_dependencies
from tests.convert.handmade import read_tree

SIMPLE = """\
# A scheme for tests.
[options]
keep = NP-SBJ
punctuation = .
[sets]
verbal = VB VBD
[words]
be = is was
known = {be} seems
[heads]
S = left VP
VP = left {x}
NP = right NN
[relations]
subj
  - NP-SBJ > S
verb
  - {verbal}
    > VP
aux of verb
  - *"{known}" > VP
"""


def convert(text: str, scheme: str | Path) -> list[tuple[int, str]]:
    """Return (1-based governor, relation) of each word."""
    made = to_dependencies(read_tree(text), load_scheme(scheme))
    check_dependencies(made)
    return [(governor + 1, relation) for governor, relation in zip(made.governors, made.relations, strict=True)]


@pytest.fixture
def scheme(tmp_path: Path) -> Path:
    path = tmp_path / "simple.rules"
    path.write_text(SIMPLE.replace("{x}", "NN VBD"), encoding="utf-8")
    return path


def written(folder: Path, text: str, name: str = "other.rules") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_heads_and_relations(scheme: Path) -> None:
    text = "(S (NP-SBJ-1 (DT the) (NN cat)) (VP (VB was) (NN asleep)) (. .))"
    assert convert(text, scheme) == [(2, "dep"), (4, "subj"), (4, "aux"), (0, "root"), (4, "dep")]


def test_a_more_general_relation_stays_where_the_special_one_does_not_fit(scheme: Path) -> None:
    assert convert("(S (VP (VB go) (NN home)))", scheme) == [(2, "verb"), (0, "root")]


def test_a_scheme_extends_another(scheme: Path) -> None:
    child = written(
        scheme.parent,
        "extends simple.rules\n[words]\nbe = am\n[heads]\nS = right NP\n"
        "[relations]\nsubject\n  - as subj\naux\n  - as aux\nverb\n  - VP > S\n",
    )
    # The head of S is another, "be" is another list inside "known", and "verb" means the phrase now.
    text = "(S (NP-SBJ (NN cat)) (VP (VB am) (NN asleep)))"
    assert convert(text, child) == [(0, "root"), (3, "aux"), (1, "verb")]
    assert convert(text, scheme) == [(3, "subj"), (3, "verb"), (0, "root")]


def test_three_dots_stand_for_the_inherited_rest(scheme: Path) -> None:
    child = written(
        scheme.parent,
        "extends simple.rules\n[relations]\nfirst\n  - DT > *\n...\nsubj\n  - as subj\nlast\n  - NP-SBJ|NN > *\n",
    )
    # "aux of verb" comes along with its place under "verb"; "subj" has moved behind, but still comes before "last".
    text = "(S (NP-SBJ (DT the) (NN cat)) (VP (VB was) (NN asleep)) (NN x))"
    assert convert(text, child) == [(2, "first"), (4, "subj"), (4, "aux"), (0, "root"), (4, "last")]


def test_labels_and_tags_may_be_read_under_other_names(scheme: Path) -> None:
    child = written(scheme.parent, "extends simple.rules\n[labels]\nNP = SN GN*\n[tags]\nNN = n v*\n")
    assert convert("(S (VP (VBD saw)) (GNX (n cat) (x x)))", child)[1:] == [(1, "dep"), (2, "dep")]
    assert convert("(S (VP (VBD saw)) (GNX (n cat) (x x)))", scheme)[1:] == [(1, "dep"), (2, "dep")]
    assert convert("(S (VP (VBD saw)) (GNX (x x) (n cat)))", child)[1:] == [(3, "dep"), (1, "dep")]
    assert convert("(S (VP (VBD saw)) (GNX (x x) (n cat)))", scheme)[1:] == [(1, "dep"), (2, "dep")]


def test_functions_may_be_read_under_other_names(scheme: Path) -> None:
    child = written(
        scheme.parent,
        "extends simple.rules\n[functions]\nB = ob* b\nA = a\n[relations]\none\n  - NP-A > *\ntwo\n  - NN-B|NP-B > *\n",
    )
    # The first name of the table that fits, on any category or tag; no other function stays, and no index.
    text = "(S (VP (VBD saw)) (NP-a-1 (NN a)) (NP-a-ob1=2 (NN b)) (NP-c (NN c)) (NN-b d))"
    assert [relation for _, relation in convert(text, child)] == ["root", "one", "two", "dep", "two"]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ("relabel b YP", "(XP (A a) (YP b) (ZP (C c)) (D d))"),
        ("group GP a b", "(XP (GP (A a) (B b)) (ZP (C c)) (D d))"),
        ("group GP b a", "(XP (GP (A a) (B b)) (ZP (C c)) (D d))"),
        ("group GP a b g ; group HP g z", "(XP (HP (GP (A a) (B b)) (ZP (C c))) (D d))"),
        ("splice z", "(XP (A a) (B b) (C c) (D d))"),
        ("move b first-in z", "(XP (A a) (ZP (B b) (C c)) (D d))"),
        ("move d last-in z", "(XP (A a) (B b) (ZP (C c) (D d)))"),
        ("move c before z", "(XP (A a) (B b) (C c) (D d))"),
        ("move c after a", "(XP (A a) (C c) (B b) (D d))"),
        ("move c before a", "(XP (C c) (A a) (B b) (D d))"),
    ],
)
def test_edits(tmp_path: Path, edits: str, expected: str) -> None:
    from h3n.convert.rules.nodes import bottom_up, from_constituent
    from h3n.convert.rules.transforms import transform_tree

    pattern = "XP < A=a < B=b < (ZP=z < C=c) < D=d"
    made = load_scheme(written(tmp_path, f"[transforms]\ntest\n  - {pattern}\n  => {edits}\n"))
    tree = read_tree("(XP (A a) (B b) (ZP (C c)) (D d))")
    root = from_constituent(tree, label=made.clean_label, tag=made.clean_tag, top="XP")
    nodes = transform_tree(root, made.transforms)
    # Built up from the children-first list alone, so that list, parents and positions are checked as well.
    shown: dict[int, str] = {}
    for node in nodes:
        inside = node.form or " ".join(shown[id(child)] for child in node.children)
        shown[id(node)] = f"({node.label} {inside})"
        assert all(c.parent is node and node.children[c.position] is c for c in node.children)
    assert nodes == bottom_up(root)
    assert shown[id(root)] == expected


def test_a_transform_does_not_run_forever(tmp_path: Path) -> None:
    endless = written(tmp_path, "[transforms]\nwrap\n  - NN=n\n  => group NN n n\n[heads]\nNN = left\n")
    assert convert("(S (NN a))", endless) == [(0, "root")]


def test_corrections(tmp_path: Path) -> None:
    made = written(
        tmp_path,
        "[heads]\nS = right V\n[relations]\na\n  - A > *\nb\n  - B > *\np\n  - P > *\nrel\n  - W > *\n"
        "[afterwards]\nstranded rel p o\nrename rel x\nrename a y beside b\n",
    )
    assert convert("(S (A a) (B b) (V v))", made)[0] == (3, "y")
    assert convert("(S (A a) (V v))", made)[0] == (2, "a")
    assert convert("(S (W w) (V v))", made)[0] == (2, "x")
    assert convert("(S (W w) (P p) (V v))", made) == [(2, "o"), (3, "p"), (0, "root")]


def test_corrections_by_place(tmp_path: Path) -> None:
    text = "[heads]\nS = right V\nX = right P\n[relations]\np\n  - P|X > *\n[afterwards]\nprevious-word p\n"
    near = written(tmp_path, text)
    root = written(tmp_path, f"{text}final-to-root p\n", "final.rules")
    tree = "(S (P p) (V v) (A a) (P p) (A a) (P p))"
    assert [governor for governor, _ in convert(tree, near)] == [2, 0, 2, 3, 2, 5]
    assert [governor for governor, _ in convert(tree, root)] == [2, 0, 2, 3, 2, 2]
    # Here the word before hangs on the mark itself.
    assert convert("(S (X (A a) (P p)) (V v))", near) == [(2, "dep"), (3, "p"), (0, "root")]
    assert convert("(S (P p))", root) == [(0, "root")]


DAMAGE = [
    ("nonsense\n", ":1: 'nonsense'; expected 'extends NAME' or a section"),
    ("[head]\n", ":1: unknown section [head]; expected one of afterwards, functions, heads, labels"),
    ("[heads]\n  NP = left\n", ":2: an indented line; expected an entry at the margin above it"),
    ("[heads]\nNP = up NN\n", ":2: the head search 'up NN'; expected one that starts with left"),
    ("[heads]\n# a remark\nNP = left NN ;\n    down VP\n", ":3: the head search 'down VP'"),
    ("[options]\ncolour = red\n", ":2: unknown option 'colour'; expected one of top, cut"),
    ("[options]\narcs = both\n", ":2: arcs = both; expected one of heads, patterns"),
    ("[options]\nunknown = middle\n", ":2: the head search 'middle'"),
    ("[words]\nbe = {bee}\n", ":2: unknown word list 'bee'; expected one of be"),
    ("[sets]\na = {b}\nb = {a}\n", "label set 'a', which contains itself"),
    ("[relations]\nx\n  - NP < \n", ":3: the end in the pattern 'NP <'"),
    ("[relations]\nx\n  NP > VP\n", ":3: 'NP > VP'; expected a line that starts with '- ', '=> ' or 'unless '"),
    ("[relations]\nx of\n", ":2: 'x of'; expected NAME or 'NAME of MORE_GENERAL_NAME'"),
    ("[relations]\nx of y\n", ":2: 'x of y'; expected a relation of this section"),
    ("[relations]\nx of y\ny of x\n", ":2: 'x of y'; expected a relation of this section that is itself of no other"),
    ("[relations]\nx\n  - NP > *\nx\n", ":4: relation 'x' a second time"),
    ("[relations]\nx\n  - as y\n", ":3: 'as y'; expected a relation of the scheme extended"),
    ("[transforms]\nflat\n", ":2: transform 'flat'; expected lines '- PATTERN' and '=> EDITS' below it, or one of"),
    ("[transforms]\nx\n  - NP=n\n  => remove n\n", ":4: the edit 'remove n'; expected relabel NODE LABEL"),
    (
        "[transforms]\nx\n  - NP=n\n  => splice m\n",
        ":3: the edits name m; expected names bound in the pattern 'NP=n': n",
    ),
    ("[afterwards]\nswap a b\n", ":2: the correction 'swap a b'; expected rename OLD NEW"),
]


@pytest.mark.parametrize(("text", "message"), DAMAGE)
def test_damage_is_named_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as raised:
        load_scheme(path)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


def test_schemes_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown scheme 'sdd'; known: .*sd, ud1"):
        load_scheme("sdd")
    with pytest.raises(UnknownName):
        load_scheme("../sd")
    with pytest.raises(InputError, match=r"missing\.rules"):
        load_scheme(tmp_path / "missing.rules")
    with pytest.raises(UnknownName):
        load_scheme(written(tmp_path, "extends nowhere\n"))
    with pytest.raises(FormatError, match="leads back to itself"):
        load_scheme(written(tmp_path, "extends other.rules\n"))


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, "[heads]\nS = left\n")
    assert convert("(S (A a) (B b))", path) == [(0, "root"), (1, "dep")]
    path.write_text("[heads]\nS = right\n", encoding="utf-8")
    assert convert("(S (A a) (B b))", path) == [(2, "dep"), (0, "root")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[words]\n" + "".join(f"w{n} = {{w{n + 1}}}\n" for n in range(3000)) + "w3000 = a\n", "inside each other"),
        ("[relations]\nx\n  - " + "(" * 5000 + "NP\n", "brackets inside each other too deep"),
        ('[relations]\nx\n  - NP"/[/"\n', r"a regular expression that cannot be read"),
        ("[options]\ncut =\n", "cannot be read"),
    ],
)
def test_rules_too_deep_or_not_expressions_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as refused:
        load_scheme(written(tmp_path, text))
    assert "\n" not in str(refused.value)
