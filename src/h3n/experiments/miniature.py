"""An experiment in seconds: the same steps with a tiny network on generated sentences.

It shows that all of an experiment works; its figures say nothing about a parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from h3n.experiments.experiment import Comparison, SpeedTest, TrainSet
from h3n.experiments.files import LEARNED, learned_format
from h3n.experiments.grammar import Grammar, write_treebank
from h3n.measure.bands import FILES

SENTENCES = {"train": 60, "dev": 15}
VARIANTS = 2  # of many languages these many
SEEDS = 2
LENGTHS = ((5, 8, 13, 21, 34), (101, 103, 107, 110))  # of sentences in the first band and in the others

# Laid over all options of all runs.
OVERLAY: dict[str, Any] = {
    "encoder": {
        "kind": "attentive",
        "name": "",
        "words": True,
        "characters": "none",
        "layers": {"count": 1, "size": 48, "heads": 2, "head_size": 16, "inner": 48},
    },
    "scorers": {"span": 32, "pair": 32, "arc": 32, "relation": 16, "head": 16, "tag": 16},
    "batches": {"words": 150, "sentences": 0},
    "optimiser": {"rate": 3e-3, "schedule": "linear", "warmup": 0.1},
    "training": {"epochs": 2, "checks": 1, "patience": 0, "threads": 1, "device": "cpu", "tune": False},
}


def small_comparison(experiment: Comparison, folder: Path) -> Comparison:
    """Return the experiment with generated sentences, which are written into the folder, in place of its treebanks."""
    write_treebank(folder, sentences=SENTENCES, seed=1)
    return replace(
        experiment,
        variants=experiment.variants[:VARIANTS],
        train=(TrainSet(files=_small(experiment.train[0].files, folder / "train")),),
        dev=tuple(replace(one, files=_small(one.files, folder / "dev"), limit=0) for one in experiment.dev),
        make=tuple(replace(make, source=_one(make.source, folder / _part(make.source))) for make in experiment.make),
        runs=tuple(replace(run, seeds=run.seeds[:SEEDS]) for run in experiment.runs),
    )


def small_speed_test(experiment: SpeedTest, folder: Path) -> SpeedTest:
    """Return the measurement with a few generated sentences a band, some of them long enough to be sampled."""
    write_treebank(folder, sentences=SENTENCES, seed=1)
    grammar = Grammar(seed=2)
    for number, name in enumerate(FILES.values()):
        lines = []
        for length in LENGTHS[min(number, 1)]:
            words: list[str] = []
            while len(words) < length:
                words += [word for word, _ in grammar.sentence().words]
            lines.append(" ".join(words[:length]) + "\n")
        (folder / name).write_text("".join(lines), encoding="utf-8")
    return replace(experiment, folder=str(folder), sample=2, repeat=1)


def _small(files: Iterable[str], stem: Path) -> tuple[str, ...]:
    return tuple(file if "{made}" in file else _one(file, stem) for file in files)


def _one(file: str, stem: Path) -> str:
    kind = LEARNED[learned_format(file.partition("|")[0])]
    return f"{stem}{'.ptb' if kind == 'constituents' else '.conllu'}"


def _part(source: str) -> str:
    return "dev" if "dev" in Path(source.partition("|")[0]).name else "train"
