"""Words to vectors in context by recurrent layers: what learns best from a thousand sentences.

The layers read a sentence from both sides. After the first one tags and features are predicted, and what is likely is
read by the next ones beside their input. `h3n.engine.recurrent` is the same without torch.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from h3n.config import Encoder
from h3n.engine.pieces import Tokenizer
from h3n.engine.vocabulary import Vocabulary
from h3n.model.batch import Batch
from h3n.model.features import Features
from h3n.model.layers import SharedDropout

STYLES = 0.5  # how far apart styles of annotation are at the start


class Lstm(nn.Module):
    """One recurrent layer that reads from both sides.

    Numbers from the left stand at even places and those from the right at odd ones, as `fenceposts` takes them apart.
    """

    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        # Two layers and sentences turned by hand: packed sequences take twice the time on a processor.
        self.right = nn.LSTM(size_in, size_out // 2)
        self.left = nn.LSTM(size_in, size_out // 2)

    def forward(self, x: Tensor, turned: Tensor) -> Tensor:  # (n, B, d), (n, B): the place of each word read backward
        right, _ = self.right(x)
        left, _ = self.left(turn(x, turned))
        return torch.stack((right, turn(left, turned)), dim=-1).flatten(2)


def turn(x: Tensor, turned: Tensor) -> Tensor:
    """Return the positions of each sentence in the order of ``turned``."""
    return x.gather(0, turned[..., None].expand_as(x))


def reversal(lengths: Tensor, width: int) -> Tensor:
    """Return (width, B): for each position the one it trades places with; padding stays where it is."""
    places = torch.arange(width, device=lengths.device)[:, None]
    return torch.where(places < lengths, lengths - 1 - places, places)


class Tagger(nn.Module):
    """Tags, universal tags and the values of features, each a choice, and a vector of how likely all of them are."""

    def __init__(self, size: int, vocabulary: Vocabulary, *, out: int) -> None:
        super().__init__()
        self.widths = vocabulary.tag_widths
        self.classes = nn.Linear(size, sum(self.widths))
        self.out = nn.Linear(sum(self.widths), out)

    def forward(self, x: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        scores = self.classes(x).split(self.widths, dim=-1)
        return scores, self.out(torch.cat([choice.softmax(dim=-1) for choice in scores], dim=-1))


class Recurrent(nn.Module):
    """Features of the words, then recurrent layers."""

    tokenizer: Tokenizer | None = None

    def __init__(
        self, options: Encoder, vocabulary: Vocabulary, *, folder: Path | None = None, vector_size: int = 0
    ) -> None:
        super().__init__()
        del folder  # the weights are all there is to build from
        size, content = options.layers.size, options.layers.size // 2
        self.size = size
        self.features = Features(options, vocabulary, size=content, words=options.words, vector_size=vector_size)
        if self.features.styles is not None:
            # No path leads around the layers: a style that starts as small as a word's vector is hardly ever heeded.
            nn.init.normal_(self.features.styles.weight, std=STYLES)
        self.norm = nn.LayerNorm(content)
        self.dropout = SharedDropout(options.dropout)
        self.tagger = Tagger(size, vocabulary, out=options.fed) if options.fed else None
        later = size + options.fed
        self.layers = nn.ModuleList(Lstm(later if at else content, size) for at in range(options.layers.count))
        self.between = SharedDropout(options.layers.dropout)

    def forward(self, batch: Batch) -> Tensor:  # (B, n + 2, d)
        return self.encode(batch)[0]

    def encode(self, batch: Batch) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the vectors, and what is predicted after the first layer, each (B, n + 2, classes)."""
        content = self.features.add_edges(self.features(batch), batch)
        lengths = torch.tensor(batch.lengths, device=content.device) + 2
        turned = reversal(lengths, content.shape[1])
        x = self.dropout(self.norm(content))
        early: tuple[Tensor, ...] = ()
        fed: list[Tensor] = []
        for layer in self.layers:
            read = torch.cat([x, *fed], dim=-1).transpose(0, 1)
            x = self.between(layer(read, turned).transpose(0, 1))
            if self.tagger is not None and not fed:
                early, likely = self.tagger(x)
                fed = [likely]
        return x, early

    def pretrained(self) -> list[nn.Parameter]:
        """Return the parameters that were not learned here: none."""
        return []

    def save(self, folder: Path) -> None:
        """Write what `folder` must hold for the encoder to be made again: nothing."""
