"""Static vectors of word pieces: what is kept of them, how words are tokenized, and models that have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from h3n.engine import read_saved
from h3n.engine.inputs import read_inputs
from h3n.engine.saved import implied_shapes
from h3n.engine.static import keep_pieces, tokenize
from h3n.errors import InputError
from h3n.model import build_network, collate
from h3n.model.features import read_piece_vectors, read_pieces
from h3n.model.model import Model
from tests.model.test_encoders import SENTENCES, options, vocabulary

PIECES = ("\u2581", "\u2581the", "s", "ing", "\u2581s", "aw", "\u2581\u0436", "er", "\u2581parser")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "pieces.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    table = np.arange(len(PIECES) * 3, dtype=np.float16).reshape(-1, 3) + 1
    np.save(tmp_path / "static" / "vectors.npy", table)
    return tmp_path / "static"


def test_words_are_tokenized_by_the_longest_piece_and_what_fits_none_is_passed_over() -> None:
    index = {piece: at for at, piece in enumerate(PIECES)}

    def pieces(word: str) -> list[str]:
        return [PIECES[at] for at in tokenize(word, index)]

    assert pieces("Parsers") == ["\u2581parser", "s"]
    assert pieces("SAW") == ["\u2581s", "aw"]
    assert pieces("xing") == ["\u2581", "ing"]
    assert pieces("") == ["\u2581"]
    assert tokenize("abc", {}) == []


def test_pieces_of_the_words_are_kept_and_frequent_ones_of_their_script() -> None:
    assert keep_pieces(["the", "parsers"], PIECES, most=0) == ("\u2581the", "s", "\u2581parser")
    assert keep_pieces(["the", "parsers"], PIECES, most=2) == ("\u2581", "\u2581the", "s", "\u2581parser")
    assert "\u2581\u0436" not in keep_pieces(["the", "parsers"], PIECES)


def test_a_words_vector_is_the_mean_and_a_saved_model_has_all_it_needs(folder: Path, tmp_path: Path) -> None:
    known = replace(vocabulary(), pieces=keep_pieces(vocabulary().words, read_pieces(folder)))
    config = options(kind="recurrent", vectors=str(folder))
    network = build_network(config, known).eval()
    features = network.encoder.features
    assert features.vectors is not None
    assert not features.vectors.weight.requires_grad
    batch = collate([read_inputs(words, known) for words in SENTENCES])
    vectors = features._static_vectors(features.vectors, batch)
    rows = [PIECES.index(piece) for piece in ("\u2581s", "aw")]
    expected = torch.tensor([[row * 3 + 1, row * 3 + 2, row * 3 + 3] for row in rows]).float().mean(dim=0)
    torch.testing.assert_close(vectors[0, 3], expected)  # "saw", behind the start
    assert vectors[2, 3:].abs().sum().item() == 0  # padding
    Model(network, known, config).save(tmp_path / "saved")
    (folder / "vectors.npy").unlink()
    saved = read_saved(tmp_path / "saved")
    assert implied_shapes(config, known, None, vectors=3) == {n: one.shape for n, one in saved.weights.items()}
    loaded = Model.load(tmp_path / "saved")
    with torch.no_grad():
        torch.testing.assert_close(loaded.network(batch).arcs, network(batch).arcs)


@pytest.mark.parametrize(
    ("file", "contents", "message"),
    [
        ("pieces.txt", b"a\na\n", "holds a piece twice"),
        ("pieces.txt", b"\xff\n", "cannot read the pieces"),
        ("pieces.txt", b"a\nb\n", "expected a row for each of 2 pieces"),
        ("vectors.npy", b"nothing", "cannot read the vectors"),
    ],
)
def test_damaged_vectors_are_refused_in_one_line(folder: Path, file: str, contents: bytes, message: str) -> None:
    (folder / file).write_bytes(contents)
    with pytest.raises(InputError, match=message) as refused:
        read_piece_vectors(folder, ())
    assert "\n" not in str(refused.value)
