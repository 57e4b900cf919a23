"""Patterns compiled into closures: each is one test of a node, composed once when a scheme is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from h3n.convert.rules.nodes import Node
from h3n.convert.rules.operators import OPERATORS, Step, nth_child, through
from h3n.convert.rules.patterns import Choice, Condition, Pattern, Words

Bound: TypeAlias = dict[str, Node]
Match: TypeAlias = Callable[[Node, Bound], bool]


def compile_pattern(pattern: Pattern) -> Match:
    """Return a function that tells whether a node matches, and fills in the bound names."""
    rest = compile_rest(pattern)
    labels = pattern.labels
    if rest is None:
        return lambda node, _: labels[node.label]
    return lambda node, bound: labels[node.label] and rest(node, bound)


def compile_rest(pattern: Pattern) -> Match | None:
    """Return the match of everything but the label, or None if there is nothing else."""
    tests: list[Match] = []
    if pattern.words is not None:
        tests.append(_word_test(pattern.words))
    if pattern.same:
        tests.append(_same_test(pattern.same))
    if pattern.name:
        tests.append(_binding(pattern.name))
    tests += [_compile_condition(condition) for condition in pattern.conditions]
    return _all_of(tests)


def _all_of(tests: list[Match]) -> Match | None:
    if len(tests) <= 1:
        return tests[0] if tests else None
    if len(tests) == 2:
        first, second = tests
        return lambda node, bound: first(node, bound) and second(node, bound)

    def every(node: Node, bound: Bound) -> bool:
        for test in tests:  # noqa: SIM110 - a generator costs twice as much here
            if not test(node, bound):
                return False
        return True

    return every


def _word_test(words: Words) -> Match:
    # A phrase is not a word: it is none of those listed, and that is what the negated test asks for.
    phrase = words.negated

    def test(node: Node, _: Bound) -> bool:
        return phrase if node.form is None else words[node.form]

    return test


def _same_test(name: str) -> Match:
    return lambda node, bound: bound.get(name) is node


def _binding(name: str) -> Match:
    def bind(node: Node, bound: Bound) -> bool:
        bound[name] = node
        return True

    return bind


def _compile_condition(condition: Condition | Choice) -> Match:
    if isinstance(condition, Choice):
        return _negate(_compile_choice(condition), condition.negated)
    return _negate(_compile_step(condition), condition.negated)


def _negate(match: Match, negated: bool) -> Match:
    if not negated:
        return match
    return lambda node, bound: not match(node, bound)


def _compile_choice(choice: Choice) -> Match:
    always: Match = lambda _node, _bound: True  # noqa: E731
    branches = [_all_of([_compile_condition(c) for c in branch]) or always for branch in choice.branches]
    return lambda node, bound: any(branch(node, bound) for branch in branches)


def _compile_step(condition: Condition) -> Match:
    step = _step(condition)
    labels, rest = condition.pattern.labels, compile_rest(condition.pattern)
    if rest is None:

        def some_label(node: Node, _: Bound) -> bool:
            for candidate in step(node):  # noqa: SIM110
                if labels[candidate.label]:
                    return True
            return False

        return some_label
    further = rest

    def some(node: Node, bound: Bound) -> bool:
        for candidate in step(node):  # noqa: SIM110
            if labels[candidate.label] and further(candidate, bound):
                return True
        return False

    return some


def _step(condition: Condition) -> Step:
    if condition.through is not None:
        return through(condition.operator, condition.through)
    if condition.operator in OPERATORS:
        return OPERATORS[condition.operator]
    return nth_child(int(condition.operator[1:]))
