"""A recipe as read from its TOML file, checked key by key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Literal, cast

from h3n.config import build_options, parse_toml
from h3n.errors import InputError, UnknownName, UsageError

SPLITS = ("train", "dev", "test")


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
    drop_tags: tuple[str, ...] = ()  # leaves that are not words
    drop_words: str | None = None  # a pattern: leaves that are not words
    lemma_mark: str | None = None  # what divides word and lemma in a leaf
    divide: tuple[int, int, int] | None = None  # no split of its own: this many of every so many sentences
    version1: tuple[str, ...] = ()  # names of files in version 1 of Universal Dependencies


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is known of a treebank."""

    name: str
    title: str
    language: str
    licence: str
    get: str
    has: Literal["constituents", "dependencies", "both"]
    layouts: tuple[Layout, ...]
    scheme: str | None = None  # makes dependencies where there are none
    scoring: str | None = None  # the EVALB parameters of the literature
    punctuation: tuple[str, ...] = ()  # tags left out of attachment scores; none: by Unicode category
    notes: str = ""
    sentences: Mapping[str, int] = field(default_factory=dict)  # what the literature counts, per split
    blanked: bool = False  # documents whose words are all "_", for copyright, are left out
    tag_functions: bool = False  # tags carry function labels, to be cut off like those of phrases
    checksum: str = ""  # SHA-256 of the recipe's own text, put in when it is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A line of the table of languages, ``tables/world.toml``: the files of one model, below one folder of data."""

    title: str
    licence: str
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    divide: tuple[str, ...] = ()
    version1: tuple[str, ...] = ()
    format: str = "conllu"


WORLD = "world-"
_TENTH = (9, 1, 0)


def known_recipes() -> tuple[str, ...]:
    """Return the names of all recipes that come with h3n."""
    folder = resources.files(__package__)
    files = (f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    return tuple(sorted([*files, *(WORLD + name for name in _languages())]))


def _languages() -> dict[str, object]:
    file = resources.files(__package__) / "tables" / "world.toml"
    return parse_toml(file.read_text(encoding="utf-8"), place="world.toml")


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
    if name.startswith(WORLD):
        return _recipe_of(name, _languages()[name.removeprefix(WORLD)])
    file = resources.files(__package__) / f"{name}.toml"
    return _parse(name, file.read_text(encoding="utf-8"), place=f"{name}.toml")


def _parse(name: str, text: str, *, place: str) -> Recipe:
    table = parse_toml(text, place=place)
    if not table.get("layouts"):
        raise UsageError(f"{place}: no [[layouts]]; expected at least one")
    try:
        recipe = build_options(Recipe, {"name": name, **table})
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    for number, layout in enumerate(recipe.layouts, start=1):
        _check_layout(layout, place=f"{place}, layout {number}")
    return replace(recipe, checksum=hashlib.sha256(text.encode()).hexdigest())


def _recipe_of(name: str, table: object) -> Recipe:
    """Return the recipe of a language: files that are one split whole, in the table's order, and files to divide."""
    language = build_options(Language, table, where=name)
    keys = {"train": "train", "dev": "dev", "divide": "all"}
    order = [key for key in cast("Mapping[str, object]", table) if key in keys]
    layout = Layout(
        about="the files of the table of languages",
        dependencies="{name}",
        dependencies_format=language.format,
        names={keys[key]: getattr(language, key) for key in order},
        divide=_TENTH if language.divide else None,
        version1=language.version1,
    )
    _check_layout(layout, place=name)
    return Recipe(
        name=name,
        title=language.title,
        language=name.removeprefix(WORLD).partition("-")[0],
        licence=language.licence,
        get="https://universaldependencies.org" if language.format == "conllu" else "https://github.com/ltgoslo/norne",
        has="dependencies",
        layouts=(layout,),
        checksum=hashlib.sha256(repr(language).encode()).hexdigest(),
    )


def _check_layout(layout: Layout, *, place: str) -> None:
    if not layout.names or not set(layout.names) <= {*SPLITS, "all"}:
        names = ", ".join(layout.names)
        raise UsageError(f"{place}: names of {names}; expected a table of {', '.join(SPLITS)} or of all")
    if layout.trees is None and layout.dependencies is None:
        raise UsageError(f"{place}: neither trees nor dependencies; expected at least one pattern")
    if layout.divide is not None and (min(layout.divide) < 0 or layout.divide[0] == 0):
        raise UsageError(f"{place}: divide = {list(layout.divide)}; expected three numbers, such as [8, 1, 1]")
    if layout.drop_words is not None:
        _check_pattern(layout.drop_words, place=place)


def _check_pattern(pattern: str, *, place: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{place}: drop_words is not a regular expression: {error}") from None
