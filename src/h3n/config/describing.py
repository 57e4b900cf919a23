"""Every option as a page of text: its default, its value in each preset, what it accepts and what it does."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from h3n.config.building import KINDS
from h3n.config.loading import presets, read_preset, table_of
from h3n.config.options import MOST, Config, Treebank

HEAD = """# Options of training

Made by `h3n train --options`; a test holds this page to the code. A file names an option in its table (`[encoder]`,
then `kind = ...`), the command line by its path (`--set encoder.kind=...`). A preset is named by `preset = "small"`.
"""


def describe_options() -> str:
    """Return the page, in Markdown."""
    names = {name: read_preset(name) for name in presets()}
    return "\n".join((HEAD, *_group(Config, "", names), *_group(Treebank, "data.train[]", {}))) + "\n"


def _group(kind: type, where: str, given: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    hints = get_type_hints(kind, include_extras=True)
    inner = [known for known in dataclasses.fields(kind) if dataclasses.is_dataclass(hints[known.name])]
    plain = [known for known in dataclasses.fields(kind) if known not in inner]
    yield f"## {where or 'the file itself'}\n\n{(kind.__doc__ or '').strip()}\n"
    yield "| option | default | in presets | accepted | what it does |\n|---|---|---|---|---|"
    for known in plain:
        path = f"{where}.{known.name}" if where else known.name
        default = known.default if known.default is not dataclasses.MISSING else {}
        cells = (f"`{known.name}`", _shown(default), _presets(path, given), _accepted(hints[known.name]))
        yield f"| {' | '.join(cells)} | {known.metadata['help']} |"
    yield ""
    for known in inner:
        yield from _group(hints[known.name], f"{where}.{known.name}" if where else known.name, given)


def _shown(value: Any) -> str:
    return f"`{json.dumps(table_of_value(value))}`"


def table_of_value(value: Any) -> Any:
    """Return a value as TOML and JSON have it."""
    return table_of(value) if dataclasses.is_dataclass(value) else value


def _presets(path: str, given: Mapping[str, dict[str, Any]]) -> str:
    parts = path.split(".")
    values = {name: reduce(lambda table, part: table.get(part, {}), parts, table) for name, table in given.items()}
    return ", ".join(f"{name} {_shown(value)}" for name, value in values.items() if value != {})


def _accepted(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        kind, bounds = get_args(hint)[:2]
        limits = f"{bounds.low} or more" if bounds.high == MOST else str(bounds)
        return f"{KINDS[kind]}, {limits}"
    if get_origin(hint) is Literal:
        return ", ".join(f"`{name}`" for name in get_args(hint))
    if get_origin(hint) is tuple:
        items = get_args(hint)
        return "a list" if items[-1] is ... else f"a list of {len(items)}, each {_accepted(items[0])}"
    return "a table" if get_origin(hint) is dict else KINDS[hint]
