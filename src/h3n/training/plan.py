"""Which sentences go into which batch, in which order, and at which learning rate: all of it a function of the seed.

Nothing here has a state, so a run that was stopped goes on exactly where it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from h3n.config import Batches, Optimiser

# Lengths are blurred by up to a tenth before sorting: batches of like lengths that still differ from epoch to epoch.
BLUR = 0.1
# Most pieces of a batch, padding counted, for each word it may hold: one address of 300 pieces among sentences of four
# words would otherwise make every one of them as wide as itself.
PIECES = 2


# How many updates an epoch should have at least, and the smallest and largest batch that this may lead to, in words.
UPDATES = 70
SMALLEST, LARGEST = 250, 1500
STEP = 50


def choose_batch_words(words: int) -> int:
    """Return how many words a batch may hold for a treebank of so many: enough updates for a small one to learn by.

    A 70th of the treebank to the next 50 words, at least 250, at most 1500 (from 105,000 words on).
    """
    return min(LARGEST, max(SMALLEST, STEP * math.ceil(words / UPDATES / STEP)))


def plan_epoch(
    lengths: Sequence[int],
    weights: Sequence[float],
    *,
    options: Batches,
    seed: int,
    epoch: int,
    widths: Sequence[int] | None = None,
) -> list[list[int]]:
    """Return the batches of an epoch as lists of sentence numbers.

    A sentence of weight 2 is drawn twice, one of weight 0.5 every other time by chance. ``widths`` are the sentences'
    lengths in pieces where a pretrained encoder reads pieces. A batch holds sentences of like width, at most
    ``options.words`` words and twice as many pieces, padding counted; a longer sentence is a batch of its own.
    """
    chance = np.random.default_rng([seed, epoch])
    wanted = np.asarray(weights, dtype=np.float64)
    copies = np.floor(wanted).astype(np.int64) + (chance.random(len(wanted)) < wanted % 1.0)
    drawn = np.repeat(np.arange(len(wanted)), copies)
    chance.shuffle(drawn)
    sizes = lengths if widths is None else widths
    blurred = np.asarray(sizes)[drawn] * (1.0 + BLUR * chance.uniform(-1.0, 1.0, len(drawn)))
    batches: list[list[int]] = []
    longest = widest = 0
    for sentence in drawn[np.argsort(blurred, kind="stable")].tolist():
        longest, widest = max(longest, lengths[sentence]), max(widest, sizes[sentence])
        count = len(batches[-1]) + 1 if batches else 0
        full = count * longest > options.words or count * widest > PIECES * options.words
        if not batches or full or (options.sentences and count > options.sentences):
            batches.append([])
            longest, widest = lengths[sentence], sizes[sentence]
        batches[-1].append(sentence)
    return [batches[at] for at in chance.permutation(len(batches))]


def updates_of(batches: Sequence[list[int]], together: int) -> list[list[list[int]]]:
    """Return the batches of an epoch in groups of ``together``, one group for each update."""
    return [list(batches[at : at + together]) for at in range(0, len(batches), together)]


def check_points(updates: int, checks: int) -> frozenset[int]:
    """Return after how many updates of an epoch dev is evaluated; always after the last."""
    return frozenset(max(1, round(updates * (check + 1) / checks)) for check in range(checks))


def rate_factor(step: int, total: int, *, options: Optimiser, halvings: int = 0) -> float:
    """Return the factor on the learning rates for update ``step`` (from 0) of ``total``."""
    warm = round(options.warmup * total) if options.warmup < 1 else round(options.warmup)
    if step < warm:
        return (step + 1) / warm
    if options.schedule == "linear":
        return max(0.0, (total - step) / max(total - warm, 1))
    return 0.5**halvings if options.schedule == "plateau" else 1.0


def batch_seed(seed: int, step: int, batch: int) -> int:
    """Return the seed of one batch's dropout: whichever process computes it, after whatever interruption."""
    return int(np.random.SeedSequence([seed, step, batch]).generate_state(1, np.uint64)[0] >> 1)
