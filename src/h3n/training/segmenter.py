"""A segmenter learned from a treebank's own text: what `h3n.engine.segmenter` runs, in torch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from h3n.config import Config, Segmenter, Treebank
from h3n.engine.convolutions import DILATIONS, KERNEL
from h3n.engine.segmenter import (
    BITS,
    CATEGORIES,
    MARKS,
    ONE_WORD,
    OTHER,
    RULES,
    SENTENCE_END,
    TOKEN_END,
    Alphabet,
    Encoded,
    LearnedSegmenter,
    encode,
    is_spacing,
    output_count,
)
from h3n.engine.storage import pack, unpack
from h3n.errors import UsageError
from h3n.evaluate import score_segmentation
from h3n.text import ENGLISH, SEGMENTERS
from h3n.text import Segmenter as Rules
from h3n.text.documents import BREAK, documents, has_text
from h3n.text.expansions import Expansions, learn_expansions, rule_of
from h3n.text.tokens import Token
from h3n.training.data import read_treebank
from h3n.training.events import Listener, Note
from h3n.trees import Sentence

REACH = sum(DILATIONS) * (KERNEL // 2)  # characters on either side that an answer depends on
SEEN = 2  # how often a character must be seen to be known
PIECE = 384  # characters of an example
BATCH = 12  # examples of an update
EFFORT = 16_000_000  # characters to go through
LEAST, MOST = 5, 40  # epochs
LARGEST = EFFORT // LEAST  # characters to learn from
WARM = 50  # updates of a rising rate
DECAY, CLIP = 1e-3, 1.0
HIDDEN = 0.05  # characters that are read as unknown ones
FITTING = 0.98  # of the words that rules find, for them to be an input
NO_RULE = -1


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph with where its tokens and sentences end."""

    text: str
    sentences: list[list[Token]]


@dataclass(frozen=True, slots=True)
class Example:
    """A stretch of a block with what is around it, as numbers; ``counts`` tells of which characters is learned."""

    inputs: Encoded
    token_ends: NDArray[np.float32]
    sentence_ends: NDArray[np.float32]
    rules: NDArray[np.int64]  # the class of the token that ends here, NO_RULE elsewhere
    counts: NDArray[np.bool_]


class SegmenterNetwork(nn.Module):
    """The network of `LearnedSegmenter`, to be trained."""

    def __init__(self, alphabet: Alphabet, *, size: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.characters = nn.Parameter(torch.randn(len(alphabet.characters) + 2, size) * 0.3)
        self.categories = nn.Parameter(torch.randn(len(CATEGORIES), size) * 0.3)
        self.pairs = nn.Parameter(torch.randn(alphabet.pairs, size) * 0.1) if alphabet.pairs else None
        self.marks = nn.Parameter(torch.randn(MARKS, size) * 0.3) if alphabet.marks else None
        self.layers = nn.ModuleList(nn.Linear(KERNEL * size, size) for _ in DILATIONS)
        self.out = nn.Linear(size, outputs)
        self.dropout = dropout

    def forward(self, characters: Tensor, categories: Tensor, pairs: Tensor, marks: Tensor, inside: Tensor) -> Tensor:
        # characters ... (batch, length), marks (batch, length, MARKS), inside (batch, length, 1): 0 beyond the text
        x = functional.embedding(characters, self.characters) + functional.embedding(categories, self.categories)
        if self.pairs is not None:
            x = x + functional.embedding(pairs, self.pairs)
        if self.marks is not None:
            x = x + marks.to(x.dtype) @ self.marks
        x = functional.dropout(x, self.dropout, self.training) * inside
        for layer, dilation in zip(self.layers, DILATIONS, strict=True):
            size = x.shape[2]
            weight, bias = cast(Tensor, layer.weight), cast(Tensor, layer.bias)
            kernel = weight.view(size, KERNEL, size).transpose(1, 2)  # (out, in, KERNEL)
            made = functional.conv1d(
                x.transpose(1, 2), kernel, bias, padding=dilation * (KERNEL // 2), dilation=dilation
            ).transpose(1, 2)
            x = (x + functional.dropout(torch.relu(made), self.dropout, self.training)) * inside
        answer: Tensor = self.out(x)
        return answer


def blocks_of(sentences: Iterable[Sentence]) -> list[Block]:
    """Return the paragraphs of a treebank's text."""
    found: list[Block] = []
    for document in documents(sentences):
        start = 0
        waiting = document.tokens()[::-1]
        for paragraph in document.paragraphs:
            end = start + len(paragraph)
            inside: list[list[Token]] = []
            while waiting and waiting[-1][0].start < end:
                inside.append([Token(t.text, t.start - start, t.end - start, t.words) for t in waiting.pop()])
            found.append(Block(paragraph, inside))
            start = end + len(BREAK)
    return found


def joined(block: Block, rules: Rules) -> Block:
    """Return a block in which words that the rules write as one token are one token.

    So *do* and *n't* of one treebank are as another has them. Nothing is joined where the rules find other words.
    """
    several = {token.start: token for sentence in rules.cut(block.text) for token in sentence if len(token.words) > 1}
    sentences = []
    for sentence in block.sentences:
        tokens: list[Token] = []
        for token in sentence:
            before = tokens[-1] if tokens else token
            words = (*before.words, *token.words)
            whole = several.get(before.start)
            if tokens and whole is not None and token.end <= whole.end and words == whole.words[: len(words)]:
                tokens[-1] = Token(block.text[before.start : token.end], before.start, token.end, words)
            else:
                tokens.append(token)
        sentences.append(tokens)
    return Block(block.text, sentences)


def train_segmenter(config: Config, *, otherwise: Rules = ENGLISH, report: Listener = lambda _: None) -> Rules:
    """Return the segmenter that the options ask for; ``otherwise`` is taken where the treebanks tell of no text."""
    kind = config.segmenter.kind
    blocks = [] if kind == "english" else [*chain.from_iterable(map(blocks_of, _texts(config.data.train)))]
    if not blocks:
        if kind == "learned":
            raise UsageError("option segmenter.kind: the training treebanks have no text; expected `# text` in CoNLL-U")
        return ENGLISH if kind == "english" else otherwise
    learned = learn_segmenter(blocks, options=config.segmenter, seed=config.training.seed, report=report)
    if kind == "learned" or not (dev := [*chain.from_iterable(_texts(config.data.dev))]):
        return learned
    found = {one: score_segmenter(one, dev) for one in (learned, ENGLISH)}
    for one, scores in found.items():
        shown = ", ".join(f"{name.lower()} {score:.2f}" for name, score in scores.items())
        report(Note(text=f"segmenter: {one.name} on dev: {shown}"))
    return max(found, key=lambda one: sum(found[one].values()))


def _texts(treebanks: Iterable[Treebank]) -> Iterator[list[Sentence]]:
    """Yield the sentences of each treebank; those that do not tell how they are written are left out."""
    for treebank in treebanks:
        if treebank.weight:
            yield list(filter(has_text, read_treebank(treebank)))


def score_segmenter(segmenter: Rules, gold: Sequence[Sentence]) -> dict[str, float]:
    """Return F1 of words and sentences, as in the CoNLL 2018 shared task, of the text that gold sentences are from."""
    text = BREAK.join(document.text for document in documents(gold))
    scores = score_segmentation(gold, segmenter.segment(text))
    return {name: scores[name].f1 for name in ("Words", "Sentences")}


def learn_segmenter(
    blocks: Sequence[Block], *, options: Segmenter, seed: int = 1, report: Listener = lambda _: None
) -> LearnedSegmenter:
    """Return the segmenter of these blocks. The last weights are taken: nothing is chosen on other data."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    blocks = _some(blocks, chance)
    marks = _chosen_marks(blocks) if options.marks == "auto" else "" if options.marks == "none" else options.marks
    if marks:
        blocks = [joined(block, SEGMENTERS[marks]) for block in blocks]
    tokens = [token for block in blocks for sentence in block.sentences for token in sentence]
    expansions = learn_expansions((token.text, token.words) for token in tokens if len(token.words) > 1)
    alphabet = Alphabet(_known_characters(blocks), options.pairs, marks)
    examples = [example for block in blocks for example in _examples(block, alphabet, expansions)]
    network = SegmenterNetwork(alphabet, size=options.size, outputs=output_count(expansions), dropout=options.dropout)
    epochs = options.epochs or min(MOST, max(LEAST, round(EFFORT / sum(len(block.text) for block in blocks))))
    weights = sum(parameter.numel() for parameter in network.parameters())
    report(Note(text=f"segmenter: {len(tokens)} tokens to learn from, {weights} weights, {epochs} epochs"))
    _learn(network, examples, epochs=epochs, rate=options.rate, chance=chance, report=report)
    state = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    blanks = any(is_spacing(character) for token in tokens for character in token.text)
    return LearnedSegmenter(alphabet, expansions, blanks, unpack(pack(state, BITS)))


def _some(blocks: Sequence[Block], chance: np.random.Generator) -> Sequence[Block]:
    """Return the blocks, or of a large treebank as many of them, by chance, as can be gone through `LEAST` times."""
    if sum(len(block.text) for block in blocks) <= LARGEST:
        return blocks
    order = chance.permutation(len(blocks))
    ends = np.cumsum([len(blocks[at].text) for at in order])
    return [blocks[at] for at in order[: max(1, int(np.searchsorted(ends, LARGEST)))]]


def _chosen_marks(blocks: Sequence[Block]) -> str:
    """Return the rules that find most of the words of a treebank, or nothing."""
    for name, rules in SEGMENTERS.items():
        words = found = 0
        for block in blocks:
            ours = {(token.start, token.words) for tokens in rules.cut(block.text) for token in tokens}
            gold = [token for tokens in joined(block, rules).sentences for token in tokens]
            found += sum(len(token.words) for token in gold if (token.start, token.words) in ours)
            words += sum(len(token.words) for token in gold)
        if found >= FITTING * words:
            return name
    return ""


def _known_characters(blocks: Sequence[Block]) -> str:
    counts = Counter(character.lower() for block in blocks for character in block.text if not is_spacing(character))
    return "".join(sorted(one for one, count in counts.items() if count >= SEEN and len(one) == 1))


def _learn(
    network: SegmenterNetwork,
    examples: Sequence[Example],
    *,
    epochs: int,
    rate: float,
    chance: np.random.Generator,
    report: Listener,
) -> None:
    """Go through the examples; the rate rises, then falls to 0."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=DECAY)
    updates = math.ceil(len(examples) / BATCH)
    step = 0
    for epoch in range(epochs):
        total = 0.0
        for chosen in _batches(examples, BATCH, chance):
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / WARM) * (1 - step / (epochs * updates))
            loss = _loss(network, chosen, chance)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            optimiser.step()
            total += float(loss.detach())
            step += 1
        report(Note(text=f"segmenter: epoch {epoch + 1} of {epochs}, loss {total / updates:.4f}"))


def _examples(block: Block, alphabet: Alphabet, expansions: Expansions) -> Iterable[Example]:
    encoded = encode(block.text, alphabet)
    length = len(block.text)
    token_ends, sentence_ends = np.zeros(length, np.float32), np.zeros(length, np.float32)
    rules = np.full(length, NO_RULE, np.int64)
    number = {rule: at for at, rule in enumerate(expansions.rules[: expansions.classes])}
    for sentence in block.sentences:
        sentence_ends[sentence[-1].end - 1] = 1
        for token in sentence:
            token_ends[token.end - 1] = 1
            if len(token.words) == 1:
                rules[token.end - 1] = ONE_WORD
            else:
                rule = number.get(rule_of(token.text, token.words))
                rules[token.end - 1] = OTHER if rule is None else RULES + rule
    for start in range(0, length, PIECE):
        low, high = max(0, start - REACH), min(length, start + PIECE + REACH)
        counts = encoded.visible[low:high].copy()
        counts[: start - low] = False
        counts[start - low + PIECE :] = False
        part = slice(low, high)
        inputs = Encoded(
            encoded.characters[part],
            encoded.categories[part],
            encoded.pairs[part],
            encoded.marks[part],
            encoded.visible[part],
            encoded.blank[part],
        )
        yield Example(inputs, token_ends[part], sentence_ends[part], rules[part], counts)


def _batches(examples: Sequence[Example], size: int, chance: np.random.Generator) -> Iterable[list[Example]]:
    """Yield examples of like lengths together, in random order."""
    lengths = np.array([len(example.counts) for example in examples]) * chance.uniform(0.9, 1.1, len(examples))
    order = np.argsort(lengths, kind="stable")
    groups = [order[at : at + size] for at in range(0, len(order), size)]
    for at in chance.permutation(len(groups)):
        yield [examples[index] for index in groups[at]]


def _loss(network: SegmenterNetwork, examples: Sequence[Example], chance: np.random.Generator) -> Tensor:
    length = max(len(example.counts) for example in examples)

    def stacked(arrays: Sequence[NDArray[Any]], fill: float = 0) -> Tensor:
        out = np.full((len(arrays), length, *arrays[0].shape[1:]), fill, arrays[0].dtype)
        for row, array in zip(out, arrays, strict=True):
            row[: len(array)] = array
        return torch.from_numpy(out)

    inputs = [example.inputs for example in examples]
    characters = stacked([one.characters for one in inputs])
    # Now and then a character is read as one that is not known, so that its category is learned from.
    hidden = torch.from_numpy(chance.random(characters.shape) < HIDDEN) & (characters > 1)
    inside = stacked([np.ones((len(one.characters), 1), np.float32) for one in inputs])
    scores = network(
        characters.masked_fill(hidden, 0),
        stacked([one.categories for one in inputs]),
        stacked([one.pairs for one in inputs]),
        stacked([one.marks for one in inputs]),
        inside,
    )
    counts = stacked([example.counts for example in examples])
    scores = scores[counts]
    token_ends = stacked([example.token_ends for example in examples])[counts]
    sentence_ends = stacked([example.sentence_ends for example in examples])[counts]
    loss = functional.binary_cross_entropy_with_logits(scores[:, TOKEN_END], token_ends)
    loss = loss + functional.binary_cross_entropy_with_logits(scores[:, SENTENCE_END], sentence_ends)
    if scores.shape[1] > ONE_WORD:
        rules = stacked([example.rules for example in examples], NO_RULE)[counts]
        at = rules != NO_RULE
        several = functional.cross_entropy(scores[at][:, ONE_WORD:], rules[at] - ONE_WORD, reduction="sum")
        loss = loss + several / len(scores)
    return loss
