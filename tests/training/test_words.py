"""Lemmas and features: learned with the trees or on top of a finished model, the same with torch and without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from h3n.config import Config, config_of
from h3n.engine import read_saved
from h3n.engine.vocabulary import IGNORE, Seen, Vocabulary, count_vocabulary
from h3n.engine.words import name_features
from h3n.errors import InputError, UsageError
from h3n.model import build_network
from h3n.model.batch import read_targets
from h3n.model.model import Model
from h3n.parser import Parser, load
from h3n.training import Check, train, train_words
from h3n.training.data import Example
from h3n.training.evaluation import evaluate
from h3n.trees import Sentence
from tests.model.test_encoders import options as small_options
from tests.model.test_encoders import vocabulary
from tests.training.runs import SHORT, Options, Part

WORDS = ("dogs", "cats", "trees", "mice", "the")
LEMMAS = ("dog", "cat", "tree", "mouse", "the")
FEATURES = ("Number=Plur", "Number=Plur", "Number=Plur", "Number=Plur", "Definite=Def|PronType=Art")


def known() -> Vocabulary:
    seen = Seen(words=WORDS, upos=("NOUN",) * 4 + ("DET",), features=FEATURES, lemmas=LEMMAS)
    counted = count_vocabulary([seen], keep_words=True, keep_characters=True, keep_features=True, keep_lemmas=True)
    names = ("features", "bundles", "scripts", "irregular", "characters", "upos")
    return replace(vocabulary(), **{name: getattr(counted, name) for name in names})


def test_what_is_counted_and_what_is_to_be_learned() -> None:
    found = known()
    assert found.scripts == ("l|-",)
    assert found.irregular == (("mice", "NOUN", "mouse"), ("the", "DET", "the"))
    assert found.bundles == ("Number=Plur",)
    assert found.features == ("Definite=Def", "Number=Plur", "PronType=Art")
    targets = read_targets(found, words=WORDS, lemmas=LEMMAS, features=FEATURES)
    assert targets.lemmas is not None
    assert targets.lemmas.tolist() == [0, 0, 0, IGNORE, IGNORE]
    assert targets.bundles is not None
    assert targets.bundles.tolist() == [1, 1, 1, 1, 0]
    assert Vocabulary.from_json(found.to_json()) == found


def test_what_cannot_be_written_is_not_learned() -> None:
    seen = Seen(words=("a", "b", "c"), features=("A=b c", "A=\x07", "=x|B=y"), lemmas=("a\tb", "\u00a0", "c"))
    counted = count_vocabulary([seen], keep_words=True, keep_features=True, keep_lemmas=True)
    assert counted.features == ("B=y",)
    assert counted.irregular == (("c", "", "c"),)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("scripts", ("l|+\n",), r"vocabulary\.scripts has 'l\|\+\\n'; expected an edit script"),
        ("scripts", ("x|",), r"vocabulary\.scripts has 'x\|'; expected an edit script"),
        ("irregular", (("a", "b", "c\td"),), r"vocabulary\.irregular has the lemma 'c\\td'"),
        ("irregular", (("a", "b", ""),), r"vocabulary\.irregular has the lemma ''"),
        ("features", ("Case",), r"vocabulary\.features has 'Case'; expected NAME=VALUE"),
        ("bundles", ("a b",), r"vocabulary\.bundles has 'a b'; expected characters that can be shown"),
    ],
)
def test_damaged_names_are_refused(field: str, value: tuple[object, ...], message: str, tmp_path: Path) -> None:
    config = replace(small_options(kind="attentive"), words=config_of({"words": {"lemmas": 6, "features": 7}}).words)
    names = replace(known(), **{field: value})
    Model(build_network(config, names), names, config).save(tmp_path / "saved")
    with pytest.raises(InputError, match=message):
        read_saved(tmp_path / "saved")


def test_what_is_given_stays_and_the_rest_is_found(tmp_path: Path) -> None:
    config = replace(small_options(kind="attentive"), words=config_of({"words": {"lemmas": 6, "features": 7}}).words)
    Model(build_network(config, known()), known(), config).save(tmp_path / "saved")
    parser = load(tmp_path / "saved")
    given = Sentence(words=WORDS, lemmas=("x", "_", "x", "_", "x"), features=FEATURES)
    [result] = parser.parse_batch([given])
    assert result.lemmas is not None
    assert [result.lemmas[at] for at in (0, 2, 4)] == ["x"] * 3
    assert result.lemmas[3] in {"mouse", "mic"}, "by the table, whose word is a noun, or by the only script"
    assert result.features == FEATURES
    [result] = parser.parse_batch([Sentence(words=WORDS)])
    assert result.lemmas is not None
    assert result.features is not None
    assert [word.lemma for word in result] == list(result.lemmas)


def test_features_vote_where_no_known_bundle_is_best() -> None:
    best = ((1, 0, 0), (1, 1, 0), (0, 0, 0), (1, 1, 0))  # of three words: the bundle, then the value of each feature
    widths = known().feature_widths
    scores = [np.eye(width, dtype=np.float32)[list(at)] for width, at in zip(widths, best, strict=True)]
    assert name_features(scores, known()) == ["Number=Plur", "Definite=Def|PronType=Art", "_"]


def made_up(examples: list[Example]) -> list[Example]:
    """Return examples with lemmas and features that follow from the words."""
    return [
        replace(
            one,
            sentence=replace(
                one.sentence,
                lemmas=tuple(word.lower() for word in one.sentence.words),
                features=tuple("Case=Low" if word == word.lower() else "_" for word in one.sentence.words),
            ),
        )
        for one in examples
    ]


HEADS = ("words.lemmas=16", "words.features=16")


def test_they_are_learned_with_the_trees(tmp_path: Path, treebank: Part, options: Options) -> None:
    examples = made_up(treebank("train", 30))
    config = options(tmp_path / "run", *SHORT, *HEADS, "training.epochs=25")
    model = train(config, examples, made_up(treebank("dev", 5)))
    scores = evaluate(Parser(model.engine), examples)
    assert scores["lemmas"] > 90
    assert scores["features"] > 90


def test_they_are_learned_on_top_of_a_model_that_stays_as_it_is(
    uninterrupted: Path, tmp_path: Path, treebank: Part, options: Options
) -> None:
    examples, dev = made_up(treebank("train", 30)), made_up(treebank("dev", 5))
    events: list[object] = []
    config = options(tmp_path / "run", *HEADS, f"start={uninterrupted}", "words.only=true", "training.epochs=20")
    train_words(config, examples, dev, report=events.append)
    before, after = Model.load(uninterrupted / "model"), Model.load(tmp_path / "run" / "model")
    state = after.network.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in before.network.state_dict().items())
    assert {name.split(".")[0] for name in state.keys() - before.network.state_dict().keys()} == {"words"}
    scores = evaluate(Parser(after.engine), dev)
    assert {name: scores[name] for name in ("UAS", "LAS", "LF1")} == {
        name: value for name, value in evaluate(Parser(before.engine), dev).items() if name in ("UAS", "LAS", "LF1")
    }
    checks = [event.row for event in events if isinstance(event, Check)]
    assert max(row["lemmas"] + row["features"] for row in checks) == pytest.approx(
        scores["lemmas"] + scores["features"], abs=0.5
    )
    assert scores["lemmas"] > 90
    with pytest.raises(UsageError, match="holds a model already"):
        train_words(config, examples, dev)


@pytest.mark.parametrize("settings", [{"only": True}, {"only": True, "lemmas": 5}])
def test_nothing_to_learn_or_to_start_from_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"option words\.only: expected a model in start"):
        config_of({"words": settings})


def test_a_model_without_them_has_none(uninterrupted: Path) -> None:
    config: Config = Model.load(uninterrupted / "model").config
    assert not config.words.learned
    [result] = load(uninterrupted / "model").parse_batch([Sentence(words=("It", "works", "."))])
    assert (result.sentence.lemmas, result.sentence.features) == (None, None)
