"""Every option with its default and what it does: frozen, typed, on one page.

`docs/options.md` and ``h3n train --options`` are made from this page.
"""

from __future__ import annotations

# ruff: noqa: RUF009  -- `option` returns a field, so that it is called once for each class, as it should be
import math
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Within:
    """The numbers an option accepts, both ends included; ``below`` is a limit that is not reached."""

    low: float
    high: float = math.inf
    below: float = math.inf

    def __str__(self) -> str:
        if self.below < math.inf:
            return f"{self.low} or more, less than {self.below}"
        return f"{self.low} or more" if self.high == math.inf else f"between {self.low} and {self.high}"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high and number < self.below


MOST = 2**31 - 1
Count = Annotated[int, Within(1, MOST)]
Whole = Annotated[int, Within(0, MOST)]
Size = Annotated[int, Within(1, 16384)]  # of a vector
SizeOrNone = Annotated[int, Within(0, 16384)]
Share = Annotated[float, Within(0, 1)]
Part = Annotated[float, Within(0, below=1)]
Amount = Annotated[float, Within(0)]
Temperature = Annotated[float, Within(0.01, 100)]


def option(default: Value, text: str) -> Value:
    """Return the field of a dataclass with its default and what it does."""
    described: Value = field(default=default, metadata={"help": text})
    return described


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """The layers above the word vectors: partitioned self-attention (paper, Self-attentional Encoder), or recurrent.

    Recurrent layers have a number, a size and a dropout; the other options are those of attention.
    """

    count: Annotated[int, Within(0, 1000)] = option(2, "How many layers.")
    size: Size = option(
        1024,
        "Of a word's vector; with layers, half content and half position, or what was read from the left and from the "
        "right.",
    )
    heads: Annotated[int, Within(1, 1024)] = option(8, "Attention heads of a layer.")
    head_size: Size = option(64, "Of an attention head; half content and half position.")
    inner: Annotated[int, Within(2, 65536)] = option(2048, "Of the feed-forward step.")
    dropout: Part = option(0.2, "In the layers.")
    positions: Annotated[int, Within(1, 100_000)] = option(512, "Words further right share the last position.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """How words become vectors. The parts switched on are added up, then go through the layers."""

    kind: Literal["attentive", "recurrent", "pretrained"] = option(
        "attentive",
        "Learned here alone, by self-attention or by recurrent layers (LSTM), or on top of another model.",
    )
    name: str = option("", "Pretrained: a packaged model (`minilm`), a model's name on the hub, or a folder.")
    pooling: Literal["last", "first", "mean"] = option("last", "Pretrained: which pieces stand for a word.")
    windows: Whole = option(0, "Pretrained: longest input in pieces; 0: what the model allows.")
    words: bool = option(True, "Without a pretrained model: learned word vectors.")
    word_dropout: Share = option(0.4, "How readily the learned vector of a word is left out.")
    vectors: str = option(
        "",
        "Static vectors, added beside the learned ones: a text file with those of words, or a folder with those of "
        "word pieces (`pieces.txt` and `vectors.npy`).",
    )
    characters: Literal["none", "lstm", "cnn"] = option("none", "How a word's characters are read.")
    character_size: Size = option(64, "Of a character's vector.")
    shapes: bool = option(False, "Capitals, digits, punctuation: for models that lower-case their input.")
    tags: bool = option(False, "Given part-of-speech tags as input.")
    tag_size: SizeOrNone = option(
        0,
        "Recurrent: tags and features are predicted after the first layer, and the next ones read their probabilities "
        "as a vector of this size; 0: they are not.",
    )
    dropout: Part = option(0.2, "On the word vectors.")
    layers: Layers = field(default_factory=Layers)

    @property
    def fed(self) -> int:
        """Return the size of the vector of likely tags that layers read; 0 where there is no second recurrent layer."""
        return self.tag_size if self.kind == "recurrent" and self.layers.count > 1 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorers:
    """Sizes of the scorers (paper, Span Scorer, Biaffine Attention Scorer, Head Scorer)."""

    span: Size = option(250, "Of the span scorer.")
    pair: SizeOrNone = option(
        0, "Of the biaffine score of a span's two ends, added to all its labels; 0: none, as in the paper."
    )
    arc: Size = option(1024, "Of the arc scorer.")
    relation: Size = option(250, "Of the relation scorer.")
    head: Size = option(250, "Of the level scorer.")
    order: SizeOrNone = option(0, "Of the head score learned by order; 0: none, as in the paper.")
    tag: Size = option(250, "Of the tag scorers.")
    dropout: Part = option(0.33, "In the scorers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Lemmas and features, read from a word's vector in context, its likely tags and its characters."""

    lemmas: SizeOrNone = option(0, "Of the scorer of lemmas, whose classes are edit scripts; 0: none.")
    features: SizeOrNone = option(0, "Of the scorer of features, whole bundles and each by itself; 0: none.")
    characters: Size = option(64, "Of the vector made of a word's characters.")
    dropout: Part = option(0.33, "In both scorers.")
    only: bool = option(False, "Learn nothing else, on top of the model that `start` names, which stays as it is.")

    @property
    def learned(self) -> bool:
        """Return whether there are any."""
        return bool(self.lemmas or self.features)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What is learned, and how much each part counts."""

    spans: Literal["hinge", "crf", "softmax"] = option("hinge", "The loss of spans.")
    per: Literal["sentence", "word"] = option("sentence", "The sum over a batch is divided by this.")
    span: Amount = option(1.0, "Weight of spans.")
    arc: Amount = option(0.5, "Weight of arcs.")
    relation: Amount = option(0.5, "Weight of relations.")
    head: Amount = option(0.5, "Weight of levels.")
    order: Amount = option(0.5, "Weight of the order of heads, where `scorers.order` is set.")
    joint: Amount = option(0.0, "Weight of the joint tree as a whole.")
    whole: Literal["hinge", "likelihood"] = option(
        "hinge",
        "The loss of the joint tree: the margin by which it beats the one that `h3n` finds, where `scorers.order` is "
        "set, or its probability among all joint trees.",
    )
    tag: Amount = option(0.25, "Weight of tags.")
    lemma: Amount = option(0.25, "Weight of lemmas, where `words.lemmas` is set.")
    feature: Amount = option(0.25, "Weight of features, where `words.features` is set.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """AdamW and its learning rates."""

    rate: Amount = option(8e-4, "Learning rate.")
    encoder_rate: Amount = option(5e-5, "Learning rate of the pretrained model's own weights.")
    schedule: Literal["linear", "plateau", "constant"] = option("plateau", "How the rates change after the warm-up.")
    warmup: Amount = option(160, "Updates of rising rates; below 1: a share of all updates.")
    patience: Whole = option(5, "Plateau: checks without a better score before the rates are halved.")
    betas: tuple[Part, Part] = option((0.9, 0.98), "AdamW's two averages.")
    epsilon: Annotated[float, Within(1e-16)] = option(1e-8, "AdamW's smallest divisor.")
    decay: Amount = option(0.0, "Weight decay of matrices.")
    clip: Amount = option(5.0, "Longest gradient; 0: no limit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """How many sentences go through the network at once."""

    words: Whole = option(
        0,
        "Words of a batch, padding counted; 0: by the treebank's size, a 70th of its words, 250 to 1500.",
    )
    sentences: Whole = option(0, "Most sentences of a batch; 0: no limit.")
    accumulate: Annotated[int, Within(1, 100_000)] = option(1, "Batches per update, in each process.")
    parse_words: Count = option(
        4000, "Words at once when nothing is learned; on a processor 400 at most, which fit its caches."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How scores become trees."""

    decoder: str = option("h3n", "For the checks, and the parser's default afterwards.")
    head_score: Literal["arg-max", "soft", "order", "tree", "tree-order"] = option(
        "tree",
        "What `h3n` takes a span's head by: one over the likeliest level (`arg-max`, the paper's), minus the expected "
        "level (`soft`), the score learned by order (`order`), or the best projective dependency tree, "
        "where a word is below its governor and expected levels (`tree`) or the score learned by order (`tree-order`) "
        "compare the others.",
    )
    weight: Share = option(0.5, "Of span scores; arcs get the rest.")
    crossing: bool = option(True, "Whether arcs may cross where a joint tree is asked for; its phrases are continuous.")
    agreement: Amount = option(0.5, "With `crossing`: by how much another tree's arc must beat one of the joint tree.")
    arc_temperature: Temperature = option(
        1.0, "What scores of arcs are divided by before they become confidences; trees do not depend on it."
    )
    span_temperature: Temperature = option(1.0, "The same for spans.")
    span_none: Annotated[float, Within(-100, 100)] = option(
        0.0, "What is added to the score of no span before it becomes a confidence; trees do not depend on it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Treebank:
    """Files that hold the same sentences, each with part of what is known of them."""

    files: tuple[str, ...] = option((), "Brackets, CoNLL-U, JSON lines; `$VARIABLES` and `~` are filled in.")
    weight: Annotated[float, Within(0, 10_000)] = option(1.0, "How often each sentence is seen in an epoch.")
    limit: Whole = option(0, "Only the first sentences; 0: all.")
    without: tuple[str, ...] = option((), "Leave out sentences whose sent_id begins with one of these.")
    style: str = option(
        "", "The annotation style the sentences follow: an input of the network where there are several."
    )
    title: str = option("", "What the model's card calls the treebank; else what `h3n prepare` wrote, or its files.")
    licence: str = option("", "The licence of its annotations and texts, for the card; else what `h3n prepare` wrote.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Treebanks to learn from and to check against."""

    train: tuple[Treebank, ...] = option((), "Treebanks to learn from, each a table `[[data.train]]`.")
    dev: tuple[Treebank, ...] = option((), "Treebanks to check against, each a table `[[data.dev]]`.")
    helpers: bool = option(True, "Helper spans where a word governs sisters in a flat phrase.")
    functions: bool = option(False, "Keep function tags on labels (NP-SBJ).")
    renames: dict[str, str] = field(
        default_factory=dict, metadata={"help": 'Relations that treebanks name differently: old = "new".'}
    )
    longest: Whole = option(0, "Leave out longer training sentences; 0: keep all.")
    stream: bool = option(False, "Keep training sentences on the disk, not in memory; the same weights come out.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The loop."""

    epochs: Count = option(100, "How often the data are gone through.")
    checks: Annotated[int, Within(1, 10_000)] = option(4, "Dev evaluations per epoch.")
    patience: Whole = option(0, "Stop after this many checks without a better score; 0: never.")
    save_every: Whole = option(200, "Updates between checkpoints besides those at checks; 0: only there.")
    seed: Annotated[int, Within(0, 2**63 - 1)] = option(1, "Of everything random.")
    device: str = option("auto", "`auto`, `cpu`, `cuda`, `cuda:1`, `mps`.")
    threads: Annotated[int, Within(0, 1024)] = option(
        0,
        "Of torch on a CPU; 0: `OMP_NUM_THREADS` where it is set, else 1 for recurrent layers and up to 4 for others.",
    )
    bf16: bool = option(True, "Half precision on GPUs; never elsewhere.")
    tune: bool = option(True, "Choose the weight of spans against arcs on dev, at the end.")
    tensorboard: bool = option(False, "Write figures for TensorBoard too.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmenter:
    """What makes sentences and words of text, learned from the text of the training treebanks."""

    kind: Literal["auto", "learned", "english"] = option(
        "auto",
        "`learned`, or `english` for the rules. `auto` learns one where the treebanks tell how their sentences are "
        "written, and takes the rules if they are better on dev.",
    )
    marks: Literal["auto", "none", "english"] = option(
        "auto", "Rules whose answer is an input of the network; `auto`: those that find 98 of 100 words of the text."
    )
    size: Annotated[int, Within(1, 4096)] = option(64, "Of a character's vector.")
    pairs: Annotated[int, Within(0, 2**20)] = option(4096, "Rows of the table of neighbouring characters; 0: none.")
    dropout: Part = option(0.2, "In the network.")
    rate: Amount = option(3e-3, "Learning rate at its highest; it falls to 0.")
    epochs: Whole = option(0, "How often the text is gone through; 0: by its length, 5 to 40 times.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All options."""

    output: str = option("runs/h3n", "The run's folder.")
    start: str = option(
        "",
        "A model to learn on from, by name or folder. Encoder, scorers and the names of labels, relations, tags and "
        "styles are its own; other names in the data are left out.",
    )
    encoder: Encoder = field(default_factory=Encoder)
    scorers: Scorers = field(default_factory=Scorers)
    words: Words = field(default_factory=Words)
    loss: Loss = field(default_factory=Loss)
    optimiser: Optimiser = field(default_factory=Optimiser)
    batches: Batches = field(default_factory=Batches)
    decoding: Decoding = field(default_factory=Decoding)
    data: Data = field(default_factory=Data)
    training: Training = field(default_factory=Training)
    segmenter: Segmenter = field(default_factory=Segmenter)
