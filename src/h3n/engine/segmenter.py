"""A learned segmenter, run: sentences, words and multiword tokens of any language.

A network reads the characters of a block of text and scores for each of them whether a token ends there, whether a
sentence does, and whether the token is several words and by which rule. Its layers are convolutions, so what it says of
a character depends on those around it up to `reach` and on nothing else: time is linear in the text. White space is all
the same to it; its kinds are left to `h3n.text.blocks`.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from h3n.engine.convolutions import DILATIONS, KERNEL, NativeConvolutions, PlainConvolutions
from h3n.engine.storage import Floats, pack
from h3n.engine.weights import Shapes, compare, read_shapes, read_weights
from h3n.errors import InputError
from h3n.files import checksum, drafted, read_json, write_json, write_text
from h3n.models import ABOUT, SEGMENTER, SEGMENTER_RULES, SEGMENTER_WEIGHTS, SHA256, read_about
from h3n.text import SEGMENTERS, Segmenter, Token
from h3n.text.boundaries import shortened
from h3n.text.expansions import Expansions, from_json, to_json

Numbers: TypeAlias = NDArray[np.int64]

LEARNED = "learned"  # how a model names a segmenter of its own
VERSION = 1
BITS = 8
KEYS = ("version", SHA256, "size", "characters", "pairs", "marks", "blanks", "expansions")
LARGEST = 1 << 26  # bytes of the file of rules
MOST_SIZE, MOST_PAIRS = 4096, 1 << 20
CATEGORIES = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"),
)
TOKEN_END, SENTENCE_END, ONE_WORD, OTHER, RULES = range(5)  # columns of the scores; from RULES on one for each rule
MARKS = 3  # that the rules for English make: ends of tokens, of words inside them, of sentences
_SPACES = frozenset("\u200b\ufeff")


@dataclass(frozen=True, slots=True)
class Alphabet:
    """How characters become numbers."""

    characters: str  # those known, in lower case
    pairs: int = 0  # rows of the table of two neighbouring characters; 0: none
    marks: str = ""  # the name of rules whose answer is an input too


def is_spacing(character: str) -> bool:
    """Return whether a character is never in a token: white space, control characters, halves of surrogate pairs."""
    return character.isspace() or character in _SPACES or unicodedata.category(character) in {"Cc", "Cs"}


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as the network reads it: for each character its number, its category, its pair with the next, marks."""

    characters: Numbers
    categories: Numbers
    pairs: Numbers
    marks: NDArray[np.bool_]
    visible: NDArray[np.bool_]
    blank: NDArray[np.bool_]  # white space: the only thing that is not visible and may be inside a word


def encode(text: str, alphabet: Alphabet) -> Encoded:
    """Return a text as numbers. Characters that are not known are 0, white space 1."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    known = {character: at for at, character in enumerate(alphabet.characters, start=2)}
    distinct, places = np.unique(codes, return_inverse=True)
    rows = np.array([_numbers(chr(code), known) for code in distinct.tolist()], dtype=np.int64).reshape(-1, 4)
    characters, categories, visible, blank = rows[places].T
    following = np.append(characters[1:], 1)
    pairs = (characters * 31337 + following * 7919) % max(alphabet.pairs, 1)
    marks = _marks(text, alphabet.marks) if alphabet.marks else np.zeros((len(text), 0), bool)
    return Encoded(characters, categories, pairs, marks, visible.astype(bool), blank.astype(bool))


def _numbers(character: str, known: Mapping[str, int]) -> tuple[int, int, bool, bool]:
    if is_spacing(character):
        return 1, CATEGORIES.index("Zs"), False, character.isspace()
    return known.get(character.lower(), 0), CATEGORIES.index(unicodedata.category(character)), True, False


def _marks(text: str, rules: str) -> NDArray[np.bool_]:
    marks = np.zeros((len(text), MARKS), bool)
    for sentence in SEGMENTERS[rules].cut(text):
        for token in sentence:
            marks[token.end - 1, 0] = True
            at = token.start
            for word in token.words[:-1]:
                at += len(word)
                marks[at - 1, 1] = True
        marks[sentence[-1].end - 1, 2] = True
    return marks


@dataclass(frozen=True, eq=False)
class LearnedSegmenter(Segmenter):
    """A segmenter learned from a treebank."""

    name: ClassVar[str] = LEARNED

    alphabet: Alphabet
    expansions: Expansions
    blanks: bool  # whether a word may have a blank inside
    weights: Mapping[str, Floats] = field(repr=False)

    target: int | None = None  # the instruction set of native code; None: numpy

    @cached_property
    def _convolutions(self) -> PlainConvolutions | NativeConvolutions:
        return PlainConvolutions(self.weights) if self.target is None else NativeConvolutions(self.weights, self.target)

    def natively(self, target: int) -> LearnedSegmenter:
        """Return the segmenter with its layers in native code, for one of the instruction sets of this machine."""
        return replace(self, target=target)

    def scores(self, encoded: Encoded) -> Floats:
        """Return the scores of every character."""
        weights = self.weights
        x: Floats = weights["characters"][encoded.characters] + weights["categories"][encoded.categories]
        if "pairs" in weights:
            x += weights["pairs"][encoded.pairs]
        if "marks" in weights:
            for column, row in zip(encoded.marks.T, weights["marks"], strict=True):
                x[column] += row
        return self._convolutions.scores(x)

    def cut(self, text: str, *, offset: int = 0) -> Iterator[Sequence[Token]]:
        """Yield the tokens of each sentence of a block of text whose first character has this offset."""
        if not text or text.isspace():  # of many empty lines each is a block
            return
        encoded = encode(text, self.alphabet)
        if not encoded.visible.any():
            return
        with np.errstate(over="ignore", invalid="ignore"):  # weights that overflow end no token
            scores = self.scores(encoded)
            several = _several(scores) if self.expansions.rules else np.zeros(len(text), bool)
        ends = self._token_ends(encoded, scores[:, TOKEN_END])
        places = np.flatnonzero(encoded.visible)
        starts = places[np.append(0, np.searchsorted(places, ends[:-1]) + 1)]
        tokens: list[Token] = []
        last = scores[ends, SENTENCE_END] > 0
        for start, end, closes, many in zip(
            starts.tolist(), (ends + 1).tolist(), last.tolist(), several[ends].tolist(), strict=True
        ):
            written = text[start:end]
            word = written if written.isprintable() else "".join(" " if c.isspace() else c for c in written)
            words = self._expanded(word, scores[end - 1]) if many else (word,)
            tokens.append(Token(written, offset + start, offset + end, words))
            if closes:
                yield from shortened(tokens)
                tokens = []
        if tokens:
            yield from shortened(tokens)

    def _token_ends(self, encoded: Encoded, scores: Floats) -> Numbers:
        """Return where tokens end: where the score says so, and before blanks that are never inside a word."""
        visible = np.append(encoded.visible, [False, False])
        gap = ~visible[1:-1]
        if self.blanks:  # one blank may be inside a word, but not more of them
            gap &= ~(np.append(encoded.blank[1:], False) & visible[2:])
        visible = encoded.visible
        return np.flatnonzero(visible & ((scores > 0) | gap))

    def _expanded(self, word: str, scores: Floats) -> tuple[str, ...]:
        return self.expansions.expand(word, lambda rule: float(scores[RULES + rule]))


def write_segmenter(segmenter: LearnedSegmenter, folder: Path) -> None:
    """Write a segmenter into the folder of a model, in 8 bits."""
    with drafted(folder / SEGMENTER_WEIGHTS) as draft:
        save_file(pack(segmenter.weights, BITS), draft)
    alphabet = segmenter.alphabet
    about = {
        "version": VERSION,
        SHA256: checksum(folder / SEGMENTER_WEIGHTS),
        "size": len(segmenter.weights["layers.0.bias"]),
        "characters": alphabet.characters,
        "pairs": alphabet.pairs,
        "marks": alphabet.marks,
        "blanks": segmenter.blanks,
        "expansions": to_json(segmenter.expansions),
    }
    write_text(folder / SEGMENTER_RULES, json.dumps(about, ensure_ascii=False) + "\n")
    (folder / SEGMENTER_WEIGHTS).chmod((folder / SEGMENTER_RULES).stat().st_mode)  # who may read one may read the other


def name_segmenter(segmenter: Segmenter, folder: Path) -> None:
    """Make a segmenter that of the saved model in a folder; a learned one is written there first."""
    if isinstance(segmenter, LearnedSegmenter):
        write_segmenter(segmenter, folder)
    if (folder / ABOUT).exists():
        write_json(folder / ABOUT, read_about(folder) | {SEGMENTER: segmenter.name})


def read_segmenter(folder: Path) -> LearnedSegmenter:
    """Return the segmenter in the folder of a model, everything checked."""
    file, weights = folder / SEGMENTER_RULES, folder / SEGMENTER_WEIGHTS
    about = read_json(file, largest=LARGEST)
    if not isinstance(about, dict) or about.get("version") != VERSION:
        raise InputError(f"{file}: written by another version of h3n; expected version {VERSION}")
    if set(about) != set(KEYS):
        wrong = sorted(set(about) ^ set(KEYS))[0]
        raise InputError(f"{file}: {wrong[:60]!r} is missing or not known; accepted: {', '.join(KEYS)}")
    try:
        alphabet, expansions = _alphabet(about), from_json(about["expansions"])
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    compare(weights, read_shapes(weights), implied_shapes(about["size"], alphabet, expansions))
    if checksum(weights) != about[SHA256]:
        raise InputError(f"{weights}: not the weights that were saved: the checksum differs from {SEGMENTER_RULES}'s")
    floats = {name: value.floats() for name, value in read_weights(weights).items()}
    return LearnedSegmenter(alphabet, expansions, about["blanks"], floats)


def _alphabet(about: Mapping[str, Any]) -> Alphabet:
    """Return how characters become numbers, or raise a `ValueError`."""
    for name, most, least in (("size", MOST_SIZE, 1), ("pairs", MOST_PAIRS, 0)):
        if type(about[name]) is not int or not least <= about[name] <= most:
            raise ValueError(f"{name} is not a whole number between {least} and {most}")
    if not isinstance(about["blanks"], bool):
        raise ValueError("blanks is not true or false")
    characters = about["characters"]
    if not isinstance(characters, str) or len(set(characters)) < len(characters):
        raise ValueError("characters is not a string of different characters")
    if about["marks"] not in ("", *SEGMENTERS):
        raise ValueError(f"marks is not one of {', '.join(SEGMENTERS)}, or empty")
    return Alphabet(characters, about["pairs"], about["marks"])


def output_count(expansions: Expansions) -> int:
    """Return how many scores a character has."""
    return RULES + expansions.classes if expansions.rules else ONE_WORD


def implied_shapes(size: int, alphabet: Alphabet, expansions: Expansions) -> Shapes:
    """Return the names and shapes of the weights."""
    outputs = output_count(expansions)
    shapes: Shapes = {"characters": (len(alphabet.characters) + 2, size), "categories": (len(CATEGORIES), size)}
    if alphabet.pairs:
        shapes["pairs"] = (alphabet.pairs, size)
    if alphabet.marks:
        shapes["marks"] = (MARKS, size)
    for at in range(len(DILATIONS)):
        shapes |= {f"layers.{at}.weight": (size, KERNEL * size), f"layers.{at}.bias": (size,)}
    return shapes | {"out.weight": (outputs, size), "out.bias": (outputs,)}


def _several(scores: Floats) -> NDArray[np.bool_]:
    """Return for every character whether a token that ends there is more likely several words than one."""
    many = np.logaddexp.reduce(scores[:, OTHER:], axis=1)
    found: NDArray[np.bool_] = many > scores[:, ONE_WORD]
    return found
