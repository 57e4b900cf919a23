"""CoNLL-U and CoNLL-X: every column and every row comes back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from h3n.errors import TreeError
from h3n.formats import FORMATS, Writing
from h3n.trees import Dependencies, EmptyWord, Insert, MultiwordToken, Sentence
from tests.formats.helpers import parse, show
from tests.formats.samples import sentences

UNIVERSAL = """\
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tV\tMood=Imp\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\tA=b|C
5\tmar\u00a0muerto x\tmar\tNOUN\t_\t_\t1\tobl\t1:obl\t_
5.1\t_\t_\t_\t_\t_\t_\t_\t1:x\t_
5.2\tquoted\t_\t_\t_\t_\t_\t_\t1:x\t_

1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_

# newpar
1\tno\t_\t_\t_\t_\t_\t_\t_\t_
2\theads\t_\t_\t_\t_\t_\t_\t_\t_

"""
X = """\
1\tThe\t_\tDT\tDT\t_\t2\tdet\t2\tdet
2\tend\tend\tNN\tNN\tn=s\t0\troot\t_\t_

1\tx\t_\t_\t_\t_\t_\t_\t_\t_

"""


def test_universal_columns() -> None:
    first, symbol, headless = parse(UNIVERSAL, "conllu")
    assert first.words == ("vamos", "nos", "a", "el", "mar\u00a0muerto x")
    assert first.upos == ("VERB", "PRON", "ADP", "DET", "NOUN")
    assert first.tags == ("V", "_", "_", "_", "_")
    assert first.lemmas == ("ir", "nosotros", "a", "el", "mar")
    assert first.features == ("Mood=Imp", "_", "_", "_", "_")
    assert first.enhanced == ("0:root", "1:obj", "5:case", "5:det", "1:obl")
    assert first.misc == ("_", "_", "_", "A=b|C", "_")
    assert first.dependencies == Dependencies((-1, 0, 4, 4, 0), ("root", "obj", "case", "det", "obl"))
    assert first.comments == ("# sent_id = 1", "# text = vámonos al mar")
    assert [insert.before for insert in first.inserts] == [0, 2, 5, 5]
    assert symbol.words == ("_",)
    assert symbol.tags is None
    assert headless.dependencies is None
    assert [sentence.place.line for sentence in (first, symbol, headless) if sentence.place] == [1, 13, 15]


def test_universal_bytes_come_back() -> None:
    assert show(parse(UNIVERSAL, "conllu"), "conllu") == UNIVERSAL
    assert show(parse(UNIVERSAL.replace("\n", "\r\n"), "conllu"), "conllu") == UNIVERSAL
    assert show(parse(UNIVERSAL, "conllu"), "conllu", Writing(newline="\r\n")) == UNIVERSAL.replace("\n", "\r\n")


def test_x_columns() -> None:
    first, second = parse(X, "conllx")
    assert first.upos == ("DT", "NN")
    assert first.tags == ("DT", "NN")
    assert first.features == ("_", "n=s")
    assert first.misc == ("PHead=2|PDeprel=det", "_")
    assert first.dependencies == Dependencies((1, -1), ("det", "root"))
    assert second.misc is None


def test_x_bytes_come_back_even_through_conllu() -> None:
    found = parse(X, "conllx")
    assert show(found, "conllx") == X
    assert show(parse(show(found, "conllu"), "conllu"), "conllx") == X


def test_a_sentence_longer_than_usual() -> None:
    n = 2000
    text = "".join(f"{i}\tw\t_\t_\t_\t_\t{i - 1}\tdep\t_\t_\n" for i in range(1, n + 1)) + "\n"
    [sentence] = parse(text, "conllu")
    assert sentence.dependencies is not None
    assert sentence.dependencies.governors == tuple(range(-1, n - 1))
    assert show([sentence], "conllu") == text


def test_a_sentence_without_words_is_still_a_sentence() -> None:
    for name in ("conllu", "conllx"):
        found = [Sentence(words=()), Sentence(words=("x",))]
        assert parse(show(found, name), name) == found


def test_comments_in_conllx_are_read_and_not_written() -> None:
    text = "# sent_id = 1\n# text = x\n1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    [sentence] = parse(text, "conllx")
    assert sentence.comments == ("# sent_id = 1", "# text = x")
    assert show([sentence], "conllx") == text.partition("x\n")[2]
    assert FORMATS["conllx"].loses(sentence) == ["comments"]


def test_a_bar_in_a_projective_relation_survives() -> None:
    text = "1\tx\t_\t_\t_\t_\t0\troot\t0\ta|b%7C\n\n"
    found = parse(text, "conllx")
    assert show(found, "conllx") == text
    assert show(parse(show(found, "conllu"), "conllu"), "conllx") == text


def test_words_without_a_tag_get_an_underscore() -> None:
    [sentence] = parse("(S (NP the dog) (VBZ barks))\n", "brackets")
    rows = show([sentence], "conllu").splitlines()
    assert [row.split("\t")[4] for row in rows if row] == ["_", "_", "VBZ"]


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb"])
def test_what_columns_cannot_show_is_refused(word: str) -> None:
    with pytest.raises(
        TreeError, match=r"^sentence 1: (word 2 is empty|a (tab|line end) in .*, which no file can show)"
    ):
        show([Sentence(words=("x", word))], "conllu")


@given(found=sentences())
@settings(deadline=None)
def test_written_and_read_again(found: Sentence) -> None:
    [again] = parse(show([found], "conllu"), "conllu")
    assert again == Sentence(
        words=found.words,
        tags=found.tags,
        upos=found.upos,
        lemmas=found.lemmas,
        features=found.features,
        enhanced=found.enhanced,
        misc=found.misc,
        dependencies=found.dependencies,
        comments=found.comments,
    )


def test_inserts_stand_where_they_stood() -> None:
    inserts = (EmptyWord(0, 1), EmptyWord(1, 1))
    sentence = Sentence(words=("x",), inserts=inserts)
    assert [row.split("\t")[0] for row in show([sentence], "conllu").splitlines()] == ["0.1", "1", "1.1", ""]
    assert parse(show([sentence], "conllu"), "conllu") == [sentence]


@pytest.mark.parametrize(
    ("inserts", "numbers"),
    [
        ((MultiwordToken(0, 2, "x"),), ["1-2", "1", "2", "3"]),
        ((MultiwordToken(0, 2, "x"), MultiwordToken(2, 3, "x")), ["1-2", "1", "2", "3-3", "3"]),
        ((MultiwordToken(0, 2, "x"), EmptyWord(1, 1), EmptyWord(1, 2)), ["1-2", "1", "1.1", "1.2", "2", "3"]),
        ((MultiwordToken(0, 2, "x"), MultiwordToken(1, 3, "x")), None),
        ((MultiwordToken(2, 4, "x"),), None),
        ((MultiwordToken(2, 3, "x"), MultiwordToken(0, 2, "x")), None),
        ((EmptyWord(1, 2),), None),
        ((EmptyWord(4, 1),), None),
        ((EmptyWord(1, 1), EmptyWord(0, 1)), None),
    ],
)
def test_other_rows_stand_where_their_numbers_say(inserts: tuple[Insert, ...], numbers: list[str] | None) -> None:
    sentence = Sentence(words=("a", "b", "c"), inserts=inserts)
    if numbers is not None:
        assert [row.split("\t")[0] for row in show([sentence], "conllu").splitlines()] == [*numbers, ""]
    else:
        with pytest.raises(TreeError, match=r"multiword range|empty node|out of their places"):
            show([sentence], "conllu")
