"""Write the pages of the documentation that come from the code: the public names, and the cards of our models.

Run by `make docs`: python .ci/reference.py docs
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

# What a user may rely on; each module's __all__ says which names.
MODULES = [
    *("h3n", "h3n.parser", "h3n.formats", "h3n.text", "h3n.convert", "h3n.decode", "h3n.draw", "h3n.evaluate"),
    *("h3n.training", "h3n.workbench", "h3n.corpus", "h3n.client", "h3n.nltk"),
]
ROOT = Path(__file__).resolve().parents[1]
MODELS = {"en": "src/h3n/models/en", "en-large": "models/en-large/h3n_en_large"}


def public_names(module: Any) -> list[str]:
    """Return the names a module offers: functions and classes, not tables and types."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    values = ((name, getattr(module, name)) for name in names)
    return [name for name, value in values if inspect.isroutine(value) or inspect.isclass(value)]


def reference() -> str:
    """Return the page of all public names."""
    return "\n".join(["# Reference", "", "Made from the docstrings of the code.", *map(_module, MODULES)]) + "\n"


def card(name: str, text: str) -> str:
    """Return a model's card as a page: without the block of metadata for the hub."""
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).lstrip()
    return body if body.startswith("# ") else f"# The model {name}\n\n{body}"


def _module(name: str) -> str:
    module = import_module(name)
    entries = [_entry(each, getattr(module, each)) for each in public_names(module)]
    return "\n".join([f"\n## {name}\n", _text(inspect.getdoc(module) or ""), *entries])


def _entry(name: str, value: Any) -> str:
    lines = [f"\n### {name}\n", f"```text\n{_signature(name, value)}\n```\n", _text(inspect.getdoc(value) or "")]
    return "\n".join([*lines, *(_members(value) if inspect.isclass(value) else [])])


def _members(kind: type) -> Iterator[str]:
    """Yield a line for each method and property of the class itself that has a docstring."""
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        inner = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        documented = inspect.getdoc(inner)
        if documented and isinstance(inner, property):
            yield f"\n- **`{name}`**: {_first(documented)}"
        elif documented and inspect.isroutine(inner):
            yield f"\n- **`{_signature(name, inner)}`**: {_first(documented)}"


def _signature(name: str, value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    return f"{name}{found.replace(parameters=parameters)}".replace("'", "")


def _first(text: str) -> str:
    return " ".join(_text(text).split("\n\n")[0].split())


def _text(text: str) -> str:
    """Return a docstring as Markdown: ``code`` becomes `code`, and a literal block keeps its shape."""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(
        r"::\n\n((?:    .*\n|\n)+)", lambda block: f"\n\n```text\n{inspect.cleandoc(block[1])}\n```\n\n", text + "\n"
    )
    return re.sub(r"((?:^>>> .*\n|^\.\.\. .*\n)+)", r"```text\n\1```\n", text, flags=re.MULTILINE)


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "reference.md").write_text(reference(), encoding="utf-8")
    for name, model in MODELS.items():
        text = (ROOT / model / "README.md").read_text(encoding="utf-8")
        (folder / f"model-{name}.md").write_text(card(name, text), encoding="utf-8")


if __name__ == "__main__":
    main()
