"""The parameters of bracket scoring, and EVALB's parameter files.

Four files come with h3n (`BUILT_IN`); any other is read from a path. What a parameter file cannot say (that words are
never deleted, where labels are cut) is what sets the SPMRL variant of EVALB apart: `as_spmrl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from h3n.errors import FormatError, InputError, Place, UnknownName, UsageError
from h3n.trees import HELPER, TOPS

Unparsed = Literal["skip", "miss", "spmrl"]
UNPARSED: tuple[Unparsed, ...] = ("skip", "miss", "spmrl")

# name -> (file, whether it belongs to the SPMRL variant)
BUILT_IN: dict[str, tuple[str, bool]] = {
    "collins": ("collins.prm", False),
    "new": ("new.prm", False),
    "spmrl": ("spmrl.prm", True),
    "spmrl-hebrew": ("spmrl-hebrew.prm", True),
}

# Keywords that change nothing here: tracing is the C program's own affair.
IGNORED = frozenset({"DEBUG"})
KEYWORDS = frozenset(
    {
        "CUTOFF_LEN",
        "DELETE_LABEL",
        "DELETE_LABEL_FOR_LENGTH",
        "DISC_ONLY",
        "EQ_LABEL",
        "EQ_WORD",
        "LABELED",
        "MAX_ERROR",
        "QUOTE_LABEL",
        "QUOTE_TERM",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What counts when two bracketings are compared; the defaults are EVALB's own.

    Pairs of equal labels and words stand in both directions. ``maximum_errors`` is EVALB's MAX_ERROR, which lets one
    error more than it says pass. An unparsed sentence (no word predicted) is left out (``skip``), counted with its
    gold brackets (``miss``), or counted as EVALB_SPMRL's option -X does (``spmrl``; see `h3n.evaluate.evalb`). With
    ``gold_tags`` it is the gold tag of a word that decides on both sides whether the word counts: a wrong tag is then
    an error of tagging alone, while EVALB leaves such a sentence out because other words remain.
    """

    name: str
    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    labelled: bool = True
    cutoff_length: int = 40
    maximum_errors: int = 10
    keep_words: bool = False
    cut_marks: str = "-="
    cut_tags: bool = False
    unparsed: Unparsed = "skip"
    gold_tags: bool = False


def as_spmrl(parameters: Parameters) -> Parameters:
    """Return the parameters as EVALB_SPMRL understands them: no word is deleted, ``#`` also ends a label, and tags
    are cut like labels."""
    return replace(parameters, keep_words=True, cut_marks="-=#", cut_tags=True)


def without_top(parameters: Parameters) -> Parameters:
    """Return the parameters with every top label deleted, the empty one included: how parsers compare fairly whose
    files differ in the top bracket."""
    return replace(parameters, name=f"{parameters.name}, no top", delete_labels=parameters.delete_labels | TOPS)


def by_gold_tags(parameters: Parameters) -> Parameters:
    """Return the parameters with gold tags deciding which words count."""
    return replace(parameters, name=f"{parameters.name}, punctuation by gold tags", gold_tags=True)


def load_parameters(source: str | Path) -> Parameters:
    """Return built-in parameters by their name, or those of a file."""
    if isinstance(source, str) and source in BUILT_IN:
        return _built_in(source)
    path = Path(source)
    if not path.exists() and path.suffix != ".prm" and path.name == str(source):
        raise UnknownName("parameters (and no such file)", str(source), BUILT_IN)
    return parse_parameters(_read(path), name=str(source))


@cache
def _built_in(name: str) -> Parameters:
    file, spmrl = BUILT_IN[name]
    parameters = parse_parameters(_read(Path(__file__).with_name("data") / file), name=name)
    return as_spmrl(parameters) if spmrl else parameters


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start + 1}") from None


def parse_parameters(text: str, *, name: str) -> Parameters:
    """Return the parameters of a parameter file's text; ``name`` is shown with the scores and in errors."""
    values: dict[str, list[tuple[Place, str]]] = {keyword: [] for keyword in KEYWORDS | IGNORED}
    for place, keyword, value in _lines(text, name):
        if keyword not in values:
            raise FormatError(place, f"unknown keyword {keyword!r}", f"one of {', '.join(sorted(KEYWORDS | IGNORED))}")
        values[keyword].append((place, value))
    if any(_number(place, value) for place, value in values["DISC_ONLY"]):
        raise UsageError(f"{values['DISC_ONLY'][-1][0]}: DISC_ONLY scores discontinuous brackets; ours never are")
    return Parameters(
        name=name,
        delete_labels=_set(values["DELETE_LABEL"]),
        delete_labels_for_length=_set(values["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=_set(values["QUOTE_LABEL"]) | _set(values["QUOTE_TERM"]),
        equal_labels=_both_ways(values["EQ_LABEL"]),
        equal_words=_both_ways(values["EQ_WORD"]),
        labelled=bool(_last(values["LABELED"], 1)),
        cutoff_length=_last(values["CUTOFF_LEN"], 40),
        maximum_errors=_last(values["MAX_ERROR"], 10),
    )


def _lines(text: str, name: str) -> Iterator[tuple[Place, str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.split(maxsplit=1)
        if not parts or line.startswith("#"):
            continue
        if len(parts) == 1:
            raise FormatError(Place(name, number), f"{parts[0]!r} alone", "a keyword and a value")
        yield Place(name, number), parts[0], parts[1].rstrip()


def _set(values: Iterable[tuple[Place, str]]) -> frozenset[str]:
    return frozenset(value for _, value in values)


def _both_ways(values: Iterable[tuple[Place, str]]) -> frozenset[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for place, value in values:
        parts = value.split()
        if len(parts) != 2:
            raise FormatError(place, f"{len(parts)} values ({value!r})", "two that count as equal")
        first, second = parts
        pairs |= {(first, second), (second, first)}
    return frozenset(pairs)


def _number(place: Place, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise FormatError(place, repr(value), "a whole number") from None


def _last(values: list[tuple[Place, str]], default: int) -> int:
    return _number(*values[-1]) if values else default


class LabelTable(dict[str, str | None]):
    """Label as it stands in a file -> as it is compared, or None if its bracket does not count. Filled on demand."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__()
        self._cut = cutter(parameters.cut_marks)
        deleted = parameters.delete_labels
        # EVALB_SPMRL cuts the deleted labels too, so that -NONE- deletes brackets without a label.
        self._deleted = frozenset(map(self._cut, deleted)) if parameters.cut_tags else deleted
        self._equal = parameters.equal_labels

    def __missing__(self, label: str) -> str | None:
        cut = self._cut(label)
        # Helper spans are not phrases of the grammar and never count, whatever the parameters say.
        gone = label == HELPER or cut in self._deleted or any((cut, other) in self._equal for other in self._deleted)
        self[label] = result = None if gone else cut
        return result


def cutter(marks: str) -> Callable[[str], str]:
    """Return a function that ends a label before the first of these marks, be it the first character."""

    def cut(label: str) -> str:
        for at, character in enumerate(label):
            if character in marks:
                return label[:at]
        return label

    return cut


@lru_cache(maxsize=64)
def equal_labels(parameters: Parameters) -> dict[str, tuple[str, ...]]:
    """Return for each label that has any the others that count as equal to it."""
    found: dict[str, tuple[str, ...]] = {}
    for label, other in sorted(parameters.equal_labels):
        found[label] = (*found.get(label, ()), other)
    return found
