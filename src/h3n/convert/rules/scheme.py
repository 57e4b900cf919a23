"""A scheme: everything a scheme file says, compiled, with what it inherits from the scheme it extends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from h3n.convert.rules.afterwards import Correction, parse_correction
from h3n.convert.rules.edits import names_needed, parse_edits
from h3n.convert.rules.heads import HeadTable, SpecialHead, parse_head_rule
from h3n.convert.rules.matching import compile_pattern, compile_rest
from h3n.convert.rules.patterns import Condition, Pattern, Strings, Vocabulary, Words, bound_names, parse
from h3n.convert.rules.relations import GOVERNING, RelationTable, Rule
from h3n.convert.rules.source import Entry, Line, Source, find_source, read_source
from h3n.convert.rules.transforms import TRANSFORMS, Transform, TransformTable, Trigger
from h3n.errors import FormatError, Place

OPTIONS: dict[str, str] = {
    "top": "ROOT",
    "cut": "-=|#^~_[",
    "keep": "",
    "arcs": "heads",
    "default": "dep",
    "root": "root",
    "unknown": "left",
    "punctuation": "",
    "separators": ", :",
    "conjunctions": "",
    "interjections": "",
}
ARCS = ("heads", "patterns")
# Word lists, label sets, macros and head rules are inherited one by one; lists with an order as a whole.
_MERGED = ("sets", "words", "macros", "heads")
_REPLACED = ("special heads", "transforms", "relations", "afterwards")


@dataclass(frozen=True, slots=True)
class Scheme:
    """Compiled rules. Labels are cleaned by ``clean`` (label as kept, bare category) and ``top`` (of the root)."""

    name: str
    clean: Callable[[str], tuple[str, str]] = field(repr=False)
    top: Callable[[str], str] = field(repr=False)
    transforms: TransformTable = field(repr=False)
    heads: HeadTable = field(repr=False)
    relations: RelationTable = field(repr=False)
    corrections: tuple[Correction, ...] = field(repr=False)
    arcs_by_patterns: bool


@dataclass(slots=True)
class _Gathered:
    """The entries of a scheme and of all it extends, later ones over earlier ones."""

    options: dict[str, str] = field(default_factory=lambda: dict(OPTIONS))
    tables: dict[str, dict[str, Entry]] = field(default_factory=lambda: {name: {} for name in _MERGED})
    lists: dict[str, tuple[Entry, ...]] = field(default_factory=lambda: dict.fromkeys(_REPLACED, ()))
    patterns: dict[str, tuple[Line, ...]] = field(default_factory=dict)


def load_scheme(name: str | Path) -> Scheme:
    """Return the scheme of this name, or of the scheme file at this path. Ours are compiled once and remembered."""
    path = find_source(name)
    return _load(path.resolve(), path.stat().st_mtime_ns) if path.is_file() else _compile(path)


@lru_cache(maxsize=64)
def _load(path: Path, changed: int) -> Scheme:  # noqa: ARG001 - a changed file is another scheme
    return _compile(path)


def _compile(path: Path) -> Scheme:
    gathered = _Gathered()
    for source in reversed(_ancestry(path)):
        _gather(source, gathered)
    vocabulary = _vocabulary(gathered.tables)
    options = gathered.options
    return Scheme(
        name=path.stem,
        clean=label_cleaner(options["cut"], options["keep"].split()),
        top=_top_renamer(options["top"]),
        transforms=TransformTable(tuple(_transform(e, vocabulary) for e in gathered.lists["transforms"]), {}, {}),
        heads=_head_table(gathered, vocabulary),
        relations=_relation_table(gathered, vocabulary),
        corrections=tuple(
            parse_correction(entry.key, entry.place, vocabulary) for entry in gathered.lists["afterwards"]
        ),
        arcs_by_patterns=options["arcs"] == "patterns",
    )


def _ancestry(path: Path) -> list[Source]:
    """Return the file and those it extends, itself first."""
    found: list[Source] = []
    seen: set[Path] = set()
    while path.resolve() not in seen:
        seen.add(path.resolve())
        found.append(read_source(path))
        if not found[-1].extends:
            return found
        path = find_source(found[-1].extends, beside=path.parent)
    raise FormatError(Place(str(path), 1), f"'extends {path.stem}', which leads back to itself", "a chain that ends")


def _gather(source: Source, into: _Gathered) -> None:
    for entry in source.sections.get("options", ()):
        if entry.key not in OPTIONS:
            raise FormatError(entry.place, f"unknown option {entry.key!r}", f"one of {', '.join(OPTIONS)}")
        if entry.key == "arcs" and entry.value not in ARCS:
            raise FormatError(entry.place, f"arcs = {entry.value}", f"one of {', '.join(ARCS)}")
        into.options[entry.key] = entry.value
    for section in _MERGED:
        for entry in source.sections.get(section, ()):
            for key in entry.key.split():
                into.tables[section][key] = entry
    for section in _REPLACED:
        if section in source.sections:
            into.lists[section] = source.sections[section]
    # "as NAME" means the patterns NAME has in the scheme extended, whatever this file makes of that name.
    inherited = dict(into.patterns)
    for entry in source.sections.get("relations", ()):
        name = entry.key.split()[0]
        lines = [_inherited(line, inherited) for line in entry.lines]
        into.patterns[name] = tuple(line for group in lines for line in group)


def _inherited(line: Line, known: dict[str, tuple[Line, ...]]) -> tuple[Line, ...]:
    if not line.text.startswith("as "):
        return (line,)
    name = line.text.removeprefix("as ").strip()
    if name not in known:
        raise FormatError(line.place, f"'as {name}'", f"a relation of the scheme extended: {', '.join(sorted(known))}")
    return known[name]


def _vocabulary(tables: dict[str, dict[str, Entry]]) -> Vocabulary:
    return Vocabulary(
        sets=_lists(tables["sets"], "label set"),
        words=_lists(tables["words"], "word list"),
        macros={name: entry.value for name, entry in tables["macros"].items()},
    )


def _lists(entries: dict[str, Entry], kind: str) -> dict[str, list[str]]:
    """Return each list with the lists it names as ``{other}`` filled in."""

    def filled(name: str, outer: tuple[str, ...], place: Place) -> list[str]:
        if name not in entries or name in outer:
            found = f"unknown {kind} {name!r}" if name not in entries else f"{kind} {name!r}, which contains itself"
            raise FormatError(place, found, f"one of {', '.join(sorted(entries))}")
        made: list[str] = []
        for item in entries[name].value.split():
            inner = item[1:-1] if item.startswith("{") and item.endswith("}") else None
            made += [item] if inner is None else filled(inner, (*outer, name), entries[name].place)
        return made

    return {name: filled(name, (), entry.place) for name, entry in entries.items()}


def label_cleaner(cut: str, keep: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    """Return the function from a label to (the label as kept, its bare category), with a memory.

    ``keep`` lists function tags that stay, as ``NP-TMP``; of several the first listed, and no others. ``*`` keeps all.
    """

    @lru_cache(maxsize=4096)
    def clean(label: str) -> tuple[str, str]:
        # -LRB- is a tag, not an empty category with a function: the mark that opens a label may close it again.
        start = label.find(label[0], 1) + 1 if label and label[0] in cut and label[0] in label[1:] else 1
        ends = [at for mark in cut if (at := label.find(mark, start)) > 0]
        basic = label[: min(ends)] if ends else label
        if keep == ["*"]:
            return label, basic
        functions = label[len(basic) :].split("-")
        for kept in keep:
            category, _, function = kept.partition("-")
            if category == basic and function in functions:
                return kept, basic
        return basic, basic

    return clean


def _top_renamer(top: str) -> Callable[[str], str]:
    return lambda label: top if label in ("", "TOP", "S1", "VROOT") else label


def _pattern(line: Line, vocabulary: Vocabulary) -> Pattern:
    return parse(line.text, vocabulary, line.place)


def _marked(entry: Entry, mark: str) -> list[Line]:
    return [line for line in entry.lines if line.mark == mark]


def _transform(entry: Entry, vocabulary: Vocabulary) -> Transform:
    actions = _marked(entry, "=>")
    if not actions:
        if entry.key not in TRANSFORMS:
            expected = f"lines '- PATTERN' and '=> EDITS' below it, or one of {', '.join(TRANSFORMS)}"
            raise FormatError(entry.place, f"transform {entry.key!r}", expected)
        return Transform(entry.key, (), (), TRANSFORMS[entry.key])
    edits = tuple(edit for line in actions for edit in parse_edits(line.text, line.place))
    triggers = []
    for line in _marked(entry, "-"):
        pattern = _pattern(line, vocabulary)
        missing = names_needed(edits) - bound_names(pattern)
        if missing:
            expected = f"names bound in the pattern {line.text!r}: {', '.join(sorted(bound_names(pattern)))}"
            raise FormatError(line.place, f"the edits name {', '.join(sorted(missing))}", expected)
        triggers.append(Trigger(pattern.labels, _positive(pattern.words), compile_pattern(pattern)))
    return Transform(entry.key, tuple(triggers), edits, None)


def _positive(words: Words | None) -> Words | None:
    """Return the words a node must have; a negated list is met by phrases too, so it tells nothing."""
    return None if words is None or words.negated else words


def _head_table(gathered: _Gathered, vocabulary: Vocabulary) -> HeadTable:
    options = gathered.options
    nowhere = Place("options", 0)
    special = [_special_head(entry, vocabulary) for entry in gathered.lists["special heads"]]
    return HeadTable(
        rules={key: parse_head_rule(entry.value, entry.place) for key, entry in gathered.tables["heads"].items()},
        unknown=parse_head_rule(options["unknown"], nowhere),
        special=tuple(case for group in special for case in group),
        punctuation=frozenset(options["punctuation"].split()),
        separators=frozenset(options["separators"].split()),
        conjunctions=frozenset(options["conjunctions"].split()),
        interjections=frozenset(options["interjections"].split()),
        special_by_label={},
    )


def _special_head(entry: Entry, vocabulary: Vocabulary) -> list[tuple[Strings, SpecialHead]]:
    searches = _marked(entry, "=>")
    rule = parse_head_rule(searches[0].text, searches[0].place) if searches else None
    unless = tuple(compile_pattern(_pattern(line, vocabulary)) for line in _marked(entry, "unless"))
    patterns = [_pattern(line, vocabulary) for line in _marked(entry, "-")]
    return [(pattern.labels, SpecialHead(compile_pattern(pattern), rule, unless)) for pattern in patterns]


def _relation_table(gathered: _Gathered, vocabulary: Vocabulary) -> RelationTable:
    rules: list[Rule] = []
    parents: dict[str, str] = {}
    for entry in gathered.lists["relations"]:
        name, *rest = entry.key.split()
        if rest and (len(rest) != 2 or rest[0] != "of"):
            raise FormatError(entry.place, repr(entry.key), "NAME or 'NAME of MORE_GENERAL_NAME'")
        parents[name] = rest[1] if rest else ""
        rules += [_rule(name, _pattern(line, vocabulary)) for line in gathered.patterns[name]]
    return RelationTable(
        rules=tuple(rules),
        special={name: frozenset(_below(name, parents)) for name in parents},
        default=gathered.options["default"],
        root=gathered.options["root"],
        by_labels={},
    )


def _below(name: str, parents: dict[str, str]) -> Iterable[str]:
    found = {other for other, parent in parents.items() if parent == name}
    return found.union(*(_below(other, parents) for other in found if other != name)) if found else found


def _rule(name: str, pattern: Pattern) -> Rule:
    upper = next(
        (c for c in pattern.conditions if isinstance(c, Condition) and c.operator == ">" and not c.negated), None
    )
    return Rule(
        relation=name,
        labels=pattern.labels,
        parents=None if upper is None else upper.pattern.labels,
        rest=compile_rest(pattern),
        names_governor=GOVERNING in bound_names(pattern),
    )
