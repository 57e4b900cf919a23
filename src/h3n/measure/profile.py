"""Where the time of parsing goes: every step from text to output, timed by itself.

The steps are those of `h3n.parser.Parser.parse`, one batch after the other on one thread, with a stopwatch
between them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from h3n import text as plain
from h3n.decode import decode_batch

if TYPE_CHECKING:
    from h3n.parser import Parser

# Finding sentences and words; turning them into numbers; the network in two parts; the order of heads, for decoders
# that take it; the decoder; names, trees and confidences; and CoNLL-U and brackets as text.
PARTS = ("segmenting", "reading", "encoder", "scoring", "head ranking", "decoding", "trees", "output")


class Stopwatch:
    """Adds up the processor seconds of each of `PARTS`."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside towards one part."""
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started

    @contextmanager
    def inside(self, module: Any, name: str, *, whole: str) -> Iterator[None]:
        """Count the forward passes of a module towards one part and not towards ``whole``, in which they happen."""
        started = 0.0

        def start(*_: object) -> None:
            nonlocal started
            started = time.process_time()

        def stop(*_: object) -> None:
            taken = time.process_time() - started
            self.seconds[name] += taken
            self.seconds[whole] -= taken

        hooks = [module.register_forward_pre_hook(start), module.register_forward_hook(stop)]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def profile_parsing(parser: Parser, text: str, *, decoder: str, repeat: int) -> dict[str, float]:
    """Return the processor seconds of each of `PARTS` in the fastest of several runs."""
    runs = [_run(parser, text, parser.model.decoder_for(decoder)) for _ in range(repeat)]
    return min(runs, key=lambda parts: sum(parts.values()))


def _run(parser: Parser, text: str, decoder: str) -> dict[str, float]:
    watch, model = Stopwatch(), parser.model
    with watch.part("segmenting"):
        sentences = list(plain.segment(text))
    with watch.part("reading"):
        batches = list(model.batches(sentences))
    with watch.inside(model.network.encoder, "encoder", whole="scoring"):
        for numbers, inputs in batches:
            with watch.part("scoring"):
                scored = model.score_batch([sentences[at] for at in numbers], inputs)
            with watch.part("head ranking"):
                ranked = model.rank(scored, decoder=decoder)
            with watch.part("decoding"):
                parses = decode_batch(model.weigh(ranked), decoder)
            with watch.part("trees"):
                results = parser.results(scored, parses)
            with watch.part("output"):
                for result in results:
                    result.conllu()
                    result.brackets()
    return watch.seconds
