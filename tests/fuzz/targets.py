"""What is fuzzed: every reader with every writer, converters, text to words to trees, models, options, decoders."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np

from h3n import formats, text
from h3n.config import load_config
from h3n.convert import join, split
from h3n.convert.rules import load_scheme, scheme_names, to_dependencies
from h3n.decode import DECODERS, Scores, decode_batch
from h3n.draw import pretty, svg
from h3n.errors import DecodeError, TreeError
from h3n.files import checksum
from h3n.trees import ROOT, Constituent, Dependencies, Sentence, find_cycle, leaves
from tests.formats.helpers import problems, show
from tests.formats.test_roundtrip import SAMPLES, check
from tests.fuzz.driver import Target
from tests.fuzz.mutations import mutated, mutated_table, random_text

ROOT_FOLDER = Path(__file__).parents[2]
EXAMPLES = ROOT_FOLDER / "examples"


@cache
def samples(name: str) -> list[bytes]:
    """Return small files of a format, and one of real sentences among them: it takes ten times as long."""
    files = {"brackets": "treebank/dev.ptb", "conllu": "treebank/dev.conllu"}
    more = [(EXAMPLES / files[name]).read_bytes()[:1_500]] if name in files else []
    return [*[SAMPLES[name].encode()] * 19, *more]


def read_and_write(content: bytes, name: str) -> None:
    """Whatever a reader accepts, every writer writes so that it reads back the same, or refuses with the place."""
    for sentence in problems(content, name)[1]:
        check(sentence)


@cache
def _schemes() -> list[object]:
    return [load_scheme(name) for name in sorted(scheme_names())]


def convert(content: bytes) -> None:
    """Every scheme makes one tree over the words; joining and splitting gives the phrases back."""
    for sentence in problems(content, "brackets")[1]:
        if sentence.tree is None or not sentence.words:
            continue
        for scheme in _schemes():
            _check_dependencies(to_dependencies(sentence.tree, scheme), len(sentence))  # type: ignore[arg-type]
        dependencies = to_dependencies(sentence.tree, load_scheme("ud2"))
        _draw(Sentence(words=sentence.words, tree=sentence.tree, dependencies=dependencies))


def _check_dependencies(dependencies: Dependencies, words: int) -> None:
    assert len(dependencies.governors) == len(dependencies.relations) == words
    assert dependencies.governors.count(ROOT) == 1
    assert find_cycle(dependencies.governors) is None


def _draw(sentence: Sentence) -> None:
    assert sentence.tree is not None
    assert sentence.dependencies is not None
    try:
        joined = join(sentence.tree, sentence.dependencies)
    except TreeError:
        return
    tree, dependencies = split(joined.tree)
    assert _words(tree) == list(sentence.words)
    _check_dependencies(dependencies, len(sentence))
    assert svg(joined.tree)
    assert pretty(joined.tree)


def _words(tree: Constituent) -> list[str]:
    return [leaf.word for leaf in leaves(tree)]


def cut_text(content: bytes) -> None:
    """Words stand where their offsets say, in order, and nothing that can be seen is between them."""
    given = content.decode(errors="replace")
    at = 0
    for sentence in text.segment(given):
        for word, (start, end) in zip(sentence.words, text.offsets(sentence), strict=True):
            assert at <= end
            assert not _visible(given[at:start]), f"{given[at:start]!r} is lost"
            assert word
            at = max(at, end)
        again = list(formats.read(io.StringIO(show([sentence], "conllu")), format="conllu"))
        assert [one.words for one in again] == [sentence.words]
    assert not _visible(given[at:]), f"{given[at:]!r} is lost"


def _visible(between: str) -> bool:
    """Return whether something is there besides white space and characters that nobody can see."""
    categories = map(unicodedata.category, between)
    return any(kind[0] != "Z" and kind not in ("Cc", "Cf", "Cs") for kind in categories)


@cache
def model_folder() -> Path:
    """Return the folder of a model that learned nothing: its trees are trees all the same."""
    import torch

    from h3n.model import build_network
    from h3n.model.model import Model
    from tests.model.test_encoders import options, vocabulary

    torch.manual_seed(0)
    folder = Path(tempfile.mkdtemp(prefix="h3n-fuzz-")) / "model"
    config = options(kind="attentive", characters="cnn")
    Model(build_network(config, vocabulary()), vocabulary(), config).save(folder)
    return folder


@cache
def parser() -> object:
    from h3n.parser import load

    return load(model_folder(), threads=1)


def parse_text(content: bytes) -> None:
    """Every sentence of a text has a tree over all its words, in every form."""
    results = list(parser().parse(content.decode(errors="replace")))  # type: ignore[attr-defined]
    for result in results:
        _check_dependencies(Dependencies(result.governors, result.relations), len(result))
        assert result.svg()
        assert result.pretty()
        json.loads(result.json())
        check(result.sentence)


def _load_damaged(name: str, content: bytes) -> None:
    """Load a model one of whose files is replaced; the checksum is that of the new weights."""
    from h3n.model.model import Model

    folder = Path(tempfile.mkdtemp(prefix="h3n-fuzz-"))
    try:
        shutil.copytree(model_folder(), folder, dirs_exist_ok=True)
        (folder / name).write_bytes(content)
        if name != "parser.json":
            table = json.loads((folder / "parser.json").read_text(encoding="utf-8"))
            table["sha256"] = checksum(folder / name)
            (folder / "parser.json").write_text(json.dumps(table), encoding="utf-8")
        Model.load(folder)
    finally:
        shutil.rmtree(folder)


def _make_options(chance: Random) -> bytes:
    return mutated_table([json.loads((model_folder() / "parser.json").read_text(encoding="utf-8"))], chance)


def _make_weights(chance: Random) -> bytes:
    whole = (model_folder() / "model.safetensors").read_bytes()
    size = 8 + int.from_bytes(whole[:8], "little")
    if chance.random() < 0.7:  # the table of tensors, with a length that is right again
        header = mutated_table([json.loads(whole[8:size])], chance)
        return len(header).to_bytes(8, "little") + header + whole[size:]
    return mutated([whole], chance)


def read_options(content: bytes) -> None:
    """A file of options is read, or refused."""
    with tempfile.NamedTemporaryFile(suffix=".toml", delete=False) as file:
        file.write(content)
    try:
        load_config(file.name)
    finally:
        os.unlink(file.name)  # noqa: PTH108


def decode_scores(content: bytes) -> None:
    """Scores of any numbers give trees, or are refused."""
    rng = np.random.default_rng(int.from_bytes(content, "big"))
    n = int(rng.integers(0, 9))

    def draw(*shape: int) -> np.ndarray:
        drawn = rng.normal(size=shape).astype(np.float32) * 10.0 ** float(rng.integers(-3, 30))
        for odd, share in ((-np.inf, 0.1), (np.inf, 0.002), (np.nan, 0.002)):
            drawn[rng.random(shape) < share * rng.integers(0, 2)] = odd
        return drawn.astype(np.float32)

    full = draw(n + 1, n + 1)
    label = rng.integers(0, 5, full.shape).astype(np.int32)
    scores = Scores(full=full, open=np.maximum(full, 0), arc=draw(n, n), root=draw(n), head=draw(n), label=label)
    for name in DECODERS:
        try:
            (parse,) = decode_batch([scores], name)
        except DecodeError:
            continue
        if parse.governors and n:
            assert sum(governor == ROOT for governor in parse.governors) == 1
            assert find_cycle(tuple(parse.governors)) is None


def _from(name: str) -> Callable[[Random], bytes]:
    return lambda chance: mutated(samples(name), chance)


@cache
def _configs() -> list[bytes]:
    presets = ROOT_FOLDER / "src" / "h3n" / "presets"
    return [file.read_bytes() for file in sorted(presets.glob("*.toml"))]


READERS = {"brackets": 20, "spmrl": 30, "conllu": 30, "conllx": 120, "jsonl": 100}
TARGETS: dict[str, Target] = {
    **{name: Target(_from(name), partial(read_and_write, name=name), share) for name, share in READERS.items()},
    "convert": Target(_from("brackets"), convert, share=2),
    "text": Target(random_text, cut_text, share=120),
    "parse": Target(random_text, parse_text, share=1),
    "options": Target(lambda chance: mutated(_configs(), chance), read_options, share=40),
    "model-options": Target(_make_options, partial(_load_damaged, "parser.json"), share=4),
    "model-weights": Target(_make_weights, partial(_load_damaged, "model.safetensors"), share=2),
    "decode": Target(lambda chance: chance.randbytes(8), decode_scores, share=120),
}
