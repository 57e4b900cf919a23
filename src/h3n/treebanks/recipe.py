"""A recipe as read from its TOML file, checked key by key."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from h3n.errors import InputError, UnknownName, UsageError

SPLITS = ("train", "dev", "test")
HAS = ("constituents", "dependencies", "both")


@dataclass(frozen=True, slots=True)
class NameList:
    """Names that stand in a file of the treebank: its lines, or the list items under one of its headings."""

    file: str
    heading: str | None = None


Names = tuple[str, ...] | NameList


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One way in which the files of a treebank are laid out.

    ``folders`` are where below the source the files may stand. ``trees`` and ``dependencies`` are patterns with ``*``
    and ``{name}``; of alternatives between ``|`` the first that is there counts. ``names`` says for each split what
    goes in for ``{name}``: a text, ``02-21`` (all of these numbers must be there), ``440~931`` (any of them) or ``*``
    (whatever no other split names). Letter case does not matter, and a file may be compressed.
    """

    about: str
    names: Mapping[str, Names]
    folders: tuple[str, ...] = ("",)
    trees: str | None = None
    trees_format: str = "brackets"
    dependencies: str | None = None
    dependencies_format: str = "conllu"
    encodings: tuple[str, ...] = ("utf-8",)
    sgml: bool = False  # lines like <S ID=12> between the trees
    same_treebank: bool = False  # all files must begin alike, up to the first hyphen
    drop_tags: tuple[str, ...] = ()  # leaves that are no words
    drop_words: str | None = None  # a pattern: leaves that are no words
    lemma_mark: str | None = None  # what divides word and lemma in a leaf
    divide: tuple[int, int, int] | None = None  # no split of its own: this many of every so many sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is known of a treebank."""

    name: str
    title: str
    language: str
    licence: str
    get: str
    has: str
    layouts: tuple[Layout, ...]
    scheme: str | None = None  # makes dependencies where there are none
    scoring: str | None = None  # the EVALB parameters of the literature
    punctuation: tuple[str, ...] = ()  # tags left out of attachment scores; none: by Unicode category
    notes: str = ""
    sentences: Mapping[str, int] = field(default_factory=dict)  # what the literature counts, per split
    blanked: bool = False  # documents whose words are all "_", for copyright, are left out
    tag_functions: bool = False  # tags carry function labels, to be cut off like those of phrases
    checksum: str = ""  # SHA-256 of the recipe's own text, put in when it is read


def known_recipes() -> tuple[str, ...]:
    """Return the names of all recipes that come with h3n."""
    folder = resources.files(__package__)
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_recipe(name: str) -> Recipe:
    """Return the recipe of this name, or that in a TOML file of the user's own: a name with ``.toml``."""
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read: {error}") from None
        return _parse(Path(name).stem, text, place=name)
    if name not in known_recipes():
        raise UnknownName("treebank", name, known_recipes())
    file = resources.files(__package__) / f"{name}.toml"
    return _parse(name, file.read_text(encoding="utf-8"), place=f"{name}.toml")


def _parse(name: str, text: str, *, place: str) -> Recipe:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place}: no TOML: {error}") from None
    layouts = table.pop("layouts", [])
    if not isinstance(layouts, list) or not layouts:
        raise UsageError(f"{place}: no [[layouts]]; expected at least one")
    made = tuple(_layout(entry, place=f"{place}, layout {n}") for n, entry in enumerate(layouts, start=1))
    recipe = Recipe(**_checked(Recipe, {"name": name, **table, "layouts": made}, place=place))
    if recipe.has not in HAS:
        raise UsageError(f"{place}: has = {recipe.has!r}; expected one of {', '.join(HAS)}")
    return replace(recipe, checksum=hashlib.sha256(text.encode()).hexdigest())


def _layout(entry: Any, *, place: str) -> Layout:
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: expected a table")
    layout = Layout(**_checked(Layout, {**entry, "names": _names(entry.get("names"), place=place)}, place=place))
    if layout.trees is None and layout.dependencies is None:
        raise UsageError(f"{place}: neither trees nor dependencies; expected at least one pattern")
    if layout.divide is not None and (len(layout.divide) != 3 or min(layout.divide) < 0 or layout.divide[0] == 0):
        raise UsageError(f"{place}: divide = {list(layout.divide)}; expected three numbers, such as [8, 1, 1]")
    if layout.drop_words is not None:
        _check_pattern(layout.drop_words, place=place)
    return layout


def _names(entry: Any, *, place: str) -> dict[str, Names]:
    if not isinstance(entry, dict) or not set(entry) <= {*SPLITS, "all"} or not entry:
        raise UsageError(f"{place}: names = {entry!r}; expected a table of {', '.join(SPLITS)} or of all")
    return {
        split: NameList(**_checked(NameList, names, place=place)) if isinstance(names, dict) else tuple(names)
        for split, names in entry.items()
    }


def _checked(kind: type[Any], table: dict[str, Any], *, place: str) -> dict[str, Any]:
    """Return the table with lists as tuples, or say which key is unknown, missing or of the wrong type."""
    allowed = {f.name: f for f in fields(kind)}
    for key in table:
        if key not in allowed:
            raise UsageError(f"{place}: unknown key {key!r}; known: {', '.join(sorted(allowed))}")
    for key, known in allowed.items():
        if key not in table and known.default is MISSING and known.default_factory is MISSING:
            raise UsageError(f"{place}: {key} is missing")
    return {key: _value(str(allowed[key].type), value, place=f"{place}, {key}") for key, value in table.items()}


def _value(annotation: str, value: Any, *, place: str) -> Any:
    """Return a TOML value as the annotated type of its field."""
    if annotation.startswith("Mapping") and isinstance(value, dict):
        return MappingProxyType(value)
    if annotation.startswith("tuple[") and isinstance(value, list | tuple):
        return tuple(value)
    plain = {"str": str, "bool": bool}.get(annotation.removesuffix(" | None"))
    if plain is None or not isinstance(value, plain):
        raise UsageError(f"{place}: {value!r}; expected {annotation}")
    return value


def _check_pattern(pattern: str, *, place: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{place}: drop_words is no regular expression: {error}") from None
