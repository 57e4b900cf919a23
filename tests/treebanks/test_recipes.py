"""The recipes as data: each loads, each says what `h3n prepare --list` shows, and a broken one says where."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from h3n.convert.rules import load_scheme
from h3n.errors import InputError, UnknownName, UsageError
from h3n.evaluate import load_parameters
from h3n.treebanks import SPLITS, known_recipes, load_recipe
from tests.treebanks.miniature import need_scheme

SPMRL = ("arabic", "basque", "french", "german", "hebrew", "hungarian", "korean", "polish", "swedish")
UD = [
    "arabic-padt",
    "czech-pdt",
    "german-gsd",
    "english-ewt",
    "finnish-tdt",
    "hindi-hdtb",
    "italian-isdt",
    "japanese-gsd",
    "korean-kaist",
    "latvian-lvtb",
    "russian-syntagrus",
    "chinese-gsd",
]
OTHERS = [
    "ptb",
    "ctb",
    "ctb-dependency",
    "ud",
    "gum",
    "masc",
    "genia",
    "craft",
    "icelandic",
    "faroese",
    "indonesian",
    "keyaki",
    "sinica",
    "alpino",
]
MINIMAL = """title = "t"
language = "en"
licence = "l"
get = "g"
has = "both"
[[layouts]]
about = "a"
trees = "{name}.ptb"
names = { train = ["train"] }
"""


def test_all_treebanks_of_the_paper_have_a_recipe() -> None:
    expected = {*OTHERS, *(f"spmrl-{name}" for name in SPMRL), *(f"ud-{name}" for name in UD)}
    world = {name for name in known_recipes() if name.startswith("world-")}
    assert expected | {"brackets", "conllu", "parallel"} == set(known_recipes()) - world


def test_the_table_of_languages_has_those_that_models_are_made_for() -> None:
    wanted = """af ar ca cs cy da de es fa fi fo fr ga gl he hi hr hy id is it ja ko lt lv nb nl nn pl pt ro ru sk sl sr
        sv th tr vi zh"""
    assert {f"world-{name}" for name in wanted.split()} <= set(known_recipes())


@pytest.mark.parametrize("name", [name for name in known_recipes() if name.startswith("world-")])
def test_a_language_has_data_to_train_and_to_choose(name: str) -> None:
    recipe = load_recipe(name)
    (layout,) = recipe.layouts
    assert layout.divide == (9, 1, 0) if "all" in layout.names else set(layout.names) == {"train", "dev"}
    files = [file for names in layout.names.values() for file in cast("tuple[str, ...]", names)]
    assert len(set(files)) == len(files)
    assert set(layout.version1) <= set(files)
    assert "NC" not in recipe.licence


@pytest.mark.parametrize("name", known_recipes())
def test_a_recipe_says_all_that_a_user_asks(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.title
    assert recipe.licence
    assert recipe.get
    assert recipe.language
    for layout in recipe.layouts:
        assert set(layout.names) in ({"all"}, set(SPLITS)) or name.startswith("world-") or name == "alpino"
        makes_dependencies = layout.dependencies is None and name not in ("brackets", "conllu", "alpino")
        assert not makes_dependencies or recipe.scheme is not None


@pytest.mark.parametrize("name", sorted({r.scheme for r in map(load_recipe, known_recipes()) if r.scheme}))
def test_the_rules_a_recipe_names_load(name: str) -> None:
    assert load_scheme(need_scheme(name)).name == name


def test_the_scoring_parameters_a_recipe_names_load() -> None:
    scorings = {recipe.scoring for recipe in map(load_recipe, known_recipes()) if recipe.scoring is not None}
    assert scorings == {"collins", "spmrl", "spmrl-hebrew"}
    assert all(load_parameters(name) for name in scorings)


def test_an_unknown_treebank_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="unknown treebank 'ptp'; known: alpino, brackets, conllu, craft, ctb"):
        load_recipe("ptp")


def test_a_recipe_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINIMAL, encoding="utf-8")
    recipe = load_recipe(str(file))
    assert (recipe.name, recipe.layouts[0].trees) == ("mine", "{name}.ptb")
    file.write_text(MINIMAL.replace('"l"', '"CC0"'), encoding="utf-8")
    assert load_recipe(str(file)).checksum != recipe.checksum


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "t"', "", "mine.toml: option title is missing"),
        (
            'title = "t"',
            'titel = "t"',
            "mine.toml: unknown option titel .*; accepted here: name, title",
        ),
        ('title = "t"', "title = 3", "mine.toml: option title: expected a string, found 3"),
        ('title = "t"', "title = ", "mine.toml: not a TOML file"),
        (
            'has = "both"',
            'has = "none"',
            "option has: 'none' is not known; accepted: 'constituents', 'dep",
        ),
        ('trees = "{name}.ptb"', "", "layout 1: neither trees nor dependencies"),
        ("[[layouts]]", "[layouts]", "mine.toml: option layouts"),
        ("train = [", "trian = [", "names of trian; expected a table of train, dev, test or of all"),
        ('about = "a"', 'about = "a"\ndrop_words = "("', "drop_words is not a regular expression"),
        ('train = ["train"]', 'train = "train"', "option layouts.0..names.train: expected a list, found 'train'"),
        ('train = ["train"]', "train = 5", "option layouts.0..names.train: expected a list, found 5"),
        ('train = ["train"]', "train = { fiel = 5 }", "unknown option layouts.0..names.train.fiel"),
        ('about = "a"', 'about = "a"\ndivide = ["a", "b", "c"]', "divide.0.: expected a whole number, found 'a'"),
        ('about = "a"', 'about = "a"\ndivide = [8, 1]', "divide: expected a list of 3, found one of 2"),
        ('about = "a"', 'about = "a"\nencodings = [1, 2]', "encodings.0.: expected a string, found 1"),
        ('title = "t"', "title = " + "9" * 5000, "mine.toml: not a TOML file: Exceeds the limit"),
        ('title = "t"', "title = " + "[" * 5000, "mine.toml: tables or lists inside each other too deep"),
        ('about = "a"', 'about = "a"\ndivide = [0, 1, 1]', r"divide = \[0, 1, 1\]; expected three numbers"),
    ],
)
def test_a_broken_recipe_says_where(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINIMAL.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_recipe(str(file))


def test_a_missing_recipe_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        load_recipe(str(tmp_path / "none.toml"))
