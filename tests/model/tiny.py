"""Encoders so small that they are made in a moment: nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXT = ["the parser saw a very tall tree near the river .", "Mary liked it", "unbelievable things happened"] * 3


def tokenizer_of(kind: str) -> Tokenizer:
    """Return a tokenizer of the given model's build, trained on a few words: pieces, not words, for unseen ones."""
    if kind in ("bert", "mpnet"):
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        marks = ("[CLS]", "[SEP]") if kind == "bert" else ("<s>", "</s>")
        special = [marks[0], "[PAD]" if kind == "bert" else "<pad>", marks[1], "[UNK]", "[MASK]"]
        trainer: Any = trainers.WordPieceTrainer(vocab_size=60, special_tokens=special, show_progress=False)
        pair = f"{marks[0]} $A {marks[1]}"
    elif kind == "roberta":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        )
        marks, pair = ("<s>", "</s>"), "<s> $A </s>"
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<sep>", "<cls>"]
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False)
        marks = ("<sep>", "<cls>") if kind == "xlnet" else ("<s>", "</s>")
        pair = "$A:0 <sep>:0 <cls>:2" if kind == "xlnet" else "<s> $A </s>"
    tokenizer.train_from_iterator(TEXT, trainer)
    ids = [(mark, tokenizer.token_to_id(mark)) for mark in marks]
    tokenizer.post_processor = processors.TemplateProcessing(single=pair, special_tokens=ids)
    return tokenizer


SPECIAL = {
    "bert": {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"},
    "roberta": {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    "mpnet": {"pad_token": "<pad>", "unk_token": "[UNK]", "cls_token": "<s>", "sep_token": "</s>"},
    "xlm-roberta": {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    "xlnet": {"pad_token": "<pad>", "unk_token": "<unk>", "sep_token": "<sep>", "cls_token": "<cls>"},
}


def model_of(kind: str, words: int, padding: int, *, size: int = 16) -> Any:
    from transformers import (
        BertConfig,
        BertModel,
        MPNetConfig,
        MPNetModel,
        RobertaConfig,
        RobertaModel,
        XLMRobertaConfig,
        XLMRobertaModel,
        XLNetConfig,
        XLNetModel,
    )

    torch.manual_seed(0)
    if kind == "xlnet":
        return XLNetModel(
            XLNetConfig(vocab_size=words, d_model=16, n_layer=2, n_head=2, d_inner=32, pad_token_id=padding)
        )
    classes = {
        "bert": (BertConfig, BertModel),
        "mpnet": (MPNetConfig, MPNetModel),
        "roberta": (RobertaConfig, RobertaModel),
        "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel),
    }
    config, model = classes[kind]
    sizes = {"hidden_size": size, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 2 * size}
    return model(config(vocab_size=words, max_position_embeddings=40, pad_token_id=padding, **sizes))


def save_encoder(kind: str, folder: Path, *, size: int = 16) -> None:
    """Write a randomly initialised model of a kind, and its tokenizer, into a folder."""
    from transformers import PreTrainedTokenizerFast

    side = "left" if kind == "xlnet" else "right"
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer_of(kind), padding_side=side, **SPECIAL[kind])
    fast.save_pretrained(folder)
    model_of(kind, len(fast), fast.pad_token_id, size=size).save_pretrained(folder)
