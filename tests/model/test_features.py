"""What is known of a word before its context."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from h3n.config import Encoder
from h3n.engine.inputs import read_inputs, shape
from h3n.engine.vocabulary import IGNORE, SHAPES, UNKNOWN, Seen, Vocabulary, count_vocabulary
from h3n.errors import InputError, UnknownName, UsageError
from h3n.model.batch import collate, read_targets
from h3n.model.features import Features, read_vectors
from h3n.trees import Dependencies, Span


@pytest.mark.parametrize(
    ("words", "expected"),
    [("dog é", 1), ("Dog I", 2), ("USA", 3), ("iPhone McDonald", 4), ("12 3.5", 5), ("3rd B2B", 6), (". --", 7)],
)
def test_shapes(words: str, expected: int) -> None:
    assert [shape(word) for word in words.split()] == [expected] * len(words.split())
    assert expected < SHAPES


def make() -> Vocabulary:
    return count_vocabulary(
        [
            Seen(
                words=("the", "Dog", "the"),
                spans=(Span(0, 3, "NP"), Span(0, 2, "<H>")),
                dependencies=Dependencies((1, -1, 1), ("det", "root", "det")),
                tags=("DT", "NN", "DT"),
                top="ROOT",
            )
        ],
        keep_words=True,
        keep_characters=True,
    )


def test_the_vocabulary_ranks_by_frequency_then_spelling() -> None:
    found = make()
    assert found.labels == ("", "<H>", "NP")
    assert found.helper == 1
    assert found.words == ("the", "Dog")
    assert found.word_counts == (2, 1)
    assert found.relations == ("det", "root")
    assert (found.at_root, found.elsewhere) == ((False, True), (True, False))
    assert found.top == "ROOT"
    assert Vocabulary.from_json(found.to_json()) == found


def test_characters_are_kept_only_where_they_are_read() -> None:
    words = [Seen(words=("the", "Dog"))]
    assert count_vocabulary(words, keep_words=True).characters == ()
    assert set(count_vocabulary(words, keep_words=False, keep_characters=True).characters) == set("theDog")


def test_a_batch_without_characters_holds_no_tensor_of_them() -> None:
    known = make()
    assert collate([read_inputs(["the", "Dog"], known, characters=False)]).characters is None
    batch = collate([read_inputs(["the", "Dog"], known)])
    assert batch.characters is not None
    assert batch.characters.shape == (1, 4, 3)


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(UsageError, match="no sentence to learn from"):
        count_vocabulary([], keep_words=True)


def test_unknown_words_tags_and_targets() -> None:
    found = make()
    inputs = read_inputs(["THE", "cat"], found, tags=["DT", "XX"])
    assert inputs.words.tolist() == [found.word_index["the"], UNKNOWN]  # lower-cased before it is given up
    assert inputs.tags.tolist() == [2, UNKNOWN]
    targets = read_targets(found, dependencies=Dependencies((-1, 0), ("root", "new")), tags=["DT", "ZZ"])
    assert targets.relations is not None
    assert targets.relations.tolist() == [1, IGNORE]
    assert targets.governors is not None
    assert targets.governors.tolist() == [0, 1]


def test_training_replaces_rare_words_by_the_unknown() -> None:
    torch.manual_seed(0)
    found = make()
    features = Features(Encoder(word_dropout=0.0), found, size=4, words=True)
    batch = collate([read_inputs(["Dog"], found)] * 400)
    vectors = features(batch)[:, 1]
    unknown = (vectors == features.words.weight[UNKNOWN]).all(dim=1).float().mean().item()
    assert 0.4 < unknown < 0.6  # 1 / (1 + count)
    features.eval()
    assert (features(batch)[:, 1] == features.words.weight[found.word_index["Dog"]]).all()


def test_start_and_stop_have_vectors_of_their_own() -> None:
    found = make()
    features = Features(Encoder(), found, size=4, words=True).eval()
    batch = collate([read_inputs(["the"], found), read_inputs(["the", "Dog"], found)])
    made = features.add_edges(features(batch), batch)
    assert torch.equal(made[0, 0], features.edges[0])
    assert torch.equal(made[0, 2], features.edges[1])
    assert torch.equal(made[1, 3], features.edges[1])
    assert not made[0, 3].any()


def test_static_vectors_are_read_and_added(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nthe 1 2 3\nother 4 5 6\n")
    table = read_vectors(path, ("the", "Dog"))
    assert table.tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 3], [0, 0, 0]]
    features = Features(Encoder(vectors=str(path)), make(), size=4, words=True).eval()
    assert features(collate([read_inputs(["the"], make())])).shape == (1, 3, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [("the 1 2\na 1\n", ":2: 1 numbers; expected 2"), ("the x y\n", ":1: not a word"), ("", "holds no word vector")],
)
def test_broken_vector_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_vectors(path, ("the",))


def test_the_style_of_a_treebank_is_an_input_where_there_are_several() -> None:
    seen = [Seen(words=("the",), style=style) for style in ("gum", "masc", "gum")]
    vocabulary = count_vocabulary(seen, keep_words=True)
    assert vocabulary.styles == ("gum", "masc")
    features = Features(Encoder(), vocabulary, size=4, words=True).eval()
    gum, masc = (features(collate([read_inputs(["the"], vocabulary, style=at)]))[0, 1] for at in (0, 1))
    assert not torch.allclose(gum, masc)
    assert [vocabulary.style(name) for name in (None, "", "gum", "masc")] == [0, 0, 0, 1]
    with pytest.raises(UnknownName, match="known: gum, masc"):
        vocabulary.style("ptb")
    assert Features(Encoder(), make(), size=4, words=True).styles is None
