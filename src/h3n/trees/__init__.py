"""Sentences and their trees: immutable, standard library only.

Conventions. Words are numbered 0 .. n-1; a span is half-open, ``start <= word < end``; the governor of the root word
is ``ROOT`` (-1). Nothing here recurses, so that a tree may be as deep as it likes.

A phrase structure tree comes in two shapes. `Constituent` is the bracketing as it stands in a file: top label, unary
chains, traces and function tags included. `Span` is what is parsed and scored: unary chains collapsed into one label
(``S::VP``), tags not counted as spans, the top bracket stripped. `spans_of` and `tree_of` lead from one to the other.
"""

from h3n.trees.brackets import (
    BracketMap,
    LeafMap,
    bare_label,
    map_leaves,
    rebuild,
    spans_of,
    strip_tree,
    top_of,
    tree_of,
)
from h3n.trees.governors import check_dependencies, crossing_arcs, depths_of, find_cycle, is_projective
from h3n.trees.structures import (
    HALF_SURROGATE,
    HELPER,
    ROOT,
    TOPS,
    TRACE,
    UNARY,
    WHOLE,
    Constituent,
    Dependencies,
    EmptyWord,
    HeadedSpan,
    Insert,
    JointTree,
    Leaf,
    MultiwordToken,
    Node,
    Sentence,
    SoftLabels,
    Span,
    leaves,
)

__all__ = [
    "HALF_SURROGATE",
    "HELPER",
    "ROOT",
    "TOPS",
    "TRACE",
    "UNARY",
    "WHOLE",
    "BracketMap",
    "Constituent",
    "Dependencies",
    "EmptyWord",
    "HeadedSpan",
    "Insert",
    "JointTree",
    "Leaf",
    "LeafMap",
    "MultiwordToken",
    "Node",
    "Sentence",
    "SoftLabels",
    "Span",
    "bare_label",
    "check_dependencies",
    "crossing_arcs",
    "depths_of",
    "find_cycle",
    "is_projective",
    "leaves",
    "map_leaves",
    "rebuild",
    "spans_of",
    "strip_tree",
    "top_of",
    "tree_of",
]
