"""Trees for LaTeX: balanced, complete, harmless."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from h3n.draw import Drawable, forest, latex, tikz_dependency
from h3n.draw.figure import figure_of
from h3n.draw.latex import escape_latex
from tests.draw.samples import CAKE, HELPED, drawables


@settings(deadline=None)
@given(source=drawables(), helpers=st.booleans())
def test_every_word_label_and_arc_is_there_and_brackets_balance(source: Drawable, helpers: bool) -> None:
    figure = figure_of(source, helpers=helpers)
    tree, arcs = forest(source, helpers=helpers), tikz_dependency(source)
    assert bool(tree) == bool(figure.phrases)
    assert bool(arcs) == bool(figure.arcs)
    if tree:
        assert re.findall(r"\{([^{}]*)\}, tier=word", tree) == list(figure.words)
        assert tree.count("[") == tree.count("]") >= len(figure.phrases) + len(figure.words)
        depth = 0
        for mark in re.findall(r"[\[\]]", tree)[:-1]:
            depth += 1 if mark == "[" else -1
            assert depth > 0  # one tree, closed by its last bracket
    assert arcs.count("\\depedge") + arcs.count("\\deproot") == len(figure.arcs)


def test_what_latex_would_obey_is_escaped() -> None:
    assert escape_latex("100% {a}_$b$ #1 ~^\\ <&>") == (
        r"100\% \{a\}\_\$b\$ \#1 \textasciitilde{}\textasciicircum{}\textbackslash{} \textless{}\&\textgreater{}"
    )
    odd = replace(CAKE, words=("\\input{x}", "]", "[", "a,b", "=", "%", "_"))
    assert "\\input" not in latex([(odd, "\\input{y}")])
    assert "[{]}, tier=word]" in forest(odd)


def test_helper_spans_on_demand() -> None:
    assert "textless" not in forest(HELPED)
    assert r"[{\textless{}H\textgreater{}}" in forest(HELPED, helpers=True)
