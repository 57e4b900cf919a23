"""Every option with its default: frozen, typed, on one page.

`load_config` reads a TOML file in four layers, later ones winning: the defaults below, the preset the file names, the
file itself, and ``a.b=c`` settings of the command line. Every mistake is a `UsageError` that names the option and says
what is accepted there.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import importlib.resources
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from h3n.errors import InputError, UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Within:
    """The numbers an option accepts, both ends included."""

    low: float
    high: float = float("inf")

    def __str__(self) -> str:
        return f"{self.low:g} or more" if self.high == float("inf") else f"between {self.low:g} and {self.high:g}"


Count = Annotated[int, Within(1)]
Whole = Annotated[int, Within(0)]
Share = Annotated[float, Within(0, 1)]
Amount = Annotated[float, Within(0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """The partitioned self-attention layers above the word vectors (paper, Self-attentional Encoder)."""

    count: Whole = 2
    size: Count = 1024  # of a word's vector; with layers, half content and half position
    heads: Count = 8
    head_size: Count = 64
    inner: Count = 2048
    dropout: Share = 0.2
    positions: Count = 512  # words further right share the last position


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """How words become vectors. The parts switched on are added up, then go through the layers."""

    kind: Literal["attentive", "pretrained"] = "attentive"
    name: str = ""  # pretrained: "minilm", a model's name on the hub, or a folder
    pooling: Literal["last", "first", "mean"] = "last"  # pretrained: which pieces stand for a word
    windows: Whole = 0  # pretrained: longest input in pieces; 0: what the model allows
    words: bool = True  # attentive: learned word vectors
    word_dropout: Share = 0.4
    vectors: str = ""  # attentive: a text file of static word vectors, added beside the learned ones
    characters: Literal["none", "lstm", "cnn"] = "none"
    character_size: Count = 64
    shapes: bool = False  # capitals, digits, punctuation: for models that lower-case their input
    tags: bool = False  # given part-of-speech tags as input
    dropout: Share = 0.2
    layers: Layers = field(default_factory=Layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorers:
    """Sizes of the scorers (paper, Span Scorer, Biaffine Attention Scorer, Head Scorer)."""

    span: Count = 250
    pair: Whole = 0  # of the biaffine score of a span's two ends, added to all its labels; 0: none, as in the paper
    arc: Count = 1024
    relation: Count = 250
    head: Count = 250
    order: Whole = 0  # of the head score learned by order; 0: none, as in the paper
    tag: Count = 250
    dropout: Share = 0.33


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What is learned, and how much each part counts."""

    spans: Literal["hinge", "crf", "softmax"] = "hinge"
    per: Literal["sentence", "word"] = "sentence"  # the sum over a batch is divided by this
    span: Amount = 1.0
    arc: Amount = 0.5
    relation: Amount = 0.5
    head: Amount = 0.5
    order: Amount = 0.5
    tag: Amount = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """AdamW and its learning rates."""

    rate: Amount = 8e-4
    encoder_rate: Amount = 5e-5  # of the pretrained model's own weights
    schedule: Literal["linear", "plateau", "constant"] = "plateau"
    warmup: Amount = 160  # updates; below 1: a share of all updates
    patience: Whole = 5  # plateau: checks without a better score before the rates are halved
    betas: tuple[Share, ...] = (0.9, 0.98)
    epsilon: Amount = 1e-8
    decay: Amount = 0.0
    clip: Amount = 5.0  # longest gradient; 0: no limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """How many sentences go through the network at once."""

    words: Count = 1500
    sentences: Whole = 0  # most sentences in a batch; 0: no limit
    accumulate: Count = 1  # batches per update, in each process
    parse_words: Count = 4000  # words at once when nothing is learned


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How scores become trees."""

    decoder: str = "h3n"
    # What `h3n` takes a span's head by: one over the likeliest level (arg-max, the paper's), minus the expected level
    # (soft), the score learned by order (order), or minus the depth in the best dependency tree, where expected levels
    # (tree) or the score learned by order (tree-order) break ties.
    head_score: Literal["arg-max", "soft", "order", "tree", "tree-order"] = "tree"
    weight: Share = 0.5  # of span scores; arcs get the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Treebank:
    """Files that hold the same sentences, each with part of what is known of them."""

    files: tuple[str, ...] = ()
    weight: Amount = 1.0  # how often each sentence is seen in an epoch
    limit: Whole = 0  # only the first sentences; 0: all
    without: tuple[str, ...] = ()  # leave out sentences whose sent_id begins with one of these
    style: str = ""  # the annotation style the sentences follow: an input of the network where there are several


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Treebanks to learn from and to check against."""

    train: tuple[Treebank, ...] = ()
    dev: tuple[Treebank, ...] = ()
    helpers: bool = True  # helper spans where a word governs sisters in a flat phrase
    functions: bool = False  # keep function tags on labels (NP-SBJ)
    renames: dict[str, str] = field(default_factory=dict)  # relations that treebanks name differently: old = "new"
    longest: Whole = 0  # leave out longer training sentences; 0: keep all


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The loop."""

    epochs: Count = 100
    checks: Count = 4  # dev evaluations per epoch
    patience: Whole = 0  # stop after this many checks without a better score; 0: never
    save_every: Whole = 200  # updates between checkpoints besides those at checks; 0: only there
    seed: int = 1
    device: str = "auto"  # "auto", "cpu", "cuda", "cuda:1", "mps"
    threads: Whole = 0  # of torch on a CPU; 0: torch's choice
    bf16: bool = True  # on GPUs only
    tune: bool = True  # the weight of spans against arcs, on dev, at the end
    tensorboard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All options."""

    output: str = "runs/h3n"
    encoder: Encoder = field(default_factory=Encoder)
    scorers: Scorers = field(default_factory=Scorers)
    loss: Loss = field(default_factory=Loss)
    optimiser: Optimiser = field(default_factory=Optimiser)
    batches: Batches = field(default_factory=Batches)
    decoding: Decoding = field(default_factory=Decoding)
    data: Data = field(default_factory=Data)
    training: Training = field(default_factory=Training)


Made = TypeVar("Made")


def presets() -> tuple[str, ...]:
    """Return the names of the presets."""
    folder = importlib.resources.files("h3n") / "model" / "presets"
    return tuple(sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load_config(path: str | Path | None = None, *, settings: Iterable[str] = ()) -> Config:
    """Return the options of a TOML file (or none: the defaults), changed by ``a.b=c`` settings."""
    return layer_config(_read_toml(Path(path)) if path is not None else {}, settings=settings)


def layer_config(*tables: Mapping[str, Any], settings: Iterable[str] = ()) -> Config:
    """Return the options of tables laid over each other, the later ones winning, over the preset that they name."""
    table: dict[str, Any] = {}
    for layer in tables:
        _merge(table, copy.deepcopy(dict(layer)), where="the configuration")
    for setting in settings:
        _merge(table, _parse_setting(setting), where=f"setting {setting!r}")
    name = table.pop("preset", None)
    return config_of(_on_preset(name, table) if name is not None else table)


def config_of(table: Mapping[str, Any]) -> Config:
    """Return the options of a nested table, such as `table_of` returns."""
    return build_options(Config, table)


def table_of(config: Any) -> dict[str, Any]:
    """Return options as nested tables that JSON and TOML can hold: the inverse of `config_of`."""
    made: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return made


def expand(path: str) -> Path:
    """Return a path with ``~`` and ``$VARIABLES`` filled in."""
    made = os.path.expandvars(Path(path).expanduser())
    if (left := re.search(r"\$\{?(\w+)", made)) is not None:
        raise UsageError(f"path {path!r}: the environment variable {left[1]} is not set")
    return Path(made)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a TOML file: not UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot read the configuration: {error.strerror}") from None


def _on_preset(name: object, table: dict[str, Any]) -> dict[str, Any]:
    if name not in presets():
        raise UnknownName("preset", str(name), presets())
    text = (importlib.resources.files("h3n") / "model" / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    base = tomllib.loads(text)
    _merge(base, table, where="the configuration")
    return base


def _parse_setting(setting: str) -> dict[str, Any]:
    name, equals, value = setting.partition("=")
    if not equals or not all(name.split(".")):
        raise UsageError(f"setting {setting!r}: expected name=value, such as optimiser.rate=1e-3")
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value  # a bare word is a string: --set encoder.kind=pretrained
    for part in reversed(name.strip().split(".")):
        parsed = {part: parsed}
    made: dict[str, Any] = parsed
    return made


def _merge(base: dict[str, Any], changes: Mapping[str, Any], *, where: str) -> None:
    for name, value in changes.items():
        old = base.get(name)
        if isinstance(old, dict) and isinstance(value, Mapping):
            _merge(old, value, where=where)
        elif isinstance(old, dict):
            raise UsageError(f"{where}: {name} is a group of options, not one: {', '.join(old)}")
        else:
            base[name] = value


def build_options(kind: type[Made], table: object, *, where: str = "") -> Made:
    """Return the dataclass of a table, checking names, types and ranges."""
    if not isinstance(table, Mapping):
        raise UsageError(f"option {where}: expected a table, found {table!r}")
    hints = get_type_hints(kind, include_extras=True)
    for name in table:
        if name not in hints:
            near = difflib.get_close_matches(name, hints, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(f"unknown option {_join(where, name)}{hint}; accepted here: {', '.join(hints)}")
    for known in dataclasses.fields(kind):  # type: ignore[arg-type]
        if known.name not in table and known.default is known.default_factory is dataclasses.MISSING:
            raise UsageError(f"option {_join(where, known.name)} is missing")
    return kind(**{name: _value(hints[name], given, where=_join(where, name)) for name, given in table.items()})


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


def _value(hint: Any, given: Any, *, where: str) -> Any:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build_options(hint, given, where=where)
    if origin in (Union, UnionType):  # of a type and None, which stands for an option that is not given
        return _value(get_args(hint)[0], given, where=where)
    if origin is dict:
        return _table(get_args(hint)[1], given, where=where)
    if origin is Annotated:
        inner, bounds = get_args(hint)[:2]
        made = _value(inner, given, where=where)
        if not bounds.low <= made <= bounds.high:
            raise UsageError(f"option {where}: {made} is out of range; accepted: {bounds}")
        return made
    if origin is Literal:
        if given not in get_args(hint):
            accepted = ", ".join(map(repr, get_args(hint)))
            raise UsageError(f"option {where}: {given!r} is not known; accepted: {accepted}")
        return given
    if origin is tuple:
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise UsageError(f"option {where}: expected a list, found {given!r}")
        return tuple(_value(get_args(hint)[0], item, where=f"{where}[{at}]") for at, item in enumerate(given))
    return _plain(hint, given, where=where)


def _table(hint: Any, given: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"option {where}: expected a table, found {given!r}")
    if hint is Any:
        return dict(given)
    return {name: _value(hint, value, where=_join(where, name)) for name, value in given.items()}


def _plain(hint: type, given: Any, *, where: str) -> Any:
    if hint is float and type(given) is int:
        return float(given)
    if type(given) is not hint:
        found = "a table" if isinstance(given, Mapping) else f"{given!r}"
        raise UsageError(f"option {where}: expected {KINDS[hint]}, found {found}")
    return given
