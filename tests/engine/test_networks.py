"""One interface, three networks: plain gives the scores of torch, native nearly, and every batch the same.

Every model here is built by torch with random weights, saved, and read by the engine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from h3n.config import Config, config_of
from h3n.engine import native
from h3n.engine.engine import Engine, Scored
from h3n.engine.native import NativeNetwork, targets
from h3n.engine.output import Network, Output
from h3n.engine.plain import PlainNetwork
from h3n.engine.saved import Saved, read_saved
from h3n.engine.vocabulary import Seen, Vocabulary, count_vocabulary
from h3n.errors import UsageError
from h3n.model import Model, build_network
from h3n.models import locate
from h3n.parser import load
from h3n.trees import Dependencies, Sentence, Span
from tests.model.tiny import save_encoder

WORDS = ["the", "parser", "saw", "a", "very", "tall", "tree", "near", "the", "river", ".", "Mary", "liked", "it"]
SENTENCES = [
    Sentence(words=tuple(WORDS)),
    Sentence(words=("it",)),
    Sentence(words=("unbelievable", "things", "happened", "to", "Ελένη", "in", "2024", "!"), tags=("NN",) * 8),
    # More pieces than the encoder reads at once, in an order that does not repeat.
    Sentence(words=tuple(np.random.default_rng(5).choice(WORDS, 60).tolist())),
]
STYLES = ["news", "web", None, "web"]
PIECES = ("\u2581", "\u2581the", "tr", "e", "ee", "\u2581s", "aw", "\u2581it")  # with static vectors
SMALL = {"span": 8, "pair": 0, "arc": 8, "relation": 8, "head": 8, "tag": 8, "order": 0}
LARGE = {"span": 72, "pair": 66, "arc": 70, "relation": 68, "head": 64, "tag": 65, "order": 67}
WORD_HEADS = {"heads": {"lemmas": 70, "features": 67, "characters": 30}}
# Name -> encoder (with what is learned of words in "heads"), scorers, bits of a weight.
PLANS: dict[str, tuple[dict[str, Any], dict[str, int], int]] = {
    "bert": ({"kind": "pretrained", "name": "bert", "characters": "cnn", "shapes": True}, LARGE, 32),
    "bert of 4 bits": ({"kind": "pretrained", "name": "bert", "pooling": "first"}, SMALL, 4),
    "bert alone": ({"kind": "pretrained", "name": "bert", "pooling": "last", "layers": 0}, LARGE, 8),
    "roberta": ({"kind": "pretrained", "name": "roberta", "windows": 12}, LARGE, 16),
    "xlm-roberta": ({"kind": "pretrained", "name": "xlm-roberta", "characters": "lstm"}, SMALL, 32),
    "mpnet": ({"kind": "pretrained", "name": "mpnet", "tags": True}, LARGE, 8),
    "attentive": ({"kind": "attentive", "characters": "cnn", "shapes": True, "tags": True}, LARGE, 32),
    "attentive of 8 bits": ({"kind": "attentive", "characters": "lstm"}, SMALL, 8),
    "attentive with vectors": ({"kind": "attentive", "vectors": "vectors.txt", "layers": 2}, LARGE, 16),
    "words alone": ({"kind": "attentive", "layers": 0}, SMALL, 32),
    "recurrent": ({"kind": "recurrent", "layers": 3, "tag_size": 9, "characters": "cnn", "shapes": True}, LARGE, 32),
    "recurrent of 8 bits": ({"kind": "recurrent", "layers": 1, "characters": "lstm", "tags": True}, SMALL, 8),
    "recurrent with vectors of pieces": ({"kind": "recurrent", "layers": 2, "vectors": "pieces"}, LARGE, 16),
    "bert with lemmas and features": ({"kind": "pretrained", "name": "bert", **WORD_HEADS}, SMALL, 8),
    "recurrent with lemmas": ({"kind": "recurrent", "characters": "cnn", "heads": {"lemmas": 66}}, LARGE, 32),
    "attentive with features": ({"kind": "attentive", "heads": {"features": 5}}, LARGE, 16),
}


def vocabulary() -> Vocabulary:
    arcs = Dependencies((-1, *(0 for _ in WORDS[1:])), ("root", "obj", *("dep" for _ in WORDS[2:])))
    spans = (Span(0, len(WORDS), "S"), Span(0, 2, "NP"), Span(2, 4, "<H>"), Span(4, 6, "VP"))
    tags = tuple("DT" if word in {"the", "a"} else "NN" for word in WORDS)
    seen = Seen(
        words=tuple(WORDS),
        spans=spans,
        dependencies=arcs,
        tags=tags,
        upos=("X", *("Y" for _ in WORDS[1:])),
        lemmas=tuple(word.lower()[: max(1, len(word) - at % 3)] for at, word in enumerate(WORDS)),
        features=tuple(["A=1|B=2", "_", "A=1", "B=1"][at % 4] for at in range(len(WORDS))),
    )
    others = [Seen(words=("it",), style=style) for style in ("news", "web")]
    return count_vocabulary(
        [seen, *others], keep_words=True, keep_characters=True, keep_features=True, keep_lemmas=True
    )


def config_for(encoder: dict[str, Any], scorers: dict[str, int], folder: Path) -> Config:
    options = dict(encoder)
    count, heads = options.pop("layers", 1), options.pop("heads", {})
    layers = {"count": count, "size": 64, "heads": 2, "head_size": 16, "inner": 80, "positions": 8}
    if options["kind"] == "pretrained":
        save_encoder(options["name"], folder / "encoder", size=64)
        options["name"] = str(folder / "encoder")
    if options.get("vectors") == "pieces":
        (folder / "pieces").mkdir()
        (folder / "pieces" / "pieces.txt").write_text("\n".join(PIECES), encoding="utf-8")
        np.save(folder / "pieces" / "vectors.npy", np.random.default_rng(1).normal(size=(len(PIECES), 5)))
        options["vectors"] = str(folder / "pieces")
    elif "vectors" in options:
        (folder / options["vectors"]).write_text("the 1 2 3\ntree 4 5 -6\n", encoding="utf-8")
        options["vectors"] = str(folder / options["vectors"])
    return config_of({"encoder": {"layers": layers, **options}, "scorers": scorers, "words": heads})


@pytest.fixture(scope="module", params=list(PLANS), ids=list(PLANS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Saved]:
    """Return a model as torch has it, loaded from its folder, and as the engine reads it."""
    folder = tmp_path_factory.mktemp("model")
    encoder, scorers, bits = PLANS[request.param]
    config = config_for(encoder, scorers, folder)
    torch.manual_seed(7)
    known = replace(vocabulary(), pieces=PIECES if config.encoder.vectors.endswith("pieces") else ())
    network = build_network(config, known).eval()
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if not name.startswith("encoder.model.") and weights.dim() > 1:
                weights.copy_(torch.randn_like(weights) / weights.shape[-1] ** 0.5)
        for part in network.modules():
            if isinstance(part, torch.nn.Embedding) and part.padding_idx is not None:
                part.weight[part.padding_idx] = 0.0  # training leaves it so
    Model(network, known, config).save(folder / "saved", bits=bits)
    return Model.load(folder / "saved"), read_saved(folder / "saved")


def engine_of(network: Network, saved: Saved) -> Engine:
    return Engine(network, saved.vocabulary, saved.config, saved.tokenizer)


def said(engine: Engine, sentences: list[Sentence], styles: list[str | None]) -> Scored:
    inputs = engine.read(dict(enumerate(sentences)), styles=styles)
    return engine.score_batch(sentences, [inputs[at] for at in range(len(sentences))])


def answers(scored: Scored) -> Iterator[tuple[str, Any]]:
    """Yield everything that an output says, by name."""
    output: Output = scored.output
    for at, scores in enumerate(scored.scores):
        yield from ((f"{name} {at}", getattr(scores, name)) for name in ("full", "open", "arc", "root"))
    yield from (("tags", output.tag_scores()), ("upos", output.upos_scores()), ("levels", output.levels()))
    yield from (("order", order) for order in [output.order()] if order is not None)
    yield "relations", output.relation_scores(governors(output))
    yield "vectors", output.vectors()
    words = output.word_scores()
    if words is not None:
        yield from (("lemmas", lemmas) for lemmas in [words.lemmas] if lemmas is not None)
        yield from ((f"features {at}", choice) for at, choice in enumerate(words.features))
    sentence, start, end = (np.array(column, dtype=np.int64) for column in ([0, 3, 3], [0, 5, 59], [14, 60, 60]))
    yield "labels", output.label_scores(sentence, start, end)


def governors(output: Output) -> Any:
    chance = np.random.default_rng(3)
    return np.concatenate([chance.integers(0, n + 1, n) for n in output.lengths])


def compare(found: Scored, wanted: Scored, *, most: float, share: float = 1.0) -> None:
    """Check that scores differ by so much at most, or those of a share of them do."""
    for (name, one), (_, other) in zip(answers(found), answers(wanted), strict=True):
        assert one.shape == other.shape, name
        inside = other > -1e30  # the others are barred
        assert np.array_equal(inside, one > -1e30), name
        largest = np.abs(other[inside]).max(initial=1.0)
        apart = np.abs(one[inside] - other[inside])
        assert not len(apart) or np.quantile(apart, share) <= most * largest, name


def test_plain_gives_the_scores_of_torch(both: tuple[Model, Saved]) -> None:
    model, saved = both
    plain, torchs = engine_of(PlainNetwork(saved), saved), model.engine
    found, wanted = said(plain, SENTENCES, STYLES), said(torchs, SENTENCES, STYLES)
    compare(found, wanted, most=1e-3)  # random scorers make differences of vectors that are nearly equal large
    for one, other in zip(found.scores, wanted.scores, strict=True):
        assert one.label is not None
        assert np.array_equal(one.label, other.label)
    assert np.array_equal(found.output.tags(), wanted.output.tags())
    above = governors(found.output)
    assert np.array_equal(found.output.relations(above), wanted.output.relations(above))


def test_plain_gives_the_scores_of_torch_for_english() -> None:
    folder = locate("en")
    saved = read_saved(folder)
    styles: list[str | None] = [None] * len(SENTENCES)
    found = said(engine_of(PlainNetwork(saved), saved), SENTENCES, styles)
    wanted = said(Model.load(folder).engine, SENTENCES, styles)
    for (name, one), (_, other) in zip(answers(found), answers(wanted), strict=True):
        inside = other > -1e30
        assert np.abs(one[inside] - other[inside]).max(initial=0.0) <= 1e-4, name


def test_what_a_network_has_learned_of_words_is_scored_and_named(both: tuple[Model, Saved]) -> None:
    model, saved = both
    found = said(engine_of(PlainNetwork(saved), saved), SENTENCES, STYLES).output.word_scores()
    learned = model.config.words
    assert (found is not None) == learned.learned
    if found is None:
        return
    assert (found.lemmas is not None) == bool(learned.lemmas)
    widths = saved.vocabulary.feature_widths if learned.features else []
    assert [choice.shape[1] for choice in found.features] == widths
    for precision in ("float32", "auto"):
        parser = load(saved.folder, precision=precision)
        for result in parser.parse_batch(SENTENCES):
            assert bool(result.lemmas) == bool(learned.lemmas)
            assert bool(result.features) == bool(learned.features)


needs_native = pytest.mark.skipif(not native.is_built(), reason="the native networks are not built")


@needs_native
def test_native_is_near_plain(both: tuple[Model, Saved]) -> None:
    _, saved = both
    found = said(engine_of(NativeNetwork(saved), saved), SENTENCES, STYLES)
    wanted = said(engine_of(PlainNetwork(saved), saved), SENTENCES, STYLES)
    # Random recurrent layers forget soon: fenceposts are nearly the same, and norms make rounding between them large.
    compare(found, wanted, most=0.15, share=0.98 if saved.config.encoder.kind == "recurrent" else 1.0)
    for name, one in answers(found):
        assert np.isfinite(one).any(), name
    assert found.output.tags().tolist() == found.output.tag_scores().argmax(axis=1).tolist()
    assert found.output.upos().tolist() == found.output.upos_scores().argmax(axis=1).tolist()
    above = governors(found.output)
    assert found.output.relations(above).tolist() == found.output.relation_scores(above).argmax(axis=1).tolist()


@needs_native
def test_native_says_the_best_label_of_each_span(both: tuple[Model, Saved]) -> None:
    _, saved = both
    scored = said(engine_of(NativeNetwork(saved), saved), SENTENCES, STYLES)
    helper = saved.vocabulary.helper
    assert helper is not None
    for number, (n, scores) in enumerate(zip(scored.output.lengths, scored.scores, strict=True)):
        start, end = np.triu_indices(n + 1, k=1)
        labels = scored.output.label_scores(np.full(len(start), number), start.astype(np.int64), end.astype(np.int64))
        labels[(end - start == 1) | (end - start == n), helper - 1] = -np.inf
        assert scores.full is not None
        assert scores.label is not None
        assert np.array_equal(scores.full[start, end], labels.max(axis=1))
        assert np.array_equal(scores.label[start, end], labels.argmax(axis=1) + 1)


@pytest.mark.parametrize("kind", [PlainNetwork, pytest.param(NativeNetwork, marks=needs_native)])
def test_a_batch_changes_nothing(both: tuple[Model, Saved], kind: type[PlainNetwork] | type[NativeNetwork]) -> None:
    _, saved = both
    engine = engine_of(kind(saved), saved)
    together = said(engine, SENTENCES, STYLES)
    exact = kind is NativeNetwork
    for at, (sentence, style) in enumerate(zip(SENTENCES, STYLES, strict=True)):
        alone = said(engine, [sentence], [style]).scores[0]
        for name in ("full", "open", "arc", "root"):
            one, other = getattr(alone, name), getattr(together.scores[at], name)
            assert np.array_equal(one, other) if exact else np.allclose(one, other, rtol=1e-3, atol=1e-3), name


@needs_native
def test_all_instruction_sets_give_the_same_bits(both: tuple[Model, Saved], monkeypatch: pytest.MonkeyPatch) -> None:
    _, saved = both
    made = []
    for name in targets():
        monkeypatch.setenv(native.CHOICE, name)
        network = NativeNetwork(saved)
        assert network.computes == name
        made.append([answer.tobytes() for _, answer in answers(said(engine_of(network, saved), SENTENCES, STYLES))])
    assert all(one == made[0] for one in made[1:])


@needs_native
def test_an_instruction_set_that_is_not_there_is_refused(
    both: tuple[Model, Saved], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.CHOICE, "sse9")
    with pytest.raises(UsageError, match=r"H3N_ISA is 'sse9'; accepted on this machine: .*baseline"):
        NativeNetwork(both[1])


def test_without_native_code(both: tuple[Model, Saved], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("h3n.engine.native._layers", None)
    assert not native.is_fast()
    with pytest.raises(UsageError, match="not built for this platform; accepted: float32"):
        NativeNetwork(both[1])


def test_when_it_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(os.environ, native.CHOICE, raising=False)
    for known, fast in ((["avx512_vnni", "baseline"], True), (["avx2", "baseline"], True), (["baseline"], False)):
        monkeypatch.setattr(native, "targets", lambda known=known: known)
        assert native.is_fast() == fast
