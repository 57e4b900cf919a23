"""Model folders damaged in every way one can think of: one line that names the file, or a model that loads."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from h3n.errors import InputError, UsageError
from h3n.files import checksum
from h3n.model import build_network
from h3n.model.model import Model
from h3n.text import ENGLISH
from tests.engine.test_segmenter import by_chance
from tests.model.test_encoders import options, vocabulary

WRONG: tuple[Any, ...] = (None, "x", -1, 10**9, [], {}, [None], 1.5, True)
OPTIONS = ("encoder.layers.size", "encoder.layers.count", "encoder.layers.heads", "encoder.kind", "scorers.span")
OPTIONS += ("scorers.arc", "encoder.characters", "encoder.layers.positions", "decoding.head_score")
SETS = ("labels", "relations", "at_root", "tags", "words", "characters")
SEGMENTER = ("version", "sha256", "size", "characters", "pairs", "marks", "expansions")
SEGMENTER += ("expansions.rules", "expansions.classes", "expansions.table")
ENCODER = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "model_type")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Callable[[str], Path]) -> dict[str, Path]:
    """Return the folders of two models that nothing is wrong with."""
    kinds = {
        "attentive": options(kind="attentive", characters="cnn"),
        "pretrained": options(kind="pretrained", name=str(tiny_encoder("bert"))),
    }
    folders = {}
    for kind, config in kinds.items():
        folders[kind] = tmp_path_factory.mktemp(kind) / "model"
        segmenter = by_chance(1, marks="english") if kind == "attentive" else ENGLISH
        Model(build_network(config, vocabulary()), vocabulary(), config, segmenter).save(folders[kind])
    return folders


def put(table: Any, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        table = table[name]
    if value is KeyError:
        del table[last]
    else:
        table[last] = value


def changed(file: Path, path: str, value: Any) -> None:
    table = json.loads(file.read_text())
    put(table, path, value)
    file.write_text(json.dumps(table))


def json_damages() -> Iterator[tuple[str, str, str, Any]]:
    for path in OPTIONS:
        yield from (("attentive", "parser.json", f"config.{path}", value) for value in WRONG)
    for name in SETS:
        yield from (("attentive", "parser.json", f"vocabulary.{name}", value) for value in (*WRONG, KeyError))
    for name in ENCODER:
        yield from (("pretrained", "encoder/config.json", name, value) for value in (*WRONG[:7], KeyError))
    for path in SEGMENTER:
        yield from (("attentive", "segmenter.json", path, value) for value in (*WRONG, KeyError))
    yield from (("attentive", "parser.json", "segmenter", value) for value in WRONG)
    for path in ("version", "config", "vocabulary", "sha256", "unknown", "config.unknown", "vocabulary.unknown"):
        yield from (("attentive", "parser.json", path, value) for value in (None, "x", 7))


def load(folder: Path) -> str | None:
    """Return the error of loading, or None; anything but one line of the two kinds fails."""
    message = None
    try:
        Model.load(folder)
    except (InputError, UsageError) as error:
        message = str(error)
    assert "\n" not in (message or "")
    return message


def test_wrong_values_in_every_place(sound: dict[str, Path], tmp_path: Path) -> None:
    damages = list(json_damages())
    assert len(damages) > 150
    refused = 0
    for number, (kind, file, path, value) in enumerate(damages):
        folder = tmp_path / str(number)
        shutil.copytree(sound[kind], folder)
        changed(folder / file, path, value)
        try:
            refused += load(folder) is not None
        except Exception as error:
            pytest.fail(f"{file}: {path} = {value!r}: {error!r}")
        shutil.rmtree(folder)
    assert refused > 0.9 * len(damages)


# The engine knows the first three; transformers builds the last.
@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "xlnet"])
def test_pieces_beyond_the_vectors_are_refused(tiny_encoder: Callable[[str], Path], tmp_path: Path, kind: str) -> None:
    config = options(kind="pretrained", name=str(tiny_encoder(kind)))
    Model(build_network(config, vocabulary()), vocabulary(), config).save(tmp_path / "model")
    assert load(tmp_path / "model") is None
    file = tmp_path / "model" / "encoder" / "tokenizer.json"
    piece = {"id": 10**6, "content": "[NEW]", "special": True, "normalized": True}
    piece |= dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    changed(file, "added_tokens", [*json.loads(file.read_text())["added_tokens"], piece])
    assert "added_tokens has the number" in str(load(tmp_path / "model"))


@pytest.mark.parametrize("count", [-1, 2**63, 10**30])
def test_counts_of_words_that_no_program_can_hold_are_refused(
    sound: dict[str, Path], tmp_path: Path, count: int
) -> None:
    shutil.copytree(sound["attentive"], tmp_path / "model")
    known = json.loads((tmp_path / "model" / "parser.json").read_text())["vocabulary"]["word_counts"]
    changed(tmp_path / "model" / "parser.json", "vocabulary.word_counts", [count, *known[1:]])
    assert "vocabulary.word_counts has" in str(load(tmp_path / "model"))


@pytest.mark.parametrize("file", ["parser.json", "encoder/config.json", "encoder/tokenizer_config.json"])
def test_halves_of_surrogate_pairs_are_refused(sound: dict[str, Path], tmp_path: Path, file: str) -> None:
    shutil.copytree(sound["pretrained"], tmp_path / "model")
    table = json.loads((tmp_path / "model" / file).read_text())
    for name in table:
        changed(tmp_path / "model" / file, name, "\ud800")
        assert "half a surrogate pair" in str(load(tmp_path / "model"))
        changed(tmp_path / "model" / file, name, table[name])
    assert load(tmp_path / "model") is None


def weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    """Change the weights and the checksum with them."""
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file({name: value.contiguous() for name, value in state.items()}, folder / "model.safetensors")
    changed(folder / "parser.json", "sha256", checksum(folder / "model.safetensors"))


def test_weights_that_do_not_fit(sound: dict[str, Path], tmp_path: Path) -> None:
    state = load_file(sound["attentive"] / "model.safetensors")
    changes: list[tuple[str, Callable[[torch.Tensor], torch.Tensor | None]]] = [
        ("is missing", lambda _: None),
        ("has shape", lambda value: torch.cat((value.flatten(), value.flatten()[:1]))),
        ("has shape", lambda value: value[None]),
        ("holds I64", lambda value: value.long()),
    ]
    for at, name in enumerate(sorted(state)[::3]):
        for message, change in changes:
            folder = tmp_path / f"{at}-{message}"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(sound["attentive"], folder)

            def applied(table: dict[str, torch.Tensor]) -> None:
                value = change(table.pop(name))  # noqa: B023
                if value is not None:
                    table[name] = value  # noqa: B023

            weights(folder, applied)
            error = load(folder)
            assert error is not None
            assert f"{name} {message}" in error
    weights(folder, lambda table: table.update({name: state[name], "more": torch.zeros(2)}))
    assert "more is not known" in str(load(folder))


@pytest.mark.parametrize(("bits", "ending", "number"), [(32, "", -3e38), (8, ".scale", 6e4)])
def test_weights_that_overflow_are_refused(
    tiny_model: Path, tmp_path: Path, bits: int, ending: str, number: float
) -> None:
    """They give scores that are no numbers with some sentences, which `h3n model verify` need not see."""
    Model.load(tiny_model).save(tmp_path / "model", bits=bits)
    file = tmp_path / "model" / "model.safetensors"
    names, kept = [name for name in load_file(file) if name.endswith(ending)], file.read_bytes()
    assert names
    for name in names:
        weights(tmp_path / "model", lambda state, name=name: state[name].view(-1)[:1].fill_(number))  # type: ignore[misc]
        assert "too large; accepted" in str(load(tmp_path / "model")), name
        file.write_bytes(kept)


def test_weights_in_four_bits_that_do_not_fit(tiny_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    Model.load(tiny_model).save(folder, bits=4)
    assert load(folder) is None
    state = load_file(folder / "model.safetensors")
    name = next(name for name, value in state.items() if value.dtype == torch.uint8)
    value, scale = state[name], state[name + ".scale"]
    changes: list[tuple[str, dict[str, torch.Tensor | None]]] = [
        (f"{name} holds U8", {f"{name}.scale": None}),
        (f"{name}.scale does not fit {name}", {f"{name}.scale": scale[..., :-1]}),
        (f"{name}.scale does not fit {name}", {f"{name}.scale": scale[0]}),
        (f"{name}.scale does not fit {name}", {name: value[..., :-1]}),
        (f"{name}.scale does not fit {name}", {name: value.to(torch.int16)}),
        (f"{name}.scale does not fit {name}", {name: value.to(torch.int8)}),
        (f"{name}.scale holds U8", {f"{name}.scale": scale.to(torch.uint8)}),
        (f"{name} has shape", {name: value[:-1], f"{name}.scale": scale[:-1]}),
    ]
    for message, tensors in changes:
        damaged = shutil.copytree(folder, tmp_path / "damaged", dirs_exist_ok=True)

        def applied(table: dict[str, torch.Tensor]) -> None:
            for key, tensor in tensors.items():  # noqa: B023
                del table[key]
                table |= {key: tensor} if tensor is not None else {}

        weights(damaged, applied)
        assert message in str(load(damaged))
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    assert "the checksum differs" in str(load(folder))


def test_files_that_are_not_what_they_are_called(sound: dict[str, Path], tmp_path: Path) -> None:
    files = ("parser.json", "model.safetensors", "encoder/config.json", "encoder/tokenizer.json")
    contents = (b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"9" * 10_000, b"null", b'"text"')
    for file in files:
        for number, content in enumerate(contents):
            folder = tmp_path / f"{file.replace('/', '-')}-{number}"
            shutil.copytree(sound["pretrained"], folder)
            (folder / file).write_bytes(content)
            assert load(folder) is not None, (file, content[:20])
        folder = tmp_path / file.replace("/", "-")
        shutil.copytree(sound["pretrained"], folder)
        (folder / file).unlink()
        assert load(folder) is not None, file


def test_weights_are_those_that_were_saved(sound: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(sound["attentive"], folder)
    about = json.loads((folder / "parser.json").read_text())
    assert about["sha256"] == checksum(folder / "model.safetensors")
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    assert "not the weights that were saved: the checksum differs" in str(load(folder))
    older = copy.deepcopy(about)
    del older["sha256"]  # as models were saved before
    (folder / "parser.json").write_text(json.dumps(older))
    assert load(folder) is None


def test_a_model_that_cannot_be_written_leaves_nothing(
    sound: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    model = Model.load(sound["attentive"])
    monkeypatch.setattr("h3n.model.model.write_text", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        model.save(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
