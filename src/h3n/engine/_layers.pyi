from typing import Any

import numpy as np
from numpy.typing import NDArray

ACTIVATIONS: tuple[str, ...]

def targets() -> list[str]: ...

class Linear:
    def __init__(self, weight: NDArray[np.float32], bias: NDArray[np.float32] | None) -> None: ...
    def run(self, x: NDArray[np.float32], out: NDArray[np.float32], activation: int = 0, target: int = 0) -> None: ...

def run_together(
    layers: list[Linear],
    x: NDArray[np.float32],
    places: NDArray[np.int64],
    rows: list[int],
    outs: list[NDArray[np.float32]],
    scattered: list[bool],
    activations: list[int],
    target: int = 0,
) -> None: ...
def bilinear(
    pull: Linear,
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    out: NDArray[np.float32],
    target: int = 0,
) -> None: ...
def activate(x: NDArray[np.float32], activation: int, target: int = 0) -> None: ...
def add_norm(
    x: NDArray[np.float32],
    y: NDArray[np.float32] | None,
    weight: NDArray[np.float32],
    bias: NDArray[np.float32],
    epsilon: float,
    out: NDArray[np.float32],
    target: int = 0,
) -> None: ...
def attention(
    query: NDArray[np.float32],
    key: NDArray[np.float32],
    value: NDArray[np.float32],
    lengths: NDArray[np.int64],
    heads: int,
    parts: int,
    out: NDArray[np.float32],
    target: int = 0,
) -> None: ...

class SpanScorer:
    def __init__(
        self,
        bias: NDArray[np.float32],
        weight: NDArray[np.float32],
        shift: NDArray[np.float32],
        epsilon: float,
        labels: Linear,
    ) -> None: ...
    def score(
        self,
        posts: NDArray[np.float32],
        pairs: NDArray[np.float32] | None,
        sentence: NDArray[np.int64],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        out: NDArray[np.float32],
        target: int = 0,
    ) -> None: ...
    def best(
        self,
        posts: NDArray[np.float32],
        pairs: NDArray[np.float32] | None,
        sentence: NDArray[np.int64],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        lengths: NDArray[np.int64],
        helper: int,
        scores: NDArray[np.float32],
        labels: NDArray[np.int64],
        target: int = 0,
    ) -> None: ...

class Transformer:
    def __init__(
        self,
        parts: list[list[Linear]],
        weight: NDArray[np.float32],
        bias: NDArray[np.float32],
        outer_weight: NDArray[np.float32],
        outer_bias: NDArray[np.float32],
        epsilon: float,
        heads: int,
        activation: int,
        by_distance: NDArray[np.float32] | None = None,
    ) -> None: ...
    def run(self, x: NDArray[np.float32], lengths: NDArray[np.int64], target: int = 0) -> None: ...

Column = NDArray[np.int64]

class Output:
    full: NDArray[np.float32]
    open: NDArray[np.float32]
    label: NDArray[np.int32]
    arcs: NDArray[np.float32]
    order: NDArray[np.float32]
    tags: NDArray[np.int64]
    upos: NDArray[np.int64]
    tag_scores: NDArray[np.float32]
    upos_scores: NDArray[np.float32]
    encoder_seconds: float
    def relation_scores(self, governors: Column) -> NDArray[np.float32]: ...
    def relations(self, governors: Column) -> NDArray[np.int64]: ...
    def levels(self) -> NDArray[np.float32]: ...
    def label_scores(self, sentence: Column, start: Column, end: Column) -> NDArray[np.float32]: ...
    def governor_shares(self, governors: Column, factor: float) -> NDArray[np.float32]: ...
    def label_shares(
        self, sentence: Column, start: Column, end: Column, label: Column, factor: float, none: float
    ) -> NDArray[np.float32]: ...

class Network:
    target: str
    def __init__(
        self,
        options: dict[str, Any],
        weights: dict[str, tuple[NDArray[Any], NDArray[Any] | None]],
        target: int = 0,
    ) -> None: ...
    def run(
        self,
        lengths: Column,
        ids: Column,
        types: Column,
        rows: Column,
        word_pieces: Column,
        word_of: Column,
        words: Column,
        tags: Column,
        shapes: Column,
        styles: Column,
        extra: NDArray[np.float32] | None,
    ) -> Output: ...
