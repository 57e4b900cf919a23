"""Sentences as numbers: what the network should say of each, and several sentences as one `Batch` of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from h3n.engine.inputs import Inputs, pieces_of
from h3n.engine.pieces import Numbers, Tokenizer
from h3n.engine.vocabulary import IGNORE, PADDING, Vocabulary
from h3n.model.soft_targets import SoftTargets, read_soft_targets
from h3n.trees import ROOT, Dependencies, SoftLabels, Span

NOTHING_SOFT = SoftTargets()


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What the network should say of one sentence; None where nobody knows."""

    spans: Numbers | None = None  # (spans, 3): start, end, label
    governors: Numbers | None = None  # (n,): 0 is the root, otherwise word + 1
    relations: Numbers | None = None  # (n,)
    levels: Numbers | None = None  # (n,)
    ranks: Numbers | None = None  # (n,): governors of the tree that orders the heads, as in `governors`
    tags: Numbers | None = None  # (n,)
    upos: Numbers | None = None  # (n,)
    soft: SoftTargets = NOTHING_SOFT  # in place of the same above, where a teacher says more than one tree does


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """`h3n.engine.pieces.Rows` as tensors."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    word_pieces: Tensor
    word_of: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Inputs of several sentences; every sentence has a start and a stop position around its words."""

    lengths: tuple[int, ...]
    mask: Tensor  # (B, n + 2)
    words: Tensor  # (B, n + 2)
    tags: Tensor  # (B, n + 2)
    shapes: Tensor  # (B, n + 2)
    styles: Tensor  # (B,)
    characters: Tensor | None  # (B, n + 2, characters); None where the encoder reads none
    rows: Rows | None = None


def read_targets(
    vocabulary: Vocabulary,
    *,
    spans: Sequence[Span] | None = None,
    dependencies: Dependencies | None = None,
    levels: Sequence[int] | None = None,
    ranks: Sequence[int] | None = None,
    tags: Sequence[str] | None = None,
    upos: Sequence[str] | None = None,
    soft_labels: SoftLabels | None = None,
    length: int = 0,
) -> Targets:
    """Return what is known of a sentence as numbers. Levels count from 1; spans with unknown labels are left out.

    ``ranks`` are the governors of the tree in which every word is to outrank the words below it; soft labels need the
    number of words as ``length``.
    """
    governors = relations = None
    if dependencies is not None:
        governors = _governor_ids(dependencies.governors)
        relations = _ids(dependencies.relations, vocabulary.relation_index)
    table = None
    if spans is not None:
        index = vocabulary.label_index
        known = [(span.start, span.end, index[span.label]) for span in spans if span.label in index]
        table = np.array(known, dtype=np.int64).reshape(-1, 3)
    return Targets(
        spans=table,
        governors=governors,
        relations=relations,
        levels=np.array(levels, dtype=np.int64) - 1 if levels is not None else None,
        ranks=_governor_ids(ranks) if ranks is not None else None,
        tags=_ids(tags, vocabulary.tag_index) if tags is not None else None,
        upos=_ids(upos, vocabulary.upos_index) if upos is not None else None,
        soft=read_soft_targets(soft_labels, vocabulary, length=length) if soft_labels is not None else NOTHING_SOFT,
    )


def _governor_ids(governors: Sequence[int]) -> Numbers:
    return np.array([0 if governor == ROOT else governor + 1 for governor in governors], dtype=np.int64)


def _ids(names: Sequence[str], index: Mapping[str, int]) -> Numbers:
    return np.array([index.get(name, IGNORE) for name in names], dtype=np.int64)


def collate(sentences: Sequence[Inputs], *, tokenizer: Tokenizer | None = None) -> Batch:
    """Return the sentences as one batch, padded to the longest."""
    lengths = tuple(sentence.length for sentence in sentences)
    width = max(lengths) + 2
    mask = np.arange(width)[None, :] < np.array(lengths)[:, None] + 2
    rows = None
    if tokenizer is not None:
        laid = tokenizer.lay_out(pieces_of(sentences), lengths)
        # A word's number over all sentences becomes its place in the padded batch.
        flat = np.flatnonzero(mask.ravel())
        rows = Rows(
            ids=torch.from_numpy(laid.ids),
            types=torch.from_numpy(laid.types),
            mask=torch.from_numpy(laid.mask),
            word_pieces=torch.from_numpy(laid.word_pieces),
            word_of=torch.from_numpy(flat[laid.word_of]),
        )
    return Batch(
        lengths=lengths,
        mask=torch.from_numpy(mask),
        words=_padded([s.words for s in sentences], width),
        tags=_padded([s.tags for s in sentences], width),
        shapes=_padded([s.shapes for s in sentences], width),
        styles=torch.tensor([s.style for s in sentences], dtype=torch.int64),
        characters=_padded_characters(sentences, width),
        rows=rows,
    )


def _padded_characters(sentences: Sequence[Inputs], width: int) -> Tensor | None:
    """Return (B, n + 2, characters), or None where the sentences were read without their characters."""
    longest = max((len(ids) for sentence in sentences for ids in sentence.characters), default=0)
    if not longest:
        return None
    table = np.full((len(sentences), width, longest), PADDING, dtype=np.int64)
    for b, sentence in enumerate(sentences):
        for word, ids in enumerate(sentence.characters, start=1):
            table[b, word, : len(ids)] = ids
    return torch.from_numpy(table)


def _padded(columns: Sequence[Numbers], width: int) -> Tensor:
    """Return (B, n + 2) with the words in the middle and padding at start, stop and behind."""
    padded = np.full((len(columns), width), PADDING, dtype=np.int64)
    lengths = np.array([len(column) for column in columns])[:, None]
    padded[:, 1:][np.arange(width - 1) < lengths] = np.concatenate(columns)
    return torch.from_numpy(padded)


def to_device(batch: Batch, device: torch.device) -> Batch:
    """Return the batch with all its tensors on a device."""
    if device.type == "cpu":
        return batch
    rows = batch.rows
    if rows is not None:
        rows = Rows(**{f.name: getattr(rows, f.name).to(device, non_blocking=True) for f in fields(rows)})
    moved: dict[str, Any] = {
        f.name: value.to(device, non_blocking=True)
        for f in fields(batch)
        if isinstance(value := getattr(batch, f.name), Tensor)
    }
    return replace(batch, rows=rows, **moved)


def stack_targets(columns: Sequence[Numbers | None], lengths: Sequence[int]) -> Tensor:
    """Return one target of all sentences in a row (words of all sentences, no padding), `IGNORE` where unknown."""
    filled: list[NDArray[np.int64]] = [
        column if column is not None else np.full(length, IGNORE, dtype=np.int64)
        for column, length in zip(columns, lengths, strict=True)
    ]
    return torch.from_numpy(np.concatenate(filled)) if filled else torch.zeros(0, dtype=torch.int64)
