"""Preparing miniature treebanks laid out like the real ones."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest

from h3n import formats
from h3n.errors import FormatError, InputError, UnknownName, UsageError
from h3n.prepare import Options, prepare
from h3n.treebanks import SPLITS, load_recipe
from h3n.trees import ROOT, Constituent, leaves, spans_of
from tests.treebanks.miniature import (
    CHINESE,
    GENIA,
    GERMAN,
    GERMAN_CONLL,
    PENN,
    PENN_WORDS,
    both,
    brackets,
    conllu,
    in_splits,
    need_scheme,
    penn,
    put,
)

OPTIONS = Options()
KEEP_GOING = Options(keep_going=True)


def labels(tree: Constituent) -> list[str]:
    return [span.label for span in spans_of(tree)]


def test_penn_treebank(tmp_path: Path) -> None:
    report = prepare("ptb", penn(tmp_path / "in"), tmp_path / "out", options=OPTIONS)
    counts = {name: (split.sentences, split.words) for name, split in report.splits.items()}
    assert counts == {"train": (40, 440), "dev": (2, 22), "test": (2, 22)}
    tree, sentence = next(both(tmp_path / "out"))
    assert sentence.words == PENN_WORDS
    assert sentence.tags is not None
    assert sentence.tags[:3] == ("DT", "JJ", "NN")
    assert tree.label == "TOP"
    assert labels(tree) == ["S", "NP", "VP", "VP", "PP", "NP"]  # no trace, no function tag
    assert sentence.dependencies is not None
    assert sentence.dependencies.governors == (2, 2, 4, 4, ROOT, 4, 9, 9, 9, 5, 4)
    assert sentence.dependencies.relations[2] == "nsubjpass"
    assert "the literature counts 39,832 sentences here" in "\n".join(report.lines())


def test_function_tags_are_kept_on_request(tmp_path: Path) -> None:
    prepare("ptb", penn(tmp_path / "in"), tmp_path / "out", options=Options(functions=True, splits=("dev",)))
    assert "NP-SBJ-1" in labels(next(both(tmp_path / "out", "dev"))[0])


@pytest.mark.parametrize(("recipe", "numbers"), [("ctb", (271, 301)), ("ctb-dependency", (1137, 1148))])
@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_chinese_treebank(tmp_path: Path, recipe: str, numbers: tuple[int, int], encoding: str) -> None:
    for n in [*range(1, 326), 500, 820, 890, *range(1001, 1152)]:
        file = tmp_path / f"in/bracketed/chtb_{n:03}.fid"
        file.parent.mkdir(parents=True, exist_ok=True)
        raw = CHINESE.format(number=n).encode(encoding)
        file.write_bytes(gzip.compress(raw) if n == 1 else raw)
    # Rules of another language do for this: they know none of the labels and still give a tree.
    report = prepare(recipe, tmp_path / "in", tmp_path / "out", options=Options(scheme="sd"))
    expected = {"ctb": (270 + 1 + 1 + 1 + 151, 25, 30), "ctb-dependency": (325 + 1 + 136, 1 + 4, 1 + 11)}[recipe]
    assert tuple(split.sentences for split in report.splits.values()) == expected
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert all(f"bracketed/chtb_{number:03}.fid" in manifest["sources"] for number in numbers)
    tree, sentence = next(both(tmp_path / "out"))
    assert sentence.words == ("句法", "分析", "句子", "。")
    assert labels(tree) == ["IP", "NP", "VP", "NP"]


def test_markup_between_trees_keeps_line_numbers(tmp_path: Path) -> None:
    files = {f"bracketed/chtb_{n:03}.fid": CHINESE.format(number=n) for n in [*range(1, 326), 500, 1001]}
    files["bracketed/chtb_002.fid"] = CHINESE.format(number=2).replace("(PU 。)))", "(PU 。))")
    with pytest.raises(FormatError, match=r"chtb_002\.fid:5: "):
        prepare("ctb", put(tmp_path / "in", files), tmp_path / "out", options=Options(scheme="sd"))


def spmrl(root: Path, *, conll: bool = True) -> Path:
    files = in_splits("GERMAN_SPMRL/gold/ptb/{0}/{0}.German.gold.ptb", GERMAN)
    if conll:
        files |= in_splits("GERMAN_SPMRL/gold/conll/{0}/{0}.German.gold.conll", GERMAN_CONLL)
    return put(root, files)


def test_shared_task_with_its_own_dependencies(tmp_path: Path) -> None:
    prepare("spmrl-german", spmrl(tmp_path / "in"), tmp_path / "out", options=OPTIONS)
    tree, sentence = next(both(tmp_path / "out"))
    assert sentence.words == ("Der", "Hund", "bellt", ".")
    assert [leaf.tag for leaf in leaves(tree)] == ["ART", "NN", "VVFIN", "$."]
    assert sentence.dependencies is not None
    assert sentence.dependencies.relations == ("NK", "SB", "--", "--")
    assert sentence.lemmas is not None
    assert sentence.lemmas[0] == "der"


def test_shared_task_with_dependencies_by_rules(tmp_path: Path) -> None:
    options = Options(scheme=need_scheme("generic:de"))
    report = prepare("spmrl-german", spmrl(tmp_path / "in"), tmp_path / "out", options=options)
    assert report.splits["dev"].dependencies_made == 1
    prepare("spmrl-german", spmrl(tmp_path / "alone", conll=False), tmp_path / "second", options=OPTIONS)
    assert (tmp_path / "out/train.conllu").read_bytes() == (tmp_path / "second/train.conllu").read_bytes()


def test_universal_dependencies(tmp_path: Path) -> None:
    text = "# sent_id = 1\n" + conllu("a b c d", heads={"a": 3, "b": 0, "c": 2, "d": 2})
    put(tmp_path / "in/UD_Xx-Y", in_splits("xx_y-ud-{}.conllu", text))
    report = prepare("ud", tmp_path / "in/UD_Xx-Y", tmp_path / "out", options=OPTIONS)
    assert (tmp_path / "out/dev.conllu").read_text(encoding="utf-8") == text
    assert (tmp_path / "out/dev.ptb").read_text(encoding="utf-8") == ("(TOP (S (TAG a) (TAG b) (TAG c) (TAG d)))\n")
    assert (report.splits["dev"].lifted, report.splits["dev"].projective) == (1, 0)
    assert "1 parts lifted, 75.00 % of all governors" in "\n".join(report.lines())


def test_labels_of_phrases_with_subtypes(tmp_path: Path) -> None:
    put(tmp_path / "in", in_splits("{}.conllu", conllu("a b c", heads={"c": 2})))
    prepare("conllu", tmp_path / "in", tmp_path / "out", options=Options(labels="full"))
    assert labels(next(both(tmp_path / "out"))[0]) == ["root", "dep:x"]
    with pytest.raises(UnknownName, match="known: full, main, names"):
        prepare("conllu", tmp_path / "in", tmp_path / "no", options=Options(labels="all"))


def test_words_with_blanks_can_be_read_back(tmp_path: Path) -> None:
    put(tmp_path / "in", in_splits("{}.conllu", conllu("1000 b").replace("1000", "1 000")))
    report = prepare("conllu", tmp_path / "in", tmp_path / "out", options=OPTIONS)
    assert report.splits["train"].words_with_blanks == 1
    read = next(formats.read(tmp_path / "out/train.ptb"))
    assert read.words == ("1_000", "b")
    pairs = formats.pair(formats.read(tmp_path / "out/train.ptb"), formats.read(tmp_path / "out/train.conllu"))
    sentence = next(pairs)
    assert sentence.words == ("1 000", "b")
    assert sentence.tree is not None
    assert [leaf.word for leaf in leaves(sentence.tree)] == ["1 000", "b"]


def gum(root: Path) -> Path:
    splits = "".join(f"## {split}\n\n  * GUM_{split}_a\n  * GUM_{split}_reddit\n\n" for split in SPLITS)
    files = {"splits.md": splits}
    for split in SPLITS:
        for name, text in (("a", "so it goes"), ("reddit", "_ ___ _")):
            files[f"const/GUM_{split}_{name}.ptb"] = brackets(text)
            files[f"dep/GUM_{split}_{name}.conllu"] = conllu(text)
    return put(root, files)


def test_documents_without_text_are_left_out(tmp_path: Path) -> None:
    report = prepare("gum", gum(tmp_path / "in"), tmp_path / "out", options=OPTIONS)
    assert [split.sentences for split in report.splits.values()] == [1, 1, 1]
    finding = report.splits["dev"].findings[0]
    assert finding.where == "dep/GUM_dev_reddit.conllu:1"
    assert report.problems == 0
    assert "1 x left out: no text, its words are blanked" in "\n".join(report.lines())


def test_genia_xml(tmp_path: Path) -> None:
    files = {f"mclosky/{split}.pmids": f"{n}\n" for n, split in enumerate(SPLITS)}
    files |= {f"original_data/GENIA_treebank_v1/{n}.xml": GENIA.format(name=n) for n in range(3)}
    report = prepare("genia", put(tmp_path / "in", files), tmp_path / "out", options=OPTIONS)
    (_, title), (tree, sentence) = both(tmp_path / "out")
    assert title.words == ("Cells", ".")
    assert sentence.words == ("They", "grow", ".")
    assert labels(tree) == ["S", "NP", "VP"]
    assert report.splits["train"].sentences == 2
    broken = GENIA.format(name=1).replace("</cons>", "", 1)
    put(tmp_path / "in", {"original_data/GENIA_treebank_v1/1.xml": broken})
    with pytest.raises(FormatError, match=r"1\.xml:4: no XML: mismatched tag; expected GENIA XML"):
        prepare("genia", tmp_path / "in", tmp_path / "no", options=OPTIONS)
    report = prepare("genia", tmp_path / "in", tmp_path / "some", options=KEEP_GOING)
    assert (report.problems, report.splits["test"].sentences) == (1, 2)


def test_craft_may_spell_quotes_in_two_ways(tmp_path: Path) -> None:
    files = {f"articles/ids/craft-ids-{split}.txt": f"{n}\n" for n, split in enumerate(SPLITS)}
    for n in range(3):
        files[f"structural-annotation/treebank/penn/{n}.tree"] = brackets("`` so '' it goes")
        files[f"structural-annotation/dependency/conllu/{n}.conllu"] = conllu('" so " it goes')
    prepare("craft", put(tmp_path / "in", files), tmp_path / "out", options=OPTIONS)
    assert next(both(tmp_path / "out"))[1].words[0] == '"'


def test_historical_corpora_from_their_own_files(tmp_path: Path) -> None:
    psd = "( (IP-MAT (NP-SBJ (PRO-N hann-hann)) (VBDI fór-fara) (C 0) (NP-OB1 *T*-1) (. .-.)) (ID 1150.X,.1))\n"
    texts = ["1250.thetubrot.nar-sag", "1450.bandamenn.nar-sag", "1888.other.nar-fic"]
    (tmp_path / "in").mkdir()
    for text in texts:
        put(tmp_path / "in", {f"psd/{text}.psd": psd})
    report = prepare("icelandic", tmp_path / "in", tmp_path / "out", options=Options(splits=("train",), scheme="sd"))
    assert next(both(tmp_path / "out"))[1].words == ("hann", "fór", ".")
    assert report.splits["train"].sentences == 1


def test_the_keyaki_treebank_is_dealt_out(tmp_path: Path) -> None:
    psd = "( (IP-MAT (NP-SBJ *speaker*) (NP (N 駅)) (VB 着い) (AXD た) (PU 。)) (ID 1_aozora_X;JP))\n"
    put(
        tmp_path / "in",
        {"treebank/aozora_A-1900.psd": psd * 7, "treebank/aozora_B-1900.psd": psd * 4, "treebank/b.psd": "x"},
    )
    report = prepare("keyaki", tmp_path / "in", tmp_path / "out", options=Options(scheme="sd"))
    assert [split.sentences for split in report.splits.values()] == [9, 1, 1]
    assert next(both(tmp_path / "out"))[1].words == ("駅", "着い", "た", "。")


@pytest.mark.parametrize("name", ["ctb", "spmrl-polish", "indonesian"])
def test_the_recipe_says_which_rules_make_dependencies(tmp_path: Path, name: str) -> None:
    scheme = need_scheme(str(load_recipe(name).scheme))
    layout = load_recipe(name).layouts[-1]
    if name == "ctb":
        files = {f"chtb_{n:03}.fid": CHINESE.format(number=n) for n in [*range(1, 326), 500, 1001]}
    else:
        files = {str(layout.trees).split("|")[0].replace("{name}", split): brackets("a b") for split in SPLITS}
    report = prepare(name, put(tmp_path / "in", files), tmp_path / "out", options=OPTIONS)
    assert report.splits["dev"].dependencies_made == report.splits["dev"].sentences > 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["dependencies"] == f"made by scheme {scheme}"


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_ones_own_is_divided(tmp_path: Path, packed: bool) -> None:
    text = conllu(*(f"a{n} b" for n in range(25)))
    file = tmp_path / ("mine.conllu.gz" if packed else "mine.conllu")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(InputError, match="give --divide 8/1/1, or one split with --splits train"):
        prepare("conllu", file, tmp_path / "out", options=OPTIONS)
    report = prepare("conllu", file, tmp_path / "out", options=Options(divide=(3, 1, 1)))
    assert [split.sentences for split in report.splits.values()] == [15, 5, 5]
    assert [s.words[0] for _, s in both(tmp_path / "out", "dev")] == ["a3", "a8", "a13", "a18", "a23"]
    whole = prepare("conllu", file, tmp_path / "whole", options=Options(splits=("dev",)))
    assert {name: split.sentences for name, split in whole.splits.items()} == {"dev": 25}


def test_brackets_of_ones_own_need_rules(tmp_path: Path) -> None:
    put(tmp_path / "in", in_splits("my-{}.mrg", PENN))
    with pytest.raises(UsageError, match="brackets has no dependencies; say how to make them, such as --scheme"):
        prepare("brackets", tmp_path / "in", tmp_path / "out", options=OPTIONS)
    report = prepare("brackets", tmp_path / "in", tmp_path / "out", options=Options(scheme="sd"))
    assert report.splits["test"].dependencies_made == 1


def test_rules_make_no_sense_without_trees(tmp_path: Path) -> None:
    put(tmp_path / "in", in_splits("{}.conllu", conllu("a b")))
    with pytest.raises(UsageError, match="--scheme sd makes dependencies of trees, and conllu has none"):
        prepare("conllu", tmp_path / "in", tmp_path / "out", options=Options(scheme="sd"))


def test_the_same_sources_give_the_same_bytes_and_true_checksums(tmp_path: Path) -> None:
    source = gum(tmp_path / "in")
    moved = source.rename(tmp_path / "elsewhere")
    source = gum(tmp_path / "in")
    prepare("gum", source, tmp_path / "first", options=OPTIONS)
    prepare("gum", moved, tmp_path / "second", options=OPTIONS)
    files = sorted(file.name for file in (tmp_path / "first").iterdir())
    assert files == sorted(
        [f"{split}.{kind}" for split in SPLITS for kind in ("ptb", "conllu")]
        + ["manifest.json", "report.json", "report.txt"]
    )
    for name in files:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    manifest = json.loads((tmp_path / "first/manifest.json").read_text(encoding="utf-8"))
    for name, digest in manifest["outputs"].items():
        assert sha256((tmp_path / "first" / name).read_bytes()).hexdigest() == digest
    for name, digest in manifest["sources"].items():
        assert sha256((source / name).read_bytes()).hexdigest() == digest
    assert "splits.md" in manifest["sources"]
    assert manifest["splits"]["dev"] == {"sentences": 1, "words": 3, "findings": 1}


OLD_ROWS = """1\ttea\t_\tNOUN\t_\t_\t0\troot\t_\t_
2\tand\t_\tCONJ\t_\t_\t1\tcc\t_\t_
3\tmilk\t_\tNOUN\t_\t_\t1\tconj\t_\t_

"""


def test_version_1_is_renamed_on_request(tmp_path: Path) -> None:
    (tmp_path / "xx_old-ud-train.conllu").write_text(OLD_ROWS, encoding="utf-8")
    options = Options(splits=("train",), from_version=1)
    prepare("ud", tmp_path, tmp_path / "out", options=options)
    (sentence,) = formats.read(tmp_path / "out" / "train.conllu")
    assert sentence.upos == ("NOUN", "CCONJ", "NOUN")
    assert sentence.dependencies is not None
    assert sentence.dependencies.governors == (ROOT, 2, 0)


def test_a_language_of_the_table_is_whole_files_and_divided_ones(tmp_path: Path) -> None:
    """Of divided files every tenth sentence is dev; what the table says is version 1 is renamed; nothing else is."""
    files = {
        "more/nl-lassysmall/nl_lassysmall-ud-dev.conllu": 20,
        "more/nl-lassysmall/nl_lassysmall-ud-train.conllu": 3,
    }
    for name, count in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(OLD_ROWS * count, encoding="utf-8")
    report = prepare("world-nl", tmp_path, tmp_path / "out", options=Options())
    assert {name: split.sentences for name, split in report.splits.items()} == {"train": 21, "dev": 2}
    tags = [sentence.upos[1] for sentence in formats.read(tmp_path / "out" / "train.conllu") if sentence.upos]
    assert tags == ["CONJ"] * 18 + ["CCONJ"] * 3
    assert not (tmp_path / "out" / "test.conllu").exists()


ALPINO = """<!-- FILE a.xml -->
<?xml version="1.0" encoding="UTF-8"?>
<alpino_ds version="1.3"><node begin="0" end="5" cat="top" rel="top">
<node begin="0" end="4" cat="smain" rel="--">
<node begin="0" end="4" cat="np" rel="obj1"><node begin="0" end="1" pt="vnw" rel="hd" word="Wat"/>
<node begin="3" end="4" pt="adj" rel="mod" word="leuks"/></node>
<node begin="1" end="2" pt="ww" rel="hd" word="zag"/><node begin="2" end="3" pt="vnw" rel="su" word="jij"/>
<node begin="0" end="1" index="1" rel="su"/></node>
<node begin="4" end="5" pt="let" rel="--" word="?"/></node></alpino_ds>
"""


def test_alpino_has_both_trees_and_stray_children_are_raised(tmp_path: Path) -> None:
    for part in ("train", "dev"):
        put(tmp_path / "in", {f"{part}.xml": ALPINO * 2})
    prepare("alpino", tmp_path / "in", tmp_path / "out", options=Options())
    (sentence, _) = formats.read(tmp_path / "out" / "dev.conllu")
    assert sentence.dependencies is not None
    assert sentence.dependencies.governors == (1, ROOT, 1, 0, 1)
    assert sentence.dependencies.relations == ("obj1", "root", "su", "mod", "punct")
    tree = "(TOP (SMAIN (NP (vnw Wat)) (ww zag) (vnw jij) (adj leuks)) (let ?))\n"
    assert (tmp_path / "out" / "dev.ptb").read_text(encoding="utf-8") == tree * 2
