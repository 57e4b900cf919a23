"""Where sentences end: one example for each rule."""

from __future__ import annotations

import pytest

from h3n.text import split
from h3n.text.boundaries import LONGEST

# A double bar where one sentence ends and the next begins.
EXAMPLES = [
    "She left. || He stayed.",
    "Really? || Yes! || Good.",
    "Dr. Smith met Mrs. Jones at St. Mary's.",
    "We live in the U.S. || The weather is fine.",
    "The U.S. Army came.",
    "Pens, ink, etc. || They had it all.",
    "It starts at 9 a.m. || We left early.",
    "J. R. R. Tolkien wrote it.",
    "It costs 3.50 dollars. || 20 people paid.",
    "“Go away!” she said. || He went.",
    "“Are you there?” I asked. || Nobody was.",
    '"Stop." || He stopped.',
    "“Why?” || Because.",
    "He won (again!) and left.",
    "(This is one.) || That is another.",
    "It was so. [1] [2] || Then it was not.",
    "It was so.[12] || Then it was not.",
    "all lower case. yes, really. || no!".replace(". yes", ". || yes"),
    "Well ... maybe not.",
    "Well ... || He left.",
    "Great :) || Thanks.",
    "Great. :) || Thanks.",
    "I thought that — || Well, never mind.",
    "I thought that — Paris — was it.",
    "Figure 1.4 || The map shows it.",
    "Two things: 1. Bring food. || 2. Bring water.",
    "P.S. The end.",
    "One.Two words here.".replace("One.Two", "One thing.||Two"),
    "这是第一句。||这是第二句！||好",
    "See http://example.com/a.b? || Yes.",
    "no end at all",
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_boundaries(example: str) -> None:
    text = example.replace(" || ", " ").replace("||", "")
    found = [text[tokens[0].start : tokens[-1].end] for tokens in split(text)]
    assert found == [part.strip() for part in example.split("||")]


def test_a_sentence_without_end_is_cut_after_a_mark() -> None:
    sizes = [len(tokens) for tokens in split("word " * (LONGEST - 100) + ", " + "word " * LONGEST)]
    assert sizes == [LONGEST - 99, LONGEST]


@pytest.mark.parametrize("text", [".)" * LONGEST, "word " * 3 * LONGEST, "?! " * LONGEST + "a", '." ' * LONGEST + "a"])
def test_no_sentence_is_longer_than_the_longest(text: str) -> None:
    assert max(len(tokens) for tokens in split(text)) <= LONGEST


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("It was 5 °C. He left.", ["It was 5 °C.", "He left."]),
        ("It was J. Smith. He left.", ["It was J. Smith.", "He left."]),
        ("He lives on Main St. The house is old.", ["He lives on Main St.", "The house is old."]),
        ("He saw St. John there.", ["He saw St. John there."]),
        ("It takes 5 min. to get there.", ["It takes 5 min. to get there."]),
        ("It took 5 min. He left.", ["It took 5 min.", "He left."]),
        ("BAGHDAD, Iraq -- Two men died. It rained.", ["BAGHDAD, Iraq -- Two men died.", "It rained."]),
        ("« Il dort. » Elle part.", ["« Il dort. »", "Elle part."]),
        ("He left. »Come,« she said.", ["He left.", "»Come,« she said."]),
        ("Open C:\\Users\\bob. Look.", ["Open C:\\Users\\bob.", "Look."]),
    ],
)
def test_faults_that_were_reported(source: str, expected: list[str]) -> None:
    assert [source[tokens[0].start : tokens[-1].end] for tokens in split(source)] == expected


@pytest.mark.parametrize("word", ["C:\\Users\\bob", "foo-bar==1.2.3"])
def test_paths_and_versions_are_one_word(word: str) -> None:
    (tokens,) = split(f"Take {word}, now.")
    assert [token.text for token in tokens] == ["Take", word, ",", "now", "."]
