"""Constituents to dependencies by declarative rules: ``to_dependencies(tree, load_scheme("sd"))``.

A scheme file (``h3n/convert/schemes``) holds head tables, tree transforms, word lists and relation patterns in a
notation of its own, explained in docs/conversion.md; nothing about a language or a label set stands in Python.
"""

from h3n.convert.rules.conversion import to_dependencies, with_made_dependencies
from h3n.convert.rules.scheme import Scheme, load_scheme
from h3n.convert.rules.source import scheme_names

__all__ = ["Scheme", "load_scheme", "scheme_names", "to_dependencies", "with_made_dependencies"]
