"""The recurrent encoder: beside torch's own layer for two sides, beside its twin without torch, saved and trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from h3n.config import Config, config_of, load_config
from h3n.engine import read_saved
from h3n.engine.inputs import read_inputs
from h3n.engine.recurrent import recurrent
from h3n.engine.vocabulary import IGNORE, Seen, Vocabulary, count_vocabulary, feature_values
from h3n.errors import UsageError
from h3n.model import Network, build_network, collate
from h3n.model.batch import read_targets, stack_targets
from h3n.model.loss import early_loss, losses
from h3n.model.model import Model
from h3n.model.recurrent import Lstm, Recurrent, reversal
from tests.model.test_encoders import SENTENCES, assert_batching_changes_nothing, options, vocabulary

FEATURES = ("Case=Nom|Number=Sing", "_", "Case=Acc|Number=Plur", "Number=Sing")


def known() -> Vocabulary:
    features = ("Case=Acc", "Case=Nom", "Number=Sing", "Number=Plur")
    return replace(vocabulary(), upos=("NOUN", "VERB", "ADJ"), features=features)


def made(*, count: int = 3, tag_size: int = 5, **encoder: object) -> tuple[Network, Config]:
    config = options(kind="recurrent", tag_size=tag_size, layers={"count": count, "size": 12}, **encoder)
    torch.manual_seed(1)
    return build_network(config, known()).eval(), config


@pytest.mark.parametrize("tag_size", [0, 5])
def test_batching_changes_nothing(tag_size: int) -> None:
    network, _ = made(tag_size=tag_size, characters="cnn", shapes=True)
    assert_batching_changes_nothing(network)


def test_a_layer_is_torchs_layer_of_two_directions() -> None:
    torch.manual_seed(2)
    layer, theirs = Lstm(5, 8), nn.LSTM(5, 4, bidirectional=True)
    for side, end in (("right", ""), ("left", "_reverse")):
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            getattr(getattr(layer, side), name).data = getattr(theirs, name + end).data
    lengths = torch.tensor([4, 7, 1])
    x = torch.randn(7, 3, 5)
    expected, _ = pad_packed_sequence(theirs(pack_padded_sequence(x, lengths, enforce_sorted=False))[0])
    ours = layer(x, reversal(lengths, 7))
    for sentence, length in enumerate(lengths.tolist()):
        both = torch.cat((ours[:length, sentence, 0::2], ours[:length, sentence, 1::2]), dim=-1)
        torch.testing.assert_close(both, expected[:length, sentence])


@pytest.mark.parametrize(("count", "tag_size"), [(1, 0), (1, 5), (2, 0), (2, 5), (3, 7)])
def test_the_twin_without_torch_gives_the_same_states(count: int, tag_size: int, tmp_path: Path) -> None:
    network, config = made(count=count, tag_size=tag_size)
    Model(network, known(), config).save(tmp_path / "saved")
    saved = read_saved(tmp_path / "saved")
    encoder = network.encoder
    assert isinstance(encoder, Recurrent)
    batch = collate([read_inputs(words, known()) for words in SENTENCES])
    with torch.no_grad():
        content = encoder.norm(encoder.features.add_edges(encoder.features(batch), batch))
        expected = encoder(batch)[batch.mask].numpy()
    tags = saved.vocabulary.tag_widths if config.encoder.fed else []
    lengths = [len(words) + 2 for words in SENTENCES]
    rows = content[batch.mask].numpy()
    states = recurrent(lambda name: saved.weights[f"encoder.{name}"].floats(), rows, lengths, layers=count, tags=tags)
    assert states.dtype == np.float32
    np.testing.assert_allclose(states, expected, atol=1e-5)


def test_what_is_likely_after_the_first_layer_reaches_the_next_ones() -> None:
    network, _ = made()
    batch = collate([read_inputs(words, known()) for words in SENTENCES])
    encoder = network.encoder
    assert isinstance(encoder, Recurrent)
    assert encoder.tagger is not None
    with torch.no_grad():
        before, early = encoder.encode(batch)
        encoder.tagger.classes.bias[0] += 3.0
        after, _ = encoder.encode(batch)
    assert [scores.shape[-1] for scores in early] == [2, 3, 3, 3]
    assert not torch.allclose(before, after)


def test_tags_and_features_after_the_first_layer_are_learned() -> None:
    network, config = made()
    words = ["the", "parser", "saw", "Mary"]
    batch = collate([read_inputs(words, known())])
    tagged = read_targets(known(), tags=["DT", "NN", "NN", "NN"], upos=["ADJ", "NOUN", "VERB", "NOUN"])
    whole = read_targets(known(), tags=["DT", "NN", "NN", "NN"], features=FEATURES)
    assert whole.features is not None
    assert whole.features.tolist() == [[2, 1], [0, 0], [1, 2], [0, 1]]
    output = network(batch)
    for targets in (tagged, whole):
        network.zero_grad()
        torch.autograd.backward(early_loss(output, [targets]), retain_graph=True)
        assert isinstance(network.encoder, Recurrent)
        assert network.encoder.tagger is not None
        gradient = network.encoder.tagger.classes.weight.grad
        assert gradient is not None
        parts = [bool(part.abs().sum() > 0) for part in gradient.split([2, 3, 3, 3])]
        assert parts == [True, targets is tagged, targets is whole, targets is whole]
    term = losses(network, output, [whole], options=config.loss, helper=None)["tag"]
    assert term.item() > early_loss(output, [whole]).item() > 0


def test_features_are_counted_by_name_and_an_unknown_value_is_left_out() -> None:
    seen = Seen(words=("a", "b", "c", "d"), features=FEATURES)
    counted = count_vocabulary([seen], keep_words=True, keep_features=True)
    assert counted.features == ("Case=Acc", "Case=Nom", "Number=Sing", "Number=Plur")
    assert count_vocabulary([seen], keep_words=True).features == ()
    targets = read_targets(counted, features=["Case=Voc|Number=Sing", "Mood=Ind"])
    assert targets.features is not None
    assert targets.features.tolist() == [[IGNORE, 1], [0, 0]]
    assert feature_values("_") == {}
    both = stack_targets([None, targets.features], [1, 2])
    assert both.tolist() == [[IGNORE, IGNORE], [IGNORE, 1], [0, 0]]


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"kind": "recurrent", "layers": {"count": 0}}, "encoder.layers.count: 0; a recurrent encoder has 1"),
        ({"kind": "recurrent", "layers": {"size": 15}}, "encoder.layers.size: 15 is odd; half is read from each side"),
    ],
)
def test_options_that_do_not_fit(encoder: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        config_of({"encoder": encoder})


def test_tags_are_fed_only_where_a_recurrent_layer_follows() -> None:
    assert config_of({"encoder": {"kind": "recurrent", "tag_size": 9}}).encoder.fed == 9
    assert config_of({"encoder": {"kind": "recurrent", "tag_size": 9, "layers": {"count": 1}}}).encoder.fed == 0
    assert config_of({"encoder": {"kind": "attentive", "tag_size": 9}}).encoder.fed == 0


def test_the_paper_has_attention_and_a_small_treebank_has_not() -> None:
    assert load_config(settings=["preset=paper"]).encoder.kind == "attentive"
    assert load_config(settings=["preset=small"]).encoder.kind == "recurrent"
