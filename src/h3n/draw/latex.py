"""Trees for papers: phrases for the LaTeX package forest, arcs for the package tikz-dependency."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from h3n.draw.figure import Drawable, Figure, figure_of
from h3n.draw.widths import visible
from h3n.trees import ROOT, UNARY

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "{}$&#%_"},
}
_SPECIALS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")
PREAMBLE = r"""\documentclass{article}
% LuaLaTeX and XeLaTeX read UTF-8; for scripts other than Latin choose a font with \setmainfont.
\usepackage{iftex}
\iftutex\usepackage{fontspec}\fi
\usepackage{forest}
\usepackage{tikz-dependency}
\begin{document}
"""


def latex(pictures: Iterable[tuple[Drawable, str]], *, helpers: bool = False) -> str:
    """Return a document with the phrases and the arcs of each tree below its caption."""
    parts = [PREAMBLE]
    for tree, caption in pictures:
        drawings = [forest(tree, helpers=helpers), tikz_dependency(tree)]
        parts.append(f"\\noindent {escape_latex(caption)}\\par\\medskip\n")
        parts.extend(f"\\noindent\n{drawing}\\par\\bigskip\n" for drawing in drawings if drawing)
    return "\n".join([*parts, "\\end{document}\n"])


def forest(source: Drawable, *, helpers: bool = False) -> str:
    """Return the phrase structure as an environment of the package forest, thick lines to heads; "" without phrases."""
    figure = figure_of(source, helpers=helpers)
    if not figure.phrases:
        return ""
    lines = ["\\begin{forest}", "  for tree={inner sep=2pt, s sep=8pt, parent anchor=south, child anchor=north}"]
    return "\n".join([*lines, *_brackets(figure), "\\end{forest}\n"])


def tikz_dependency(source: Drawable) -> str:
    """Return the arcs as an environment of the package tikz-dependency; "" without dependencies."""
    figure = figure_of(source)
    if not figure.arcs:
        return ""
    rows = [figure.words, figure.tags] if any(figure.tags) else [figure.words]
    lines = ["\\begin{dependency}", "  \\begin{deptext}"]
    lines += ["    " + r" \& ".join(map(escape_latex, row)) + r" \\" for row in rows]
    lines.append("  \\end{deptext}")
    for arc in figure.arcs:
        place = f"\\deproot{{{arc.dependent + 1}}}"
        if arc.governor != ROOT:
            place = f"\\depedge{{{arc.governor + 1}}}{{{arc.dependent + 1}}}"
        lines.append(f"  {place}{{{escape_latex(arc.relation)}}}")
    return "\n".join([*lines, "\\end{dependency}\n"])


def escape_latex(text: str) -> str:
    """Return the text with the characters that LaTeX would take for commands made harmless."""
    return _SPECIALS.sub(lambda special: _SPECIAL[special[0]], visible(text))


def _brackets(figure: Figure) -> Iterator[str]:
    """Yield one line for each phrase and each word, indented, with the brackets that close after it."""
    several = sum(phrase.parent == ROOT for phrase in figure.phrases) + figure.word_parents.count(ROOT) > 1
    if several:
        yield "  [{}"
    open_phrases: list[int] = []
    waiting = 0
    for word, innermost in enumerate(figure.word_parents):
        while waiting < len(figure.phrases) and figure.phrases[waiting].start <= word:
            phrase = figure.phrases[waiting]
            labels = phrase.label.split(UNARY)
            edge = _edge(figure, phrase.parent, phrase.start, phrase.end)
            chain = " ".join(f"[{{{escape_latex(label)}}}{edge if not i else _HEAVY}" for i, label in enumerate(labels))
            yield f"{'  ' * (len(open_phrases) + 1)}{chain}"
            open_phrases.append(waiting)
            waiting += 1
        closing = [p for p in open_phrases if figure.phrases[p].end == word + 1]
        open_phrases = open_phrases[: len(open_phrases) - len(closing)]
        ends = "]" * sum(len(figure.phrases[p].label.split(UNARY)) for p in closing)
        depth = len(open_phrases) + len(closing) + 1
        yield f"{'  ' * depth}{_leaf(figure, word, _edge(figure, innermost, word, word + 1))}{ends}"
    if several:
        yield "  ]"


_HEAVY = ", edge={very thick}"


def _edge(figure: Figure, parent: int, start: int, end: int) -> str:
    head = figure.phrases[parent].head if parent != ROOT else None
    return _HEAVY if head is not None and start <= head < end else ""


def _leaf(figure: Figure, word: int, edge: str) -> str:
    text = f"{{{escape_latex(figure.words[word])}}}, tier=word"
    tag = figure.tags[word]
    return f"[{{{escape_latex(tag)}}}{edge} [{text}]]" if tag else f"[{text}{edge}]"
