"""Damaged input: one kind of exception each, said with file, line and what was expected, and reading can go on."""

from __future__ import annotations

import pytest

from h3n import errors
from h3n.formats import Reading
from tests.formats.helpers import parse, problems

GOOD = "(S (NP (NN dogs)) (VP (VBP bark)))\n"
INDENTED = "(S\n  (NP (NN dogs))\n  (VP (VBP bark)))\n"
BLOCK = "1\tdogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def row(number: str, head: str, word: str = "x") -> str:
    return f"{number}\t{word}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n"


BRACKETS = [
    ("(S (NP (NN dogs))\n", "UnbalancedBrackets", 3, "1 bracket still open at the end of the line"),
    ("(S (NP (NN dogs)\n", "UnbalancedBrackets", 3, "2 brackets still open at the end of the line"),
    ("(S (NP (NN dogs))))\n", "UnbalancedBrackets", 3, "a closing bracket without an opening one"),
    ("(S (NP) (NN dogs))\n", "EmptyConstituent", 3, "the bracket (NP) holds nothing"),
    ("(S ( ) (NN dogs))\n", "EmptyConstituent", 3, "the bracket () holds nothing"),
    ("(NP)\n", "EmptyConstituent", 3, "the bracket (NP) holds nothing"),
    ("dogs bark\n", "TextOutsideBrackets", 3, "'dogs' outside brackets"),
    ("(S (NP (NN dogs))) x\n", "TextOutsideBrackets", 3, "'x' outside brackets"),
    ("<S ID=1>\n", "TextOutsideBrackets", 3, "'<S' outside brackets"),
    ("(S (NP (NN do\0gs)))\n", "NulByte", 3, "a NUL byte at byte 14 of the line"),
]
ROWS = [
    (row("1", "0").replace("\tdep\t", "\tdep "), "WrongColumnCount", 4, "9 columns"),
    (row("1", "0", "a\tb"), "WrongColumnCount", 4, "11 columns"),
    ("   \n", "WrongColumnCount", 4, "1 columns"),
    (row("1", "0", ""), "EmptyField", 4, "column 2 is empty"),
    (row("2", "0"), "BadWordNumber", 4, "word number '2'"),
    (row("1", "0") + row("1", "1"), "BadWordNumber", 5, "word number '1'"),
    (row("1", "0") + row("x", "1"), "BadWordNumber", 5, "word number 'x'"),
    (row("1", "0") + row("02", "1"), "BadWordNumber", 5, "word number '02'"),
    (row("1", "x"), "BadHead", 4, "head 'x' of word 1"),
    (row("1", "00"), "BadHead", 4, "head '00' of word 1"),
    (row("1", "0") + row("2", "_"), "BadHead", 5, "head '_' of word 2"),
    (row("1", "-1"), "BadHead", 4, "head '-1' of word 1"),
    (row("1", "٠"), "BadHead", 4, "head '٠' of word 1"),
    (row("1", "0") + row("2", "3"), "BadHead", 5, "head 3 of word 2"),
    (row("1", "0") + row("2", "99999999999"), "BadHead", 5, "head 99999999999 of word 2"),
    (row("1", "0") + row("2", "9" * 5000), "BadHead", 5, "head '999"),
    (row("1", "0") + row("9" * 5000, "1"), "BadWordNumber", 5, "word number '999"),
    (row("1", "0") + row("2", "0") + row("3", "0"), "RootCount", 5, "3 root words (1, 2, 3)"),
    (row("1", "0") + row("2", "3") + row("3", "2"), "CyclicHeads", 5, "words 2, 3 govern each other in a circle"),
    (row("1", "0") + row("2", "2"), "CyclicHeads", 5, "word 2 governs itself"),
    (row("1", "0") + "# late\n", "MisplacedLine", 5, "a comment inside a sentence"),
]
RANGES = [
    (row("1-2", "_") + row("1", "0"), "BadRange", 4, "multiword range '1-2'"),
    (row("1", "0") + row("1-2", "_") + row("2", "1"), "BadRange", 5, "multiword range '1-2'"),
    (row("1-2", "_") + row("1", "0") + row("2-3", "_") + row("2", "1") + row("3", "1"), "BadRange", 6, "range '2-3'"),
    (row("2-1", "_") + row("1", "0") + row("2", "1"), "BadRange", 4, "multiword range '2-1'"),
    (row("a-b", "_") + row("1", "0"), "BadRange", 4, "multiword range 'a-b'"),
    (row("1", "0") + row("1.2", "_"), "BadRange", 5, "empty node '1.2'"),
    (row("2.1", "_") + row("1", "0"), "BadRange", 4, "empty node '2.1'"),
]


def check(text: str, name: str, kind: str, line: int, found: str, sound: int) -> None:
    """The first problem is raised; a handler gets it too, and the sentences around it."""
    with pytest.raises(errors.FormatError) as caught:
        parse(text, name)
    assert type(caught.value) is getattr(errors, kind)
    assert str(caught.value).startswith(f"<text>:{line}: ")
    assert found in caught.value.found
    assert caught.value.expected
    collected, sentences = problems(text, name)
    assert [type(error).__name__ for error in collected][:1] == [kind]
    assert len(sentences) == sound


@pytest.mark.parametrize(("text", "kind", "line", "found"), BRACKETS)
def test_brackets_one_per_line(text: str, kind: str, line: int, found: str) -> None:
    check(GOOD * 2 + text + GOOD, "brackets", kind, line, found, sound=3)


@pytest.mark.parametrize(("text", "kind", "line", "found"), ROWS + RANGES)
def test_conllu(text: str, kind: str, line: int, found: str) -> None:
    check(BLOCK + text + "\n" + BLOCK, "conllu", kind, line, found, sound=2)


@pytest.mark.parametrize(("text", "kind", "line", "found"), ROWS[:-1])
def test_conllx(text: str, kind: str, line: int, found: str) -> None:
    check(BLOCK + text + "\n" + BLOCK, "conllx", kind, line, found, sound=2)


def test_conllx_has_no_ranges() -> None:
    text = row("1-2", "_") + row("1", "0") + row("2", "1")
    found, sound = problems(BLOCK + text + "\n" + BLOCK, "conllx")
    assert [error.place.line for error in found] == [4] * len(found)
    assert found
    assert len(sound) == 2


def test_no_root_is_a_cycle_too() -> None:
    found, _ = problems(row("1", "2") + row("2", "1") + "\n", "conllu")
    assert [str(error) for error in found] == [
        "<text>:1: no root word; expected one word with head 0",
        "<text>:1: words 1, 2 govern each other in a circle; expected heads that lead to the root word",
    ]


def test_every_cycle_is_found() -> None:
    found, _ = problems(
        row("1", "2") + row("2", "1") + row("3", "0") + row("4", "4") + row("5", "6") + row("6", "4"), "conllu"
    )
    assert [error.found for error in found if isinstance(error, errors.CyclicHeads)] == [
        "words 1, 2 govern each other in a circle",
        "word 4 governs itself",
    ]


def test_running_text_is_one_problem_a_line() -> None:
    found, sound = problems(GOOD + "a ) b ) c\n" + GOOD + "d e\n" + GOOD, "brackets")
    assert [(error.place.line, error.found) for error in found] == [
        (2, "'a' outside brackets"),
        (4, "'d' outside brackets"),
    ]
    assert len(sound) == 3


def test_every_problem_of_a_file_is_found() -> None:
    text = (
        row("1", "5") + row("2", "x") + "\n" + BLOCK + row("1", "0", "") + "\n" + row("3", "0") + row("1", "0") + "\n"
    )
    found, sound = problems(text, "conllu")
    assert [(error.place.line, type(error).__name__) for error in found] == [
        (2, "BadHead"),
        (7, "EmptyField"),
        (9, "BadWordNumber"),
        (10, "BadWordNumber"),
    ]
    assert len(sound) == 1


def test_trees_over_several_lines_go_on_after_damage() -> None:
    text = INDENTED + INDENTED.replace(")))", "))") + INDENTED
    found, sound = problems(text, "brackets")
    assert [str(error) for error in found] == [
        "<text>:4: 1 bracket still open where the next tree starts, on line 7; expected a closing bracket for each"
    ]
    assert len(sound) == 2
    with pytest.raises(errors.UnbalancedBrackets, match="<text>:1: 1 bracket still open at the end of the file"):
        parse(INDENTED.replace(")))", "))"), "brackets", Reading(layout="free"))


@pytest.mark.parametrize(("name", "text"), [("brackets", GOOD), ("conllu", BLOCK), ("conllx", BLOCK)])
def test_harmless_oddities(name: str, text: str) -> None:
    expected = parse(text, name)
    for odd in (
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        text.rstrip("\n"),
        b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    ):
        assert parse(odd, name) == expected
    assert parse("", name) == []
    assert parse("\ufeff", name) == []


def test_empty_lines_in_conllu_are_blemishes() -> None:
    text = "\n" + BLOCK + "\n" + BLOCK.rstrip("\n")
    assert len(parse(text, "conllu")) == 2
    found, sound = problems(text, "conllu")
    assert [str(error) for error in found] == [
        "<text>:1: an empty line too many; expected one empty line after every sentence",
        "<text>:5: an empty line too many; expected one empty line after every sentence",
        "<text>:7: no empty line after the last sentence; expected one empty line after every sentence",
    ]
    assert len(sound) == 2


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("brackets", GOOD.encode() + GOOD.encode().replace(b"dogs", b"d\xe9gs") + GOOD.encode(), 2),
        ("conllu", BLOCK.encode() + BLOCK.encode().replace(b"dogs", b"d\xe9gs") + BLOCK.encode(), 4),
        (
            "jsonl",
            b'{"version": 1, "words": ["x"]}\n{"version": 1, "words": ["\xe9"]}\n{"version": 1, "words": ["x"]}',
            2,
        ),
    ],
)
def test_invalid_utf8(name: str, text: bytes, line: int) -> None:
    with pytest.raises(errors.BadEncoding, match=f"^<text>:{line}: byte 0xE9 at byte .* which is not UTF-8"):
        parse(text, name)
    found, sound = problems(text, name)
    assert [type(error).__name__ for error in found] == ["BadEncoding"]
    assert len(sound) == 2


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(encoding: str) -> None:
    with pytest.raises(errors.BadEncoding, match="<text>:1: UTF-16; expected UTF-8"):
        parse(("\ufeff" + GOOD).encode(encoding), "brackets")


def test_nul_in_conllu() -> None:
    found, sound = problems(BLOCK + BLOCK.replace("dogs", "do\0gs") + BLOCK, "conllu")
    assert [str(error) for error in found] == ["<text>:4: a NUL byte at byte 5 of the line; expected text"]
    assert len(sound) == 2


def test_deep_but_damaged() -> None:
    with pytest.raises(errors.UnbalancedBrackets, match="100000 brackets still open"):
        parse("(S " * 100_000, "brackets")
    with pytest.raises(errors.UnbalancedBrackets, match="a closing bracket without"):
        parse(")" * 100_000, "brackets")
