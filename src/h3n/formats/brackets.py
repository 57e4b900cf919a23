"""Penn Treebank brackets: ``(S (NP (DT the) (NN dog)) (VP (VBZ barks)))``.

Words are the real ones: ``-LRB-`` and ``-RRB-`` anywhere inside a word are read as ``(`` and ``)`` and written back.
A bracket around one word and nothing else is a leaf; a word beside other things, as in ``(NP the dog)``, is a leaf
without a tag. Blank, tab and line end separate, nothing else: a non-breaking space is part of a word. ``()`` and
``(())`` say that there is no parse: a tree without words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from h3n.errors import LineTooLong, Place, TreeError
from h3n.files import Source, name_of
from h3n.formats.builder import Builder, escape
from h3n.formats.characters import fault_in_line
from h3n.formats.layout import guess_layout, take_sample
from h3n.formats.lines import LONGEST, read_pieces
from h3n.formats.options import READING, WRITING, Problems, Reading, Writing
from h3n.trees import HELPER, TOPS, TRACE, UNARY, Constituent, Leaf, Node, Sentence, leaves

Found: TypeAlias = tuple[int, Node | None, list[Leaf]]

_SPECIAL = re.compile(r"[ \t\r\n()]|^$")
_BLANK = re.compile(r"[ \t\r\n]")
_UNTAGGED = "_"
_DEEPEST = 40  # levels of indentation: more would make the text of a deep tree grow with the square of its depth


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentence of every tree, with memory for one sentence.

    ``words`` and ``tags`` leave traces out; the tree keeps them unless the options say otherwise.
    """
    problems = Problems(options.on_problem)
    name = name_of(source)
    pieces = _whole_words(read_pieces(source, problems))
    layout = options.layout
    if layout == "auto":
        sample, pieces = take_sample(pieces)
        layout = guess_layout("".join(sample))
    builder = Builder(name, problems, all_escapes=options.all_escapes)
    found = (
        _lines(pieces, builder, problems)
        if layout == "lines"
        else _trees(pieces, builder, problems, indented=layout == "indented")
    )
    for line, node, words in found:
        yield _sentence(node, words, Place(name, line), options)


def _whole_words(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces cut where no word is torn."""
    held = ""
    for piece in pieces:
        if piece[-1:] == "\n" and not held:
            yield piece
            continue
        cut = 1 + max(map(piece.rfind, " \t\n()"))
        if cut:
            yield held + piece[:cut]
            held = piece[cut:]
        else:
            held += piece
    if held:
        yield held


def _lines(pieces: Iterable[str], builder: Builder, problems: Problems) -> Iterator[Found]:
    """Yield one item for every line, with no node where the line is empty."""
    ended, length = True, 0
    for piece in pieces:
        ended = piece[-1] == "\n"
        length += len(piece)
        if length <= LONGEST:
            builder.feed(piece)
        elif length - len(piece) <= LONGEST:
            _report_length(builder, problems)
        if ended:
            length = 0
            if (found := _line(builder, problems)) is not None:
                yield found
    if not ended and (found := _line(builder, problems)) is not None:
        yield found


def _report_length(builder: Builder, problems: Problems) -> None:
    """Report and forget a sentence without end."""
    found, expected = f"a tree of more than {LONGEST:,} characters", f"trees of at most {LONGEST:,} characters"
    problems.found(LineTooLong(Place(builder.name, builder.line), found, expected))
    builder.forget()


def _line(builder: Builder, problems: Problems) -> Found | None:
    """Return what stands on the line that ends here, or None if it is damaged."""
    line, found = builder.line, builder.finished
    builder.expect_closed("at the end of the line", expected="a tree on every line, or another layout")
    builder.finished = []
    builder.line += 1
    if not problems.none_in(line, line):
        return None
    if len(found) == 1:
        return found[0]
    if not found:
        return line, None, []
    # EVALB reads brackets side by side on a line as one sentence.
    nodes = tuple(node for _, node, _ in found if node is not None)
    return line, Constituent("", nodes), [leaf for _, _, words in found for leaf in words]


def _trees(pieces: Iterable[str], builder: Builder, problems: Problems, *, indented: bool) -> Iterator[Found]:
    """Yield an item for every tree, wherever its lines end."""
    ended, length = True, 0
    for piece in pieces:
        if indented and ended and piece[0] == "(":
            builder.expect_closed(f"where the next tree starts, on line {builder.line}")
        builder.feed(piece)
        length += len(piece)
        if builder.finished:
            yield from builder.finished
            builder.finished = []
            length = 0
        elif length > LONGEST and builder.is_open:
            _report_length(builder, problems)
            length = 0
        ended = piece[-1] == "\n"
        builder.line += ended
    builder.expect_closed("at the end of the file")


def _sentence(node: Node | None, found: list[Leaf], place: Place, options: Reading) -> Sentence:
    if isinstance(node, Leaf):
        node, found = _topped(node)
    tags = [leaf.tag for leaf in found]
    if TRACE in tags:
        found = [leaf for leaf in found if leaf.tag != TRACE]
        tags = [leaf.tag for leaf in found]
    words = tuple([leaf.word for leaf in found])
    return Sentence(words=words, tags=tuple(tags) if any(tags) else None, tree=options.strip(node), place=place)


def _topped(leaf: Leaf) -> tuple[Constituent, list[Leaf]]:
    """Return a tree for a file's tree of one leaf, whose label is a tag unless it is one of the top labels."""
    top, leaf = (leaf.tag, Leaf("", leaf.word)) if leaf.tag in TOPS else ("", leaf)
    return Constituent(top, (leaf,)), [leaf]


def written(sentence: Sentence, options: Writing = WRITING) -> str:
    """Return the tree on a line of its own, or spread over several lines.

    An unlabelled bracket is written in the Penn Treebank's way, ``( (S ...) )``; a sentence without a tree is an
    empty line if it has no words either, and an error if it has. The words are those of the tree.
    """
    if sentence.tree is None and sentence.words:
        raise TreeError("the sentence has no phrase structure, which is all that brackets show")
    if sentence.tree is not None:
        count = sum(leaf.tag != TRACE for leaf in leaves(sentence.tree))
        if count != len(sentence) and sentence.words:
            raise TreeError(f"the tree has {count} words besides traces ({TRACE}), the sentence {len(sentence)}")
    return to_text(sentence.tree, options) + options.newline


def to_text(tree: Constituent | None, options: Writing = WRITING) -> str:
    """Return the tree in brackets, without a line end."""
    if tree is None:
        return "()" if options.indent else ""
    has_words = next(leaves(tree), None) is not None
    if options.top is not None and has_words:
        tree = Constituent(options.top, tree.children if tree.label in TOPS else (tree,))
    text = "".join(_parts(tree, options, has_words=has_words))
    if (fault := fault_in_line(text.replace(options.newline, " ") if options.indent else text)) is not None:
        raise TreeError(f"{fault}, which brackets cannot show")
    return text


def _parts(tree: Constituent, options: Writing, *, has_words: bool) -> Iterator[str]:
    stack: list[tuple[Node | str, int]] = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, Leaf):
            word = _symbol(escape(node.word, every=True) if options.all_escapes else node.word, options)
            yield f"({_symbol(node.tag, options)} {word})" if node.tag else word
        else:
            if has_words:
                _check(node)
            label = _symbol(node.label, options) if node.label else ""
            first = gap = _gap(node, depth, options)
            if not label:
                first = " " if has_words else ""
            yield "(" + label
            stack.append((")" if label else first + ")", 0))
            children = _readable(node, top=depth == 1)
            for child in reversed(children[1:]):
                stack += ((child, depth + 1), (gap, 0))
            if children:
                stack += ((children[0], depth + 1), (first, 0))


def _check(node: Constituent) -> None:
    if not node.children:
        raise TreeError(f"the bracket ({node.label}) holds nothing; bracket notation needs a word in it")
    first = node.children[0]
    if not node.label and isinstance(first, Leaf) and not first.tag:
        raise TreeError(f"the word {first.word!r} without a tag would be read as the label of its unlabelled bracket")


def _readable(node: Constituent, *, top: bool) -> tuple[Node, ...]:
    """Return the children. A single word without a tag gets one, or else the label would be read as its tag."""
    if len(node.children) == 1 and not (top and node.label in TOPS):
        only = node.children[0]
        if isinstance(only, Leaf) and not only.tag:
            return (Leaf(_UNTAGGED, only.word),)
    return node.children


def _gap(node: Constituent, depth: int, options: Writing) -> str:
    """Return what separates the children: a blank, or a new line if any of them is itself a constituent."""
    if options.indent and any(isinstance(child, Constituent) for child in node.children):
        return options.newline + "  " * min(depth, _DEEPEST)
    return " "


def _symbol(text: str, options: Writing) -> str:
    """Return a word, tag or label as it may stand inside brackets."""
    if _SPECIAL.search(text) is None:
        return text
    if not text:
        raise TreeError("an empty word cannot be written in brackets")
    if _BLANK.search(text):
        if options.blank is None:
            raise TreeError(f"{text!r} holds a blank, which brackets cannot show; say what to write for it")
        text = _BLANK.sub(options.blank, text)
    return escape(text)


_UNUSUAL = re.compile("[\0 \t\r\n()\ud800-\udfff]")  # to be escaped, or refused


def bracket_line(
    spans: Sequence[tuple[int, int, str]], words: Sequence[str], tags: Sequence[str], *, top: str | None
) -> str | None:
    """Return the line of these spans (start, end, label), which nest and stand in pre-order; helper spans are left out.

    None where a word, tag or label needs a closer look: the tree and its writer have that.
    """
    if not spans or "" in words or "" in tags or TRACE in tags or _UNUSUAL.search("".join([*words, *tags, top or ""])):
        return None
    cells = [f"({tag} {word})" for tag, word in zip(tags, words, strict=True)]
    for start, end, label in reversed(spans):  # an outer span comes after those inside it
        around = _around(label)
        if around is None:
            return None
        opening, closing = around
        if opening:
            cells[start] = opening + cells[start]
            cells[end - 1] += closing
    line = " ".join(cells)
    start, end, label = next((span for span in spans if span[2] != HELPER), (0, 0, ""))
    if (start, end) == (0, len(words)) and (top is None or label.split(UNARY)[0] in TOPS):
        return line
    if top == "":
        return f"( {line} )"
    return f"({'TOP' if top is None else top} {line})"


@lru_cache(maxsize=1 << 12)
def _around(label: str) -> tuple[str, str] | None:
    """Return what stands before and after the words of a span: one bracket for each label of a unary chain."""
    if label == HELPER:
        return "", ""
    chain = label.split(UNARY)
    if "" in chain or _UNUSUAL.search(label):
        return None
    return "".join(f"({name} " for name in chain), ")" * len(chain)
