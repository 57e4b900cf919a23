"""Finding the files of a treebank, and saying which one was expected."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest

from h3n.errors import InputError
from h3n.treebanks import load_recipe, locate_treebank
from tests.treebanks.miniature import penn, put


def names(found: object, split: str) -> list[str]:
    return [(pair.trees or pair.dependencies).name for pair in found.files[split]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "below", ["parsed/mrg/wsj", "treebank_3/parsed/mrg/wsj", "TREEBANK_3/PARSED/MRG/WSJ", "wsj", ""]
)
def test_sections_of_the_penn_treebank(tmp_path: Path, below: str) -> None:
    found = locate_treebank(load_recipe("ptb"), penn(tmp_path, below=below))
    assert names(found, "train") == [f"wsj_{n:02}01.mrg" for n in range(2, 22)]
    assert names(found, "dev") == ["wsj_2201.mrg"]
    assert names(found, "test") == ["wsj_2301.mrg"]


def test_the_revised_penn_treebank(tmp_path: Path) -> None:
    put(tmp_path, {f"data/penntree/{n:02}/wsj_{n:02}01.tree": "" for n in range(25)})
    assert names(locate_treebank(load_recipe("ptb"), tmp_path), "dev") == ["wsj_2201.tree"]


def test_a_missing_section_is_named(tmp_path: Path) -> None:
    source = penn(tmp_path)
    shutil.rmtree(source / "parsed/mrg/wsj/07")
    with pytest.raises(InputError, match=r"wsj: expected 07/wsj_\*\.mrg \(treebank_3.*--splits dev,test does without"):
        locate_treebank(load_recipe("ptb"), source)
    assert set(locate_treebank(load_recipe("ptb"), source, splits=("dev",)).files) == {"dev"}


def test_a_wrong_folder_is_told_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a folder of ptb; expected parsed/mrg/wsj/02/wsj_\*\.mrg .*wsj_\*\.tree"):
        locate_treebank(load_recipe("ptb"), tmp_path)
    with pytest.raises(InputError, match=r"expected splits\.md \(the repository\), or train\.ptb"):
        locate_treebank(load_recipe("gum"), tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        locate_treebank(load_recipe("gum"), tmp_path / "none")
    with pytest.raises(InputError, match="is a file; expected the folder of gum"):
        locate_treebank(load_recipe("gum"), put(tmp_path, {"x.ptb": ""}) / "x.ptb")


def chinese_articles(numbers: list[int], *, width: int = 3, ending: str = "fid") -> dict[str, str]:
    return {f"data/bracketed/chtb_{n:0{width}}.{ending}": "" for n in numbers}


ARTICLES = [*range(1, 326), *range(400, 455), *range(600, 886), 900, *range(1001, 1152)]


@pytest.mark.parametrize(("width", "ending"), [(3, "fid"), (4, "nw")])
def test_articles_of_the_chinese_treebank_have_gaps(tmp_path: Path, width: int, ending: str) -> None:
    put(tmp_path, chinese_articles(ARTICLES, width=width, ending=ending))
    found = locate_treebank(load_recipe("ctb"), tmp_path)
    numbers = {split: [int(name[5:].split(".")[0]) for name in names(found, split)] for split in found.files}
    assert numbers["train"] == [n for n in ARTICLES if n <= 270 or n >= 440]
    assert numbers["dev"] == list(range(301, 326))
    assert numbers["test"] == list(range(271, 301))
    dependency = locate_treebank(load_recipe("ctb-dependency"), tmp_path)
    assert names(dependency, "test")[0] == f"chtb_{816:0{width}}.{ending}"
    assert len(dependency.files["dev"]) == 5


def test_an_article_that_must_be_there_is_named(tmp_path: Path) -> None:
    put(tmp_path, chinese_articles([n for n in ARTICLES if n != 305]))
    with pytest.raises(
        InputError, match=r"expected chtb_305\.fid\|chtb_305\.fid\.utf8 .*--splits train,test does without"
    ):
        locate_treebank(load_recipe("ctb"), tmp_path)


def test_lists_of_documents(tmp_path: Path) -> None:
    lists = {"dev": "GUM_a_b", "test": "GUM_c_d", "test2": "GENTLE_e_f", "train": "GUM_g_h"}
    splits = "# Splits\n" + "".join(f"\n## {split}\n\n  * {name}\n" for split, name in lists.items())
    files = {f"{folder}/GUM_{name}.{ending}": "" for name in ("a_b", "c_d", "g_h") for folder, ending in
             (("const", "ptb"), ("dep", "conllu"))}  # fmt: skip
    found = locate_treebank(load_recipe("gum"), put(tmp_path, {"splits.md": splits, **files}))
    assert names(found, "train") == ["GUM_g_h.ptb"]
    assert [path.name for path in found.lists] == ["splits.md"] * 3
    (tmp_path / "dep/GUM_c_d.conllu").unlink()
    with pytest.raises(InputError, match=r"expected dep/GUM_c_d\.conllu \(the repository\); --splits train,dev"):
        locate_treebank(load_recipe("gum"), tmp_path)


def test_what_no_other_split_names_is_for_training(tmp_path: Path) -> None:
    recipe = load_recipe("icelandic")
    layout = recipe.layouts[1]
    texts = [*layout.names["dev"], *layout.names["test"], "1888.other.nar-fic", "1150.homiliubok.rel-ser"]  # type: ignore[misc]
    found = locate_treebank(recipe, put(tmp_path, {f"psd/{text}.psd": "" for text in texts}))
    assert names(found, "train") == ["1150.homiliubok.rel-ser.psd", "1888.other.nar-fic.psd"]
    assert set(locate_treebank(recipe, tmp_path, splits=("train",)).files) == {"train"}


def test_compressed_files_are_found(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.txt.xz").write_bytes(lzma.compress(b""))
    assert names(locate_treebank(load_recipe("indonesian"), tmp_path), "dev") == ["dev.txt.xz"]


def test_no_tree_is_read_twice(tmp_path: Path) -> None:
    put(tmp_path, {f"{name}.{kind}": "" for name in ("train", "dev", "test") for kind in ("ptb", "ptb.xz", "mrg")})
    assert names(locate_treebank(load_recipe("brackets"), tmp_path), "train") == ["train.ptb"]
    put(tmp_path, {f"{name}.clean.ptb": "" for name in ("train", "dev", "test")})
    put(tmp_path, {f"{name}.conllu": "" for name in ("train", "dev", "test")})
    assert names(locate_treebank(load_recipe("masc"), tmp_path), "train") == ["train.clean.ptb"]


def test_a_numbering_with_gaps_has_some_file(tmp_path: Path) -> None:
    put(tmp_path, chinese_articles([n for n in ARTICLES if n < 886 or 1000 < n < 1148]))
    with pytest.raises(InputError, match=r"expected chtb_886~931 1148~1151\.fid"):
        locate_treebank(load_recipe("ctb-dependency"), tmp_path)


def test_a_folder_of_several_treebanks_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"xx_a-ud-dev.conllu": "", "xx_b-ud-dev.conllu": ""})
    with pytest.raises(InputError, match=r"files of 2 treebanks \(xx_a, xx_b\); expected a folder with one"):
        locate_treebank(load_recipe("ud"), tmp_path, splits=("dev",))


def test_train_files_in_parts(tmp_path: Path) -> None:
    put(tmp_path, {f"cs_pdt-ud-{part}.conllu": "" for part in ("train-l", "train-c", "dev", "test")})
    found = locate_treebank(load_recipe("ud-czech-pdt"), tmp_path)
    assert names(found, "train") == ["cs_pdt-ud-train-c.conllu", "cs_pdt-ud-train-l.conllu"]


@pytest.mark.parametrize("spelling", ["Swedish", "swedish"])
def test_the_shared_task_of_2014(tmp_path: Path, spelling: str) -> None:
    def files(kind: str, ending: str) -> dict[str, str]:
        splits = ("train5k", "dev", "test")
        return {f"SWEDISH_SPMRL/gold/{kind}/{s}/{s}.{spelling}.gold.{ending}": "" for s in splits}

    recipe = load_recipe("spmrl-swedish")
    found = locate_treebank(recipe, put(tmp_path, files("ptb", "ptb")))
    assert found.files["train"][0].dependencies is None
    found = locate_treebank(recipe, put(tmp_path, files("conll", "conll")))
    assert found.files["train"][0].dependencies is not None
    assert locate_treebank(recipe, tmp_path, trees_only=True).files["train"][0].dependencies is None


def test_pairs_of_files_without_a_split(tmp_path: Path) -> None:
    put(tmp_path, {"a.ptb": "", "a.conllu": "", "b.ptb": "", "b.conllu": ""})
    found = locate_treebank(load_recipe("parallel"), tmp_path, divided=True)
    assert [(p.trees.name, p.dependencies.name) for p in found.files["all"] if p.trees and p.dependencies] == [
        ("a.ptb", "a.conllu"),
        ("b.ptb", "b.conllu"),
    ]
    (tmp_path / "b.conllu").unlink()
    put(tmp_path, {"c.conllu": ""})
    with pytest.raises(InputError, match=r"expected \*\.conllu for b\.ptb"):
        locate_treebank(load_recipe("parallel"), tmp_path, divided=True)
