"""Self-attention that keeps what a word is apart from where it stands (paper, section III-A).

The first half of a vector is content, the second half position. No matrix mixes the two; they meet only in the sum of
their attention scores and in layer normalisation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from h3n.config import Layers


class SharedDropout(nn.Module):
    """Dropout whose mask is the same for all words of a sentence, so that differences of vectors stay meaningful."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:  # (B, n, d)
        if not self.training or self.share == 0:
            return x
        mask = torch.empty(x.shape[0], 1, x.shape[-1], dtype=x.dtype, device=x.device).bernoulli_(1 - self.share)
        return x * mask.div_(max(1 - self.share, 1e-6))


class PartitionedLinear(nn.Module):
    """Two linear maps side by side: content to content, position to position."""

    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        self.content = nn.Linear(size_in // 2, size_out // 2)
        self.position = nn.Linear(size_in // 2, size_out // 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        content, position = x.chunk(2, dim=-1)
        return self.content(content), self.position(position)


class Attention(nn.Module):
    """Multi-head attention whose scores are the sum of a content and a position score (paper, equation 2)."""

    def __init__(self, options: Layers) -> None:
        super().__init__()
        self.heads = options.heads
        inside = options.heads * options.head_size
        self.query = PartitionedLinear(options.size, inside)
        self.key = PartitionedLinear(options.size, inside)
        self.value = PartitionedLinear(options.size, inside)
        self.out = PartitionedLinear(inside, options.size)
        self.dropout = options.dropout

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:  # (B, n, d), (B, 1, 1, n) true where a word stands
        query, key, value = (self._split(part(x)) for part in (self.query, self.key, self.value))
        dropout = self.dropout if self.training else 0.0
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        content, position = seen.chunk(2, dim=-1)  # each (B, heads, n, head_size / 2)
        joined = torch.cat((content.transpose(1, 2).flatten(2), position.transpose(1, 2).flatten(2)), dim=-1)
        return torch.cat(self.out(joined), dim=-1)

    def _split(self, parts: tuple[Tensor, Tensor]) -> Tensor:
        """Return (B, heads, n, head_size): each head's content half beside its position half."""
        return torch.cat([part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in parts], dim=-1)


class Layer(nn.Module):
    """Attention, then a feed-forward step, each added to its input and normalised."""

    def __init__(self, options: Layers) -> None:
        super().__init__()
        self.attention = Attention(options)
        self.attention_norm = nn.LayerNorm(options.size)
        self.inner = PartitionedLinear(options.size, options.inner)
        self.outer = PartitionedLinear(options.inner, options.size)
        self.outer_norm = nn.LayerNorm(options.size)
        self.dropout = SharedDropout(options.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        inside = self.dropout(functional.relu(torch.cat(self.inner(x), dim=-1)))
        output: Tensor = self.outer_norm(x + self.dropout(torch.cat(self.outer(inside), dim=-1)))
        return output


class Stack(nn.Module):
    """Positions put beside the content, then all layers. Without layers the content itself (paper, section III-A)."""

    def __init__(self, options: Layers) -> None:
        super().__init__()
        self.size = options.size
        self.content_size = options.size // 2 if options.count else options.size
        self.layers = nn.ModuleList(Layer(options) for _ in range(options.count))
        if options.count:
            # Sinusoids are only where learning starts from, so that a place no training sentence reached makes sense.
            self.positions = nn.Parameter(_sinusoids(options.positions, options.size - self.content_size))

    def forward(self, content: Tensor, mask: Tensor) -> Tensor:  # (B, n, content), (B, n)
        if not self.layers:
            return content
        places = torch.arange(content.shape[1], device=content.device).clamp_(max=len(self.positions) - 1)
        position = self.positions[places].expand(len(content), -1, -1)
        x = torch.cat((content, position.to(content.dtype)), dim=-1)
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        return x


def _sinusoids(count: int, size: int) -> Tensor:
    # On the device ``meta``, where a saved model's network is first built, torch would load a compiler for this.
    place = torch.arange(count, dtype=torch.float32, device="cpu")[:, None]
    rate = torch.exp(torch.arange(0, size, 2, dtype=torch.float32, device="cpu") * (-math.log(10000.0) / size))
    waves = torch.stack((torch.sin(place * rate), torch.cos(place * rate)), dim=-1).flatten(1)
    return waves[:, :size]
