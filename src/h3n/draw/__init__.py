"""Trees to look at: in the terminal, as brackets with heads marked, as SVG, HTML and PNG, for LaTeX.

Everything takes a joint tree, or a sentence that carries one or both trees, or either of them with confidences.
"""

from h3n.draw.figure import Drawable, WithConfidence
from h3n.draw.latex import forest, latex, tikz_dependency
from h3n.draw.marked_brackets import joint_brackets, read_joint_brackets
from h3n.draw.picture import NARROWEST_PICTURE, html, missing_characters, png, svg
from h3n.draw.terminal import NARROWEST, pretty
from h3n.draw.themes import THEMES
from h3n.draw.widths import visible

__all__ = [
    "NARROWEST",
    "NARROWEST_PICTURE",
    "THEMES",
    "Drawable",
    "WithConfidence",
    "forest",
    "html",
    "joint_brackets",
    "latex",
    "missing_characters",
    "png",
    "pretty",
    "read_joint_brackets",
    "svg",
    "tikz_dependency",
    "visible",
]
