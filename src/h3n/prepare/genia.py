"""The XML of the GENIA treebank: ``<sentence><cons cat="NP"><tok cat="NN">cell</tok></cons></sentence>``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from h3n.errors import FormatError, Place
from h3n.files import read_bytes
from h3n.formats import Reading
from h3n.trees import Constituent, Leaf, Node, Sentence, leaves

TAGS = {
    "PERIOD": ".",
    "COMMA": ",",
    "COLON": ":",
    "LRB": "-LRB-",
    "RRB": "-RRB-",
    "LQT": "``",
    "RQT": "''",
    "PRPP": "PRP$",
    "WPP": "WP$",
}


class _Builder:
    """Collects the sentences of a file while it is read: an open element is its category and its children so far."""

    def __init__(self, file: str) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.file = file
        self.line = 1
        self.done: list[Sentence] = []
        self.open: list[tuple[str, list[Node]]] = []
        self.word: list[str] | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sentence":
            self.line = self.parser.CurrentLineNumber
            self.open = [("TOP", [])]
        elif name == "cons" and self.open:
            self.open.append((attributes.get("cat", ""), []))
        elif name == "tok" and self.open:
            self.word = []
            self.open.append((attributes.get("cat", ""), []))

    def text(self, text: str) -> None:
        if self.word is not None:
            self.word.append(text)

    def end(self, name: str) -> None:
        if name not in ("sentence", "cons", "tok") or not self.open:
            return
        category, children = self.open.pop()
        if name == "sentence":
            self.finish(Constituent(category, tuple(children)))
        elif name == "tok" and self.word is not None:
            word = "".join("".join(self.word).split())  # a blank inside a token is a slip of the source
            self.word = None
            if word:
                self.open[-1][1].append(Leaf(TAGS.get(category, category), word))
        elif children:  # a null element has none
            self.open[-1][1].append(Constituent(category, tuple(children)))

    def finish(self, tree: Constituent) -> None:
        found = list(leaves(tree))
        words, tags = tuple(leaf.word for leaf in found), tuple(leaf.tag for leaf in found)
        self.done.append(Sentence(words=words, tags=tags, tree=tree, place=Place(self.file, self.line)))


def read(file: Path, options: Reading) -> Iterator[Sentence]:
    """Yield the sentences of one abstract."""
    builder = _Builder(str(file))
    try:
        builder.parser.Parse(read_bytes(file), True)
    except expat.ExpatError as error:
        problem = FormatError(Place(str(file), error.lineno), f"no XML: {expat.ErrorString(error.code)}", "GENIA XML")
        if options.on_problem is None:
            raise problem from None
        options.on_problem(problem)
    yield from builder.done
