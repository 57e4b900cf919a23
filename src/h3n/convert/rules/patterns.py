"""The pattern language of scheme files, parsed into a small syntax tree.

A pattern describes one node and what stands around it::

    NP|WHNP !< EX $++ (VP < VB*"{copula}")

is an NP or WHNP without an EX child that has, further right, a sister VP with a verb from the word list ``copula``.
All conditions after a node apply to that node, not to the one before them; brackets open a new node. The operators are
in `h3n.convert.rules.operators`; docs/conversion.md explains the notation.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from h3n.convert.rules.nodes import REMEMBERED
from h3n.convert.rules.operators import OPERATORS, VALUES
from h3n.errors import FormatError, Place


class Strings(dict[str, bool]):
    """Which strings a test accepts: ``NP``, or ``VB*`` with anything for the star. It remembers its answers."""

    def __init__(self, accepted: Sequence[str], *, negated: bool = False) -> None:
        super().__init__()
        self.negated = negated
        exact = [item for item in accepted if not _is_glob(item)]
        self._exact = frozenset(exact)
        self._glob = _any_of(item for item in accepted if _is_glob(item))

    def __missing__(self, string: str) -> bool:
        answer = self.accepts(string) is not self.negated
        if len(self) < REMEMBERED:
            self[string] = answer
        return answer

    def accepts(self, string: str) -> bool:
        """Return whether the string is one of those listed, negation aside."""
        return string in self._exact or (self._glob is not None and self._glob.match(string) is not None)


class Words(Strings):
    """The same for words: upper and lower case are one, except for ``/regular expressions/``."""

    def accepts(self, string: str) -> bool:
        """Return whether the word is one of those listed, negation aside."""
        return super().accepts(string.lower()) or (self._regex is not None and self._regex.match(string) is not None)

    def __init__(self, accepted: Sequence[str], *, negated: bool = False) -> None:
        super().__init__([item.lower() for item in accepted if not _is_regex(item)], negated=negated)
        self._regex = _any_of(item for item in accepted if _is_regex(item))


def _is_regex(item: str) -> bool:
    return len(item) > 2 and item[0] == item[-1] == "/"


def _is_glob(item: str) -> bool:
    return "*" in item


def _glob(item: str) -> str:
    """Return the regular expression of ``a*b*c``: what stands between stars is taken where it comes first, for good."""
    first, *middle, last = map(re.escape, item.split("*"))
    return first + "".join(f"(?>.*?{part})" for part in middle if part) + f".*{last}"


def _any_of(items: Iterable[str]) -> re.Pattern[str] | None:
    parts = [item[1:-1] if _is_regex(item) else _glob(item) for item in items]
    if not parts:
        return None
    with warnings.catch_warnings():  # what a later Python may read otherwise is not worth lines of its own
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile("|".join(rf"(?:{part})\Z" for part in parts))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A node and its conditions. ``name`` binds it, ``same`` asks for the node bound to that name."""

    labels: Strings
    words: Words | None
    name: str
    same: str
    conditions: tuple[Condition | Choice, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """An operator with the node it must, or must not, lead to."""

    operator: str
    through: Strings | None
    pattern: Pattern
    negated: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives of which one must, or none may, hold."""

    branches: tuple[tuple[Condition | Choice, ...], ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The label sets, word lists and macros a pattern may refer to."""

    sets: Mapping[str, Sequence[str]]
    words: Mapping[str, Sequence[str]]
    macros: Mapping[str, str]


_NTH = re.compile(r"<(-?[1-9][0-9]*)\Z")
_THROUGH = re.compile(r"([<>])\+(\S+)\Z")
_TEST = re.compile(r'(?P<negated>!?)(?P<labels>[^"=\s]*?)(?:(?P<other>!?)"(?P<words>[^"]*)")?(?:=(?P<name>\w+))?\Z')
_TOKEN = re.compile(r'[()]|(?:!?\[)(?=\s)|\](?=\s|\)|\Z)|(?:[^\s()"]|"[^"]*")+')


DEEPEST = 60
"""Brackets in each other at most: a match goes down as deep."""


def parse(text: str, vocabulary: Vocabulary, place: Place) -> Pattern:
    """Return the syntax tree of a pattern, macros expanded; damage raises `FormatError` at this place."""
    parser = _Parser(text, vocabulary, place)
    steps = ((token in ("(", "[", "![")) - (token in (")", "]")) for token in parser.tokens)
    if max(accumulate(steps), default=0) > DEEPEST:
        raise FormatError(place, "a pattern with brackets inside each other too deep", f"{DEEPEST} at most")
    try:
        return parser.whole()
    except re.error as error:
        raise parser.fail(f"a regular expression that cannot be read ({error})", "one of Python's") from None


class _Parser:
    def __init__(self, text: str, vocabulary: Vocabulary, place: Place) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.place = place
        self.tokens = self._expand(text, depth=0)
        self.at = 0

    def fail(self, found: str, expected: str) -> FormatError:
        one_line = " ".join(found.split())  # a name in quotation marks may go over several
        return FormatError(self.place, f"{one_line} in the pattern {self.text!r}", expected)

    def _expand(self, text: str, *, depth: int) -> list[str]:
        tokens: list[str] = []
        for token in _TOKEN.findall(text):
            name = token.removeprefix("&")
            if name == token or not name:
                tokens.append(token)
            elif name not in self.vocabulary.macros:
                raise self.fail(f"unknown macro {token}", f"one of {_listed(self.vocabulary.macros)}")
            elif depth > 20:
                raise self.fail(f"macro {token} contains itself", "macros that end")
            else:
                tokens += self._expand(self.vocabulary.macros[name], depth=depth + 1)
        return tokens

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def whole(self) -> Pattern:
        pattern = self.node()
        if self.peek():
            raise self.fail(f"{self.peek()!r} left over", "the end of the pattern")
        return pattern

    def node(self) -> Pattern:
        token = self.take()
        if token == "(":
            pattern = self.node()
            self.closing(")")
            return pattern
        match = _TEST.match(token)
        if not token or match is None or token in ("[", "![", "]", ")", "|"):
            raise self.fail(repr(token) if token else "the end", "a label such as NP, VB*, NP|VP or {set}")
        if token.startswith("=") and len(token) > 1:
            return Pattern(Strings(["*"]), None, "", token[1:], self.conditions())
        labels = Strings(
            self.lookup(match["labels"] or "*", self.vocabulary.sets, "label set"), negated=bool(match["negated"])
        )
        return Pattern(labels, self.words(match), match["name"] or "", "", self.conditions())

    def words(self, match: re.Match[str]) -> Words | None:
        if match["words"] is None:
            return None
        accepted = self.lookup(match["words"], self.vocabulary.words, "word list")
        return Words(accepted, negated=bool(match["other"]))

    def lookup(self, text: str, table: Mapping[str, Sequence[str]], kind: str) -> list[str]:
        """Return the alternatives of ``A|B|{name}`` with the named lists filled in."""
        accepted: list[str] = []
        for item in [text] if _is_regex(text) else text.split("|"):
            if not (item.startswith("{") and item.endswith("}")):
                accepted.append(item)
            elif item[1:-1] in table:
                accepted += table[item[1:-1]]
            else:
                raise self.fail(f"unknown {kind} {item}", f"one of {_listed(table)}")
        return accepted

    def conditions(self) -> tuple[Condition | Choice, ...]:
        found: list[Condition | Choice] = []
        while self.peek() not in ("", ")", "]", "|"):
            found.append(self.condition())
        return tuple(found)

    def condition(self) -> Condition | Choice:
        token = self.take()
        if token in ("[", "!["):
            return self.choice(negated=token == "![")
        negated = token.startswith("!")
        operator = token.removeprefix("!")
        through = None
        if operator in VALUES:
            return Condition(operator, None, self.value(operator), negated)
        if operator not in OPERATORS and not _NTH.match(operator):
            match = _THROUGH.match(operator)
            if match is None:
                raise self.fail(repr(token), f"an operator, one of {' '.join((*OPERATORS, *VALUES))} <2 <-2 <+VP >+VP")
            through = Strings(self.lookup(match[2], self.vocabulary.sets, "label set"))
            operator = match[1] + "+"
        if self.peek() == "(":
            return Condition(operator, through, self.node(), negated)
        # Without brackets the operator leads to a bare test: what follows belongs to the outer node.
        bare = _Parser("*", self.vocabulary, self.place)
        bare.text, bare.tokens = self.text, [self.take()]
        return Condition(operator, through, bare.node(), negated)

    def value(self, operator: str) -> Pattern:
        """Return the test of a lemma or feature: ``dog|cat``, ``Number=Plur``, or a word in quotation marks."""
        token = self.take()
        if not token or token in ("(", ")", "[", "![", "]", "|"):
            example = 'dog, dog|cat or "/un.*/"' if operator == "@lemma" else "Number=Plur or Number=*"
            raise self.fail(f"{operator} without a value", f"one such as {example}")
        quoted = re.fullmatch(r'(!?)"([^"]*)"', token)
        accepted = self.lookup(quoted[2] if quoted else token, self.vocabulary.words, "word list")
        return Pattern(Strings(["*"]), Words(accepted, negated=bool(quoted and quoted[1])), "", "", ())

    def choice(self, *, negated: bool) -> Choice:
        branches = [self.conditions()]
        while self.peek() == "|":
            self.take()
            branches.append(self.conditions())
        self.closing("]")
        return Choice(tuple(branches), negated)

    def closing(self, bracket: str) -> None:
        if self.take() != bracket:
            raise self.fail("a bracket that is not closed", repr(bracket))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none defined"


def bound_names(pattern: Pattern) -> set[str]:
    """Return the names that a match of the pattern binds for sure or maybe; not those inside a negation."""
    names = {pattern.name} - {""}
    todo: list[Condition | Choice] = list(pattern.conditions)
    while todo:
        condition = todo.pop()
        if condition.negated:
            continue
        if isinstance(condition, Condition):
            names |= {condition.pattern.name} - {""}
            todo += condition.pattern.conditions
        else:
            todo += [inner for branch in condition.branches for inner in branch]
    return names


def all_names(pattern: Pattern) -> tuple[set[str], set[str]]:
    """Return the names that the pattern may bind, also in a negation, and those it asks for with ``=name``."""
    binds: set[str] = set()
    asks: set[str] = set()
    todo: list[Pattern | Condition | Choice] = [pattern]
    while todo:
        match todo.pop():
            case Pattern() as inner:
                binds |= {inner.name} - {""}
                asks |= {inner.same} - {""}
                todo += inner.conditions
            case Condition() as condition:
                todo.append(condition.pattern)
            case Choice() as choice:
                todo += [inner for branch in choice.branches for inner in branch]
    return binds, asks
