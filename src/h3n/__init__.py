"""h3n: phrase structure and dependencies at once, as one head-driven tree.

>>> import h3n
>>> parser = h3n.load("en")
>>> for tree in parser.parse("She is carefully making the cake. It smells good."):
...     print(tree.brackets(), tree.heads, tree.relations)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from h3n.decode import Constraints
    from h3n.parser import Parser, Result, load, read

    __version__: str

__all__ = ["Constraints", "Parser", "Result", "__version__", "load", "read"]

# Imported when somebody asks: a parser needs numpy, which takes longer to import than most else here.
_LATER = {"Constraints": "h3n.decode", **dict.fromkeys(("Parser", "Result", "load", "read"), "h3n.parser")}


def __getattr__(name: str) -> Any:
    # Reading the version takes longer than importing all of the package's light parts, and few ask.
    if name == "__version__":
        from importlib.metadata import version

        return version("h3n")
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
