"""Where the time of parsing goes: every step from text to output, timed by itself.

The steps are those of `h3n.parser.Parser.parse_batch`, on one thread, with an engine that takes the time of each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from h3n.engine.engine import Engine, Scored

if TYPE_CHECKING:
    from h3n.decode import Parse, Scores
    from h3n.engine.inputs import Inputs
    from h3n.parser import Parser
    from h3n.trees import Sentence

# Finding sentences and words; turning them into numbers; the network in two parts; the order of heads, for decoders
# that take it; the decoder; names, trees and confidences; and CoNLL-U and brackets as text.
PARTS = ("segmenting", "reading", "encoder", "scoring", "head ranking", "decoding", "trees", "output")


class TimedEngine(Engine):
    """An engine that adds up the processor seconds of each of `PARTS` that happens in it."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine.network, engine.vocabulary, engine.config, engine.tokenizer, engine.segmenter)
        self.seconds = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def part(self, name: str, *, within: str | None = None) -> Iterator[None]:
        """Count what happens inside towards one part, and not towards the one that it happens within."""
        started = time.process_time()
        yield
        taken = time.process_time() - started
        self.seconds[name] += taken
        if within is not None:
            self.seconds[within] -= taken

    def read(
        self, sentences: Mapping[int, Sentence], *, styles: Sequence[str | None] | None = None
    ) -> dict[int, Inputs]:
        with self.part("reading", within="trees"):
            return super().read(sentences, styles=styles)

    def score_batch(self, sentences: Sequence[Sentence], inputs: Sequence[Inputs]) -> Scored:
        with self.part("scoring", within="trees"):
            scored = super().score_batch(sentences, inputs)
        encoder = getattr(scored.output, "encoder_seconds", 0.0)  # torch does not tell them apart
        self.seconds["encoder"] += encoder
        self.seconds["scoring"] -= encoder
        return scored

    def rank(self, scored: Scored, *, decoder: str, head_score: str | None = None) -> Sequence[Scores]:
        with self.part("head ranking", within="decoding"):
            return super().rank(scored, decoder=decoder, head_score=head_score)

    def decode(self, scored: Scored, **options: Any) -> list[Parse]:
        with self.part("decoding", within="trees"):
            return super().decode(scored, **options)


def profile_parsing(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, float]:
    """Return the processor seconds of each of `PARTS` in the fastest of several runs."""
    runs = [_run(parser, text, decoder) for _ in range(repeat)]
    return min(runs, key=lambda parts: sum(parts.values()))


def _run(parser: Parser, text: str, decoder: str) -> dict[str, float]:
    from h3n.parser import Parser as Timed

    engine = TimedEngine(parser.engine)
    timed = Timed(engine)
    with engine.part("segmenting"):
        sentences = list(timed.segment(text))
    with engine.part("trees"):
        results = timed.parse_batch(sentences, timed.options(decoder=decoder))
    with engine.part("output"):
        for result in results:
            result.conllu()
            result.brackets()
    return engine.seconds
