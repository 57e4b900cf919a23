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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[1] / "examples" / "treebank"


def files() -> tuple[str, str]:
    """Return the training files: GUM's where H3N_DATA says, the example treebank otherwise."""
    folder = os.environ.get("H3N_DATA")
    if folder:
        return f"{folder}/gum/train.ptb.xz", f"{folder}/gum/train.conllu.xz"
    return str(EXAMPLE / "train.ptb"), str(EXAMPLE / "train.conllu")


def prepared(folder: str, sentences: int, *settings: str) -> Any:
    """Return a run of the preset ``minilm`` ready to do updates."""
    from h3n.config import Treebank, load_config
    from h3n.training import load_examples
    from h3n.training.processes import Processes
    from h3n.training.run import prepare

    options = [f"output={json.dumps(folder)}", "preset=minilm", "training.threads=1", "training.device=cpu"]
    config = load_config(settings=[*options, *settings])
    examples = load_examples([Treebank(files=files(), limit=sentences)], data=config.data)
    run = prepare(config, examples, [], here=Processes(), resume=False, report=lambda _: None)
    run.network.train()
    return run


@contextmanager
def timed_search(spent: list[float]) -> Iterator[None]:
    """Add up the CPU time of the search inside the span loss, forward and backward."""
    from h3n.model import loss, partition

    originals = (loss.cky_nodes, partition._inside, partition._marginals)

    def watched(act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            made = act(*given, **named)
            spent.append(time.process_time() - started)
            return made

        return call

    loss.cky_nodes, partition._inside, partition._marginals = map(watched, originals)
    try:
        yield
    finally:
        loss.cky_nodes, partition._inside, partition._marginals = originals


def ours(updates: int, sentences: int, spans: str) -> dict[str, float]:
    """Return our speed: both trees, levels and tags learned at once."""
    from h3n.training.loop import train_update
    from h3n.training.run import plan_updates

    with tempfile.TemporaryDirectory() as folder:
        run = prepared(folder, sentences, f"loss.spans={spans}")
        plan = plan_updates(run, epoch=0)[: updates + 1]
        train_update(run, plan[0])
        spent: list[float] = []
        with timed_search(spent):
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


def memory(words: int, sentences: int) -> float:
    """Return the peak memory in GB of a process that learns from one batch of this many words."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory, (words, sentences))


def _memory(words: int, sentences: int) -> float:
    from h3n.training.loop import train_update
    from h3n.training.run import plan_updates

    with tempfile.TemporaryDirectory() as folder:
        run = prepared(folder, sentences, f"batches.words={words}")
        # The batch of the longest sentences has the most spans.
        (batch,) = max(plan_updates(run, epoch=0), key=lambda u: sum(run.train[at].inputs.length ** 2 for at in u[0]))
        train_update(run, [batch])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def build_supar(kind: str, folder: str, sentences: int) -> tuple[Any, Path]:
    """Return one of SuPar's parsers, untrained, with the same encoder, and the file that it would learn from."""
    import torch
    import transformers

    transformers.AdamW = torch.optim.AdamW  # which SuPar imports from where it no longer is
    from supar import BiaffineDependencyParser, CRFConstituencyParser

    from h3n import formats
    from h3n.config import Treebank
    from h3n.model.packages import locate_encoder
    from h3n.training.data import read_treebank

    torch.set_num_threads(1)
    source = Path(folder) / ("train.conllx" if kind == "biaffine" else "train.pid")
    found = list(read_treebank(Treebank(files=files(), limit=sentences)))
    formats.write(found, source, format="conllx" if kind == "biaffine" else "brackets")
    made = BiaffineDependencyParser if kind == "biaffine" else CRFConstituencyParser
    options = {"encoder": "bert", "bert": locate_encoder("minilm"), "feat": None, "build": True, "train": str(source)}
    more = {"n_bert_layers": 1, "mix_dropout": 0.0, "encoder_dropout": 0.1, "punct": False, "partial": False}
    parser = made.build(f"{folder}/model", **options, **more, mbr=False, tree=False, proj=False)
    parser.args.update({"clip": 5.0, "update_steps": 1})
    return parser, source


def supar(kind: str, updates: int, sentences: int) -> float:
    """Return the sentences per second of one of SuPar's parsers with the same encoder, batch size and optimiser."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        parser, source = build_supar(kind, folder, sentences)
        from supar.utils import Dataset

        parser.transform.train()
        dataset = Dataset(parser.transform, str(source)).build(1500, 32, True)
        parser.optimizer = torch.optim.AdamW(parser.model.parameters(), 1e-4, fused=True)
        parser.scheduler = torch.optim.lr_scheduler.ConstantLR(parser.optimizer)
        batches = [batch for batch, _ in zip(dataset.loader, range(updates + 1), strict=False)]
        parser._train(batches[:1])
        started = time.process_time()
        parser._train(batches[1:])
        seconds = time.process_time() - started
        return sum(len(batch.sentences) for batch in batches[1:]) / seconds


def main(argv: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--updates", type=int, default=20)
    options.add_argument("--sentences", type=int, default=3000)
    options.add_argument("--peers", action="store_true", help="also SuPar, if it is installed")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    found: dict[str, Any] = {}
    for spans in ("crf", "hinge"):
        found[f"h3n, both trees, {spans}"] = ours(given.updates, given.sentences, spans)
    found["peak GB, 5,000 words"] = memory(5000, given.sentences)
    if given.peers:
        for kind in ("biaffine", "crf"):
            try:
                found[f"SuPar {kind}, one tree"] = {"sentences_per_second": supar(kind, given.updates, given.sentences)}
            except ImportError as error:
                found[f"SuPar {kind}, one tree"] = f"not measured: {error}"
    if given.json:
        print(json.dumps(found, indent=1))
        return 0
    for name, figures in found.items():
        shown = figures if not isinstance(figures, dict) else "  ".join(f"{k} {v:.1f}" for k, v in figures.items())
        print(f"{name:32} {shown if not isinstance(shown, float) else round(shown, 2)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
