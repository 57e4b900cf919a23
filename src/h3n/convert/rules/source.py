"""Scheme files as they stand: sections of entries, each with its lines and their places. Meaning comes later.

::

    # a comment
    extends sd

    [words]
    be = am is are
        was were                      deeper lines continue the one above

    [relations]
    auxpass of aux
      - VB*"{be}" > (VP < VP)         "- " opens a pattern
      => an action, unless ...        other marks of an entry: "=>", "unless"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from h3n.errors import FormatError, InputError, Place, UnknownName

SCHEMES = Path(__file__).resolve().parent.parent / "schemes"
SUFFIX = ".rules"
SECTIONS = frozenset(
    {
        "options",
        "labels",
        "tags",
        "functions",
        "sets",
        "words",
        "macros",
        "heads",
        "special heads",
        "transforms",
        "relations",
        "afterwards",
    }
)
MARKS = ("- ", "=> ", "unless ")


@dataclass(frozen=True, slots=True)
class Line:
    """What follows a mark, continuation lines joined; ``mark`` is one of `MARKS` without its blank."""

    mark: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """``key = value`` or a bare ``key`` with marked lines below it."""

    key: str
    value: str
    place: Place
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One scheme file."""

    name: str
    extends: str
    sections: dict[str, tuple[Entry, ...]]


def scheme_names() -> list[str]:
    """Return the names of the schemes that come with h3n, ``generic:de`` for a file in a folder."""
    return sorted(map(scheme_name, SCHEMES.rglob(f"*{SUFFIX}")))


def scheme_name(path: Path) -> str:
    """Return the name of the scheme in this file: one of ours as `scheme_names` has it, any other by its file name."""
    plain = path.with_suffix("")
    return ":".join(plain.relative_to(SCHEMES).parts) if plain.is_relative_to(SCHEMES) else plain.name


def find_source(name: str | Path, *, beside: Path | None = None) -> Path:
    """Return the file of a scheme: one of ours by name, or any by path (``beside`` which folder to look first)."""
    text = str(name)
    if text.endswith(SUFFIX):
        path = Path(text)
        return beside / path if beside is not None and not path.is_absolute() else path
    path = SCHEMES.joinpath(*text.split(":")).with_suffix(SUFFIX)
    if not text.replace(":", "").replace("-", "").replace("_", "").isalnum() or not path.is_file():
        raise UnknownName("scheme", text, [*scheme_names(), f"a path that ends in {SUFFIX}"])
    return path


def read_source(path: Path) -> Source:
    """Return the parsed file; `InputError` if it cannot be read, `FormatError` where a line has no meaning."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the scheme {path}: {error}") from error
    extends = ""
    sections: dict[str, list[_Draft]] = {}
    section: list[_Draft] | None = None
    for place, indent, line in _lines(text, str(path)):
        if not indent and line.startswith("extends ") and section is None:
            extends = line.removeprefix("extends ").strip()
        elif not indent and line.startswith("[") and line.endswith("]"):
            section = sections.setdefault(_section_name(line[1:-1], place), [])
        elif section is None:
            raise FormatError(place, repr(line), "'extends NAME' or a section such as [heads]")
        elif not indent:
            section.append(_Draft.opened(line, place))
        elif section:
            section[-1].add(line, place)
        else:
            raise FormatError(place, "an indented line", "an entry at the margin above it")
    entries = {name: tuple(draft.entry() for draft in drafts) for name, drafts in sections.items()}
    return Source(path.stem, extends, entries)


def _lines(text: str, file: str) -> Iterator[tuple[Place, int, str]]:
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        # A pound sign is a tag, so a comment has the line to itself.
        if line and not line.startswith("#"):
            yield Place(file, number), len(raw) - len(raw.lstrip()), line


def _section_name(name: str, place: Place) -> str:
    if name not in SECTIONS:
        raise FormatError(place, f"unknown section [{name}]", f"one of {', '.join(sorted(SECTIONS))}")
    return name


@dataclass(slots=True)
class _Draft:
    key: str
    value: list[str]
    place: Place
    lines: list[tuple[str, list[str], Place]]

    @classmethod
    def opened(cls, line: str, place: Place) -> _Draft:
        key, equals, value = line.partition(" =")
        if equals and (not value or value[0] == " "):
            return cls(key.strip(), [value.strip()], place, [])
        return cls(line, [], place, [])

    def add(self, line: str, place: Place) -> None:
        for mark in MARKS:
            if line.startswith(mark):
                self.lines.append((mark.strip(), [line.removeprefix(mark).strip()], place))
                return
        if self.lines:
            self.lines[-1][1].append(line)
        elif self.value:
            self.value.append(line)
        else:
            raise FormatError(place, repr(line), "a line that starts with '- ', '=> ' or 'unless '")

    def entry(self) -> Entry:
        lines = tuple(Line(mark, " ".join(parts), place) for mark, parts, place in self.lines)
        return Entry(self.key, " ".join(self.value).strip(), self.place, lines)
