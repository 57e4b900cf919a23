"""Text to trees: load a parser by name, parse whatever comes, take the result in any form."""

from h3n.parser.lazy import Arc, LabelledSpan
from h3n.parser.parser import ParseOptions, Parser, load
from h3n.parser.reading import read
from h3n.parser.results import Result
from h3n.parser.tables import frame
from h3n.parser.windows import LOOK_AHEAD
from h3n.parser.words import Phrase, Word

__all__ = [
    "LOOK_AHEAD",
    "Arc",
    "LabelledSpan",
    "ParseOptions",
    "Parser",
    "Phrase",
    "Result",
    "Word",
    "frame",
    "load",
    "read",
]
