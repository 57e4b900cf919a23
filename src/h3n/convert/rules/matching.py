"""Patterns compiled into closures: each is one test of a node, composed once when a scheme is loaded.

What a pattern in brackets answered for a node is remembered while the tree stays as it is. So for a pattern of p nodes
on a tree of n at most p * n of them are answered, each by one look at up to n others: p * n * n steps, however deep
brackets stand in each other. A bracket that asks for a name bound outside of it (``=name``) is answered once for every
node that the name stood for: n times as many steps for each such name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from h3n.convert.rules.nodes import Node
from h3n.convert.rules.operators import OPERATORS, VALUES, Step, nth_child, through
from h3n.convert.rules.patterns import Choice, Condition, Pattern, Words, all_names

Tried: TypeAlias = dict[Any, Any]


class Bound(dict[str, Node]):
    """The nodes that names stand for, and what was tried on the way to them."""

    __slots__ = ("_tried",)

    @classmethod
    def sharing(cls, tried: Tried) -> Bound:
        """Return one for a further match in the same tree, which knows what was tried before."""
        bound = cls()
        bound._tried = tried
        return bound

    @property
    def tried(self) -> Tried:
        try:
            return self._tried
        except AttributeError:  # most matches try nothing twice, and there are a great many of them
            self._tried: Tried = {}
            return self._tried


Match: TypeAlias = Callable[[Node, Bound], bool]


def compile_pattern(pattern: Pattern, *, shared: bool = False) -> Match:
    """Return a function that tells whether a node matches, and fills in the bound names.

    ``shared`` is for matches at many nodes of one tree that share what was tried; otherwise a node comes up again only
    inside brackets inside brackets, and nothing else is remembered.
    """
    rest = compile_rest(pattern, again=shared)
    labels = pattern.labels
    if rest is None:
        return lambda node, _: labels[node.label]
    return lambda node, bound: labels[node.label] and rest(node, bound)


def compile_rest(pattern: Pattern, *, again: bool = False) -> Match | None:
    """Return the match of everything but the label, or None if there is nothing else.

    ``again`` is whether the conditions may come to a node that they came to before.
    """
    tests: list[Match] = []
    if pattern.words is not None:
        tests.append(_word_test(pattern.words))
    if pattern.same:
        tests.append(_same_test(pattern.same))
    if pattern.name:
        tests.append(_binding(pattern.name))
    tests += [_compile_condition(condition, again=again) for condition in pattern.conditions]
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


def _compile_condition(condition: Condition | Choice, *, again: bool) -> Match:
    if isinstance(condition, Choice):
        return _negate(_compile_choice(condition, again=again), condition.negated)
    return _negate(_compile_step(condition, again=again), condition.negated)


def _negate(match: Match, negated: bool) -> Match:
    if not negated:
        return match
    return lambda node, bound: not match(node, bound)


def _compile_choice(choice: Choice, *, again: bool) -> Match:
    always: Match = lambda _node, _bound: True  # noqa: E731
    branches = [_all_of([_compile_condition(c, again=again) for c in branch]) or always for branch in choice.branches]
    return lambda node, bound: any(branch(node, bound) for branch in branches)


def _compile_step(condition: Condition, *, again: bool) -> Match:
    step = _step(condition)
    labels, rest = condition.pattern.labels, compile_rest(condition.pattern, again=True)
    if rest is None:

        def some_label(node: Node, _: Bound) -> bool:
            for candidate in step(node):  # noqa: SIM110
                if labels[candidate.label]:
                    return True
            return False

        return some_label
    further = _remembered(rest, condition.pattern) if again and condition.pattern.conditions else rest

    def some(node: Node, bound: Bound) -> bool:
        for candidate in step(node):  # noqa: SIM110
            if labels[candidate.label] and further(candidate, bound):
                return True
        return False

    return some


def _remembered(match: Match, pattern: Pattern) -> Match:
    """Return the match of a pattern in brackets, tried once for a node and the nodes its names stand for.

    A name that is bound on the way stays bound, even if the match fails then: that is part of the answer.
    """
    binds, asks = all_names(pattern)
    if not binds and not asks:

        def recall(node: Node, bound: Bound) -> bool:
            key = (match, node)
            tried = bound.tried
            answer = tried.get(key)
            if answer is None:
                answer = tried[key] = match(node, bound)
            return bool(answer)

        return recall
    names = sorted(asks)

    def recall_names(node: Node, bound: Bound) -> bool:
        key = (match, node, *(bound.get(name) for name in names))
        if key not in bound.tried:
            inside = Bound.sharing(bound.tried)
            inside.update((name, bound[name]) for name in names if name in bound)
            fits = match(node, inside)
            bound.tried[key] = fits, {name: inside[name] for name in binds if name in inside}
        fits, found = bound.tried[key]
        bound.update(found)
        return bool(fits)

    return recall_names


def _step(condition: Condition) -> Step:
    if condition.through is not None:
        return through(condition.operator, condition.through)
    if condition.operator in OPERATORS:
        return OPERATORS[condition.operator]
    if condition.operator in VALUES:
        return VALUES[condition.operator]
    return nth_child(int(condition.operator[1:]))
