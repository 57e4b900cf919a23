"""h3n: phrase structure and dependencies at once, as one head-driven tree."""

from __future__ import annotations

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    # Reading the version takes longer than importing all of the package's light parts, and few ask.
    if name == "__version__":
        from importlib.metadata import version

        return version("h3n")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
