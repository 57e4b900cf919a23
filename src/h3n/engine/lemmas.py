"""Lemmas as a few hundred classes: the shortest edit script from a word to its lemma, and a table of what is irregular.

A script is a letter for the case of the lemma, what to do from the word's start, a bar, and what to do up to its end;
what lies between is copied. ``.`` copies a character, ``-`` leaves it out, ``+x`` puts x there: ``l|-`` makes *dogs*
*dog*, ``l.-+i|`` *sang* *sing*. A script that begins with ``=`` is the lemma itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

WHOLE, BAR = "=", "|"
COPY, DROP, ADD = ".", "-", "+"
FEW = 3  # a script of so many different words is a class, and so are the lemmas that a word has so many times each
# What is done to the word before the edits, and to what comes out of them.
CASES: dict[str, tuple[Callable[[str], str], Callable[[str], str]]] = {
    "l": (str.lower, str),
    "k": (str, str),
    "t": (str.lower, lambda text: text[:1].upper() + text[1:]),
    "u": (str.lower, str.upper),
}

Irregular = tuple[str, str, str]  # word, tag, lemma


@lru_cache(maxsize=1 << 16)
def edit_script(word: str, lemma: str) -> str:
    """Return the shortest script that makes a word its lemma; of equal ones that of the case that stands first."""
    scripts = [f"{WHOLE}{lemma}"]
    for case, (before, _) in CASES.items():
        source = before(word)
        target = lemma if case == "k" else lemma.lower()
        start, at, length = _longest_common(source, target)
        if length:
            front = _edits(source[:start], target[:at])
            back = _edits(source[start + length :], target[at + length :])
            scripts.append(f"{case}{front}{BAR}{back}")
    return min((script for script in scripts if apply_script(script, word) == lemma), key=_cost)


def _cost(script: str) -> tuple[bool, int, int]:
    """Return whether a script is the lemma itself, the last resort, then its length, and the place of its case."""
    whole = script.startswith(WHOLE)
    return whole, len(script), 0 if whole else list(CASES).index(script[0])


@lru_cache(maxsize=1 << 15)
def apply_script(script: str, word: str) -> str | None:
    """Return the lemma that a script makes of a word, None where the word is too short for it."""
    if script.startswith(WHOLE):
        return script[1:]
    before, after = CASES[script[0]]
    source = before(word)
    front, back = _parts(script[1:])
    first, last = _reads(front), len(source) - _reads(back)
    if first > last:
        return None
    return after(_edited(front, source[:first]) + source[first:last] + _edited(back, source[last:]))


def is_script(text: str) -> bool:
    """Return whether a text is a script that can be applied."""
    if text.startswith(WHOLE):
        return len(text) > 1
    try:
        front, back = _parts(text[1:])
    except ValueError:
        return False
    known = {COPY, DROP}
    return text[:1] in CASES and all(edit in known or len(edit) == 2 for edit in (*front, *back))


def _parts(edits: str) -> tuple[list[str], list[str]]:
    """Return the edits before the bar and those behind it; what is put in may be a bar, too."""
    parts: list[list[str]] = [[]]
    at = 0
    while at < len(edits):
        if edits[at] == BAR:
            parts.append([])
            at += 1
        else:
            width = 2 if edits[at] == ADD else 1
            parts[-1].append(edits[at : at + width])
            at += width
    front, back = parts
    return front, back


def _reads(edits: list[str]) -> int:
    return sum(edit in (COPY, DROP) for edit in edits)


def _edited(edits: list[str], source: str) -> str:
    characters = iter(source)
    made = []
    for edit in edits:
        if edit == COPY:
            made.append(next(characters))
        elif edit == DROP:
            next(characters)
        else:
            made.append(edit[1:])
    return "".join(made)


def _longest_common(one: str, other: str) -> tuple[int, int, int]:
    """Return where the longest run of characters begins that both have, the first of several, and its length."""
    best = (0, 0, 0)
    lengths = [0] * (len(other) + 1)
    for end in range(1, len(one) + 1):
        before = 0
        for at in range(1, len(other) + 1):
            here, lengths[at] = lengths[at], before + 1 if one[end - 1] == other[at - 1] else 0
            before = here
            if lengths[at] > best[2]:
                best = (end - lengths[at], at - lengths[at], lengths[at])
    return best


def _edits(source: str, target: str) -> str:
    """Return the shortest row of edits that makes one text the other."""
    costs: dict[tuple[int, int], tuple[int, str]] = {(0, 0): (0, "")}
    for i in range(len(source) + 1):
        for j in range(len(target) + 1):
            ways = []
            if j:
                cost, edits = costs[i, j - 1]
                ways.append((cost + 2, edits + ADD + target[j - 1]))
            if i:
                cost, edits = costs[i - 1, j]
                ways.append((cost + 1, edits + DROP))
            if i and j and source[i - 1] == target[j - 1]:
                cost, edits = costs[i - 1, j - 1]
                ways.append((cost + 1, edits + COPY))
            if ways:
                costs[i, j] = min(ways, key=lambda way: way[0])
    return costs[len(source), len(target)][1]


def count_lemmas(seen: Mapping[Irregular, int]) -> tuple[tuple[str, ...], tuple[Irregular, ...]]:
    """Return the scripts that are classes, the most frequent first, and the lemmas of all other words.

    ``seen`` has how often a word, its tag and its lemma stood together. A script is a class if it makes lemmas of
    several words, or where a word has several lemmas: which of them is right depends on the sentence, or on the style
    of annotation (*his* is *he* in one treebank and *his* in another), and no table knows that.
    """
    totals: Counter[str] = Counter()
    words: defaultdict[str, set[str]] = defaultdict(set)
    lemmas: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (word, tag, lemma), count in seen.items():
        script = edit_script(word, lemma)
        totals[script] += count
        words[script].add(word.lower())
        lemmas[key_of(word, lemma), tag][lemma] += count
    kept = {script for script, of in words.items() if len(of) >= FEW}
    table = {}
    for (word, tag), counts in sorted(lemmas.items()):
        often = [lemma for lemma, count in counts.items() if count >= FEW]
        if len(often) > 1:
            kept.update(edit_script(word, lemma) for lemma in often)
        else:
            table[word, tag] = min(counts, key=lambda lemma: (-counts[lemma], lemma))
    scripts = sorted(kept, key=lambda script: (-totals[script], script))
    irregular = ((word, tag, lemma) for (word, tag), lemma in table.items() if edit_script(word, lemma) not in kept)
    return tuple(scripts), tuple(irregular)


def key_of(word: str, lemma: str) -> str:
    """Return a word as the table has it: in lower case unless its lemma is not."""
    return word.lower() if lemma == lemma.lower() else word


def choose_lemma(word: str, tag: str, *, scripts: Iterable[str], table: Mapping[tuple[str, str], str]) -> str:
    """Return a word's lemma: from the table, else by the first script that fits, else the word itself."""
    for key in (word, word.lower()):
        if (key, tag) in table:
            return table[key, tag]
    for script in scripts:
        lemma = apply_script(script, word)
        if lemma:
            return lemma
    return word


def table_of_irregular(irregular: Iterable[Irregular]) -> dict[tuple[str, str], str]:
    """Return the table to look up words with their tags."""
    return {(word, tag): lemma for word, tag, lemma in irregular}
