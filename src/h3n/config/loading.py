"""Options in four layers, later ones winning: the defaults, the preset a file names, the file, and settings.

Every mistake is a `UsageError` of one line that names the option and says what is accepted there.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib.resources
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from h3n.config.building import TOO_DEEP, build_options, check, parse_toml, read_toml, show
from h3n.config.options import Config, Treebank
from h3n.errors import UnknownName, UsageError


def presets() -> tuple[str, ...]:
    """Return the names of the presets."""
    folder = importlib.resources.files("h3n") / "presets"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def read_preset(name: str) -> dict[str, Any]:
    """Return what a preset says."""
    if name not in presets():
        raise UnknownName("preset", name, presets())
    text = (importlib.resources.files("h3n") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_toml(text, place=f"preset {name}")


def load_config(path: str | Path | None = None, *, settings: Iterable[str] = ()) -> Config:
    """Return the options of a TOML file (or none: the defaults), changed by ``a.b=c`` settings."""
    return layer_config(read_toml(Path(path)) if path is not None else {}, settings=settings)


def layer_config(*tables: Mapping[str, Any], settings: Iterable[str] = ()) -> Config:
    """Return the options of tables laid over each other, the later ones winning, over the preset that they name."""
    try:
        table: dict[str, Any] = {}
        for layer in tables:
            _merge(table, copy.deepcopy(dict(layer)), where="the configuration")
        for setting in settings:
            _merge(table, _parse_setting(setting), where=f"setting {show(setting)}")
        return config_of(_over_preset(table))
    except RecursionError:
        raise UsageError(f"the configuration: {TOO_DEEP}") from None


def config_of(table: Mapping[str, Any]) -> Config:
    """Return the options of a nested table, such as `table_of` returns."""
    return check(build_options(Config, table))


def table_of(config: Any) -> dict[str, Any]:
    """Return options as nested tables that JSON and TOML can hold: the inverse of `config_of`."""
    table: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return table


def flattened(table: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return nested tables as one: ``{"a": {"b": 1}}`` is ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= flattened(value, f"{where}{name}.") if isinstance(value, dict) else {f"{where}{name}": value}
    return flat


def without_folders(config: Config) -> Config:
    """Return the options for a model that others may get: of absolute paths, which tell of a machine, the names."""

    def name(path: str) -> str:
        return Path(path).name if Path(path).is_absolute() else path

    def renamed(treebanks: Iterable[Treebank]) -> tuple[Treebank, ...]:
        return tuple(dataclasses.replace(one, files=tuple(map(name, one.files))) for one in treebanks)

    data = dataclasses.replace(config.data, train=renamed(config.data.train), dev=renamed(config.data.dev))
    encoder = dataclasses.replace(config.encoder, name=name(config.encoder.name), vectors=name(config.encoder.vectors))
    return dataclasses.replace(config, output=name(config.output), start=name(config.start), encoder=encoder, data=data)


def expand(path: str) -> Path:
    """Return a path with ``~`` and ``$VARIABLES`` filled in."""
    try:
        filled = os.path.expandvars(Path(path).expanduser())
    except RuntimeError as error:  # ~somebody, who has no home here
        raise UsageError(f"path {path!r}: {error}") from None
    if (left := re.search(r"\$\{?(\w+)", filled)) is not None:
        raise UsageError(f"path {path!r}: the environment variable {left[1]} is not set")
    return Path(filled)


def _over_preset(table: dict[str, Any]) -> dict[str, Any]:
    name = table.pop("preset", None)
    if name is None:
        return table
    if not isinstance(name, str):
        raise UsageError(f"option preset: expected a string, found {show(name)}")
    base = read_preset(name)
    _merge(base, table, where="the configuration")
    return base


def _parse_setting(setting: str) -> dict[str, Any]:
    name, equals, value = setting.partition("=")
    if not equals or not all(name.split(".")):
        raise UsageError(f"setting {show(setting)}: expected name=value, such as optimiser.rate=1e-3")
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # a bare word is a string: --set encoder.kind=pretrained
    except ValueError:
        raise UsageError(f"setting {name}: a whole number of too many digits") from None
    for part in reversed(name.strip().split(".")):
        parsed = {part: parsed}
    table: dict[str, Any] = parsed
    return table


def _merge(base: dict[str, Any], changes: Mapping[str, Any], *, where: str) -> None:
    for name, value in changes.items():
        old = base.get(name)
        if isinstance(old, dict) and isinstance(value, Mapping):
            _merge(old, value, where=where)
        elif isinstance(old, dict):
            raise UsageError(f"{where}: {name} is a group of options, not one: {', '.join(old)}")
        else:
            base[name] = value
