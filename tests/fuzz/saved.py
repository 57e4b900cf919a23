"""The files of a saved model as targets: each takes its place in a sound folder, which is then read and checked."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

from h3n.engine.saved import read_saved
from h3n.errors import H3nError
from tests.fuzz.driver import Target
from tests.fuzz.mutations import mutated_table

# One of each kind of tokenizer: WordPiece, BPE, Unigram.
ENCODERS = ("bert", "roberta", "xlm-roberta")
WEIGHTS = "model.safetensors"
FILES = {
    "saved-options": "parser.json",
    "saved-encoder": "encoder/config.json",
    "saved-tokenizer": "encoder/tokenizer.json",
    "saved-limits": "encoder/tokenizer_config.json",
    "saved-weights": WEIGHTS,  # its header alone, the table of what stands where
}
WORDS = ["She", "did", "n't", "\ufdfa\u8a9e\U0001f600", "[SEP]", "a" * 300, "tree", "\u00e9e\u0301", "\u2581", " "]


@cache
def folders() -> dict[str, Path]:
    """Return folders of sound models without a checksum, by the kind of their encoder."""
    import torch

    from h3n.model import build_network
    from h3n.model.model import Model
    from tests.model.test_encoders import options, vocabulary
    from tests.model.tiny import save_encoder

    top = Path(tempfile.mkdtemp(prefix="h3n-fuzz-"))
    for kind in ENCODERS:
        torch.manual_seed(0)
        save_encoder(kind, top / f"{kind}-encoder")
        config = options(kind="pretrained", name=str(top / f"{kind}-encoder"), characters="cnn", shapes=True)
        Model(build_network(config, vocabulary()), vocabulary(), config).save(top / kind)
        about = json.loads((top / kind / "parser.json").read_text(encoding="utf-8"))
        del about["sha256"]  # whoever changes weights can change it, too
        (top / kind / "parser.json").write_text(json.dumps(about), encoding="utf-8")
    return {kind: top / kind for kind in ENCODERS}


@cache
def sound(name: str) -> dict[str, bytes]:
    """Return what stands in a file of every folder; of weights the header."""
    contents = {kind: (folder / FILES[name]).read_bytes() for kind, folder in folders().items()}
    return {kind: _header(whole)[0] for kind, whole in contents.items()} if name == "saved-weights" else contents


def _header(whole: bytes) -> tuple[bytes, bytes]:
    """Return the table of a file of weights, and the numbers that follow it."""
    end = 8 + int.from_bytes(whole[:8], "little")
    return whole[8:end], whole[end:]


def read_with(content: bytes, name: str) -> None:
    """A folder with this file is refused in one line, or its tokenizer lays out any words."""
    errors = []
    for folder in folders().values():
        try:
            _read(folder, folder / FILES[name], content)
        except H3nError as error:
            errors.append(error)
    if len(errors) == len(ENCODERS):
        raise errors[0]


def _read(folder: Path, file: Path, content: bytes) -> None:
    kept = file.with_name("kept")
    shutil.move(file, kept)
    try:
        if file.name == WEIGHTS:
            content = len(content).to_bytes(8, "little") + content + _header(kept.read_bytes())[1]
        file.write_bytes(content)
        saved = read_saved(folder)
        assert saved.tokenizer is not None
        assert saved.architecture is not None
        pieces = saved.tokenizer.tokenize(WORDS)
        assert set(pieces.words) == set(range(len(WORDS)))
        rows = saved.tokenizer.lay_out([pieces], [len(WORDS)])
        assert rows.ids.min() >= 0
        assert rows.ids.max() < saved.architecture.vocab_size
        assert rows.ids.shape[1] <= saved.architecture.longest
        assert set(rows.word_of) == set(range(len(WORDS) + 2))
    finally:
        shutil.move(kept, file)


def _from(name: str) -> Callable[[Random], bytes]:
    return lambda chance: mutated_table([json.loads(one) for one in sound(name).values()], chance)


SAVED_TARGETS = {name: Target(_from(name), partial(read_with, name=name), share=3) for name in FILES}
