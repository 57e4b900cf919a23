"""Tokens that are several words: how a treebank expands them, as rules that serve tokens it has not seen.

A `Split` divides the token where it stands: *don't* is *do* and *n't*. A `Rewrite` spells words anew around what is
left of the token: *nas* is *em as*, *dámelo* is *da me lo*. What a rule writes itself follows the token's capitals.
`Expansions` has the rules of a treebank, and which of them its tokens take.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, TypeAlias

ACUTE = "\u0301"  # the accent that Spanish and Portuguese write when words are added to a verb: dá + me + lo
MOST_WORDS, LONGEST_WORD = 64, 1000  # of a rule
SEEN = 2  # how often a rule must have been seen to be one for other tokens


@dataclass(frozen=True, slots=True)
class Split:
    """The token cut: words of these lengths at its start and at its end, and one that has the rest."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    def words(self, token: str) -> tuple[str, ...] | None:
        """Return the words of a token, or None where it is too short."""
        rest = len(token) - sum(self.before) - sum(self.after)
        if rest < 1:
            return None
        lengths, at, words = (*self.before, rest, *self.after), 0, []
        for length in lengths:
            words.append(token[at : at + length])
            at += length
        return tuple(words)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The token between ``left`` and ``right`` as a word with something added, other words before and after it."""

    left: str
    right: str
    before: tuple[str, ...] = ()
    prefix: str = ""
    suffix: str = ""
    after: tuple[str, ...] = ()
    plain: bool = False  # the rest loses its acute accents

    def words(self, token: str) -> tuple[str, ...] | None:
        """Return the words of a token, or None where it does not start or end as the rule says."""
        folded = _lower(token)
        rest = token[len(self.left) : len(token) - len(self.right)]
        if not (rest and folded.startswith(self.left) and folded.endswith(self.right)):
            return None
        if self.plain and not (rest := without_acute(rest)):
            return None
        return _cased((*self.before, self.prefix + rest + self.suffix, *self.after), token)


@dataclass(frozen=True, slots=True)
class Spelled:
    """All words spelled anew, for one token alone: *au* is *à le*."""

    token: str
    spelled: tuple[str, ...]

    def words(self, token: str) -> tuple[str, ...] | None:
        """Return the words of the token, or None for another one."""
        return _cased(self.spelled, token) if _lower(token) == self.token else None


Rule: TypeAlias = Split | Rewrite | Spelled


def _cased(words: tuple[str, ...], token: str) -> tuple[str, ...]:
    """Return words with the capitals of the token that they are written as."""
    if len(token) > 1 and token.isupper():
        return tuple(word.upper() for word in words)
    if token[0].isupper():
        return (words[0][0].upper() + words[0][1:], *words[1:])
    return words


def _lower(text: str) -> str:
    """Return the text in lower case, as long as it was."""
    folded = text.lower()
    return folded if len(folded) == len(text) else text


def without_acute(text: str) -> str:
    """Return the text without acute accents; others stay."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).replace(ACUTE, ""))


def rule_of(token: str, words: Sequence[str]) -> Rule:
    """Return the rule that leads from a token to its words."""
    if "".join(words) == token:
        lengths = list(map(len, words))
        stem = lengths.index(max(lengths))
        return Split(tuple(lengths[:stem]), tuple(lengths[stem + 1 :]))
    folded, lowered = _lower(token), [_lower(word) for word in words]
    candidates = [_around(folded, lowered, stem, plain=plain) for stem in range(len(words)) for plain in (False, True)]
    size, found = max(candidates, key=lambda candidate: candidate[0])  # of several the first word, accents kept
    return found if size and found.words(folded) == tuple(lowered) else Spelled(folded, tuple(lowered))


def _around(token: str, words: Sequence[str], stem: int, *, plain: bool) -> tuple[int, Rewrite]:
    """Return the rule that keeps of the token what it has in common with one of the words, and how much that is."""
    shown = without_acute(token) if plain else token
    if len(shown) != len(token):
        shown = token
    match = SequenceMatcher(None, shown, words[stem], autojunk=False).find_longest_match()
    end = match.a + match.size
    rule = Rewrite(
        token[: match.a],
        token[end:],
        before=tuple(words[:stem]),
        prefix=words[stem][: match.b],
        suffix=words[stem][match.b + match.size :],
        after=tuple(words[stem + 1 :]),
        plain=plain,
    )
    return match.size, rule


@dataclass(frozen=True, slots=True)
class Expansions:
    """The rules of a treebank; ``table`` has those of tokens in lower case, the usual one first.

    Only the first ``classes`` rules are for tokens that are not in the table.
    """

    rules: tuple[Rule, ...] = ()
    classes: int = 0
    table: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def expand(self, token: str, score: Callable[[int], float]) -> tuple[str, ...]:
        """Return the words of a token that is several; ``score`` tells how well each of the classes fits it here.

        A token that no rule fits is one word.
        """
        for rule in self._fitting(token, score):
            words = self.rules[rule].words(token)
            if words is not None and all(word == word.strip() for word in words):  # where a token has blanks inside
                return words
        return (token,)

    def _fitting(self, token: str, score: Callable[[int], float]) -> Iterator[int]:
        """Yield the rules that a token may take, first those that it was seen with."""
        known = self.table.get(_lower(token), ())
        yield from sorted(known, key=lambda rule: -score(rule) if rule < self.classes else 0.0)
        yield from sorted(range(self.classes), key=lambda rule: -score(rule))


def learn_expansions(seen: Iterable[tuple[str, Sequence[str]]]) -> Expansions:
    """Return the expansions of a treebank from its tokens of several words."""
    counts = Counter((_lower(token), rule_of(token, words)) for token, words in seen if _is_usual(words))
    by_rule: Counter[Rule] = Counter()
    for (_, rule), count in counts.items():
        by_rule[rule] += count
    rules = [rule for rule, _ in by_rule.most_common()]
    number = {rule: at for at, rule in enumerate(rules)}
    classes = sum(count >= SEEN for count in by_rule.values())
    table: dict[str, list[int]] = {}
    for (token, rule), _ in counts.most_common():
        table.setdefault(token, []).append(number[rule])
    return Expansions(tuple(rules), classes, {token: tuple(known) for token, known in table.items()})


def _is_usual(words: Sequence[str]) -> bool:
    return len(words) <= MOST_WORDS and all(map(_is_word, words))


def to_json(expansions: Expansions) -> dict[str, Any]:
    """Return the expansions as JSON can hold them, each rule as a list of what it has."""
    return {
        "rules": [_listed(rule) for rule in expansions.rules],
        "classes": expansions.classes,
        "table": {token: list(known) for token, known in expansions.table.items()},
    }


def _listed(rule: Rule) -> list[Any]:
    if isinstance(rule, Split):
        return [list(rule.before), list(rule.after)]
    if isinstance(rule, Spelled):
        return [rule.token, list(rule.spelled)]
    return [rule.left, rule.right, list(rule.before), rule.prefix, rule.suffix, list(rule.after), rule.plain]


def from_json(table: Any) -> Expansions:
    """Return the expansions that `to_json` listed; a `ValueError` tells what is wrong with anything else."""
    if not isinstance(table, dict) or set(table) != {"rules", "classes", "table"}:
        raise ValueError("expansions are not a table of rules, classes and table")
    if not isinstance(table["rules"], list) or not isinstance(table["table"], dict):
        raise ValueError("expansions.rules is not a list, or expansions.table not a table")
    rules = tuple(map(_rule, table["rules"]))
    classes = table["classes"]
    if type(classes) is not int or not 0 <= classes <= len(rules):
        raise ValueError(f"expansions.classes is not a number of rules, 0 to {len(rules)}")
    for token, known in table["table"].items():
        if not isinstance(known, list) or not all(type(one) is int and 0 <= one < len(rules) for one in known):
            raise ValueError(f"expansions.table has something that is not a list of rules for {token[:60]!r}")
    return Expansions(rules, classes, {token: tuple(known) for token, known in table["table"].items()})


def _is_word(one: Any) -> bool:
    """Return whether a rule may write this word."""
    return _is_part(one) and one != "" and one == one.strip()


def _is_part(one: Any) -> bool:
    """Return whether a rule may write this as part of a word: every format of trees has room for it."""
    return isinstance(one, str) and len(one) <= LONGEST_WORD and not any(map(_is_control, one))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


def _rule(listed: Any) -> Rule:
    match listed:
        case [list(before), list(after)] if all(type(one) is int and one > 0 for one in (*before, *after)):
            if len(before) + len(after) < MOST_WORDS:
                return Split(tuple(before), tuple(after))
        case [str(token), list(spelled)] if spelled and all(map(_is_word, spelled)):
            if len(spelled) <= MOST_WORDS:
                return Spelled(token, tuple(spelled))
        case [str(left), str(right), list(before), str(prefix), str(suffix), list(after), bool(plain)] if (
            all(map(_is_word, (*before, *after))) and _is_part(prefix) and _is_part(suffix)
        ):
            if (before or after or prefix or suffix) and len(before) + len(after) < MOST_WORDS:
                return Rewrite(left, right, tuple(before), prefix, suffix, tuple(after), plain)
    raise ValueError(f"expansions.rules has {str(listed)[:60]}, which is not a rule")
