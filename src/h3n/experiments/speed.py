"""The experiment that measures a parser's speed by sentence length instead of training one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from h3n.config import Treebank, expand, layer_config
from h3n.experiments.bands import FILES, measure_bands, read_bands
from h3n.experiments.experiment import Bands, Experiment
from h3n.experiments.miniature import OVERLAY
from h3n.experiments.plan import check_files, find_file
from h3n.experiments.provenance import checksums, describe_code, describe_machine, public_name
from h3n.experiments.results import add_result
from h3n.models import WEIGHTS, locate
from h3n.parser import load
from h3n.training import Note, load_examples, train

RUN = "bands"
STEPS = 20  # notes on how far it has come


def run_bands(
    experiment: Experiment,
    bands: Bands,
    *,
    output: Path,
    results: Path,
    miniature: bool,
    model: str | None,
    report: Callable[[Note], None],
) -> Path:
    """Measure all bands with one parser, on one thread, and return the file of the results."""
    check_files(experiment)
    if model is None and miniature:
        model = str(_tiny_model(Path(bands.folder), output / experiment.name / "tiny"))
    name = model if model is not None else bands.model
    parser = load(name, threads=1).model
    folder = locate(name).resolve()
    read = read_bands(expand(bands.folder), limit=bands.limit)
    found = measure_bands(parser, read, sample=bands.sample, repeat=bands.repeat, watch=_watch(report))
    files = [find_file(f"{bands.folder}/{file}", variant="", made=Path()) for file in FILES.values()]
    record: dict[str, Any] = {
        "run": RUN,
        "variant": "",
        "seed": None,
        "command": _command(experiment, name if model is not None else None, miniature=miniature),
        "code": describe_code(),
        "machine": describe_machine(str(parser.network.device)),
        "data": checksums(filter(None, files)),
        "model": public_name(name),
        "weights": next(iter(checksums([str(folder / WEIGHTS)]).values())),
        "measured": found,
    }
    path = add_result(results, experiment.name, run=RUN, record=record, miniature=miniature)
    report(Note(text=f"results are in {path}"))
    return path


def _command(experiment: Experiment, model: str | None, *, miniature: bool) -> str:
    if miniature:
        return f"h3n experiments run {experiment.name} --miniature"
    return f"h3n experiments run {experiment.name}" + (f" --model {public_name(model)}" if model is not None else "")


def _watch(report: Callable[[Note], None]) -> Callable[[str, float], None]:
    told = 0

    def watch(band: str, share: float) -> None:
        nonlocal told
        if int(share * STEPS) > told:
            told = int(share * STEPS)
            report(Note(text=f"{100 * told // STEPS} % done, in the band of {band} words"))

    return watch


def _tiny_model(data: Path, folder: Path) -> Path:
    """Return the folder of a parser that has learned generated sentences for a moment."""
    if not (folder / "model").is_dir():
        config = replace(layer_config({"preset": "small"}, OVERLAY), output=str(folder))
        files = (str(data / "train.ptb"), str(data / "train.conllu"))
        examples = load_examples([Treebank(files=files)], data=config.data)
        train(config, examples, (), resume=True)
    return folder / "model"
