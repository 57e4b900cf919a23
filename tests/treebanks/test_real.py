"""The treebanks of the data folder, for real; only splits that are there for development."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from h3n import formats
from h3n.convert import join, split
from h3n.convert.phrases import to_phrases
from h3n.prepare import Options, prepare
from h3n.treebanks import load_recipe
from h3n.trees import Sentence, is_projective, leaves
from tests.treebanks.miniature import need_scheme, put

# sentences, words and moved governors of the development splits, as the sources' own description counts the first two
BOTH = {
    "gum": (1575, 28119),
    "masc": (577, 9760),
    "genia": (1361, 36181),
    "icelandic": (1322, 20979),
    "faroese": (264, 7221),
    "sinica": (1000, 9244),
}
CONSISTENT = {"genia", "sinica", "craft"}  # here the dependencies were made from the trees


@pytest.mark.parametrize("name", sorted(BOTH))
def test_development_splits_with_both_trees(data: Path, tmp_path: Path, name: str) -> None:
    report = prepare(name, data, tmp_path / "out", options=Options(splits=("dev",))).splits["dev"]
    assert (report.sentences, report.words) == BOTH[name]
    assert report.findings == []
    assert (report.join.moved == 0) == (name in CONSISTENT)
    trees = formats.read(tmp_path / "out/dev.ptb")
    for tree, words in zip(trees, formats.read(tmp_path / "out/dev.conllu"), strict=True):
        assert tree.words == words.words


def test_the_repository_of_gum_gives_the_same_as_files_per_split(data: Path, tmp_path: Path) -> None:
    documents: dict[str, tuple[list[Sentence], list[Sentence]]] = {}
    trees = formats.read(data / "gum/dev.ptb.xz")
    for tree, sentence in islice(zip(trees, formats.read(data / "gum/dev.conllu.xz"), strict=True), 300):
        for comment in sentence.comments:
            if comment.startswith("# newdoc id = "):
                name = comment.removeprefix("# newdoc id = ")
                documents[name] = [], []
        documents[name][0].append(tree)
        documents[name][1].append(sentence)
    put(tmp_path / "gum", {"splits.md": "".join(["## dev\n\n", *(f"  * {name}\n" for name in documents)])})
    for name, (left, right) in documents.items():
        for folder, kind, sentences in (("const", "ptb", left), ("dep", "conllu", right)):
            (tmp_path / "gum" / folder).mkdir(exist_ok=True)
            formats.write(sentences, tmp_path / "gum" / folder / f"{name}.{kind}")
    assert len(documents) > 3
    options = Options(splits=("dev",))
    prepare("gum", tmp_path / "gum", tmp_path / "repository", options=options)
    prepare("gum", data, tmp_path / "files", options=options)
    for kind in ("ptb", "conllu"):
        few, all_ = ((tmp_path / out / f"dev.{kind}").read_bytes() for out in ("repository", "files"))
        assert all_.startswith(few)
        assert len(few) > 100_000 // (10 if kind == "ptb" else 1)


def test_craft_with_its_two_ways_to_write_quotes(data: Path, tmp_path: Path) -> None:
    report = prepare("craft", data / "craft", tmp_path / "out", options=Options(splits=("dev",))).splits["dev"]
    assert (report.sentences, report.words, report.join.moved) == (2778, 67488, 0)


@pytest.mark.parametrize(("name", "splits", "sentences"), [("indonesian", ("dev",), 1000), ("keyaki", ("dev",), 780)])
def test_constituents_alone_get_dependencies(
    data: Path, tmp_path: Path, name: str, splits: tuple[str, ...], sentences: int
) -> None:
    need_scheme(str(load_recipe(name).scheme))
    report = prepare(name, data, tmp_path / "out", options=Options(splits=splits)).splits["dev"]
    assert report.sentences == report.dependencies_made == sentences
    assert report.join.consistent > 0.9 * sentences


def test_a_treebank_by_its_folder_name(data: Path, tmp_path: Path) -> None:
    report = prepare("ud-german-gsd", data, tmp_path / "out", options=Options(splits=("dev",))).splits["dev"]
    assert (report.sentences, report.words) == (799, 12486)
    assert report.sentences - report.projective == 50  # the 6.26 % of the treebank's description
    assert report.lifted == report.join.moved


@pytest.mark.parametrize(
    "name", ["nonproj/grc_perseus-ud-dev", "nonproj/la_perseus-ud-train", "fi_tdt-ud-dev", "ko_kaist-ud-dev"]
)
def test_phrases_of_every_sentence(data: Path, name: str) -> None:
    lifted = 0
    for sentence in formats.read(data / f"ud/{name}.conllu.xz"):
        assert sentence.dependencies is not None
        made = to_phrases(sentence.dependencies, sentence.words, sentence.upos)
        assert tuple(leaf.word for leaf in leaves(made.tree)) == sentence.words
        assert split(join(made.tree, sentence.dependencies).tree) == (made.tree, made.dependencies)
        assert (made.lifted == 0) == is_projective(sentence.dependencies.governors)
        lifted += made.lifted
    assert lifted > 0
