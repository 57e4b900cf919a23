"""Treebanks to learn from: merged, joined, numbered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from h3n.config import Data, Treebank
from h3n.engine.vocabulary import count_vocabulary
from h3n.errors import InputError, MismatchError, UsageError
from h3n.training.data import Example, load_examples, make_example, number, read_treebank, seen
from h3n.trees import Constituent, Dependencies, Leaf, Sentence

BRACKETS = "(ROOT (S (NP-SBJ (DT The) (RB very) (JJ red) (NN car)) (VP (VBD stopped) (-NONE- *T*)) (. .)))\n"
ROWS = [
    ("The", "DET", "DT", 4, "det"),
    ("very", "ADV", "RB", 3, "advmod"),
    ("red", "ADJ", "JJ", 4, "amod"),
    ("car", "NOUN", "NN", 5, "nsubj"),
    ("stopped", "VERB", "VBD", 0, "root"),
    (".", "PUNCT", ".", 5, "punct"),
]


def conllu(rows: list[tuple[str, str, str, int, str]]) -> str:
    lines = [
        "\t".join([str(at), word, "_", upos, tag, "_", str(governor), relation, "_", "_"])
        for at, (word, upos, tag, governor, relation) in enumerate(rows, start=1)
    ]
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "t.ptb").write_text(BRACKETS)
    (tmp_path / "t.conllu").write_text(conllu(ROWS))
    return str(tmp_path / "t.ptb"), str(tmp_path / "t.conllu")


def test_two_files_become_one_sentence_and_its_trees_one_tree(files: tuple[str, str]) -> None:
    (example,) = load_examples([Treebank(files=files, weight=0.5)], data=Data())
    assert example.sentence.words == ("The", "very", "red", "car", "stopped", ".")
    assert example.sentence.upos == ("DET", "ADV", "ADJ", "NOUN", "VERB", "PUNCT")
    assert example.spans is not None
    assert [(s.start, s.end, s.label) for s in example.spans] == [
        (0, 6, "S"),
        (0, 4, "NP"),
        (1, 3, "<H>"),
        (4, 5, "VP"),
    ]
    assert example.levels == (32, 32, 3, 2, 1, 32)
    assert example.weight == 0.5


def test_helper_spans_and_function_tags_are_options(files: tuple[str, str]) -> None:
    (example,) = load_examples([Treebank(files=files)], data=Data(helpers=False, functions=True))
    assert [s.label for s in example.spans or ()] == ["S", "NP-SBJ", "VP"]
    assert example.levels is not None


def test_each_kind_alone(files: tuple[str, str]) -> None:
    (constituents,) = load_examples([Treebank(files=files[:1])], data=Data())
    assert constituents.sentence.dependencies is None
    assert constituents.levels is None
    assert [s.label for s in constituents.spans or ()] == ["S", "NP", "VP"]
    (dependencies,) = load_examples([Treebank(files=files[1:])], data=Data())
    assert dependencies.spans is None
    assert dependencies.sentence.dependencies is not None


def test_numbers_of_an_example(files: tuple[str, str]) -> None:
    (example,) = load_examples([Treebank(files=files)], data=Data())
    vocabulary = count_vocabulary([seen(example)], keep_words=True)
    numbered = number(example, vocabulary, tokenizer=None)
    assert numbered.inputs.characters == ()
    kept = count_vocabulary([seen(example)], keep_words=True, keep_characters=True)
    assert len(number(example, kept, tokenizer=None).inputs.characters) == len(example.sentence)
    targets = numbered.targets
    assert targets.governors is not None
    assert targets.governors.tolist() == [4, 3, 4, 5, 0, 5]
    assert targets.levels is not None
    assert targets.levels.tolist() == [31, 31, 2, 1, 0, 31]
    assert targets.spans is not None
    assert [vocabulary.labels[label] for label in targets.spans[:, 2]] == ["S", "NP", "<H>", "VP"]
    assert vocabulary.top == "ROOT"


def test_files_whose_words_differ_are_refused(files: tuple[str, str]) -> None:
    changed = [("A", *ROWS[0][1:]), *ROWS[1:]]
    Path(files[1]).write_text(conllu(changed))
    with pytest.raises(MismatchError, match=r"t\.ptb:1: word 1 is 'The', but 'A' at .*t\.conllu:1"):
        list(read_treebank(Treebank(files=files)))
    Path(files[1]).write_text(conllu([*ROWS[:5], ("!", "PUNCT", ".", 5, "punct"), ("?", "PUNCT", ".", 5, "punct")]))
    with pytest.raises(MismatchError, match="but '!' at "):
        list(read_treebank(Treebank(files=files)))
    Path(files[1]).write_text(conllu(ROWS[:5]))
    with pytest.raises(MismatchError, match="6 words, but 5 at"):
        list(read_treebank(Treebank(files=files)))


def test_quotation_marks_may_be_written_differently(tmp_path: Path) -> None:
    (tmp_path / "t.ptb").write_text("(ROOT (NP (`` ``) (NN dog) ('' ”)))\n")
    rows = [('"', "PUNCT", "``", 2, "punct"), ("dog", "NOUN", "NN", 0, "root"), ('"', "PUNCT", "''", 2, "punct")]
    (tmp_path / "t.conllu").write_text(conllu(rows))
    (made,) = read_treebank(Treebank(files=(str(tmp_path / "t.ptb"), str(tmp_path / "t.conllu"))))
    assert made.words == ('"', "dog", '"')


def test_files_of_different_length_are_refused(files: tuple[str, str]) -> None:
    Path(files[0]).write_text(BRACKETS * 2)
    with pytest.raises(MismatchError, match=r"t\.conllu: ends after 1 sentences, but another file goes on at "):
        list(read_treebank(Treebank(files=files)))
    assert len(list(read_treebank(Treebank(files=files, limit=1)))) == 1


def test_missing_and_unnamed_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.ptb"):
        load_examples([Treebank(files=(str(tmp_path / "none.ptb"),))], data=Data())
    with pytest.raises(UsageError, match="names no files"):
        load_examples([Treebank()], data=Data())


def test_trees_that_disagree_are_joined_all_the_same() -> None:
    tree = Constituent("S", (Constituent("X", (Leaf("A", "a"), Leaf("B", "b"))), Leaf("C", "c"), Leaf("D", "d")))
    crossing = Dependencies((2, 3, -1, 2), ("x", "y", "root", "z"))
    made = make_example(Sentence(words=("a", "b", "c", "d"), tree=tree, dependencies=crossing), data=Data())
    assert made.levels is not None
    assert made.sentence.dependencies == crossing
    assert {(s.start, s.end) for s in made.spans or ()} >= {(0, 4), (0, 2)}


def test_the_example_treebank_is_what_its_grammar_makes(treebank: Callable[[str, int], list[Example]]) -> None:
    examples = treebank("train", 0)
    assert len(examples) == 200
    assert all(e.levels is not None and e.spans is not None for e in examples)
    assert any(s.label == "<H>" for e in examples for s in e.spans or ())


def test_sentences_are_left_out_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    ids = ("GUM_news_a-1", "GUM_essay_b-1", "GUM_essay_b-2", "")
    text = "".join((f"# sent_id = {name}\n" if name else "") + conllu(ROWS) for name in ids)
    (tmp_path / "t.conllu").write_text(text)
    treebank = Treebank(files=(str(tmp_path / "t.conllu"),), without=("GUM_essay", "GUM_letter"))
    assert [sentence.sent_id for sentence in read_treebank(treebank)] == ["GUM_news_a-1", None]


def test_relations_are_renamed(files: tuple[str, str]) -> None:
    (example,) = load_examples([Treebank(files=files)], data=Data(renames={"nsubj": "subject"}))
    assert example.sentence.dependencies is not None
    assert example.sentence.dependencies.relations == ("det", "advmod", "amod", "subject", "root", "punct")


def test_every_word_has_its_governor_in_the_joint_tree_as_rank(files: tuple[str, str]) -> None:
    (example,) = load_examples([Treebank(files=files, style="gum")], data=Data())
    assert example.ranks == (3, 2, 3, 4, -1, 4)
    assert example.style == "gum"
    (arcs,) = load_examples([Treebank(files=files[1:])], data=Data())
    assert arcs.ranks == example.ranks
    (tree,) = load_examples([Treebank(files=files[:1])], data=Data())
    assert tree.ranks is None
