"""h3n as a parser of NLTK; see `h3n.integrations.nltk`."""

from h3n.integrations.nltk import DependencyParser, Parser, dependency_graph

__all__ = ["DependencyParser", "Parser", "dependency_graph"]
