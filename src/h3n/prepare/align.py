"""Two streams of sentences brought together word for word."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, product, zip_longest

from h3n.errors import H3nError, MismatchError
from h3n.formats.pairs import describe
from h3n.trees import Sentence

# How far to look for the next pair of equal sentences after a difference, in each stream.
WINDOW = 20

Same = Callable[[Sentence, Sentence], bool]
OnLoss = Callable[[Sentence, H3nError], None]


def align(
    left: Iterator[Sentence], right: Iterator[Sentence], *, same: Same, on_loss: OnLoss
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield the pairs of sentences with the same words.

    ``on_loss`` hears of each sentence without a partner; if it does not raise, the streams go on at the next pair that
    fits, so that one sentence too many on either side costs that sentence alone.
    """
    waiting: tuple[deque[Sentence], deque[Sentence]] = (deque(), deque())
    while True:
        for side, stream in zip(waiting, (left, right), strict=True):
            if not side:
                side.extend(islice(stream, 1))
        if not waiting[0] or not waiting[1]:
            break
        if same(waiting[0][0], waiting[1][0]):
            yield waiting[0].popleft(), waiting[1].popleft()
            continue
        message = describe(waiting[0][0], waiting[1][0])
        for side, stream in zip(waiting, (left, right), strict=True):
            side.extend(islice(stream, WINDOW - len(side)))
        skipped = _next_pair(waiting, same)
        first = [[side.popleft() for _ in range(count)] for side, count in zip(waiting, skipped, strict=True)]
        for here, there in zip_longest(*first):
            sentence = here if here is not None else there  # a sentence may be empty, and then false
            on_loss(
                sentence,
                MismatchError(message or f"{sentence.place}: no sentence of the other file corresponds to this one"),
            )
            message = ""
    _lose_rest(waiting, (left, right), on_loss)


def _next_pair(waiting: tuple[deque[Sentence], deque[Sentence]], same: Same) -> tuple[int, int]:
    """Return how many sentences to skip on each side to come to the nearest pair that fits."""
    steps = sorted(product(range(len(waiting[0])), range(len(waiting[1]))), key=lambda step: (sum(step), step))
    fits = (step for step in steps if same(waiting[0][step[0]], waiting[1][step[1]]))
    return next(fits, (1, 1))


def _lose_rest(
    waiting: tuple[deque[Sentence], deque[Sentence]],
    streams: tuple[Iterator[Sentence], Iterator[Sentence]],
    on_loss: OnLoss,
) -> None:
    for side, stream in zip(waiting, streams, strict=True):
        for sentence in (*side, *stream):
            on_loss(
                sentence,
                MismatchError(
                    f"{sentence.place}: no sentence of the other file corresponds to this one; the other file ends"
                ),
            )
