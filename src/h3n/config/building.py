"""Tables to dataclasses: TOML read, names, types and ranges checked; every fault is one line.

What serves the options of training serves every other file of ours in TOML too.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from h3n.config.options import Config, Encoder, Layers
from h3n.errors import InputError, UsageError, first_line

SHORTEST_WINDOW = 8  # pieces: some for the sentence between its marks, some for the overlap


def check(config: Config) -> Config:
    """Return the options as they are, or raise a `UsageError` that names the one that does not fit."""
    if not config.output:
        raise UsageError("option output: is empty; expected the name of a folder")
    _check_encoder(config.encoder)
    _check_layers(config.encoder.layers, characters=config.encoder.characters)
    if "order" in config.decoding.head_score and not config.scorers.order:
        raise UsageError(
            f"option decoding.head_score: {config.decoding.head_score!r} needs a score learned by order; expected "
            "scorers.order of 1 or more"
        )
    return config


def _check_encoder(encoder: Encoder) -> None:
    if encoder.kind == "pretrained":
        if not encoder.name:
            raise UsageError("option encoder.name: encoder.name is empty; a pretrained encoder needs one")
        if 0 < encoder.windows < SHORTEST_WINDOW:
            raise UsageError(f"option encoder.windows: {encoder.windows}; accepted: 0, or {SHORTEST_WINDOW} or more")
    elif not (encoder.words or encoder.vectors or encoder.tags or encoder.shapes or encoder.characters != "none"):
        raise UsageError("option encoder.words: nothing of a word is read; switch on words, characters, shapes or tags")
    elif encoder.vectors and not encoder.words:
        raise UsageError("option encoder.vectors: is read beside learned word vectors; expected encoder.words = true")


def _check_layers(layers: Layers, *, characters: str) -> None:
    """Check that what is split into content and position can be."""
    if layers.count:
        for name in ("size", "head_size", "inner"):
            if getattr(layers, name) % 2:
                value = getattr(layers, name)
                raise UsageError(f"option encoder.layers.{name}: {value} is odd; half is content and half position")
    content = layers.size // 2 if layers.count else layers.size
    if characters == "lstm" and content < 2:
        raise UsageError(f"option encoder.layers.size: {layers.size} is too small for characters read by an LSTM")


Built = TypeVar("Built")
KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
SHOWN = 60  # characters of a value in a message
TOO_DEEP = "tables or lists inside each other too deep to be read"


def read_toml(path: Path, *, what: str = "the configuration") -> dict[str, Any]:
    """Return the table in a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a TOML file: not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot read {what}: {reason}") from None
    return parse_toml(text, place=str(path))


def parse_toml(text: str, *, place: str) -> dict[str, Any]:
    """Return the table that a TOML text describes."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{place}: {TOO_DEEP}") from None
    except ValueError as error:  # of TOML, or a number of thousands of digits
        raise UsageError(f"{place}: not a TOML file: {first_line(error)}") from None


def build_options(kind: type[Built], table: object, *, where: str = "") -> Built:
    """Return the dataclass of a table, checking names, types and ranges."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{_named(where)}: expected a table, found {show(table)}")
    hints = get_type_hints(kind, include_extras=True)
    for name in table:
        if name not in hints:
            near = difflib.get_close_matches(str(name)[:SHOWN], hints, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(f"unknown option {_join(where, name)}{hint}; accepted here: {', '.join(hints)}")
    for known in dataclasses.fields(kind):  # type: ignore[arg-type]
        if known.name not in table and known.default is known.default_factory is dataclasses.MISSING:
            raise UsageError(f"option {_join(where, known.name)} is missing")
    return kind(**{name: _value(hints[name], given, where=_join(where, name)) for name, given in table.items()})


def show(value: object) -> str:
    """Return a value as it may stand in a message: short, on one line."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, int) and abs(value) >= 10**SHOWN:
        return "a whole number of very many digits"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # digits without end in a list, or lists without end
        return "a list" if isinstance(value, list | tuple) else "something that cannot be shown"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _named(where: str) -> str:
    return f"option {where}" if where else "the options"


def _join(where: str, name: object) -> str:
    plain = str(name)
    if not plain.isprintable() or len(plain) > SHOWN:
        plain = show(plain)
    return f"{where}.{plain}" if where else plain


def _value(hint: Any, given: Any, *, where: str) -> Any:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build_options(hint, given, where=where)
    if origin in (Union, UnionType):
        return _value(_member(get_args(hint), given), given, where=where)
    if origin in (dict, Mapping):
        return _table(get_args(hint)[1], given, where=where)
    if origin is Annotated:
        inner, bounds = get_args(hint)[:2]
        number = _value(inner, given, where=where)
        if number not in bounds:
            raise UsageError(f"option {where}: {show(number)} is out of range; accepted: {bounds}")
        return number
    if origin is Literal:
        if not isinstance(given, str) or given not in get_args(hint):
            accepted = ", ".join(map(repr, get_args(hint)))
            raise UsageError(f"option {where}: {show(given)} is not known; accepted: {accepted}")
        return given
    if origin is tuple:
        return _items(get_args(hint), given, where=where)
    return _plain(hint, given, where=where)


def _member(kinds: tuple[Any, ...], given: Any) -> Any:
    """Return the kind of a union that is meant: that of a table for a table, else the first.

    None among them stands for an option that is not given.
    """
    tables = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
    return tables[0] if tables and isinstance(given, Mapping) else kinds[0]


def _items(hints: tuple[Any, ...], given: Any, *, where: str) -> tuple[Any, ...]:
    """Return a list as a tuple: of any length for ``tuple[X, ...]``, else of as many items as there are types."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"option {where}: expected a list, found {show(given)}")
    items = list(given)
    if hints[-1] is ...:
        hints = hints[:1] * len(items)
    elif len(items) != len(hints):
        raise UsageError(f"option {where}: expected a list of {len(hints)}, found one of {len(items)}")
    return tuple(
        _value(hint, item, where=f"{where}[{at}]") for at, (hint, item) in enumerate(zip(hints, items, strict=True))
    )


def _table(hint: Any, given: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"option {where}: expected a table, found {show(given)}")
    if hint is Any:
        return dict(given)
    return {name: _value(hint, value, where=_join(where, name)) for name, value in given.items()}


def _plain(hint: type, given: Any, *, where: str) -> Any:
    if hint is float and type(given) in (int, float):
        return _number(given, where=where)
    if type(given) is not hint:
        raise UsageError(f"option {where}: expected {KINDS[hint]}, found {show(given)}")
    if isinstance(given, str) and "\0" in given:
        raise UsageError(f"option {where}: {show(given)} has a character 0 inside; expected text")
    return given


def _number(given: int | float, *, where: str) -> float:
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(f"option {where}: {show(given)} is out of range; accepted: finite numbers")
    return number
