"""A scheme: everything a scheme file says, compiled, with what it inherits from the scheme it extends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from h3n.convert.rules.afterwards import Correction, parse_correction
from h3n.convert.rules.edits import names_needed, parse_edits
from h3n.convert.rules.heads import HeadTable, SpecialHead, parse_head_rule
from h3n.convert.rules.labels import label_cleaner
from h3n.convert.rules.matching import compile_pattern, compile_rest
from h3n.convert.rules.nodes import Cleaner
from h3n.convert.rules.patterns import Condition, Pattern, Strings, Vocabulary, Words, bound_names, parse
from h3n.convert.rules.relations import GOVERNING, RelationTable, Rule
from h3n.convert.rules.source import SCHEMES, Entry, Line, Source, find_source, read_source, scheme_name
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
# Word lists, label sets, macros and head rules are inherited one by one; lists with an order where REST stands.
_MERGED = ("labels", "tags", "functions", "sets", "words", "macros", "heads")
REST = "..."
_REPLACED = ("special heads", "transforms", "relations", "afterwards")


@dataclass(frozen=True, slots=True)
class Scheme:
    """Compiled rules. Labels and tags are cleaned to (label as kept, bare category); ``top`` is the root's label."""

    name: str
    clean_label: Cleaner = field(repr=False)
    clean_tag: Cleaner = field(repr=False)
    top: str
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
    """Return the scheme of this name, or of the scheme file at this path. Only ours are remembered: files change."""
    path = find_source(name)
    try:
        return _ours(path) if path.is_relative_to(SCHEMES) else _compile(path)
    except RecursionError:
        raise FormatError(Place(str(path), 1), "lists inside each other too deep", "fewer of them") from None
    except re.error as error:
        found = f"a regular expression, or marks to cut at, that cannot be read ({error})"
        raise FormatError(Place(str(path), 1), found, "one of Python's") from None


@lru_cache(maxsize=64)
def _ours(path: Path) -> Scheme:
    return _compile(path)


def _compile(path: Path) -> Scheme:
    gathered = _Gathered()
    for source in reversed(_ancestry(path)):
        _gather(source, gathered)
    vocabulary = _vocabulary(gathered.tables)
    options = gathered.options
    functions = _lists(gathered.tables["functions"], "function")
    return Scheme(
        name=scheme_name(path),
        clean_label=label_cleaner(options, _lists(gathered.tables["labels"], "label"), functions=functions),
        clean_tag=label_cleaner(options, _lists(gathered.tables["tags"], "tag"), functions=functions),
        top=options["top"],
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
        if entry.key == "unknown":
            parse_head_rule(entry.value, entry.place)
        if entry.key == "arcs" and entry.value not in ARCS:
            raise FormatError(entry.place, f"arcs = {entry.value}", f"one of {', '.join(ARCS)}")
        into.options[entry.key] = entry.value
    for section in _MERGED:
        for entry in source.sections.get(section, ()):
            for key in entry.key.split():
                into.tables[section][key] = entry
    for section in _REPLACED:
        if section in source.sections:
            into.lists[section] = _with_rest(source.sections[section], into.lists[section])
    # "as NAME" means the patterns NAME has in the scheme extended, whatever this file makes of that name;
    # "as NAME of SCHEME" those of a scheme further up.
    inherited = dict(into.patterns)
    for entry in source.sections.get("relations", ()):
        lines = [_inherited(line, inherited) for line in entry.lines]
        joined = tuple(line for group in lines for line in group)
        into.patterns[_name(entry)] = into.patterns[f"{_name(entry)} of {source.name}"] = joined


def _with_rest(entries: tuple[Entry, ...], inherited: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the entries with ``...`` replaced by those inherited that have no new version here."""
    new = {_name(entry) for entry in entries}
    rest = [entry for entry in inherited if _name(entry) not in new]
    return tuple(one for entry in entries for one in (rest if entry.key == REST else [entry]))


def _name(entry: Entry) -> str:
    """Return what an entry is known by: ``auxpass of aux`` is another version of ``auxpass``."""
    return entry.key.partition(" of ")[0]


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
        items: list[str] = []
        for item in entries[name].value.split():
            inner = item[1:-1] if item.startswith("{") and item.endswith("}") else None
            items += [item] if inner is None else filled(inner, (*outer, name), entries[name].place)
        return items

    return {name: filled(name, (), entry.place) for name, entry in entries.items()}


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
    special = [_special_head(entry, vocabulary) for entry in gathered.lists["special heads"]]
    return HeadTable(
        rules={key: parse_head_rule(entry.value, entry.place) for key, entry in gathered.tables["heads"].items()},
        unknown=parse_head_rule(options["unknown"], Place("the option unknown", 0)),
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
    entries = gathered.lists["relations"]
    parents = _hierarchy(entries)
    rules = [
        _rule(name, _pattern(line, vocabulary))
        for name in parents
        for line in gathered.patterns[name]
        if line.mark == "-"
    ]
    return RelationTable(
        rules=tuple(rules),
        special={name: frozenset(_below(name, parents)) for name in parents},
        default=gathered.options["default"],
        root=gathered.options["root"],
        by_labels={},
    )


def _hierarchy(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the more general relation of each, ``""`` for none, in the order of the file."""
    parents: dict[str, str] = {}
    for entry in entries:
        name, *rest = entry.key.split()
        if rest and (len(rest) != 2 or rest[0] != "of"):
            raise FormatError(entry.place, repr(entry.key), "NAME or 'NAME of MORE_GENERAL_NAME'")
        if name in parents:
            raise FormatError(entry.place, f"relation {name!r} a second time", "each relation once")
        parents[name] = rest[1] if rest else ""
    for entry in entries:
        general = parents[entry.key.split()[0]]
        if general and (general not in parents or parents[general]):
            expected = "a relation of this section that is itself of no other"
            raise FormatError(entry.place, f"{entry.key!r}", expected)
    return parents


def _below(name: str, parents: Mapping[str, str]) -> list[str]:
    return [other for other, general in parents.items() if general == name]


def _rule(name: str, pattern: Pattern) -> Rule:
    upper = (c for c in pattern.conditions if isinstance(c, Condition) and c.operator == ">" and not c.negated)
    parent = next(upper, None)
    return Rule(
        relation=name,
        labels=pattern.labels,
        parents=None if parent is None else parent.pattern.labels,
        rest=compile_rest(pattern),
        names_governor=GOVERNING in bound_names(pattern),
    )
