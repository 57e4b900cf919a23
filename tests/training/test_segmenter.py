"""A segmenter learned from a treebank's own text."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from h3n import formats
from h3n.config import Config, Data, Segmenter, Treebank
from h3n.engine.segmenter import (
    Alphabet,
    LearnedSegmenter,
    encode,
    output_count,
    read_segmenter,
    write_segmenter,
)
from h3n.errors import UsageError
from h3n.text import ENGLISH, SEGMENTERS
from h3n.text.documents import documents
from h3n.text.expansions import Expansions, Split
from h3n.text.tokens import Token
from h3n.training import learn_segmenter, train_segmenter
from h3n.training.segmenter import Block, SegmenterNetwork, blocks_of, joined
from h3n.trees import Sentence


def row(number: str, form: str, misc: str = "_") -> str:
    head, relation = ("_", "_") if "-" in number else ("0", "root") if number == "1" else ("1", "dep")
    return "\t".join([number, form, "_", "_", "_", "_", head, relation, "_", misc])


# A word with a blank inside, ranges that are split and spelled anew, no blank before a full stop or between sentences.
SENTENCES = [
    ("# text = Nas ruas.", "1-2\tNas", "1\tEm", "2\tas", "3\truas\tSpaceAfter=No", "4\t."),
    ("# text = Custa 10 000 euros.", "1\tCusta", "2\t10 000", "3\teuros\tSpaceAfter=No", "4\t."),
    ("# text = Dê-me nas ruas!", "1-2\tDê-me", "1\tDê", "2\t-me", "3-4\tnas", "3\tem", "4\tas", "5\truas", "6\t!"),
    ("# text = O sr. Silva dorme.", "1\tO", "2\tsr.", "3\tSilva", "4\tdorme\tSpaceAfter=No", "5\t."),
]


def treebank(copies: int) -> str:
    blocks = []
    for number in range(copies):
        for comment, *rows in SENTENCES:
            rows = [row(*line.split("\t")) for line in rows]
            rows[-1] = rows[-1].removesuffix("_") + ("SpaceAfter=No" if number % 2 else "_")
            blocks.append("\n".join([*(["# newpar"] if number % 3 == 0 else []), comment, *rows]) + "\n\n")
    return "".join(blocks)


def sentences(copies: int = 12) -> list[Sentence]:
    return list(formats.read(io.StringIO(treebank(copies)), format="conllu"))


@pytest.fixture(scope="module")
def learned() -> LearnedSegmenter:
    torch.set_num_threads(1)
    return learn_segmenter(blocks_of(sentences()), options=Segmenter(size=16, pairs=64, dropout=0.0, rate=0.01))


def test_what_was_learned_is_found_again(learned: LearnedSegmenter) -> None:
    (document,) = documents(sentences())
    found = list(learned.segment(document.text))
    assert [sentence.words for sentence in found] == [sentence.words for sentence in document.gold]
    assert [len(sentence.inserts) for sentence in found] == [len(sentence.inserts) for sentence in document.gold]


def test_it_is_the_same_after_it_was_saved(learned: LearnedSegmenter, tmp_path: Path) -> None:
    write_segmenter(learned, tmp_path)
    (document,) = documents(sentences())
    assert list(read_segmenter(tmp_path).split(document.text)) == list(learned.split(document.text))


def test_the_same_seed_gives_the_same_weights() -> None:
    options = Segmenter(size=8, pairs=16, epochs=1)
    one, two = (learn_segmenter(blocks_of(sentences(2)), options=options, seed=3) for _ in range(2))
    assert all(np.array_equal(one.weights[name], two.weights[name]) for name in one.weights)


@pytest.mark.parametrize("marks", ["", "english"])
def test_numpy_computes_what_torch_computes(marks: str) -> None:
    alphabet = Alphabet("abc.", 16, marks)
    expansions = Expansions((Split((1,)), Split((), (1,))), 2)
    network = SegmenterNetwork(alphabet, size=8, outputs=output_count(expansions), dropout=0.5).eval()
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    texts = ["Abc. Bca ccab.", "c", "abc " * 40]
    encoded = [encode(text, alphabet) for text in texts]
    longest = max(map(len, texts))

    def padded(name: str) -> torch.Tensor:
        arrays = [getattr(one, name) for one in encoded]
        return torch.stack(
            [torch.from_numpy(np.pad(a, [(0, longest - len(a)), *[(0, 0)] * (a.ndim - 1)])) for a in arrays]
        )

    inside = torch.tensor([[[float(at < len(text))] for at in range(longest)] for text in texts])
    with torch.no_grad():
        scores = network(*map(padded, ("characters", "categories", "pairs", "marks")), inside).numpy()
    segmenter = LearnedSegmenter(alphabet, expansions, False, weights)
    for text, one, expected in zip(texts, encoded, scores, strict=True):
        np.testing.assert_allclose(segmenter.scores(one), expected[: len(text)], atol=1e-4)


def test_words_that_rules_write_as_one_token_are_joined() -> None:
    text = "I don't, do not."
    words = [(0, 1), (2, 4), (4, 7), (7, 8), (9, 11), (12, 15), (15, 16)]
    block = Block(text, [[Token(text[a:b], a, b, (text[a:b],)) for a, b in words]])
    (tokens,) = joined(block, SEGMENTERS["english"]).sentences
    assert [token.words for token in tokens] == [("I",), ("do", "n't"), (",",), ("do",), ("not",), (".",)]


def config(tmp_path: Path, text: str, **options: object) -> Config:
    file = tmp_path / "train.conllu"
    file.write_text(text, encoding="utf-8")
    chosen = replace(Segmenter(size=8, pairs=0, epochs=1), **options)  # type: ignore[arg-type]
    return Config(data=Data(train=(Treebank(files=(str(file),)),)), segmenter=chosen)


def test_one_is_learned_where_the_text_is_known(tmp_path: Path) -> None:
    silent = "\n".join([row("1", "a"), row("2", "b")]) + "\n\n"
    assert train_segmenter(config(tmp_path, treebank(2))).name == "learned"
    assert train_segmenter(config(tmp_path, treebank(2), kind="english")) is ENGLISH
    assert train_segmenter(config(tmp_path, silent)) is ENGLISH
    with pytest.raises(UsageError, match=r"segmenter\.kind"):
        train_segmenter(config(tmp_path, silent, kind="learned"))


def test_of_a_large_treebank_some_is_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Block(
        "Nas ruas.", [[Token("Nas", 0, 3, ("Em", "as")), Token("ruas", 4, 8, ("ruas",)), Token(".", 8, 9, (".",))]]
    )
    monkeypatch.setattr("h3n.training.segmenter.LARGEST", 40)
    notes: list[str] = []
    learn_segmenter(
        [one] * 100,
        options=Segmenter(size=8, pairs=0, epochs=1),
        report=lambda event: notes.append(event.text),  # type: ignore[union-attr]
    )
    assert notes[0].startswith("segmenter: 12 tokens to learn from")


def test_what_is_better_on_dev_is_taken(tmp_path: Path) -> None:
    chosen = config(tmp_path, treebank(4))
    chosen = replace(chosen, data=replace(chosen.data, dev=chosen.data.train))
    notes: list[str] = []
    found = train_segmenter(chosen, report=lambda event: notes.append(event.text))  # type: ignore[union-attr]
    figures = {name: float(words) + float(sentences) for name, words, sentences in map(_figures, notes[-2:])}
    assert found.name == max(figures, key=lambda name: figures[name])
    assert train_segmenter(replace(chosen, segmenter=replace(chosen.segmenter, kind="learned"))).name == "learned"


def _figures(note: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"segmenter: (\w+) on dev: words (\S+), sentences (\S+)", note)
    assert match
    return match[1], match[2], match[3]
