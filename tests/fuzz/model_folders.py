"""Folders of models, damaged: each is parsed with, or refused in one line, in bounded time and memory.

    python -m tests.fuzz.model_folders --seed 1 --count 1000

Every folder follows from the seed and its number. It is tried by `h3n parse` and by `h3n model verify`, which agree,
in a process of its own that is forked from one where everything is imported. Exit code 1 if something was found.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from h3n.errors import H3nError
from h3n.files import checksum
from h3n.models import bundled

SECONDS = 10.0  # for one folder, of processor time
MEMORY = 2 << 30  # bytes
TEXT = f"She didn't (really) go! \u00e9\u00df \u8a9e\u6587 \U0001f600 \ufdfa\ufdfa [SEP] <s> {'a' * 41}.\n"
TEXT += (
    "Mr. Smith paid $3.50 for it \u2014 \u201cwhy?\u201d\n\n"
    + "the parser saw a very tall tree " * 20
    + ".\n"
    + "x" * 900
    + "\n"
)
FILES = ("parser.json", "model.safetensors", "encoder/config.json", "encoder/tokenizer.json")
FILES += ("encoder/tokenizer_config.json", "segmenter.json", "segmenter.safetensors")
WITH_SEGMENTER = ("attentive", "bert", "xlnet")


@dataclass(frozen=True)
class Outcome:
    """What came of a command: its exit code, what it said, and what it took."""

    code: int | None  # None: it had to be ended
    said: str
    seconds: float
    megabytes: float

    def fault(self) -> str | None:
        """Return what is wrong with it, or None."""
        if self.code is None:
            return f"took more than {SECONDS:g} s"
        if self.megabytes * 1e6 > MEMORY:
            return f"took {self.megabytes:.0f} MB"
        lines = self.said.splitlines()
        if self.code not in (0, 2) or "Traceback" in self.said:
            return f"exit code {self.code}: {lines[-1][:200] if lines else 'nothing said'}"
        if self.code == 2 and len(lines) != 1:
            return f"refused in {len(lines)} lines: {self.said[:300]!r}"
        if self.code == 0 and any(not line.startswith("h3n: ") for line in lines):
            return f"parsed, but said {self.said[:300]!r}"
        return None


def run(arguments: list[str], text: Path) -> Outcome:
    """Return what comes of a command line in a child that is forked from this process, and given up in time."""
    said = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(arguments, text, said.fileno())
    code: int | None = None
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() - start > 6 * SECONDS:  # the machine may have other things to do
            os.kill(child, signal.SIGKILL)
            _, status, used = os.wait4(child, 0)
            break
        time.sleep(0.005)
    said.seek(0)
    outcome = said.read().decode(errors="replace")
    said.close()
    seconds = used.ru_utime + used.ru_stime
    if code in (-signal.SIGXCPU, -signal.SIGKILL) or seconds > SECONDS:
        code = None
    return Outcome(code, outcome, seconds, used.ru_maxrss * 1024 / 1e6)


def _become(arguments: list[str], text: Path, said: int) -> None:
    """Be the command, in a process that was just forked."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS) + 1, int(SECONDS) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY, resource.RLIM_INFINITY))
        os.dup2(os.open(text, os.O_RDONLY), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(said, 2)
        sys.stdin, sys.stdout, sys.stderr = (
            open(fd, mode, encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
            for fd, mode in enumerate("rww")
        )
        sys.argv = ["h3n", *arguments]
        from h3n.cli import main

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def load_everything() -> None:
    """Import what a command may import, so that a child need not."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()

    import h3n.cli.commands
    import h3n.cli.model
    import h3n.cli.parse
    import h3n.parser  # noqa: F401

    torch.set_num_threads(1)


# --- seeds


@cache
def seeds() -> dict[str, Path]:
    """Return folders of sound models: tiny ones of every architecture and number of bits, and `en`."""
    from h3n.model import build_network
    from h3n.model.model import Model
    from h3n.text import ENGLISH
    from tests.engine.test_segmenter import by_chance
    from tests.model.test_encoders import options, vocabulary
    from tests.model.tiny import save_encoder

    top = Path(tempfile.mkdtemp(prefix="h3n-folders-"))
    plans: dict[str, tuple[str, int]] = {"bert": ("bert", 32), "bert-4": ("bert", 4), "bert-8": ("bert", 8)}
    plans |= {"roberta": ("roberta", 32), "xlm-roberta": ("xlm-roberta", 16), "mpnet": ("mpnet", 8)}
    plans |= {"attentive": ("", 32), "attentive-8": ("", 8)}
    found = {}
    plans |= {"xlnet": ("xlnet", 32)}  # through transformers
    for name, (kind, bits) in plans.items():
        if kind:
            save_encoder(kind, top / f"{name}-encoder", size=64)
        config = (
            options(kind="pretrained", name=str(top / f"{name}-encoder"), characters="cnn", shapes=True)
            if kind
            else (options(kind="attentive", characters="cnn" if bits == 8 else "lstm", shapes=True, tags=True))
        )
        segmenter = by_chance(1, marks="english") if name in WITH_SEGMENTER else ENGLISH
        Model(build_network(config, vocabulary()), vocabulary(), config, segmenter).save(top / name, bits=bits)
        found[name] = top / name
    return found | {"en": bundled()["en"]}


# --- damage

ODD: tuple[Any, ...] = (None, True, False, "", "x", "\ud800", "a\nb\x1b[31m", -1, 0, 1, 2, 3, 7, 8, 100, 255, 1024)
ODD += (65536, 2**31 - 1, 2**31, 2**32, 2**63, 10**30, 0.5, -0.0, 1e-30, 1e-300, 1e30, 1e308, [], {}, [None], [[]])
ODD += ({"x": 1}, ["x"], [-1], "x" * 100_000, [0] * 10_000, list("abc"), {"type": "Sequence"}, "auto", "gelu", "relu")


def _paths(table: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield all places in a table; of long lists and tables some."""
    items = list(table.items() if isinstance(table, dict) else enumerate(table))
    for key, value in items[:40]:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*path, key))


def _at(table: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        table = table[key]
    return table


def change_value(table: Any, chance: Random) -> Any:
    """Change one place of a table."""
    paths = list(_paths(table))
    if not paths:
        return chance.choice(ODD)
    # Few of the places are deep in the vocabulary.
    path = min(chance.sample(paths, min(len(paths), 2)), key=len) if chance.random() < 0.5 else chance.choice(paths)
    parent, key = _at(table, path[:-1]), path[-1]
    value, kind = parent[key], chance.randrange(9)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[chance.choice(("unknown", key + "x", key.upper(), "type", "id"))] = parent.pop(key)
    elif kind == 2 and type(value) is int:
        parent[key] = chance.choice((value + 1, value - 1, value * 2, -value, value * 1000, value // 2, float(value)))
    elif kind == 3 and isinstance(value, list) and value:
        parent[key] = chance.choice(
            (value[:-1], value * 2, value[::-1], [*value, value[0]], value * (2000 // len(value) + 1))
        )
    elif kind == 4:
        parent[key] = json.loads(json.dumps(_at(table, chance.choice(paths))))
    elif kind == 5 and isinstance(value, str):
        parent[key] = chance.choice(
            (value + value, value[:-1], value + "\ufffd", value.upper(), value * 1000, value + "\0")
        )
    else:
        parent[key] = json.loads(json.dumps(chance.choice(ODD)))
    return table


def _readable(file: Path) -> bool:
    """Return whether a file can be damaged further: other damage may have made it a device, or larger than the disk."""
    return file.is_file() and file.stat().st_size < 1 << 30


def _json(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    file = folder / name
    if _readable(file):
        table = change(json.loads(file.read_text(encoding="utf-8")))
        file.write_text(json.dumps(table), encoding="utf-8")


def damage_options(folder: Path, chance: Random) -> None:
    """Change values in parser.json."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        part = chance.choice(("config", "config", "vocabulary", "vocabulary", None))
        _json(folder, "parser.json", lambda table: change_value(table, chance) if part is None else {**table, part: change_value(table[part], chance)})  # fmt: skip # noqa: B023, E501


def damage_encoder(folder: Path, chance: Random) -> None:
    """Change values in the encoder's options."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        name = chance.choice(("config.json", "config.json", "tokenizer_config.json"))
        _json(folder, f"encoder/{name}", lambda table: change_value(table, chance))


def damage_segmenter(folder: Path, chance: Random) -> None:
    """Change values in the options and rules of a learned segmenter."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        part = chance.choice(("expansions", None))
        _json(folder, "segmenter.json", lambda table: change_value(table, chance) if part is None else {**table, part: change_value(table[part], chance)})  # fmt: skip # noqa: B023, E501


def damage_named(folder: Path, chance: Random) -> None:
    """Change an option that counts, to a value that is nearly right."""
    names = ("num_attention_heads", "layer_norm_eps", "hidden_size", "vocab_size", "type_vocab_size", "pad_token_id")
    names += ("max_position_embeddings", "num_hidden_layers", "intermediate_size", "hidden_act", "model_type")
    names += ("relative_attention_num_buckets", "hidden_dropout_prob", "position_embedding_type", "is_decoder")
    values = (
        *range(-2, 14),
        "x",
        None,
        0.1,
        1e-12,
        1e-45,
        1e-320,
        40.0,
        "gelu_new",
        "electra",
        "roberta",
        "mpnet",
        "bert",
    )
    values += ("albert", "distilbert", "t5", "gpt2", "own", True, [1], "../x", 2**40)
    _json(folder, "encoder/config.json", lambda table: {**table, chance.choice(names): chance.choice(values)})


def damage_tokenizer(folder: Path, chance: Random) -> None:
    """Change values anywhere in the tokenizer's file."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        name = "encoder/tokenizer.json"
        part = chance.choice(("model", "post_processor", "pre_tokenizer", "normalizer", "added_tokens", None, None))

        def change(table: Any) -> Any:
            if part is None or not isinstance(table.get(part), dict | list):  # noqa: B023
                return change_value(table, chance)
            return {**table, part: change_value(table[part], chance)}  # noqa: B023

        _json(folder, name, change)


def _text(chance: Random) -> str:
    return chance.choice(("", "a", "aa", " ", "\u2581", "a" * 100, "x" * 100_000, "\ud800", "\0", "e", "##", "\u8a9e"))


REGEXES = (
    "",
    "a*",
    "(a+)+$",
    "(a|aa)+$",
    "(",
    "\\",
    ".",
    ".*",
    "(?=a)",
    "\\b",
    " {2,}",
    "(x+x+)+y",
    "^(([a-z])+.)+[A-Z]$",
)


def _pattern(chance: Random) -> Any:
    return chance.choice(({"String": _text(chance)}, {"Regex": chance.choice(REGEXES)}, None, {}, "a", {"Regex": 1}))


def _component(chance: Random, depth: int = 0) -> Any:
    """Return a part of a tokenizer, sound or not."""
    behaviour = chance.choice(("Removed", "Isolated", "MergedWithPrevious", "Contiguous", "x"))
    parts: list[Callable[[], Any]] = [
        lambda: {"type": "Replace", "pattern": _pattern(chance), "content": _text(chance)},
        lambda: {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * chance.choice((2, 8, 16, 1000))},
        lambda: {"type": "Prepend", "prepend": _text(chance)},
        lambda: {
            "type": chance.choice(("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents", "ByteLevel"))
        },
        lambda: {"type": "Strip", "strip_left": True, "strip_right": chance.choice((True, None, 1))},
        lambda: {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": chance.choice((True, "x")),
        },
        lambda: {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(_charsmap(chance)).decode()},
        lambda: {"type": "Precompiled", "precompiled_charsmap": chance.choice(("", "x", "AAAA", None, 7))},
        lambda: {
            "type": "Split",
            "pattern": _pattern(chance),
            "behavior": behaviour,
            "invert": chance.choice((True, False)),
        },
        lambda: {
            "type": "Metaspace",
            "replacement": _text(chance),
            "prepend_scheme": chance.choice(("always", "first", "never", "x")),
            "split": chance.choice((True, False)),
        },
        lambda: {
            "type": "ByteLevel",
            "add_prefix_space": chance.choice((True, False)),
            "trim_offsets": True,
            "use_regex": True,
        },
        lambda: {"type": chance.choice(("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"))},
        lambda: {"type": "FixedLength", "length": chance.choice((0, 1, 5, -1, 2**63))},
        lambda: {"type": "Digits", "individual_digits": True},
        lambda: {"type": "Punctuation", "behavior": behaviour},
        lambda: {"type": "CharDelimiterSplit", "delimiter": _text(chance)},
        lambda: {"type": "BertProcessing", "sep": ["[SEP]", chance.choice((1, 10**6, -1))], "cls": ["[CLS]", 0]},
        lambda: {
            "type": "RobertaProcessing",
            "sep": ["</s>", 2],
            "cls": ["<s>", chance.choice((0, 999))],
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        lambda: _template(chance),
        lambda: {"type": chance.choice(("Unknown", "", None, 3, "WordPiece", "CTC"))},
        dict,
    ]
    if depth < 6 and chance.random() < 0.3:
        count = chance.choice((0, 1, 2, 3, 8, 40))
        inside = [_component(chance, depth + 1) for _ in range(count)]
        if inside and chance.random() < 0.3:
            inside = [inside[0]] * count
        key = chance.choice(("normalizers", "pretokenizers", "processors"))
        return {"type": "Sequence", key: inside}
    return chance.choice(parts)()


def _charsmap(chance: Random) -> bytes:
    size = chance.choice((0, 4, 64, 1024, 2**31))
    return size.to_bytes(4, "little") + chance.randbytes(chance.choice((0, 3, 64, 1024, 4096))) + b"\0"


def _template(chance: Random) -> Any:
    def member() -> Any:
        mark = {
            "SpecialToken": {"id": chance.choice(("[CLS]", "<s>", "x")), "type_id": chance.choice((0, 1, 2, 10**6))}
        }
        return chance.choice((mark, {"Sequence": {"id": chance.choice("AB"), "type_id": 0}}))

    single = [member() for _ in range(chance.choice((0, 1, 3, 1000)))]
    marks = {
        name: {"id": name, "ids": [chance.choice((0, 1, 5, 10**6, -1))] * chance.choice((0, 1, 2)), "tokens": [name]}
        for name in ("[CLS]", "<s>")
    }
    pair = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": marks}


def damage_components(folder: Path, chance: Random) -> None:
    """Put other parts into the tokenizer."""

    def change(table: Any) -> Any:
        name = chance.choice(
            ("normalizer", "normalizer", "pre_tokenizer", "post_processor", "decoder", "padding", "truncation")
        )
        found = _component(chance)
        keys = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "post_processor": "processors"}
        if isinstance(found, dict) and found.get("type") == "Sequence" and name in keys and chance.random() < 0.8:
            found = {"type": "Sequence", keys[name]: next(value for key, value in found.items() if key != "type")}
        return {**table, name: found}

    _json(folder, "encoder/tokenizer.json", change)


def damage_model(folder: Path, chance: Random) -> None:
    """Change the tokenizer's vocabulary, its numbers and what goes with them."""

    def change(table: Any) -> Any:
        model = table["model"]
        vocabulary, kind = model.get("vocab"), chance.randrange(9)
        if kind == 0 and isinstance(vocabulary, dict):
            step = chance.choice((1, 5, 1000, 10**7, 2**32, -1))
            model["vocab"] = {piece: number + step for piece, number in vocabulary.items()}
        elif kind == 1 and isinstance(vocabulary, dict):
            piece = chance.choice(list(vocabulary))
            vocabulary[piece] = chance.choice((-1, 0, 10**6, 2**32 - 1, 2**32, 2**64, 1.5, "x", len(vocabulary)))
        elif kind == 2 and isinstance(vocabulary, dict):
            del vocabulary[chance.choice(list(vocabulary))]
        elif kind == 3:
            more = {
                chance.choice((f"new{at}", "a", "", "\u8a9e", "##z")): len(vocabulary) + at
                for at in range(chance.choice((1, 50, 5000)))
            }
            model["vocab"] = (
                vocabulary | more if isinstance(vocabulary, dict) else [*vocabulary, *([name, -3.0] for name in more)]
            )
        elif kind == 4:
            model["type"] = chance.choice(("WordPiece", "BPE", "Unigram", "WordLevel", "x", None))
        elif kind == 5 and isinstance(vocabulary, list):
            vocabulary[chance.randrange(len(vocabulary))] = chance.choice(
                (["a"], ["a", "b"], ["", 0.0], ["a", 1e308], None, ["a", -1e308], ["x" * 10**5, 1.0])
            )
        elif kind == 6:
            model[
                chance.choice(
                    (
                        "max_input_chars_per_word",
                        "unk_id",
                        "unk_token",
                        "dropout",
                        "continuing_subword_prefix",
                        "fuse_unk",
                        "byte_fallback",
                        "end_of_word_suffix",
                        "ignore_merges",
                        "cache_capacity",
                    )
                )
            ] = chance.choice((*ODD, 0.5, 2.0, "<unk>", 3, 10**6, 10**12))
        elif kind == 7 and isinstance(model.get("merges"), list):
            model["merges"] = [
                *model["merges"],
                chance.choice(
                    (
                        "a b",
                        ["a", "b"],
                        ["a"],
                        "abc",
                        None,
                        ["", ""],
                        [chance.choice(list(vocabulary)), chance.choice(list(vocabulary))],
                    )
                ),
            ]
        else:
            number = chance.choice((0, 3, len(vocabulary), len(vocabulary) + 1, 10**6, -1))
            added = {
                "id": number,
                "content": chance.choice(("", "a", "the", "x" * 10**5, "[NEW]", " ", "\ud800")),
                "single_word": False,
            }
            added |= {
                "lstrip": False,
                "rstrip": chance.choice((True, False)),
                "normalized": chance.choice((True, False)),
                "special": True,
            }
            table["added_tokens"] = [*table["added_tokens"], *[added] * chance.choice((1, 1, 2))]
        return table

    _json(folder, "encoder/tokenizer.json", change)


def _weights(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    from safetensors.numpy import load_file, save_file

    file = folder / "model.safetensors"
    if not _readable(file):
        return
    state = load_file(file)
    change(state)
    save_file({name: np.ascontiguousarray(value) for name, value in state.items()}, file)


def damage_weights(folder: Path, chance: Random) -> None:
    """Change numbers, shapes, types and names of weights."""

    def change(state: dict[str, Any]) -> None:
        for _ in range(chance.choice((1, 1, 3))):
            name = chance.choice(sorted(state))
            value, kind = state[name], chance.randrange(9)
            if kind <= 2 and value.dtype.kind == "f" and value.size:
                odd = (np.nan, np.inf, -np.inf, 3e38, -3e38, 6e4, 0.0, 1e-40, -1.0, 1e20)
                flat = value.copy().reshape(-1)
                with np.errstate(over="ignore"):
                    flat[: chance.choice((1, 1, flat.size))] = chance.choice(odd)
                state[name] = flat.reshape(value.shape)
            elif kind == 3:
                del state[name]
            elif kind == 4:
                state[name] = chance.choice(
                    (value.T, value[:-1] if value.ndim and len(value) else value, value[None], value.reshape(-1))
                )
            elif kind == 5:
                with np.errstate(all="ignore"):
                    state[name] = value.astype(chance.choice(("f2", "f8", "i1", "u1", "i8", "?", "u2")))
            elif kind == 6:
                state[chance.choice(("more", name + ".scale", name + "x", "\x1b[31m", "a\nb"))] = state.pop(name)
            elif kind == 7:
                state[name + ".scale"] = np.ones(value.shape[:-1] if chance.random() < 0.7 else (1,), dtype=np.float32)
            else:
                state[name] = np.concatenate([value.reshape(-1)] * 2) if value.size < 10**6 else value

    _weights(folder, change)  # fmt: skip


def damage_both(folder: Path, chance: Random) -> None:
    """Change options and weights so that they agree: sizes that are odd, not wrong."""
    count = chance.choice((1, 3, 100, 3000, 20_000))
    which = chance.choice(("labels", "tags", "upos", "relations"))

    def grown(state: dict[str, Any], name: str) -> None:
        for part in (name, f"{name}.scale"):
            if part in state:
                state[part] = np.concatenate((state[part], np.repeat(state[part][:1], count, axis=0)))

    tensors = {"labels": ("span.second.weight", "span.second.bias"), "relations": ("relation.weight",)}
    tensors |= {
        "tags": ("tag.classes.0.weight", "tag.classes.0.bias"),
        "upos": ("tag.classes.1.weight", "tag.classes.1.bias"),
    }
    if which == "relations":
        count = min(count, 3000)

    def change(table: Any) -> Any:
        known = table["vocabulary"]
        known[which] += [f"{chance.choice(('new', chr(27), '(', chr(10), chr(0x202E)))}{at}" for at in range(count)]
        if which == "relations":
            known["at_root"] += [chance.random() < 0.5] * count
            known["elsewhere"] += [chance.random() < 0.5] * count
        return table

    _json(folder, "parser.json", change)
    _weights(folder, lambda state: [grown(state, name) for name in tensors[which] if name in state])  # type: ignore[arg-type, return-value]


def damage_bytes(folder: Path, chance: Random) -> None:
    """Change bytes of a file."""
    file = folder / chance.choice(FILES)
    if not _readable(file):
        return
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 4, 64))):
        head = 4000 if chance.random() < 0.7 else len(content)
        at = chance.randrange(max(min(head, len(content)), 1))
        kind = chance.randrange(4)
        if kind == 0 and content:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at : at + chance.choice((1, 8, 100))] = b""
        elif kind == 2:
            content[at:at] = chance.choice((b"\0", b'"', b"{", b"[" * 2000, b"\xff", b"9" * 5000, chance.randbytes(9)))
        elif content:
            content[at : at + 8] = chance.randbytes(8)
    file.write_bytes(content)


def _special(file: Path, chance: Random) -> None:
    """Put something else in a file's place."""
    content = file.read_bytes() if _readable(file) else b""
    file.unlink(missing_ok=True)
    kind = chance.randrange(12)
    if kind == 0:
        os.mkfifo(file)
    elif kind == 1:
        file.mkdir()
    elif kind == 2:
        file.symlink_to(
            chance.choice(("/dev/zero", "/dev/null", "/dev/random", "/dev/stdin", "/dev/full", "/proc/self/mem"))
        )
    elif kind == 3:
        file.symlink_to(chance.choice((file.name, "nowhere", ".")))
    elif kind == 4:
        with socket.socket(socket.AF_UNIX) as one:
            here = Path.cwd()
            os.chdir(file.parent)
            one.bind(file.name)
            os.chdir(here)
    elif kind == 5:
        file.write_bytes(content)
        os.truncate(file, chance.choice((0, 1, 7, 8, 9, len(content) // 2, max(len(content) - 1, 0))))
    elif kind == 6:
        file.write_bytes(content)
        os.truncate(file, len(content) + chance.choice((1, 4096, 2**32, 2**40)))
    elif kind == 7:
        file.write_bytes(
            chance.choice(
                (
                    b"",
                    b"{}",
                    b"[]",
                    b"null",
                    b"\xff\xfe{",
                    b"[" * 10**6,
                    b'{"a":' * 10**5,
                    b"9" * 10**5,
                    b'"' + b"x" * 10**7 + b'"',
                )
            )
        )
    elif kind == 8:
        file.with_name("real").write_bytes(content)
        file.symlink_to("real")  # a link to a regular file is fine
    elif kind == 9:
        file.write_bytes(chance.choice((b"\xef\xbb\xbf", b"\x1f\x8b", b" " * 10**6)) + content)
    elif kind == 10:
        file.write_bytes(content.decode(errors="replace").encode("utf-16"))


def damage_files(folder: Path, chance: Random) -> None:
    """Put something else in a file's place, or exchange two."""
    found = [folder / name for name in FILES if _readable(folder / name)]
    if chance.random() < 0.15:
        one, other = chance.sample(found, 2)
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
    else:
        _special(chance.choice(found), chance)


def damage_keys(folder: Path, chance: Random) -> None:
    """Write keys twice, and numbers that JSON does not have."""
    file = folder / chance.choice(FILES[:1] + FILES[2:])
    if not _readable(file):
        return
    text = file.read_text(encoding="utf-8")
    places = [at for at, character in enumerate(text[:20_000]) if character in ":,{["]
    at = chance.choice(places) + 1
    odd = (
        '"a":1,"a":2,',
        "NaN,",
        "Infinity,",
        "-Infinity,",
        "1e999,",
        "-1e999,",
        '"\\ud800":1,',
        "1" * 5000 + ",",
        "NaN",
        "1e400",
    )
    file.write_text(text[:at] + chance.choice(odd) + text[at:], encoding="utf-8")


DAMAGES: dict[str, Callable[[Path, Random], None]] = {
    "options": damage_options,
    "encoder": damage_encoder,
    "named": damage_named,
    "tokenizer": damage_tokenizer,
    "components": damage_components,
    "model": damage_model,
    "weights": damage_weights,
    "both": damage_both,
    "bytes": damage_bytes,
    "files": damage_files,
    "keys": damage_keys,
    "segmenter": damage_segmenter,
}
FORMS, PRECISIONS = ("conllu", "brackets", "jsonl"), ("auto", "auto", "float32", "int8")
FOR_ENCODERS = {"encoder", "named", "tokenizer", "components", "model"}


def make(seed: int, number: int, target: Path, damages: tuple[str, ...] = tuple(DAMAGES)) -> tuple[str, str]:
    """Write the damaged folder of a number, and return which model it was and what kind of damage was done."""
    chance = Random(f"{seed}/{number}")
    names = sorted(seeds())
    damage = damages[number % len(damages)]
    fitting = [name for name in names if damage not in FOR_ENCODERS or not name.startswith("attentive")]
    if damage == "segmenter":
        fitting = list(WITH_SEGMENTER)
    name = (
        chance.choice([one for one in fitting if one != "en"])
        if chance.random() < 0.95 or "en" not in fitting
        else "en"
    )
    shutil.copytree(seeds()[name], target)
    for one in (damage, chance.choice(sorted(DAMAGES))) if chance.random() < 0.1 else (damage,):
        try:
            DAMAGES[one](target, chance)
        except (KeyError, TypeError, ValueError, AttributeError, OSError, IndexError):
            pass  # what it would change is not there any more
        except Exception as error:  # safetensors, of weights that are damaged already
            if type(error).__name__ != "SafetensorError":
                raise
    _new_checksum(target, chance)
    return name, damage


def _new_checksum(folder: Path, chance: Random) -> None:
    """Let the checksum fit what is there, mostly: whoever changes weights can do so."""
    for weights, about in (("model.safetensors", "parser.json"), ("segmenter.safetensors", "segmenter.json")):
        if chance.random() >= 0.05:
            _fit_checksum(folder / weights, folder / about)


def _fit_checksum(weights: Path, about: Path) -> None:
    if not (_readable(weights) and _readable(about)):
        return
    try:
        table = json.loads(about.read_text(encoding="utf-8"))
        table["sha256"] = checksum(weights)
        about.write_text(json.dumps(table), encoding="utf-8")
    except (H3nError, OSError, ValueError, TypeError, RecursionError):
        pass


def attempt(folder: Path, text: Path, number: int = 0) -> tuple[str | None, bool]:
    """Return what is wrong with how a folder is taken, or None, and whether it was parsed with."""
    form, precision = FORMS[number % len(FORMS)], PRECISIONS[number % len(PRECISIONS)]
    parsed = run(["parse", str(text), "--model", str(folder), "--to", form, "--precision", precision], text)
    verified = run(["model", "verify", str(folder)], text)
    described = run(["model", "info", str(folder)], text)
    for command, outcome in {"parse": parsed, "verify": verified, "info": described}.items():
        if (fault := outcome.fault()) is not None:
            return f"{command}: {fault}", False
    # 8 bits may be refused where a model is whole: encoders that only transformers knows have none.
    if parsed.code == 2 and verified.code == 0 and "precision int8: " not in parsed.said:
        return f"verify finds nothing, parse says {parsed.said!r}", False
    return None, parsed.code == 0


def try_many(
    seed: int, numbers: range, *, damages: tuple[str, ...] = tuple(DAMAGES), keep: Path | None = None
) -> tuple[Counter[str], list[str]]:
    """Return what came of folders, and what was found."""
    load_everything()
    counts: Counter[str] = Counter()
    findings: list[str] = []
    with tempfile.TemporaryDirectory(prefix="h3n-folders-") as top:
        text = Path(top) / "text.txt"
        text.write_text(TEXT, encoding="utf-8")
        for number in numbers:
            folder = Path(top) / "model"
            name, damage = make(seed, number, folder, damages)
            fault, parsed = attempt(folder, text, number)
            counts["parsed" if parsed else "refused" if fault is None else "found"] += 1
            if fault is not None:
                findings.append(f"seed {seed}, number {number} ({name}, {damage}): {fault}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    shutil.move(folder, keep / f"{seed}-{number}")
            shutil.rmtree(folder, ignore_errors=True)
    return counts, findings


def main() -> int:
    """Try many folders."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.model_folders", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default=",".join(DAMAGES), help=f"of: {', '.join(DAMAGES)}")
    parser.add_argument("--keep", type=Path, help="a folder for those with which something went wrong")
    options = parser.parse_args()
    numbers, damages = range(options.first, options.first + options.count), tuple(options.only.split(","))
    counts, findings = try_many(options.seed, numbers, damages=damages, keep=options.keep)
    for finding in findings:
        print(finding)
    listed = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    print(f"{options.count} folders of seed {options.seed}: {listed}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
