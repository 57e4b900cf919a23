"""What is known of a word before its context: learned and static vectors, characters, spelling, given tag.

Every part that is switched on yields one vector per word; they are added up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

from h3n.config import Encoder, expand
from h3n.engine.vocabulary import PADDING, SHAPES, UNKNOWN, Vocabulary
from h3n.errors import InputError
from h3n.model.batch import Batch

PIECES, PIECE_VECTORS = "pieces.txt", "vectors.npy"


class CharacterCnn(nn.Module):
    """The strongest answer of each filter over three characters at a time."""

    def __init__(self, count: int, size: int, out: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(count, size, padding_idx=PADDING)
        self.filters = nn.Conv1d(size, out, kernel_size=3, padding=1)

    def forward(self, characters: Tensor) -> Tensor:  # (words, characters), each with at least one
        answers = functional.relu(self.filters(self.embed(characters).transpose(1, 2)))
        # ReLU answers are never negative, so that zero is as good as nothing.
        return answers.masked_fill((characters == PADDING)[:, None], 0.0).amax(dim=-1)


class CharacterLstm(nn.Module):
    """The two last states of an LSTM that reads a word forward and backward."""

    def __init__(self, count: int, size: int, out: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(count, size, padding_idx=PADDING)
        self.lstm = nn.LSTM(size, out // 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * (out // 2), out)

    def forward(self, characters: Tensor) -> Tensor:
        lengths = (characters != PADDING).sum(dim=1).cpu()
        packed = pack_padded_sequence(self.embed(characters), lengths, batch_first=True, enforce_sorted=False)
        _, (state, _) = self.lstm(packed)
        vectors: Tensor = self.out(torch.cat((state[0], state[1]), dim=-1))
        return vectors


CHARACTERS: dict[str, type[CharacterCnn] | type[CharacterLstm]] = {"cnn": CharacterCnn, "lstm": CharacterLstm}


class Features(nn.Module):
    """The sum of all parts that are switched on, zero at padding; start and stop have learned vectors.

    (paper, equation 1)
    """

    counts: Tensor

    def __init__(
        self, options: Encoder, vocabulary: Vocabulary, *, size: int, words: bool, vector_size: int = 0
    ) -> None:
        super().__init__()
        self.size = size
        self.word_dropout = options.word_dropout
        self.edges = nn.Parameter(torch.randn(2, size, device="cpu") * 0.1)
        self.words = nn.Embedding(len(vocabulary.words) + 2, size, padding_idx=PADDING) if words else None
        self.vectors: nn.Embedding | None = None
        self.vector_map: nn.Linear | None = None
        if words and options.vectors:
            # A saved parser brings its vectors along; only their size is needed to make room for them.
            rows = len(vocabulary.pieces or vocabulary.words) + 2
            table = torch.zeros(rows, vector_size) if vector_size else _read_static(options, vocabulary)
            self.vectors = nn.Embedding(table.shape[0], table.shape[1], padding_idx=PADDING)
            self.vectors.weight = nn.Parameter(table, requires_grad=False)
            self.vector_map = nn.Linear(table.shape[1], size, bias=False)
        self.tags = nn.Embedding(len(vocabulary.tags) + 2, size, padding_idx=PADDING) if options.tags else None
        self.shapes = nn.Embedding(SHAPES, size, padding_idx=PADDING) if options.shapes else None
        # One style tells a network nothing.
        self.styles = nn.Embedding(len(vocabulary.styles), size) if len(vocabulary.styles) > 1 else None
        kind = CHARACTERS.get(options.characters)
        characters = len(vocabulary.characters) + 2
        self.characters = kind(characters, options.character_size, size) if kind is not None else None
        for embedding in (self.words, self.tags, self.shapes, self.styles):
            if embedding is not None:
                _shrink(embedding)
        counts = torch.tensor(
            [0, 0, *vocabulary.word_counts], device="cpu"
        )  # known, wherever weights are still to come
        self.register_buffer("counts", counts, persistent=False)

    def forward(self, batch: Batch) -> Tensor:  # (B, n + 2, size)
        inside = batch.words != PADDING
        total = torch.zeros(*batch.words.shape, self.size, device=batch.words.device)
        if self.words is not None:
            total = total + self._word_vectors(self.words, batch.words)
        if self.vectors is not None and self.vector_map is not None:
            total = total + self.vector_map(self._static_vectors(self.vectors, batch))
        if self.tags is not None:
            total = total + self.tags(batch.tags)
        if self.shapes is not None:
            total = total + self.shapes(batch.shapes)
        if self.styles is not None:
            total = total + self.styles(batch.styles)[:, None]
        if self.characters is not None:
            if batch.characters is None:
                raise ValueError("the sentences were read without their characters")
            total = total.masked_scatter(inside[..., None], total[inside] + self.characters(batch.characters[inside]))
        return total

    def add_edges(self, total: Tensor, batch: Batch) -> Tensor:
        """Return the vectors with the learned ones put at every sentence's start and stop."""
        stops = torch.tensor(batch.lengths, device=total.device) + 1
        places = torch.zeros(*batch.words.shape, 2, device=total.device)
        places[:, 0, 0] = 1.0
        places[torch.arange(len(stops), device=total.device), stops, 1] = 1.0
        return total + places @ self.edges

    def _static_vectors(self, table: nn.Embedding, batch: Batch) -> Tensor:
        """Return the vector of each word: its own, or the mean of those of its pieces."""
        vectors: Tensor
        if batch.static is None:
            vectors = table(batch.words)
        else:
            count = (batch.static != PADDING).sum(dim=-1, keepdim=True).clamp_(min=1)
            vectors = table(batch.static).sum(dim=-2) / count
        return vectors

    def _word_vectors(self, embed: nn.Embedding, words: Tensor) -> Tensor:
        embedded: Tensor
        if not self.training:
            embedded = embed(words)
            return embedded
        rare = torch.rand(words.shape, device=words.device) < 1.0 / (1.0 + self.counts[words])
        vectors = embed(torch.where(rare & (words != PADDING), UNKNOWN, words))
        kept = torch.rand(words.shape, device=words.device) >= self.word_dropout
        embedded = vectors * kept[..., None]
        return embedded


def _shrink(embedding: nn.Embedding) -> None:
    """Start from small vectors, so that no part drowns the others in the sum."""
    nn.init.normal_(embedding.weight, std=0.1)
    if embedding.padding_idx is not None:
        with torch.no_grad():
            embedding.weight[embedding.padding_idx] = 0.0


def _read_static(options: Encoder, vocabulary: Vocabulary) -> Tensor:
    path = expand(options.vectors)
    return read_piece_vectors(path, vocabulary.pieces) if vocabulary.pieces else read_vectors(path, vocabulary.words)


def read_pieces(folder: Path) -> tuple[str, ...]:
    """Return the pieces that a folder of static vectors has, the most frequent first."""
    try:
        lines = (folder / PIECES).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / PIECES}: cannot read the pieces: {error}") from None
    pieces = tuple(lines[:-1] if not lines[-1] else lines)
    if len(set(pieces)) < len(pieces):
        raise InputError(f"{folder / PIECES}: holds a piece twice; expected each on one line")
    return pieces


def read_piece_vectors(folder: Path, kept: tuple[str, ...]) -> Tensor:
    """Return the static vectors of these pieces, behind those of padding and of what is not known, which are zero."""
    pieces = read_pieces(folder)
    try:
        table = np.load(folder / PIECE_VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / PIECE_VECTORS}: cannot read the vectors: {error}") from None
    if table.ndim != 2 or len(table) != len(pieces):
        raise InputError(
            f"{folder / PIECE_VECTORS}: shape {table.shape}; expected a row for each of {len(pieces)} pieces"
        )
    index = {piece: at for at, piece in enumerate(pieces)}
    rows = torch.from_numpy(np.asarray(table[[index[piece] for piece in kept]], dtype=np.float32))
    return torch.cat((torch.zeros(2, table.shape[1]), rows))


def read_vectors(path: Path, words: tuple[str, ...]) -> Tensor:
    """Return static vectors of these words from a text file of ``word number number ...`` lines; zero where missing.

    A first line of two numbers, as some programs write, is passed over.
    """
    wanted = {word: at + 2 for at, word in enumerate(words)}
    found: dict[int, list[float]] = {}
    size = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *values = line.rstrip("\n").split(" ")
                if number == 1 and len(values) == 1:
                    continue
                size = size or len(values)
                if len(values) != size:
                    raise InputError(f"{path}:{number}: {len(values)} numbers; expected {size} as in the lines before")
                if word in wanted:
                    found[wanted[word]] = [float(value) for value in values]
    except OSError as error:
        raise InputError(f"{path}: cannot read the word vectors: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path}:{number}: not a word followed by numbers") from None
    if not size:
        raise InputError(f"{path}: holds no word vector")
    table = torch.zeros(len(words) + 2, size)
    for at, vector in found.items():
        table[at] = torch.tensor(vector)
    return table
