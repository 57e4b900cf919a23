"""Other people's decoders, to be measured beside ours where they are installed: torch_struct and supar.

Each gets the same scores as ours and must find trees of the same score, or the comparison is refused.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from h3n.decode import Scores, decode_batch
from h3n.errors import H3nError
from h3n.measure.timing import least_within

# what a rival's row is called -> the decoder of ours that finds the same trees
OURS = {"torch_struct.cky": "cky", "supar.cky": "cky", "supar.eisner": "eisner", "supar.mst": "mst"}


@dataclass(frozen=True, slots=True)
class Rival:
    """``prepare`` turns a batch into the rival's input, ``run`` decodes it, ``worth`` says what the trees score."""

    name: str
    prepare: Callable[[Sequence[Scores]], Any]
    run: Callable[[Any], Any]
    worth: Callable[[Any, Any], list[float]]

    def measure(self, batch: Sequence[Scores], seconds: float) -> float:
        """Return the least seconds for the batch, once its trees are known to be as good as ours."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with warnings.catch_warnings():  # theirs, about newer torches
                warnings.simplefilter("ignore")
                return self._measure(batch, seconds)
        finally:
            torch.set_num_threads(threads)

    def _measure(self, batch: Sequence[Scores], seconds: float) -> float:
        given = self.prepare(batch)
        theirs = np.array(self.worth(given, self.run(given)))
        ours = np.array([parse.score for parse in decode_batch(batch, OURS[self.name])])
        if not np.allclose(theirs, ours, rtol=1e-4, atol=1e-2):
            raise H3nError(f"{self.name} and our {OURS[self.name]} differ: {theirs[:3]} against {ours[:3]}")
        return least_within(lambda: self.run(given), seconds=seconds)


def available(notes: list[str]) -> list[Rival]:
    """Return the rivals that can be imported; add a note about each library."""
    rivals: list[Rival] = []
    for library, load in (("torch_struct", _torch_struct), ("supar", _supar)):
        if importlib.util.find_spec(library) is None:
            notes.append(f"{library}: not installed (pip install --no-deps {library.replace('_', '-')})")
            continue
        try:
            rivals += load()
        except ImportError as error:
            notes.append(f"{library}: installed, but cannot be imported ({error})")
        else:
            notes.append(f"{library}: measured")
    return rivals


def _torch_struct() -> list[Rival]:
    module = importlib.import_module("torch_struct")

    def prepare(batch: Sequence[Scores]) -> Any:
        return _spans(batch)[:, :-1, 1:, None].contiguous()

    return [
        Rival(
            "torch_struct.cky",
            prepare,
            lambda spans: module.TreeCRF(spans).argmax,
            lambda spans, trees: (spans * trees).sum((1, 2, 3)).tolist(),
        )
    ]


def _supar() -> list[Rival]:
    # Its front module needs a transformers older than ours; the structures beneath it do not.
    for name in ("supar", "supar.utils"):
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            package = types.ModuleType(name)
            package.__path__ = list(spec.submodule_search_locations or ()) if spec else []
            sys.modules[name] = package
    tree = importlib.import_module("supar.structs.tree")
    fn = importlib.import_module("supar.structs.fn")

    def worth_of_arcs(arcs: Any, heads: Any) -> list[float]:
        sums: list[float] = arcs.gather(-1, heads.unsqueeze(-1)).squeeze(-1)[:, 1:].sum(-1).tolist()
        return sums

    def run_mst(arcs: Any) -> Any:
        mask = arcs.new_ones(arcs.shape[:2]).bool()
        mask[:, 0] = False
        return fn.mst(arcs.clone(), mask)  # it writes into its input

    def worth_of_spans(spans: Any, trees: Any) -> list[float]:
        return [sum(float(spans[b, i, j]) for i, j in nodes) for b, nodes in enumerate(trees)]

    return [
        Rival("supar.cky", _spans, lambda spans: tree.ConstituencyCRF(spans).argmax, worth_of_spans),
        Rival("supar.eisner", _arcs, lambda arcs: tree.DependencyCRF(arcs).argmax, worth_of_arcs),
        Rival("supar.mst", _arcs, run_mst, worth_of_arcs),
    ]


def _spans(batch: Sequence[Scores]) -> Any:
    """Return what each span of a binary tree scores, (batch, n+1, n+1): the whole sentence with a label."""
    import torch

    spans = np.stack([scores.open for scores in batch if scores.open is not None])
    spans[:, 0, -1] = [scores.full[0, -1] for scores in batch if scores.full is not None]
    return torch.from_numpy(spans)


def _arcs(batch: Sequence[Scores]) -> Any:
    """Return arcs as supar has them: (batch, n+1, n+1), [word, governor], with the root in front."""
    import torch

    words = len(batch[0])
    arcs = np.full((len(batch), words + 1, words + 1), -1e6, dtype=np.float32)
    for b, scores in enumerate(batch):
        if scores.arc is not None and scores.root is not None:
            arcs[b, 1:, 1:] = scores.arc.T
            arcs[b, 1:, 0] = scores.root
    return torch.from_numpy(arcs)
