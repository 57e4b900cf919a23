"""A saved model, read and checked against one description: what its options and vocabulary imply.

Whatever is wrong with a folder, and however it came about, is one `InputError` that names the file. Nothing is built,
and no weight is read, before everything else is checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from h3n.config import Config, config_of
from h3n.config.building import show
from h3n.config.options import Encoder, Layers, Words
from h3n.convert import LEVELS
from h3n.engine.architectures import Architecture, linear, norm, read_architecture
from h3n.engine.lemmas import is_script
from h3n.engine.pieces import Tokenizer
from h3n.engine.segmenter import LEARNED, read_segmenter
from h3n.engine.storage import Stored
from h3n.engine.tokenizer_file import read_tokenizer
from h3n.engine.vocabulary import CHARACTER_SIZE, EMPTY, SHAPES, Vocabulary
from h3n.engine.weights import Shapes, compare, read_shapes, read_weights
from h3n.errors import H3nError, InputError
from h3n.files import checksum
from h3n.models import ABOUT, ENCODER, SEGMENTER, SHA256, WEIGHTS, read_about
from h3n.text import ENGLISH, SEGMENTERS, Segmenter

VECTORS = "encoder.features.vectors.weight"
# Of each set; every label and relation has a score of its own wherever it could stand.
MOST = {"labels": 10_000, "relations": 10_000, "tags": 50_000, "upos": 1_000, "styles": 1_000}
MOST |= {"features": 10_000, "bundles": 50_000, "scripts": 50_000, "irregular": 1_000_000}
MOST |= {"words": 10_000_000, "characters": 1_200_000, "pieces": 1_000_000}
WRITTEN = ("labels", "relations", "tags", "upos", "features", "bundles", "top")  # what stands in files of trees
LARGEST_COUNT = 1 << 53  # of a word: what every program reads of a JSON number
LONGEST_NAME = 10_000  # characters of a label, relation, tag or word


@dataclass(frozen=True, slots=True)
class Saved:
    """What a model's folder holds."""

    folder: Path
    config: Config
    vocabulary: Vocabulary
    architecture: Architecture | None  # of the pretrained encoder, where there is one
    tokenizer: Tokenizer | None
    weights: Mapping[str, Stored]  # by their names in the file, which are those in torch's state_dict
    segmenter: Segmenter


def read_saved(folder: Path) -> Saved:
    """Return the model in a folder, everything checked; `UnknownEncoder` if its encoder is left to transformers."""
    about, config, vocabulary = read_options(folder)
    architecture = tokenizer = None
    if config.encoder.kind == "pretrained":
        architecture = read_architecture(folder / ENCODER)
    found = read_shapes(folder / WEIGHTS)
    vectors = vector_size(folder / WEIGHTS, found, config)
    compare(folder / WEIGHTS, found, implied_shapes(config, vocabulary, architecture, vectors=vectors))
    check_sum(folder, about)
    if architecture is not None:
        tokenizer = read_tokenizer(folder / ENCODER, architecture, windows=config.encoder.windows)
    segmenter = segmenter_of(folder, about)
    weights = read_weights(folder / WEIGHTS)
    return Saved(folder, config, vocabulary, architecture, tokenizer, weights, segmenter)


def read_options(folder: Path) -> tuple[dict[str, Any], Config, Vocabulary]:
    """Return what a model says of itself, and its options and vocabulary."""
    about, file = read_about(folder), folder / ABOUT
    try:
        config = config_of(about["config"])
        vocabulary = Vocabulary.from_json(about["vocabulary"])
    except H3nError as error:
        raise InputError(f"{file}: {error}") from None
    for name, names in {"at_root": "relations", "elsewhere": "relations", "word_counts": "words"}.items():
        one, other = len(getattr(vocabulary, name)), len(getattr(vocabulary, names))
        if one != other:
            raise InputError(f"{file}: vocabulary.{name} has {one} entries; expected {other}, as {names} has")
    if vocabulary.labels[:1] != (EMPTY,):
        raise InputError(f"{file}: vocabulary.labels does not start with the empty label, which is label 0")
    for name, most in MOST.items():
        entries = getattr(vocabulary, name)
        if len(entries) > most:
            raise InputError(f"{file}: vocabulary.{name} has {len(entries)} entries; accepted: {most} at most")
        for entry, count in Counter(entries).most_common(1):
            if count > 1:
                raise InputError(f"{file}: vocabulary.{name} holds {entry[:60]!r} {count} times; expected once")
        for entry in entries:
            if len(entry) > LONGEST_NAME:
                raise InputError(f"{file}: vocabulary.{name} has an entry of {len(entry)} characters")
    for count in vocabulary.word_counts:
        if not 0 <= count <= LARGEST_COUNT:
            raise InputError(f"{file}: vocabulary.word_counts has {show(count)}; accepted: 0 to {LARGEST_COUNT}")
    for name in WRITTEN:
        given = getattr(vocabulary, name)
        for entry in (given,) if isinstance(given, str) else given:
            if not entry.isprintable() or " " in entry:
                raise InputError(f"{file}: vocabulary.{name} has {show(entry)}; expected characters that can be shown")
    for script in vocabulary.scripts:
        if not is_script(script) or not script.isprintable():
            raise InputError(f"{file}: vocabulary.scripts has {show(script)}; expected an edit script")
    for word, _, lemma in vocabulary.irregular:
        if not lemma or not lemma.isprintable() or max(len(word), len(lemma)) > LONGEST_NAME:
            raise InputError(f"{file}: vocabulary.irregular has the lemma {show(lemma)}; expected text to be shown")
    for feature in vocabulary.features:
        if not all(feature.partition("=")):
            raise InputError(f"{file}: vocabulary.features has {show(feature)}; expected NAME=VALUE")
    return about, config, vocabulary


def segmenter_of(folder: Path, about: Mapping[str, Any]) -> Segmenter:
    """Return what turns text into sentences for a model; the rules for English where it names nothing."""
    name = about.get(SEGMENTER, ENGLISH.name)
    if name == LEARNED:
        return read_segmenter(folder)
    if not isinstance(name, str) or name not in SEGMENTERS:
        raise InputError(f"{folder / ABOUT}: segmenter is {show(name)}; accepted: {', '.join((*SEGMENTERS, LEARNED))}")
    return SEGMENTERS[name]


def implied_shapes(
    config: Config, vocabulary: Vocabulary, architecture: Architecture | None, *, vectors: int = 0
) -> Shapes:
    """Return the names and shapes of the weights that a model with these options must have."""
    found = _encoder_shapes(config.encoder, vocabulary, architecture, vectors=vectors)
    size, options = config.encoder.layers.size, config.scorers
    found |= {"span.first.weight": (options.span, size), "span.bias": (options.span,)}
    found |= norm("span.norm", options.span)
    found |= linear("span.second", options.span, max(len(vocabulary.labels) - 1, 1))
    if options.pair:
        found |= linear("span.start.linear", size, options.pair) | linear("span.end.linear", size, options.pair)
        found["span.weight"] = (options.pair + 1, options.pair + 1)
    for name, hidden in {"arc": options.arc, "relation": options.relation}.items():
        found |= linear(f"{name}.governor.linear", size, hidden) | linear(f"{name}.dependent.linear", size, hidden)
    found["arc.weight"] = (options.arc + 1, options.arc)
    found["relation.weight"] = (len(vocabulary.relations), options.relation + 1, options.relation + 1)
    tasks = {"head": (options.head, [LEVELS]), "order": (options.order, [1])}
    tasks["tag"] = (options.tag, [len(vocabulary.tags), len(vocabulary.upos)])
    for name, (hidden, classes) in tasks.items():
        if hidden:
            found |= linear(f"{name}.first", size, hidden) | norm(f"{name}.norm", hidden)
            for at, count in enumerate(classes):
                found |= linear(f"{name}.classes.{at}", hidden, max(count, 1))
    return found | _word_shapes(config.words, size, vocabulary)


def _word_shapes(options: Words, size: int, vocabulary: Vocabulary) -> Shapes:
    if not options.learned:
        return {}
    found: Shapes = {"words.characters.embed.weight": (len(vocabulary.characters) + 2, CHARACTER_SIZE)}
    found |= {"words.characters.filters.weight": (options.characters, CHARACTER_SIZE, 3)}
    found |= {"words.characters.filters.bias": (options.characters,)}
    width = size + sum(vocabulary.tag_widths[:2]) + options.characters
    tasks = {"lemma": (options.lemmas, [len(vocabulary.scripts)])}
    tasks["feature"] = (options.features, vocabulary.feature_widths)
    for name, (hidden, classes) in tasks.items():
        if hidden:
            found |= linear(f"words.{name}.first", width, hidden) | norm(f"words.{name}.norm", hidden)
            for at, count in enumerate(classes):
                found |= linear(f"words.{name}.classes.{at}", hidden, max(count, 1))
    return found


def _encoder_shapes(
    options: Encoder, vocabulary: Vocabulary, architecture: Architecture | None, *, vectors: int
) -> Shapes:
    layers = options.layers
    content = layers.size // 2 if layers.count else layers.size
    stack = _recurrent_shapes(options, vocabulary) if options.kind == "recurrent" else _stack_shapes(layers)
    found = stack | norm("encoder.norm", content)
    if architecture is not None:
        found |= architecture.shapes() | linear("encoder.project", architecture.hidden_size, content)
    words, tables = len(vocabulary.words) + 2, {"encoder.features.edges": (2, content)}
    if options.words and architecture is None:
        tables["encoder.features.words.weight"] = (words, content)
        if options.vectors:
            tables[VECTORS] = (len(vocabulary.pieces) + 2 if vocabulary.pieces else words, vectors)
            tables["encoder.features.vector_map.weight"] = (content, vectors)
    if options.tags:
        tables["encoder.features.tags.weight"] = (len(vocabulary.tags) + 2, content)
    if options.shapes:
        tables["encoder.features.shapes.weight"] = (SHAPES, content)
    if len(vocabulary.styles) > 1:
        tables["encoder.features.styles.weight"] = (len(vocabulary.styles), content)
    return found | tables | _character_shapes(options, len(vocabulary.characters) + 2, content)


def _stack_shapes(layers: Layers) -> Shapes:
    half, inside, inner = layers.size // 2, layers.heads * layers.head_size // 2, layers.inner // 2
    found: Shapes = {"encoder.stack.positions": (layers.positions, layers.size - half)} if layers.count else {}
    for at in range(layers.count):
        name = f"encoder.stack.layers.{at}"
        for part in ("content", "position"):
            for role in ("query", "key", "value"):
                found |= linear(f"{name}.attention.{role}.{part}", half, inside)
            found |= linear(f"{name}.attention.out.{part}", inside, half)
            found |= linear(f"{name}.inner.{part}", half, inner) | linear(f"{name}.outer.{part}", inner, half)
        found |= norm(f"{name}.attention_norm", layers.size) | norm(f"{name}.outer_norm", layers.size)
    return found


def _recurrent_shapes(options: Encoder, vocabulary: Vocabulary) -> Shapes:
    size = options.layers.size
    found: Shapes = {}
    for at in range(options.layers.count):
        size_in = size + options.fed if at else size // 2
        for side in ("right", "left"):
            found |= _lstm_shapes(f"encoder.layers.{at}.{side}", size_in, size // 2)
    if options.fed:
        classes = sum(vocabulary.tag_widths)
        found |= linear("encoder.tagger.classes", size, classes)
        found |= linear("encoder.tagger.out", classes, options.fed)
    return found


def _lstm_shapes(name: str, size_in: int, size: int, *, end: str = "") -> Shapes:
    """Return the shapes of a recurrent step's weights: four numbers of each size, of input and of state."""
    shapes: Shapes = {f"{name}.weight_ih_l0{end}": (4 * size, size_in), f"{name}.weight_hh_l0{end}": (4 * size, size)}
    return shapes | {f"{name}.bias_{kind}_l0{end}": (4 * size,) for kind in ("ih", "hh")}


def _character_shapes(options: Encoder, count: int, content: int) -> Shapes:
    name, size, half = "encoder.features.characters", options.character_size, content // 2
    if options.characters == "none":
        return {}
    found: Shapes = {f"{name}.embed.weight": (count, size)}
    if options.characters == "cnn":
        return found | {f"{name}.filters.weight": (content, size, 3), f"{name}.filters.bias": (content,)}
    for end in ("", "_reverse"):
        found |= _lstm_shapes(f"{name}.lstm", size, half, end=end)
    return found | linear(f"{name}.out", 2 * half, content)


def vector_size(file: Path, found: Shapes, config: Config) -> int:
    """Return the size of the static vectors among the weights, 0 where there are none."""
    vectors = found.get(VECTORS)
    if vectors is not None and (len(vectors) != 2 or not vectors[1]):
        raise InputError(f"{file}: {VECTORS} has shape {vectors}; expected a table with a row for each word")
    if config.encoder.vectors and config.encoder.words and config.encoder.kind != "pretrained" and vectors is None:
        raise InputError(f"{file}: {VECTORS} is missing; encoder.vectors asks for it")
    return vectors[1] if vectors else 0


def check_sum(folder: Path, about: Mapping[str, Any]) -> None:
    """Raise unless the weights are those that were saved; models that were saved without a checksum have none."""
    expected = about.get(SHA256)
    if expected is not None and checksum(folder / WEIGHTS) != expected:
        raise InputError(f"{folder / WEIGHTS}: not the weights that were saved: the checksum differs from {ABOUT}'s")
