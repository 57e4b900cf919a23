"""Recipes: what is known of each treebank, one TOML file per treebank in this folder.

A recipe says which trees a treebank has, how the missing ones are made, how it is divided, what it costs to get it, and
in which folder layouts it is found. Adding a treebank is adding a file; nothing here names one.
"""

from h3n.treebanks.locating import LocatedTreebank, Pair, locate_treebank
from h3n.treebanks.recipe import SPLITS, Layout, NameList, Recipe, known_recipes, load_recipe

__all__ = [
    "SPLITS",
    "Layout",
    "LocatedTreebank",
    "NameList",
    "Pair",
    "Recipe",
    "known_recipes",
    "load_recipe",
    "locate_treebank",
]
