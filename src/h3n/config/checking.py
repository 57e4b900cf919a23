"""What no option shows by itself: options that have to fit each other."""

from __future__ import annotations

from h3n.config.options import Config, Encoder
from h3n.errors import UsageError

SHORTEST_WINDOW = 8  # pieces: some for the sentence between its marks, some for the overlap


def check(config: Config) -> Config:
    """Return the options as they are, or raise a `UsageError` that names the one that does not fit."""
    if not config.output:
        raise UsageError("option output: is empty; expected the name of a folder")
    _check_encoder(config.encoder)
    _check_layers(config.encoder)
    if "order" in config.decoding.head_score and not config.scorers.order:
        raise UsageError(
            f"option decoding.head_score: {config.decoding.head_score!r} needs a score learned by order; expected "
            "scorers.order of 1 or more"
        )
    if config.words.only and not (config.start and config.words.learned):
        raise UsageError(
            "option words.only: expected a model in start, and words.lemmas or words.features of 1 or more to learn"
        )
    return config


def _check_encoder(encoder: Encoder) -> None:
    if encoder.kind == "pretrained":
        if not encoder.name:
            raise UsageError("option encoder.name: encoder.name is empty; a pretrained encoder needs one")
        if 0 < encoder.windows < SHORTEST_WINDOW:
            raise UsageError(f"option encoder.windows: {encoder.windows}; accepted: 0, or {SHORTEST_WINDOW} or more")
    elif not (encoder.words or encoder.vectors or encoder.tags or encoder.shapes or encoder.characters != "none"):
        raise UsageError("option encoder.words: nothing of a word is read; switch on words, characters, shapes or tags")
    elif encoder.vectors and not encoder.words:
        raise UsageError("option encoder.vectors: is read beside learned word vectors; expected encoder.words = true")


def _check_layers(encoder: Encoder) -> None:
    """Check that what is split into two halves can be."""
    layers, recurrent = encoder.layers, encoder.kind == "recurrent"
    if recurrent and not layers.count:
        raise UsageError("option encoder.layers.count: 0; a recurrent encoder has 1 layer or more")
    if layers.count:
        for name in ("size",) if recurrent else ("size", "head_size", "inner"):
            if getattr(layers, name) % 2:
                value = getattr(layers, name)
                halves = "is read from each side" if recurrent else "is content and half position"
                raise UsageError(f"option encoder.layers.{name}: {value} is odd; half {halves}")
    content = layers.size // 2 if layers.count else layers.size
    if encoder.characters == "lstm" and content < 2:
        raise UsageError(f"option encoder.layers.size: {layers.size} is too small for characters read by an LSTM")
