"""Training speed and memory with the MiniLM encoder: `python -m benchmarks.training [--peers]`.

Prints sentences per second of one thread's CPU time, the share of a step spent in the search or the sum over trees
inside the span loss, and the peak memory of one large batch. With ``--peers`` SuPar's biaffine and CRF parsers train on
the same sentences, one after the other in the same run; they need two models for what one of ours gives. CPU time is
taken, since a busy machine leaves it nearly alone; ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks._other_parsers import SUPAR, supar_training_rate
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


EXAMPLE = Path(__file__).parents[1] / "examples" / "treebank"
LARGE = 5000  # words in the batch whose memory is taken


def training_files() -> tuple[str, str]:
    """Return the training files: GUM's where H3N_DATA says, the example treebank otherwise."""
    folder = os.environ.get("H3N_DATA")
    if folder:
        return f"{folder}/gum/train.ptb.xz", f"{folder}/gum/train.conllu.xz"
    return str(EXAMPLE / "train.ptb"), str(EXAMPLE / "train.conllu")


def measure(treebank: Treebank, *, updates: int, peers: bool) -> dict[str, Any]:
    """Return rates and memory by what they are of."""
    measured: dict[str, Any] = {
        f"h3n, both trees, {spans}": measure_training(treebank, updates=updates, settings=[f"loss.spans={spans}"])
        for spans in ("crf", "hinge")
    }
    measured[f"peak GB, {LARGE:,} words"] = measure_training_memory(treebank, words=LARGE)
    for kind in SUPAR if peers else ():
        try:
            rate = supar_training_rate(kind, treebank, updates=updates)
        except ImportError as error:
            measured[f"SuPar {kind}, one tree"] = f"not measured: {error}"
        else:
            measured[f"SuPar {kind}, one tree"] = {"sentences_per_second": rate}
    return measured


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--updates", type=int, default=20)
    options.add_argument("--sentences", type=int, default=3000)
    options.add_argument("--peers", action="store_true", help="also SuPar, if it is installed")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    treebank = Treebank(files=training_files(), limit=given.sentences)
    measured = measure(treebank, updates=given.updates, peers=given.peers)
    if given.json:
        print(json.dumps(measured, indent=1))
        return 0
    for name, figures in measured.items():
        shown = figures if not isinstance(figures, dict) else "  ".join(f"{k} {v:.1f}" for k, v in figures.items())
        print(f"{name:32} {shown if not isinstance(shown, float) else round(shown, 2)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
