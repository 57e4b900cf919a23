"""JSON lines: both trees and everything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from h3n.errors import BadCharacter, BadJson, CyclicHeads
from h3n.formats import Reading
from h3n.trees import Constituent, Dependencies, Leaf, Sentence, SoftLabels, Span
from tests.formats.helpers import parse, problems, show
from tests.formats.samples import sentences


@given(found=sentences())
@settings(deadline=None)
def test_written_and_read_again(found: Sentence) -> None:
    text = show([found], "jsonl")
    assert text.count("\n") == 1
    assert parse(text, "jsonl") == [found]
    assert show(parse(text, "jsonl"), "jsonl") == text


def test_the_schema() -> None:
    [sentence] = parse("1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\tVBP\t_\t0\troot\t_\t_\n\n", "conllu")
    assert json.loads(show([sentence], "jsonl")) == {
        "version": 1,
        "words": ["dogs", "bark"],
        "tags": ["NNS", "VBP"],
        "upos": ["NOUN", "_"],
        "lemmas": ["dog", "_"],
        "heads": [2, 0],
        "relations": ["nsubj", "root"],
    }


def test_what_a_teacher_finds_likely() -> None:
    labels = SoftLabels(
        governors=(((1, 990), (-1, 10)), ((-1, 1000),)),
        relations=((("nsubj", 700), ("obj", 300)), (("root", 1000),)),
        upos=((("NOUN", 1000),), ()),
        spans=((Span(0, 2, "S"), 980), (Span(0, 1, "NP"), 600)),
    )
    tree = Dependencies((1, -1), ("nsubj", "root"))
    sentence = Sentence(words=("dogs", "bark"), dependencies=tree, soft_labels=labels)
    text = show([sentence], "jsonl")
    assert json.loads(text)["soft_labels"] == {
        "heads": [[[2, 990], [0, 10]], [[0, 1000]]],
        "relations": [[["nsubj", 700], ["obj", 300]], [["root", 1000]]],
        "upos": [[["NOUN", 1000]], []],
        "spans": [[0, 2, "S", 980], [0, 1, "NP", 600]],
    }
    assert parse(text, "jsonl") == [sentence]


def test_a_blank_inside_a_word_survives() -> None:
    tree = Constituent("NP", (Leaf("CD", "15 000"), Leaf("NN", "-LRB-")))
    sentence = Sentence(words=("15 000", "-LRB-"), tree=tree)
    assert parse(show([sentence], "jsonl"), "jsonl") == [sentence]


def test_a_deep_tree() -> None:
    depth = 100_000
    found = parse("(S " * depth + "(NN x)" + ")" * depth + "\n", "brackets")
    assert parse(show(found, "jsonl"), "jsonl") == found


def test_traces_and_functions_go_on_request() -> None:
    line = '{"version": 1, "words": ["x"], "tree": "(S (NP-SBJ (NN x)) (NP (-NONE- *)))"}\n'
    [sentence] = parse(line, "jsonl", Reading(strip_traces=True, strip_functions=True))
    assert sentence.tree == Constituent("S", (Constituent("NP", (Leaf("NN", "x"),)),))


def test_empty_lines_are_blemishes() -> None:
    line = '{"version": 1, "words": ["x"]}\n'
    assert len(parse(line + "\n" + line, "jsonl")) == 2
    found, sound = problems(line + "\n" + line, "jsonl")
    assert [str(error) for error in found] == ["<text>:2: an empty line; expected a JSON object on every line"]
    assert len(sound) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "Expecting value at column 1; expected one JSON object per line"),
        ("[" * 100_000, "brackets nested too deeply"),
        ("[1]", r"JSON that is not an object: '\[1\]'"),
        ('{"words": ["x"]}', 'version None; expected "version": 1'),
        ('{"version": 2, "words": ["x"]}', 'version 2; expected "version": 1'),
        ('{"version": 1, "words": ["x"], "color": 1}', "unknown key 'color'; expected keys out of "),
        ('{"version": 1}', "'words' is not a list of strings"),
        ('{"version": 1, "words": [1]}', "'words' is not a list of strings"),
        ('{"version": 1, "words": ["x"], "tags": ["A", "B"]}', "2 tags for 1 words; expected one for every word"),
        ('{"version": 1, "words": ["x"], "heads": [0]}', "heads alone; expected both heads and relations, or neither"),
        ('{"version": 1, "words": ["x"], "heads": ["0"], "relations": ["root"]}', "'heads' is not a list of numbers"),
        ('{"version": 1, "words": ["x"], "heads": [true], "relations": ["root"]}', "'heads' is not a list of numbers"),
        ('{"version": 1, "words": ["x"], "heads": [0, 1], "relations": ["root"]}', "2 heads for 1 words"),
        ('{"version": 1, "words": ["x"], "tree": 3}', "'tree' is not a string"),
        ('{"version": 1, "words": ["x"], "tree": "(NP (NN x)"}', "in 'tree': 1 bracket still open at the end"),
        ('{"version": 1, "words": ["x"], "tree": "(NP (NN x)) (NP (NN x))"}', "2 trees; expected one tree"),
        ('{"version": 1, "words": ["x"], "tree": "(NP (NN x) (NN y))"}', "a tree over 2 words for 1 words"),
        ('{"version": 1, "words": ["x"], "inserts": [[2, "a"]]}', r"'inserts' is not a list of \[number, row\]"),
        (
            '{"version": 1, "words": ["x"], "inserts": [[1, "a"], [0, "b"]]}',
            r"'inserts' is not a list of \[number, row\]",
        ),
        ('{"version": 1, "words": ["x"], "inserts": 7}', r"'inserts' is not a list of \[number, row\]"),
        (
            '{"version": 1, "words": ["a", "b", "c"], "inserts": [[2, "3-1\\tab\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_"]]}',
            "in 'inserts': multiword range '3-1'; expected a range of words that starts at 3 and ends by 3",
        ),
        ('{"version": 1, "words": ["x"], "inserts": [[0, "1-1\\tx"]]}', "in 'inserts': 2 columns; expected 10"),
        ('{"version": 1, "words": ["x"], "tree": "(NP (NN y))"}', "word 1 is 'x', but 'y' in the tree"),
        (
            '{"version": 1, "words": ["x"], "upos": [""]}',
            "an empty string in 'upos'; expected '_' where there is no value",
        ),
        (
            f'{{"version": 1, "words": ["x"], "heads": [{"9" * 5000}], "relations": ["a"]}}',
            "a number of thousands of dig",
        ),
        *(
            (f'{{"version": 1, "words": ["x", "y"], "soft_labels": {labels}}}', message)
            for labels, message in (
                ("7", "'soft_labels' is not an object of heads, relations, tags, upos, spans"),
                ('{"colour": []}', "'soft_labels' is not an object"),
                ('{"relations": [[], []]}', "relations in 'soft_labels' without heads"),
                ('{"heads": [[[2, 990]]]}', "'heads' of 'soft_labels' is not a list of choices for each of 2 words"),
                ('{"heads": [[[3, 990]], []]}', "'heads' of 'soft_labels'"),
                ('{"heads": [[[true, 990]], []]}', "'heads' of 'soft_labels'"),
                ('{"tags": [[["NN", 0]], []]}', "'tags' of 'soft_labels'"),
                ('{"tags": [[["NN", 0.5]], []]}', "'tags' of 'soft_labels'"),
                ('{"upos": [[[1, 990]], []]}', "'upos' of 'soft_labels'"),
                ('{"upos": 3}', "'upos' of 'soft_labels'"),
                ('{"spans": [[0, 3, "NP", 1]]}', "'spans' of 'soft_labels' is not a list of spans within 2 words"),
                ('{"spans": [[1, 1, "NP", 1]]}', "'spans' of 'soft_labels'"),
                ('{"spans": [["0", 1, "NP", 1]]}', "'spans' of 'soft_labels'"),
                ('{"spans": [[0, 1, "NP"]]}', "'spans' of 'soft_labels'"),
                ('{"spans": [[0, 1, "NP", 1001]]}', "'spans' of 'soft_labels'"),
            )
        ),
    ],
)
def test_damage(line: str, message: str) -> None:
    with pytest.raises(BadJson, match=r"^<text>:2: " + message):
        parse('{"version": 1, "words": []}\n' + line + "\n", "jsonl")


def test_heads_are_checked_as_everywhere() -> None:
    line = '{"version": 1, "words": ["x", "y"], "heads": [2, 1], "relations": ["a", "b"]}\n'
    found, sound = problems(line * 2, "jsonl")
    assert [error.place.line for error in found if isinstance(error, CyclicHeads)] == [1, 2]
    assert not sound


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"version": 1, "words": ["a\\u0000b"]}', r"a NUL character in 'a\\x00b'"),
        ('{"version": 1, "words": ["a\\tb"]}', r"a tab in 'a\\tb'"),
        ('{"version": 1, "words": ["a"], "lemmas": ["\\ud800"]}', r"half a surrogate pair in '\\ud800'"),
        ('{"version": 1, "words": ["a"], "comments": ["# a\\n1\\tx"]}', r"a line end in '# a\\n1\\tx'"),
        ('{"version": 1, "words": ["a"], "comments": ["text"]}', "a comment that does not begin with #: 'text'"),
        ('{"version": 1, "words": ["a", ""]}', "word 2 is empty"),
        (
            '{"version": 1, "words": ["a"], "soft_labels": {"spans": [[0, 1, "\\ud800", 5]]}}',
            "half a surrogate pair in",
        ),
        ('{"version": 1, "words": ["a"], "heads": [0], "relations": ["a\\rb"]}', r"a carriage return in 'a\\rb'"),
    ],
)
def test_characters_that_no_format_can_show(line: str, message: str) -> None:
    with pytest.raises(BadCharacter, match=r"^<text>:1: " + message):
        parse(line + "\n", "jsonl")
    assert problems(line + "\n", "jsonl")[1] == []
