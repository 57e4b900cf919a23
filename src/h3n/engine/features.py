"""What is known of a word before its context: learned and static vectors, characters, spelling, given tag, style.

Every part that a model has yields one vector per word; they are added up (paper, equation 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from h3n.engine.inputs import Inputs, word_positions
from h3n.engine.output import Floats, Numbers
from h3n.engine.saved import Saved
from h3n.engine.vocabulary import PADDING

PREFIX = "encoder.features."
REMEMBERED = 1 << 15  # words, whose characters are read once


class Features:
    """The sum of all parts, zero at starts and stops but for the style; those have learned vectors of their own."""

    def __init__(self, saved: Saved) -> None:
        options = saved.config.encoder
        self.size = saved.weights[f"{PREFIX}edges"].shape[1]
        self.edges = saved.weights[f"{PREFIX}edges"].floats()
        self.tables = {
            name: saved.weights[f"{PREFIX}{name}.weight"]
            for name in ("words", "tags", "shapes", "styles")
            if f"{PREFIX}{name}.weight" in saved.weights
        }
        vectors = saved.weights.get(f"{PREFIX}vectors.weight")
        self.vectors = vectors
        self.vector_map = saved.weights[f"{PREFIX}vector_map.weight"].floats() if vectors is not None else None
        self.characters = CHARACTERS[options.characters](saved) if options.characters in CHARACTERS else None

    def columns(self, sentences: Sequence[Inputs]) -> dict[str, Numbers]:
        """Return the rows of each table that are added up, one for every position of all sentences."""
        lengths = [one.length for one in sentences]
        places = word_positions(lengths)
        found: dict[str, Numbers] = {}
        for name in self.tables:
            if name == "styles":
                found[name] = np.repeat([one.style for one in sentences], np.array(lengths) + 2)
            else:
                found[name] = np.full(len(places) + 2 * len(lengths), PADDING, dtype=np.int64)
                found[name][places] = np.concatenate([getattr(one, name) for one in sentences])
        return found

    def extra(self, sentences: Sequence[Inputs]) -> Floats | None:
        """Return what characters and static vectors say of every position, or None where a model has neither."""
        if self.characters is None and self.vectors is None:
            return None
        places = word_positions([one.length for one in sentences])
        total = np.zeros((len(places) + 2 * len(sentences), self.size), dtype=np.float32)
        if self.vectors is not None and self.vector_map is not None:
            total[places] += self.vectors.rows(np.concatenate([one.words for one in sentences])) @ self.vector_map.T
        if self.characters is not None:
            total[places] += self.characters([ids for one in sentences for ids in one.characters])
        return total

    def run(self, sentences: Sequence[Inputs]) -> Floats:
        """Return (positions, size), the positions of all sentences one after the other."""
        extra = self.extra(sentences)
        count = sum(one.length + 2 for one in sentences)
        total = np.zeros((count, self.size), dtype=np.float32) if extra is None else extra
        for name, ids in self.columns(sentences).items():
            total = total + self.tables[name].rows(ids)
        return total

    def add_edges(self, total: Floats, lengths: Sequence[int]) -> Floats:
        """Return the vectors with the learned ones added at every sentence's start and stop."""
        stops = np.cumsum(lengths) - 1
        total = total.copy()
        total[stops - np.array(lengths) + 1] += self.edges[0]
        total[stops] += self.edges[1]
        return total


class Characters:
    """Vectors of words from their characters; each word is read once."""

    def __init__(self, saved: Saved) -> None:
        self.embed = saved.weights[f"{PREFIX}characters.embed.weight"].floats()
        self._known: dict[bytes, Floats] = {}

    def __call__(self, words: Sequence[Numbers]) -> Floats:
        return np.stack([self._remembered(ids) for ids in words])

    def _remembered(self, ids: Numbers) -> Floats:
        key = ids.tobytes()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[key] = self.read(ids)
        return found

    def read(self, ids: Numbers) -> Floats:
        """Return the vector of one word."""
        raise NotImplementedError


class CharacterCnn(Characters):
    """The strongest answer of each filter over three characters at a time."""

    def __init__(self, saved: Saved) -> None:
        super().__init__(saved)
        self.filters = saved.weights[f"{PREFIX}characters.filters.weight"].floats()  # (out, size, 3)
        self.bias = saved.weights[f"{PREFIX}characters.filters.bias"].floats()

    def read(self, ids: Numbers) -> Floats:
        around = np.pad(self.embed[ids], ((1, 1), (0, 0)))  # (characters + 2, size)
        answers = sum(around[at : at + len(ids)] @ self.filters[:, :, at].T for at in range(3)) + self.bias
        strongest: Floats = np.maximum(answers, np.float32(0.0)).max(axis=0)
        return strongest


class CharacterLstm(Characters):
    """The two last states of an LSTM that reads a word forward and backward."""

    def __init__(self, saved: Saved) -> None:
        super().__init__(saved)
        prefix = f"{PREFIX}characters."
        self.out, self.bias = (saved.weights[f"{prefix}out.{name}"].floats() for name in ("weight", "bias"))
        parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        self.forward, self.backward = (
            tuple(saved.weights[f"{prefix}lstm.{name}_l0{way}"].floats() for name in parts) for way in ("", "_reverse")
        )

    def read(self, ids: Numbers) -> Floats:
        x = self.embed[ids]
        states = np.concatenate((last_state(x, self.forward), last_state(x[::-1], self.backward)))
        return np.asarray(self.out @ states + self.bias, dtype=np.float32)


def last_state(x: Floats, cell: tuple[Floats, ...]) -> Floats:
    """Return the state of an LSTM after it has read all rows."""
    from_input, from_state, input_bias, state_bias = cell
    read = x @ from_input.T + input_bias + state_bias  # (rows, 4 * size): input, forget, cell and output gates
    size = from_state.shape[1]
    state, memory = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for row in read:
        entered, forgotten, new, shown = np.split(row + from_state @ state, 4)
        memory = sigmoid(forgotten) * memory + sigmoid(entered) * np.tanh(new)
        state = sigmoid(shown) * np.tanh(memory)
    return state


def sigmoid(x: Floats) -> Floats:
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-x))


CHARACTERS: dict[str, type[CharacterCnn] | type[CharacterLstm]] = {"cnn": CharacterCnn, "lstm": CharacterLstm}
