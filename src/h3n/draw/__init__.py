"""Trees to look at: in the terminal, as brackets with heads marked, as SVG, HTML and PNG.

Everything takes a joint tree, or a sentence that carries one or both trees.
"""

from h3n.draw.brackets import joint_brackets, read_joint_brackets
from h3n.draw.figure import Drawable
from h3n.draw.page import html
from h3n.draw.picture import svg
from h3n.draw.raster import png
from h3n.draw.terminal import NARROWEST, pretty
from h3n.draw.themes import THEMES

__all__ = ["NARROWEST", "THEMES", "Drawable", "html", "joint_brackets", "png", "pretty", "read_joint_brackets", "svg"]
