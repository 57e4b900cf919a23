from typing import Any

import numpy as np
from numpy.typing import NDArray

DECODERS: dict[str, tuple[str, ...]]

def targets() -> list[str]: ...
def chart_bytes(decoder: int, words: int) -> int: ...
def decode(
    sentences: list[tuple[Any, ...]], decoders: list[int], threads: int, target: str
) -> list[tuple[int, tuple[tuple[int, int, int, int], ...], tuple[int, ...], float]]: ...
def explore(
    sentences: list[tuple[Any, ...]],
    decoders: list[int],
    best: int,
    samples: int,
    seed: int,
    marginals: bool,
    limit: int,
    target: str,
) -> list[tuple[int, list[Any], list[Any], float, float, Any, Any, Any, Any]]: ...
def tree_head_scores(
    sentences: list[tuple[Any, ...]], threads: int
) -> tuple[NDArray[np.float32], NDArray[np.int32]]: ...
def cky_nodes(
    full: NDArray[np.float32],
    open_: NDArray[np.float32],
    label: NDArray[np.int32],
    lengths: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]: ...
