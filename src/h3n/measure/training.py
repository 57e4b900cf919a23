"""How fast a parser learns, and the memory of one large batch."""

from __future__ import annotations

import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from h3n.config import Treebank, load_config


def measure_training(treebank: Treebank, *, updates: int, settings: Sequence[str] = ()) -> dict[str, float]:
    """Return sentences and words per second of processor time, both trees, levels and tags learned at once.

    ``search_percent`` is the share of the search or the sum over trees inside the span loss.
    """
    from h3n.training.loop import train_update
    from h3n.training.run import plan_updates

    with tempfile.TemporaryDirectory() as folder:
        run = _prepared(folder, treebank, settings)
        plan = plan_updates(run, epoch=0)[: updates + 1]
        train_update(run, plan[0])
        spent: list[float] = []
        with _timed_search(spent):
            started = time.process_time()
            for batches in plan[1:]:
                train_update(run, batches)
            seconds = time.process_time() - started
    seen = [at for batches in plan[1:] for batch in batches for at in batch]
    words = sum(run.train[at].inputs.length for at in seen)
    return {
        "sentences_per_second": len(seen) / seconds,
        "words_per_second": words / seconds,
        "search_percent": 100 * sum(spent) / seconds,
    }


def measure_training_memory(treebank: Treebank, *, words: int) -> float:
    """Return the peak memory in GB of a process that learns from one batch of this many words."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory, (treebank, words))


def _memory(treebank: Treebank, words: int) -> float:
    from h3n.training.loop import train_update
    from h3n.training.run import plan_updates

    with tempfile.TemporaryDirectory() as folder:
        run = _prepared(folder, treebank, [f"batches.words={words}"])
        # The batch of the longest sentences has the most spans.
        (batch,) = max(plan_updates(run, epoch=0), key=lambda u: sum(run.train[at].inputs.length ** 2 for at in u[0]))
        train_update(run, [batch])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _prepared(folder: str, treebank: Treebank, settings: Sequence[str]) -> Any:
    """Return a run of the preset ``minilm`` ready to do updates."""
    from h3n.training import load_examples
    from h3n.training.processes import Processes
    from h3n.training.run import prepare

    options = [f"output={json.dumps(folder)}", "preset=minilm", "training.threads=1", "training.device=cpu"]
    config = load_config(settings=[*options, *settings])
    examples = load_examples([treebank], data=config.data)
    run = prepare(config, examples, [], here=Processes(), resume=False, report=lambda _: None)
    run.network.train()
    return run


@contextmanager
def _timed_search(spent: list[float]) -> Iterator[None]:
    """Add up the processor time of the search inside the span loss, forward and backward."""
    loss: Any = import_module("h3n.model.loss")
    partition: Any = import_module("h3n.model.partition")
    originals = (loss.cky_nodes, partition._inside, partition._marginals)

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            result = function(*given, **named)
            spent.append(time.process_time() - started)
            return result

        return call

    loss.cky_nodes, partition._inside, partition._marginals = map(timed, originals)
    try:
        yield
    finally:
        loss.cky_nodes, partition._inside, partition._marginals = originals
