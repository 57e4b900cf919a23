"""Words to vectors in context: with what is learned here alone, or on top of a pretrained model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from h3n.config import Encoder
from h3n.engine.architectures import UnknownEncoder, read_architecture
from h3n.engine.pieces import Tokenizer
from h3n.engine.tokenizer_file import NO_LIMIT, read_tokenizer
from h3n.engine.vocabulary import Vocabulary
from h3n.errors import InputError
from h3n.model.batch import Batch, Rows
from h3n.model.bert import Bert, BertConfig
from h3n.model.features import Features
from h3n.model.layers import SharedDropout, Stack
from h3n.model.library import quiet, wrapped
from h3n.model.mpnet import Mpnet
from h3n.model.packages import check_on_hub, locate_encoder

# Pieces that the pretrained model reads at once where nothing is learned: a long input takes no more memory.
BLOCK = 16_384
SAVED = ("config.json", "tokenizer.json")


class Attentive(nn.Module):
    """Features of the words, then partitioned self-attention (paper, section III-A)."""

    tokenizer: Tokenizer | None = None

    def __init__(
        self, options: Encoder, vocabulary: Vocabulary, *, folder: Path | None = None, vector_size: int = 0
    ) -> None:
        super().__init__()
        del folder  # the weights are all there is to build from
        self.stack = Stack(options.layers)
        self.size = self.stack.size
        self.features = Features(
            options, vocabulary, size=self.stack.content_size, words=options.words, vector_size=vector_size
        )
        self.norm = nn.LayerNorm(self.stack.content_size)
        self.dropout = SharedDropout(options.dropout)

    def forward(self, batch: Batch) -> Tensor:  # (B, n + 2, d)
        content = self.features.add_edges(self.features(batch), batch)
        vectors: Tensor = self.stack(self.dropout(self.norm(content)), batch.mask)
        return vectors

    def pretrained(self) -> list[nn.Parameter]:
        """Return the parameters that were not learned here: none."""
        return []

    def save(self, folder: Path) -> None:
        """Write what `folder` must hold for the encoder to be made again: nothing."""


class Pretrained(nn.Module):
    """A transformer of the transformers library, one vector per word, then partitioned self-attention.

    (paper, section III-A)
    """

    def __init__(
        self, options: Encoder, vocabulary: Vocabulary, *, folder: Path | None = None, vector_size: int = 0
    ) -> None:
        super().__init__()
        del vector_size  # no static vectors here
        self.model, self.tokenizer, self._sources = _load(options, folder)
        self.pooling = options.pooling
        self.stack = Stack(options.layers)
        self.size = self.stack.size
        content = self.stack.content_size
        self.project = nn.Linear(self.model.config.hidden_size, content)
        self.features = Features(options, vocabulary, size=content, words=False)
        self.norm = nn.LayerNorm(content)
        self.dropout = SharedDropout(options.dropout)

    def forward(self, batch: Batch) -> Tensor:  # (B, n + 2, d)
        if batch.rows is None:
            raise ValueError("the batch was made without the encoder's tokenizer")
        content = self.project(self._word_vectors(batch.rows, batch.mask))
        content = self.features.add_edges(content + self.features(batch), batch)
        vectors: Tensor = self.stack(self.dropout(self.norm(content)), batch.mask)
        return vectors

    def _word_vectors(self, rows: Rows, mask: Tensor) -> Tensor:
        word_of, word_pieces = rows.word_of, rows.word_pieces
        share = torch.ones(1, device=mask.device)
        if self.pooling == "mean":
            share = torch.bincount(word_of).clamp_(min=1).reciprocal()[word_of]
        else:
            chosen = _run_ends(word_of, last=self.pooling == "last")
            word_of, word_pieces = word_of[chosen], word_pieces[chosen]
        vectors: Tensor | None = None
        for first, pieces in self._pieces(rows):
            here = (word_pieces >= first) & (word_pieces < first + len(pieces))
            found = pieces[word_pieces[here] - first] * share.expand(len(word_of))[here, None].to(pieces.dtype)
            if vectors is None:
                vectors = pieces.new_zeros(mask.numel(), pieces.shape[-1])
            vectors = vectors.index_add(0, word_of[here], found)
        if vectors is None:
            raise ValueError("the batch has no rows")
        return vectors.view(*mask.shape, -1)

    def _pieces(self, rows: Rows) -> Iterator[tuple[int, Tensor]]:
        """Yield the vectors of all pieces, (rows * longest, hidden), in blocks with the place of the first.

        In training it is one block: nothing can be forgotten on the way.
        """
        count, longest = rows.ids.shape
        step = count if torch.is_grad_enabled() else max(1, BLOCK // longest)
        for at in range(0, count, step):
            part = slice(at, at + step)
            given = {"input_ids": rows.ids[part], "attention_mask": rows.mask[part].long()}
            if self._reads_types():
                given["token_type_ids"] = rows.types[part]
            yield at * longest, self.model(**given).last_hidden_state.flatten(0, 1)

    def _reads_types(self) -> bool:
        return int(getattr(self.model.config, "type_vocab_size", 0) or 0) > 1 or self.model.config.model_type == "xlnet"

    def pretrained(self) -> list[nn.Parameter]:
        """Return the parameters that were not learned here, for a learning rate of their own."""
        return list(self.model.parameters())

    def save(self, folder: Path) -> None:
        """Write the tokenizer and the model's own configuration; the weights are saved with all others."""
        for source in self._sources:
            source.save_pretrained(folder)


def _run_ends(word_of: Tensor, *, last: bool) -> Tensor:
    """Return where in a sorted row of word numbers each word's last (or first) piece stands."""
    changes = word_of[1:] != word_of[:-1]
    edge = torch.ones(1, dtype=torch.bool, device=word_of.device)
    return torch.cat((changes, edge) if last else (edge, changes)).nonzero()[:, 0]


def _load(options: Encoder, folder: Path | None) -> tuple[Any, Tokenizer, tuple[Any, ...]]:
    """Return model, tokenizer, and what can save both of them into a folder.

    The model has the pretrained weights, or empty ones where a saved parser will fill them.
    """
    if folder is None and not options.name:
        raise InputError("encoder.name is empty; expected 'minilm', a model's name on the hub, or a folder")
    # Without a tokenizer the library would make an empty one, to which every word is unknown.
    missing = [folder / file for file in SAVED if not (folder / file).is_file()] if folder is not None else []
    if missing:
        raise InputError(f"{missing[0]}: no such file; expected the encoder of a saved parser there")
    if folder is not None:
        with suppress(UnknownEncoder):
            bert, tokenizer = load_plain(folder, windows=options.windows)
            return bert, tokenizer, (bert.config,)
    name = str(folder) if folder is not None else locate_encoder(options.name)
    if not Path(name).exists():
        check_on_hub(name)
    try:
        model, pretrained = _load_with_library(name, weights=folder is None)
    except Exception as error:  # the libraries raise whatever comes, and the tokenizers' nothing narrower
        raise InputError(f"encoder {name!r} cannot be loaded: {_reason(error)}") from None
    tokenizer = wrapped(pretrained, limit=options.windows or _limit(model, pretrained))
    return model, tokenizer, (model.config, pretrained)


def load_plain(folder: Path, *, windows: int = 0) -> tuple[Bert, Tokenizer]:
    """Return the encoder saved in a folder, its weights still to be filled in; `UnknownEncoder` for another kind."""
    known = read_architecture(folder)
    kind = Mpnet if known.kind == "mpnet" else Bert
    return kind(BertConfig(folder, known)), read_tokenizer(folder, known, windows=windows)


def _reason(error: Exception) -> str:
    if "trust_remote_code" in str(error):
        return "it needs Python code that comes with it, and h3n never runs code of a model"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def _load_with_library(name: str, *, weights: bool) -> tuple[Any, Any]:
    """Return model and tokenizer; nothing that lies beside them is executed, and weights are never unpickled."""
    import transformers

    library: Any = transformers
    with quiet():
        config = library.AutoConfig.from_pretrained(name, trust_remote_code=False)
        config._attn_implementation = None  # it could name code on the hub, which would be fetched and run
        tokenizer = library.AutoTokenizer.from_pretrained(name, add_prefix_space=True, trust_remote_code=False)
        if weights:
            model = library.AutoModel.from_pretrained(
                name, config=config, trust_remote_code=False, use_safetensors=True
            )
        else:
            model = library.AutoModel.from_config(config, trust_remote_code=False)
    # The pooler reads the first position for other tasks; its weights would only be dragged along.
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model.float(), tokenizer


def _limit(model: Any, tokenizer: Any) -> int:
    """Return the longest input in pieces, special ones included."""
    positions = getattr(model.config, "max_position_embeddings", None) or NO_LIMIT
    if positions < 0:
        positions = NO_LIMIT
    # RoBERTa and its kin count positions from behind the padding index.
    embeddings = getattr(model, "embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    if padding is not None and hasattr(embeddings, "position_embeddings"):
        positions -= padding + 1
    return int(min(positions, tokenizer.model_max_length, NO_LIMIT))
