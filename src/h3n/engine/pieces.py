"""Words cut into the pieces a pretrained model reads, and inputs too long for it cut into overlapping windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h3n.errors import H3nError, InputError, UsageError

# What cuts a word into pieces without a look at its neighbours, so that a word need not be cut twice.
WORD_BY_WORD = ("BertPreTokenizer", "ByteLevel")
REMEMBERED = 1 << 16  # words
LONGEST_REMEMBERED = 64  # characters: longer words are rare and take much memory

# Characters of a word that are read: tokenizers take tens of bytes for each.
LONGEST_READ = 10_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of one sentence and the word each belongs to; every word has at least one."""

    ids: Numbers
    words: Numbers


@dataclass(frozen=True, slots=True)
class Rows:
    """Sentences laid out as equally long rows for the pretrained model.

    ``word_pieces`` are places in the flattened rows, sorted by word; ``word_of`` says which word each stands for,
    counted over all sentences, start and stop positions included.
    """

    ids: Numbers  # (rows, longest)
    types: Numbers  # (rows, longest)
    mask: NDArray[np.bool_]  # (rows, longest)
    word_pieces: Numbers
    word_of: Numbers

    def without_padding(self) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        """Return ids and types of all rows in a row, how long each of them is, and where the words' pieces stand."""
        places = np.cumsum(self.mask.ravel()) - 1
        lengths = self.mask.sum(axis=1, dtype=np.int64)
        return self.ids[self.mask], self.types[self.mask], lengths, places[self.word_pieces], self.word_of


class Tokenizer:
    """A tokenizer of the tokenizers library, used on words that are already split.

    ``padding`` and ``unknown`` are the numbers of these pieces, where it has them; ``limit`` is the longest input in
    pieces, marks included.
    """

    def __init__(self, backend: Any, *, padding: int | None, unknown: int | None, limit: int) -> None:
        self.backend = _prepared(backend)
        with tokenizer_errors("the tokenizer"):
            framed = self.backend.encode(["a"], is_pretokenized=True, add_special_tokens=True)
        inside = [at for at, special in enumerate(framed.special_tokens_mask) if not special]
        if not inside:
            raise InputError("the tokenizer: has no piece for the word 'a'; expected at least the unknown piece")
        self.before = framed.ids[: inside[0]]
        self.after = framed.ids[inside[-1] + 1 :]
        self.types = (framed.type_ids[: inside[0]], framed.type_ids[inside[0]], framed.type_ids[inside[-1] + 1 :])
        self.padding = padding if padding is not None else 0
        self.unknown = unknown if unknown is not None else self.padding
        self.word_by_word = type(self.backend.pre_tokenizer).__name__ in WORD_BY_WORD
        self._known: dict[str, tuple[int, ...]] = {}
        self.room = limit - len(self.before) - len(self.after)
        if self.room < 2:
            raise UsageError(f"encoder.windows: {limit} pieces leave no room for words; accepted: 8 or more, or 0")

    def tokenize(self, words: Sequence[str]) -> Pieces:
        """Return the pieces of a sentence; a word without any gets the unknown piece."""
        if not self.word_by_word:
            return self._tokenize_together(words)
        try:
            rows = list(map(self._known.__getitem__, words))
        except KeyError:  # another thread may make room meanwhile, so what is learned is not looked up again
            rows = [self._known.get(word) or self._learn(word) for word in words]
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
        return Pieces(flat, np.repeat(np.arange(len(rows)), list(map(len, rows))))

    def _learn(self, word: str) -> tuple[int, ...]:
        """Return the pieces of a word and remember them, if it is not too long."""
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        ids = tuple(self._tokenize_together([word]).ids.tolist())
        if len(word) <= LONGEST_REMEMBERED:
            self._known[word] = ids
        return ids

    def _tokenize_together(self, words: Sequence[str]) -> Pieces:
        with tokenizer_errors("the tokenizer"):
            found = self.backend.encode(
                [word[:LONGEST_READ] for word in words], is_pretokenized=True, add_special_tokens=False
            )
        ids = np.array(found.ids, dtype=np.int64)
        owners = np.array([-1 if word is None else word for word in found.word_ids], dtype=np.int64)
        ids, owners = ids[owners >= 0], owners[owners >= 0]
        if np.count_nonzero(np.diff(owners, prepend=-1)) < len(words):
            missing = np.setdiff1d(np.arange(len(words)), owners)
            ids = np.concatenate((ids, np.full(len(missing), self.unknown)))
            owners = np.concatenate((owners, missing))
            order = np.argsort(owners, kind="stable")
            ids, owners = ids[order], owners[order]
        return Pieces(ids, owners)

    def lay_out(self, sentences: Sequence[Pieces], lengths: Sequence[int]) -> Rows:
        """Return the rows of a batch, start and stop positions of every sentence among its words."""
        if all(len(pieces.ids) <= self.room for pieces in sentences):
            return self._lay_out_whole(sentences, lengths)
        return self._lay_out_windows(sentences, lengths)

    def _lay_out_whole(self, sentences: Sequence[Pieces], lengths: Sequence[int]) -> Rows:
        """Return the rows of sentences that fit into one window each: the same, all sentences at once."""
        count, before, after = len(sentences), len(self.before), len(self.after)
        sizes = np.array([len(pieces.ids) for pieces in sentences], dtype=np.int64)
        ends = sizes + before  # columns
        longest = int(ends.max()) + after
        columns, rows = np.arange(longest), np.arange(count)
        mask = columns < ends[:, None] + after
        inside = (columns >= before) & (columns < ends[:, None])
        ids = np.full((count, longest), self.padding, dtype=np.int64)
        types = np.zeros((count, longest), dtype=np.int64)
        ids[inside], types[inside] = np.concatenate([pieces.ids for pieces in sentences]), self.types[1]
        ids[:, :before], types[:, :before] = self.before, self.types[0]
        for at, (mark, kind) in enumerate(zip(self.after, self.types[2], strict=True)):
            ids[rows, ends + at], types[rows, ends + at] = mark, kind
        words = np.array(lengths, dtype=np.int64) + 2
        first_word = np.cumsum(words) - words
        first = np.cumsum(sizes + 2) - (sizes + 2)  # where the sentence's start stands among all pieces
        last = first + sizes + 1
        word_of = np.empty(int(sizes.sum()) + 2 * count, dtype=np.int64)
        places = np.empty_like(word_of)
        between = np.ones(len(word_of), dtype=np.bool_)
        between[first] = between[last] = False
        word_of[first], word_of[last] = first_word, first_word + words - 1
        word_of[between] = np.concatenate([pieces.words for pieces in sentences]) + np.repeat(first_word + 1, sizes)
        places[first] = rows * longest + (0 if before or not after else ends + after - 1)
        places[last] = rows * longest + ends + after - max(after, 1)
        places[between] = np.flatnonzero(inside)
        return Rows(ids, types, mask, places, word_of)

    def _lay_out_windows(self, sentences: Sequence[Pieces], lengths: Sequence[int]) -> Rows:
        """Return the rows of sentences of any length."""
        rows: list[tuple[list[int], list[int]]] = []
        places: list[Numbers] = []  # (words, rows, columns) of each sentence; words are counted over all sentences
        word = 0
        for pieces, length in zip(sentences, lengths, strict=True):
            windows = _windows(len(pieces.ids), self.room)
            nearest = _nearest(len(pieces.ids), windows)
            first_row = len(rows)
            rows.extend(self._row(pieces.ids[start:end]) for start, end in windows)
            starts = np.array([start for start, _ in windows], dtype=np.int64)
            columns = len(self.before) + np.arange(len(pieces.ids)) - starts[nearest]
            start = np.array([[word], *([at] for at in self._start(rows, first_row))])
            stop = np.array([[word + length + 1], *([at] for at in self._stop(rows))])
            places += [start, np.stack((word + 1 + pieces.words, first_row + nearest, columns)), stop]
            word += length + 2
        longest = max(len(ids) for ids, _ in rows)
        filled = np.full((len(rows), longest), self.padding, dtype=np.int64)
        types = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.bool_)
        for at, (ids, kinds) in enumerate(rows):
            filled[at, : len(ids)], types[at, : len(ids)], mask[at, : len(ids)] = ids, kinds, True
        word_of, row_of, column_of = np.concatenate(places, axis=1)
        return Rows(filled, types, mask, row_of * longest + column_of, word_of)

    def _row(self, ids: Numbers) -> tuple[list[int], list[int]]:
        before, inside, after = self.types
        return [*self.before, *ids.tolist(), *self.after], [*before, *([inside] * len(ids)), *after]

    def _start(self, rows: list[tuple[list[int], list[int]]], row: int) -> tuple[int, int]:
        """Return the place that stands for the sentence's start: a mark before the words, or else the last mark."""
        return row, 0 if self.before or not self.after else len(rows[row][0]) - 1

    def _stop(self, rows: list[tuple[list[int], list[int]]]) -> tuple[int, int]:
        return len(rows) - 1, len(rows[-1][0]) - max(len(self.after), 1)


@contextmanager
def tokenizer_errors(place: object) -> Iterator[None]:
    """Turn whatever the tokenizers library raises into an `InputError`; its panics are no `Exception`."""
    try:
        yield
    except (H3nError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{place}: {lines[0][:200]}") from None


def _prepared(backend: Any) -> Any:
    """Return the backend without truncation and padding, reading each word as if a blank preceded it."""
    backend.no_truncation()
    backend.no_padding()
    if getattr(backend.pre_tokenizer, "add_prefix_space", None) is False:
        backend.pre_tokenizer.add_prefix_space = True
    return backend


def _windows(count: int, room: int) -> list[tuple[int, int]]:
    """Return windows of ``room`` pieces that overlap by half, the last one flush with the end."""
    if count <= room:
        return [(0, count)]
    starts = [*range(0, count - room, max(room // 2, 1)), count - room]
    return [(start, start + room) for start in starts]


def _nearest(count: int, windows: Sequence[tuple[int, int]]) -> Numbers:
    """Return for each piece the window in which it has most context on its poorer side, the first on a tie.

    The ends of the sentence do not lack context. From one window to the next, the poorer side of a piece in both is
    the right side in the first and the left side in the second, so that the borders are known without a search.
    """
    borders = [(end - 1 + start) // 2 + 1 for (_, end), (start, _) in pairwise(windows)]
    return np.searchsorted(np.array(borders, dtype=np.int64), np.arange(count), side="right").astype(np.int64)
