"""What a pattern costs: remembered answers are those of the plain matcher, and no pattern takes more than its bound."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.convert.rules import matching
from h3n.convert.rules.matching import Bound, Tried, compile_pattern
from h3n.convert.rules.nodes import NOWHERE, LinkedNode, Node, bottom_up
from h3n.convert.rules.operators import OPERATORS, Step, nth_child, through
from h3n.convert.rules.patterns import DEEPEST, Choice, Condition, Pattern, Strings, Vocabulary, parse
from h3n.corpus.finding import linked
from h3n.errors import FormatError, Place

PLACE = Place("test", 1)
EMPTY = Vocabulary({}, {}, {})
LABELS = ("NP", "VP", "X")


def plainly(pattern: Pattern, node: Node, bound: dict[str, Node]) -> bool:
    """Return whether the pattern fits, by trying everything again each time; names are bound on the way."""
    if not pattern.labels[node.label]:
        return False
    if pattern.words is not None and not (pattern.words.negated if node.form is None else pattern.words[node.form]):
        return False
    if pattern.same and bound.get(pattern.same) is not node:
        return False
    if pattern.name:
        bound[pattern.name] = node
    return all(holds(condition, node, bound) for condition in pattern.conditions)


def holds(condition: Condition | Choice, node: Node, bound: dict[str, Node]) -> bool:
    if isinstance(condition, Choice):
        some = any(all(holds(inner, node, bound) for inner in branch) for branch in condition.branches)
    else:
        some = any(plainly(condition.pattern, other, bound) for other in step_of(condition)(node))
    return some is not condition.negated


def step_of(condition: Condition) -> Step:
    if condition.through is not None:
        return through(condition.operator, condition.through)
    return OPERATORS.get(condition.operator) or nth_child(int(condition.operator[1:]))


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    """Return all nodes of a random tree with heads and arcs, as `h3n corpus find` has it."""
    count = draw(st.integers(1, 5))
    bounds = st.tuples(st.integers(0, count - 1), st.integers(1, count)).filter(lambda pair: pair[0] < pair[1])
    spans: list[tuple[int, int]] = [(0, count)]
    for start, end in draw(st.lists(bounds, max_size=5)):
        if all(end <= a or b <= start or (a <= start and end <= b) or (start <= a and b <= end) for a, b in spans):
            spans.append((start, end))
    row = {
        "words": draw(st.lists(st.sampled_from(["a", "b"]), min_size=count, max_size=count)),
        "tags": draw(st.lists(st.sampled_from(LABELS), min_size=count, max_size=count)),
        "upos": [],
        "governors": [-1, *(draw(st.integers(0, word - 1)) for word in range(1, count))],
        "relations": draw(st.lists(st.sampled_from(LABELS), min_size=count, max_size=count)),
        "spans": [
            {"label": draw(st.sampled_from(LABELS)), "start": a, "end": b, "head": draw(st.integers(a, b - 1))}
            for a, b in sorted(spans, key=lambda span: (span[0], -span[1]))
        ],
    }
    return [node for root in linked(row).roots for node in bottom_up(root)]


@st.composite
def node_patterns(draw: st.DrawFn, depth: int) -> str:
    """Return a pattern in which names are bound, asked for, and stand in negations and choices."""
    if draw(st.integers(0, 5)) == 0:
        return "=" + draw(st.sampled_from("mn"))
    label = draw(st.sampled_from(["NP", "VP", "*", "!X", "NP|X", '*"a"', '*!"b"']))
    name = draw(st.sampled_from(["", "", "=m", "=n"]))
    conditions = draw(st.lists(conditions_of(depth), max_size=2)) if depth else []
    return " ".join([label + name, *conditions])


@st.composite
def conditions_of(draw: st.DrawFn, depth: int) -> str:
    if depth > 1 and draw(st.integers(0, 4)) == 0:
        branches = " | ".join(draw(st.lists(conditions_of(depth - 1), min_size=1, max_size=2)))
        return draw(st.sampled_from(["[ ", "![ "])) + branches + " ]"
    operator = draw(st.sampled_from([*OPERATORS, "<2", "<-1", "<+NP", ">+VP", "<<", "<<"]))
    return f"{draw(st.sampled_from(['', '', '!']))}{operator} ({draw(node_patterns(depth - 1))})"


@settings(deadline=None, max_examples=400)
@given(trees(), node_patterns(3))
def test_remembered_answers_are_those_of_the_plain_matcher(nodes: list[Node], text: str) -> None:
    pattern = parse(text, EMPTY, PLACE)
    match, sharing = compile_pattern(pattern), compile_pattern(pattern, shared=True)
    tried: Tried = {}
    for node in nodes:
        expected: dict[str, Node] = {}
        fits = plainly(pattern, node, expected)
        alone, after = Bound(), Bound.sharing(tried)
        assert match(node, alone) is sharing(node, after) is fits, text
        assert dict(alone) == dict(after) == expected, text


def deep(levels: int) -> list[Node]:
    """Return the nodes of a tree of phrases in each other, a word in the innermost and one beside each phrase."""
    node: Node = LinkedNode("NN", 0, 1, form="x")
    for _ in range(levels):
        above, word = LinkedNode("NP", 0, 1), LinkedNode("NN", 0, 1, form="y")
        above.adopt([node, word])
        node = above
    node.parent = NOWHERE
    return bottom_up(node)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list whose one number is how many nodes the operators have led to so far."""
    count = [0]

    def counted(step: Step) -> Step:
        def walk(node: Node) -> Iterator[Node]:
            for other in step(node):
                count[0] += 1
                yield other

        return walk

    monkeypatch.setattr(matching, "OPERATORS", {name: counted(step) for name, step in OPERATORS.items()})
    return count


@pytest.mark.parametrize(
    ("pattern", "size", "asked"),
    [
        ("NP << (NP << (NP << ZZZ))", 3, 0),
        ("NP << (NP << (NP << (NP << (NP << ZZZ))))", 5, 0),
        ("NP !<< (NP << (NP !<< (NP << ZZZ)))", 4, 0),
        ("NP [ << (NP << (NP << ZZZ)) | << (NP << (NP << YYY)) ]", 6, 0),
        ("NN >> (NP .. (NP >> (NP << ZZZ)))", 4, 0),
        ("NP << (NP=m << (NP << (NP=n << ZZZ)))", 4, 0),
        ("NP=m << (NP << (NP >> (=m << ZZZ)))", 4, 1),
    ],
)
def test_a_pattern_takes_no_more_steps_than_its_bound(pattern: str, size: int, asked: int, steps: list[int]) -> None:
    nodes = deep(120 if not asked else 20)
    match = compile_pattern(parse(pattern, EMPTY, PLACE), shared=True)
    tried: Tried = {}
    found = [match(node, Bound.sharing(tried)) for node in nodes]
    assert any(found) is ("!" in pattern)
    assert 0 < steps[0] <= size * len(nodes) ** (2 + asked)
    steps[0] = 0
    alone = compile_pattern(parse(pattern, EMPTY, PLACE))
    assert alone(nodes[-1], Bound()) is found[-1]
    assert steps[0] <= size * len(nodes) ** (2 + asked)


def test_brackets_in_each_other_have_a_limit_that_can_be_matched() -> None:
    nodes = deep(DEEPEST + 2)
    text = "NP < (" * DEEPEST + "NP" + ")" * DEEPEST
    match = compile_pattern(parse(text, EMPTY, PLACE))
    assert match(nodes[-1], Bound())
    branches = "NP" + " [ < NP" * DEEPEST + " ]" * DEEPEST
    assert compile_pattern(parse(branches, EMPTY, PLACE))(nodes[-1], Bound())
    with pytest.raises(FormatError, match="too deep; expected 60 at most"):
        parse(f"NP < ({text})", EMPTY, PLACE)


@settings(deadline=None)
@given(st.text("ab*", min_size=1, max_size=8), st.text("ab", max_size=10))
def test_stars_stand_for_anything(glob: str, label: str) -> None:
    def fits(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return any(fits(pattern[1:], text[at:]) for at in range(len(text) + 1))
        return bool(text) and text[0] == pattern[0] and fits(pattern[1:], text[1:])

    assert Strings([glob])[label] is fits(glob, label)


def test_many_stars_on_a_long_word_end() -> None:
    assert not Strings(["*a" * 30 + "b"])["a" * 5000]
