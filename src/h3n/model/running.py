"""A network of torch, run: the same interface as the engine's networks have, for training, GPUs and other encoders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from h3n.decode import Scores
from h3n.engine.inputs import Inputs
from h3n.engine.output import Floats, Numbers, best
from h3n.model.batch import collate, to_device
from h3n.model.network import Network, Output
from h3n.model.spans import Spans


class TorchNetwork:
    """A network of torch behind the interface `h3n.engine.output.Network`; ``helper`` is the index of that label."""

    precision, computes = "float32", "torch"

    def __init__(self, network: Network, *, helper: int | None) -> None:
        self.network = network
        self.helper = helper

    @property
    def device(self) -> str:
        return str(self.network.device)

    @property
    def ordered(self) -> bool:
        return self.network.order is not None

    @torch.inference_mode()
    def run(self, sentences: Sequence[Inputs]) -> TorchOutput:
        batch = to_device(collate(sentences, tokenizer=self.network.tokenizer), self.network.device)
        return TorchOutput(self.network, self.network(batch), helper=self.helper)


class TorchOutput:
    """What a network of torch says of a batch, as arrays without padding."""

    def __init__(self, network: Network, found: Output, *, helper: int | None) -> None:
        self._network, self._found, self._helper = network, found, helper

    @property
    def lengths(self) -> tuple[int, ...]:
        return self._found.spans.lengths

    @torch.inference_mode()
    def scores(self) -> list[Scores]:
        found = self._found
        full, label = self._network.span.best(found.posts, found.spans, helper=self._helper)
        full_chart = _floats(found.spans.square(full.float(), empty=0.0))
        open_chart = np.maximum(full_chart, 0.0)
        label_chart = found.spans.square(label.int(), empty=0).cpu().numpy()
        # Words in padding have no governor at all; any number will do for them.
        shares = found.arcs.float().log_softmax(dim=-1).nan_to_num(nan=0.0)
        arcs = _floats(shares.transpose(1, 2).contiguous())
        return [
            Scores(
                full=full_chart[b, : n + 1, : n + 1],
                open=open_chart[b, : n + 1, : n + 1],
                arc=arcs[b, 1 : n + 1, :n],
                root=np.ascontiguousarray(arcs[b, 0, :n]),
                label=label_chart[b, : n + 1, : n + 1],
            )
            for b, n in enumerate(self.lengths)
        ]

    def tags(self) -> Numbers:
        return best(self.tag_scores())

    def upos(self) -> Numbers:
        return best(self.upos_scores())

    def tag_scores(self) -> Floats:
        return self._words(self._found.tags)

    def upos_scores(self) -> Floats:
        return self._words(self._found.upos)

    def relations(self, governors: Numbers) -> Numbers:
        return best(self.relation_scores(governors))

    @torch.inference_mode()
    def relation_scores(self, governors: Numbers) -> Floats:
        above = torch.from_numpy(governors).to(self._network.device)
        return _floats(self._network.relations(self._found, above))

    def levels(self) -> Floats:
        return self._words(self._found.levels)

    def order(self) -> Floats | None:
        return self._words(self._found.order) if self._found.order is not None else None

    @torch.inference_mode()
    def label_scores(self, sentence: Numbers, start: Numbers, end: Numbers) -> Floats:
        columns = [torch.from_numpy(column).to(self._network.device) for column in (sentence, start, end)]
        spans = Spans(self.lengths, (0, len(sentence)), *columns)
        return _floats(self._network.span(self._found.posts, spans))

    @torch.inference_mode()
    def _words(self, values: Tensor) -> Floats:
        """Return the values of words in a row, without those of padding."""
        return _floats(values[self._found.words])


def _floats(values: Tensor) -> Floats:
    return np.asarray(values.cpu().numpy(), dtype=np.float32)
