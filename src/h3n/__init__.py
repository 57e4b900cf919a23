"""h3n: phrase structure and dependencies at once, as one head-driven tree."""

from importlib.metadata import version

__version__ = version("h3n")
__all__ = ["__version__"]
