"""The files of a treebank found in a folder, or a message that says which file was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from h3n.errors import InputError
from h3n.treebanks.recipe import SPLITS, Layout, NameList, Names, Recipe

_RANGE = re.compile(r"(\d+)([-~])(\d+)")
_COMPRESSED = ("", ".gz", ".xz", ".bz2")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """Two parallel files, or one of them."""

    trees: Path | None
    dependencies: Path | None


@dataclass(frozen=True, slots=True)
class LocatedTreebank:
    """The files of each split in one layout; a treebank without a split of its own has them all under ``all``."""

    layout: Layout
    folder: Path
    files: Mapping[str, tuple[Pair, ...]]
    lists: tuple[Path, ...] = ()


class _Shelf:
    """A folder's files and folders by their names in small letters, each folder listed once."""

    def __init__(self) -> None:
        self._listings: dict[Path, dict[str, Path]] = {}

    def inside(self, folder: Path, pattern: str) -> list[Path]:
        """Return what stands in a folder under a name that fits the pattern."""
        if folder not in self._listings:
            self._listings[folder] = {path.name.lower(): path for path in _listing(folder)}
        listing = self._listings[folder]
        if "*" not in pattern:
            return [listing[pattern.lower()]] if pattern.lower() in listing else []
        regex = re.compile(re.escape(pattern.lower()).replace(r"\*", ".*"))
        return [path for name, path in listing.items() if regex.fullmatch(name)]

    def match(self, folder: Path, pattern: str) -> list[Path]:
        """Return the files below a folder that fit the first of the patterns between ``|`` that any file fits.

        Of a file that is there both plain and compressed, the plain one.
        """
        for alternative in pattern.split("|"):
            *inner, last = alternative.split("/")
            folders = [folder]
            for part in inner:
                folders = [path for f in folders for path in self.inside(f, part) if path.is_dir()]
            found: dict[Path, Path] = {}
            for ending in _COMPRESSED:
                for path in (path for f in folders for path in self.inside(f, last + ending) if path.is_file()):
                    found.setdefault(path.with_name(path.name[: len(path.name) - len(ending)]), path)
            if found:
                return sorted(found.values())
        return []


def _listing(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None


@dataclass(slots=True)
class _Attempt:
    """A layout tried in one folder: what was there and which patterns met nothing."""

    layout: Layout
    folder: Path
    files: dict[str, list[Pair]] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    lists: list[Path] = field(default_factory=list)
    used: set[Path] = field(default_factory=set)
    shelf: _Shelf = field(default_factory=_Shelf)

    def missing_of(self, splits: Sequence[str]) -> list[str]:
        return [pattern for split, pattern in self.missing if split in (*splits, "all")]


def locate_treebank(
    recipe: Recipe, source: Path, *, splits: Sequence[str] = SPLITS, trees_only: bool = False, divided: bool = False
) -> LocatedTreebank:
    """Return the files of these splits in the first layout of the recipe that has them all.

    ``trees_only`` looks for no dependencies where there are trees (they will be made anew); ``divided`` takes only
    layouts without a split of their own. `InputError` names the file that was expected.
    """
    if not source.exists():
        raise InputError(f"{source}: no such file or folder")
    attempts = list(_attempts(recipe, source, trees_only=trees_only, divided=divided))
    for attempt in attempts:
        asked = [split for split in attempt.layout.names if split in splits or split == "all"]
        wanted = {split: tuple(attempt.files[split]) for split in asked if attempt.files.get(split)}
        if wanted and not attempt.missing_of(splits) and _usable(attempt, splits, divided=divided):
            _check_same_treebank(attempt, wanted)
            return LocatedTreebank(attempt.layout, attempt.folder, wanted, tuple(attempt.lists))
    raise InputError(_explain(recipe, source, attempts, splits))


def _usable(attempt: _Attempt, splits: Sequence[str], *, divided: bool) -> bool:
    """Return whether a layout without a split of its own can serve: it is divided, or goes into one split whole."""
    return "all" not in attempt.layout.names or divided or attempt.layout.divide is not None or len(splits) == 1


def _attempts(recipe: Recipe, source: Path, *, trees_only: bool, divided: bool) -> Iterator[_Attempt]:
    for layout in recipe.layouts:
        if divided and "all" not in layout.names:
            continue
        if source.is_file():
            if "all" in layout.names:
                pair = Pair(source, None) if layout.trees is not None else Pair(None, source)
                yield _Attempt(layout, source.parent, files={"all": [pair]})
            continue
        for name in layout.folders:
            folder = _subfolder(source, name)
            if folder is not None:
                yield _try(layout, folder, trees_only=trees_only)


def _subfolder(folder: Path, name: str) -> Path | None:
    """Return the folder of this relative name, letter case aside."""
    for part in Path(name).parts:
        inside = [path for path in _listing(folder) if path.is_dir() and path.name.lower() == part.lower()]
        if not inside:
            return None
        folder = inside[0]
    return folder


def _try(layout: Layout, folder: Path, *, trees_only: bool) -> _Attempt:
    attempt = _Attempt(layout, folder)
    patterns = (layout.trees, None if trees_only and layout.trees is not None else layout.dependencies)
    # Splits that name their files come first; "*" takes what is left.
    for split in sorted(layout.names, key=lambda split: layout.names[split] == ("*",)):
        for name, required in _expand(layout.names[split], attempt, split):
            pairs = _pairs(attempt, split, name, patterns, required=required)
            attempt.files.setdefault(split, []).extend(pairs)
        if not attempt.files.get(split) and all(split != other for other, _ in attempt.missing):
            wanted = layout.names[split]
            name = " ".join(wanted) if isinstance(wanted, tuple) else wanted.file
            attempt.missing.append((split, next(p for p in patterns if p is not None).replace("{name}", name)))
    return attempt


def _expand(names: Names, attempt: _Attempt, split: str) -> Iterator[tuple[str, bool]]:
    """Yield every name with whether its file must be there."""
    if isinstance(names, NameList):
        found = attempt.shelf.match(attempt.folder, names.file)
        if not found:
            attempt.missing.append((split, names.file))
            return
        attempt.lists.extend(found[:1])
        yield from ((name, True) for name in _listed(found[0], names.heading))
        return
    for name in names:
        numbers = _RANGE.fullmatch(name)
        if numbers is None:
            yield name, True
            continue
        low, kind, high = numbers.groups()
        for number in range(int(low), int(high) + 1):
            yield f"{number:0{len(low)}}", kind == "-"


def _listed(file: Path, heading: str | None) -> Iterator[str]:
    """Yield the names in a file: its lines, or the list items under a Markdown heading."""
    inside = heading is None
    for line in file.read_text(encoding="utf-8-sig").splitlines():
        text = line.strip()
        if heading is not None and text.startswith("#"):
            inside = text.lstrip("#").strip().lower() == heading.lower()
        elif inside and text:
            yield text.lstrip("*-").strip() if heading is not None else text.split()[0]


def _pairs(
    attempt: _Attempt, split: str, name: str, patterns: tuple[str | None, str | None], *, required: bool
) -> list[Pair]:
    """Return the parallel files of one name; files of one stem belong together."""
    sides: list[dict[str, Path]] = []
    for pattern in patterns:
        if pattern is None:
            continue
        filled = pattern.replace("{name}", name)
        files = [
            file for file in attempt.shelf.match(attempt.folder, filled) if name != "*" or file not in attempt.used
        ]
        if not files and required:
            attempt.missing.append((split, filled))
        attempt.used.update(files)
        sides.append({file.name.split(".")[0].lower() if len(files) > 1 else "": file for file in files})
    if len(sides) == 1:
        found = sides[0].values()
        return [Pair(file, None) if patterns[0] is not None else Pair(None, file) for file in found]
    for stem in sorted(sides[0].keys() ^ sides[1].keys()):
        here, there = (0, 1) if stem in sides[0] else (1, 0)
        if sides[there]:  # otherwise the whole pattern is already reported
            attempt.missing.append((split, f"{patterns[there]} for {sides[here][stem].name}".replace("{name}", name)))
    return [Pair(sides[0][stem], sides[1][stem]) for stem in sides[0] if stem in sides[1]]


def _check_same_treebank(attempt: _Attempt, files: Mapping[str, tuple[Pair, ...]]) -> None:
    """Raise `InputError` if a layout that takes any treebank has met several."""
    if not attempt.layout.same_treebank:
        return
    paths = [path for pairs in files.values() for pair in pairs for path in (pair.trees, pair.dependencies) if path]
    prefixes = sorted({path.name.partition("-")[0] for path in paths})
    if len(prefixes) > 1:
        raise InputError(
            f"{attempt.folder}: files of {len(prefixes)} treebanks ({', '.join(prefixes[:_SHOWN])}"
            f"{', ...' if len(prefixes) > _SHOWN else ''}); expected a folder with one treebank"
        )


def _explain(recipe: Recipe, source: Path, attempts: list[_Attempt], splits: Sequence[str]) -> str:
    """Return which file was expected: of the layout that comes nearest, or of each if none comes near."""
    if source.is_file() and not attempts:
        return f"{source}: is a file; expected the folder of {recipe.name} ({recipe.layouts[0].about})"
    started = [attempt for attempt in attempts if any(attempt.files.values())]
    started = [attempt for attempt in started if "all" not in attempt.layout.names] or started
    if started:
        nearest = max(started, key=lambda a: sum(map(len, a.files.values())) - len(a.missing_of(splits)))
        missing = nearest.missing_of(splits)
        if not missing:
            return (
                f"{source}: {recipe.name} has no split of its own here; "
                "give --divide 8/1/1, or one split with --splits train"
            )
        lacking = [s for s in splits if any(s == split for split, _ in nearest.missing)]
        complete = [split for split in splits if split not in lacking]
        hint = f"; --splits {','.join(complete)} does without" if complete and lacking else ""
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        return f"{nearest.folder}: expected {', '.join(missing[:_SHOWN])}{more} ({nearest.layout.about}){hint}"
    first = [f"{_first_expected(layout, splits)} ({layout.about})" for layout in recipe.layouts]
    return f"{source}: not a folder of {recipe.name}; expected {', or '.join(first)}"


def _first_expected(layout: Layout, splits: Sequence[str]) -> str:
    names = next((layout.names[split] for split in (*splits, "all") if split in layout.names), ())
    if isinstance(names, NameList):
        return names.file
    name = re.split("[-~]", names[0])[0] if names and _RANGE.fullmatch(names[0]) else "".join(names[:1])
    pattern = layout.trees if layout.trees is not None else str(layout.dependencies)
    return str(Path(layout.folders[0]) / pattern.split("|")[0].replace("{name}", name))
