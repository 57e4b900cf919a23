"""Running the measurement of a parser's speed by sentence length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from h3n.config import Treebank, expand, layer_config
from h3n.experiments.experiment import SpeedTest
from h3n.experiments.files import check_files, find_file
from h3n.experiments.miniature import OVERLAY
from h3n.experiments.plan import command_of
from h3n.experiments.results import add_result
from h3n.experiments.running import OnEvent, Request
from h3n.experiments.speed_page import files_of
from h3n.measure.bands import measure_bands, read_bands
from h3n.measure.provenance import checksums, describe_code, describe_machine, public_name
from h3n.models import WEIGHTS, locate
from h3n.parser import load
from h3n.training import Note, load_examples, train

RUN = "bands"
STEPS = 20  # notes on how far it has come


def run(experiment: SpeedTest, request: Request) -> Path:
    """Measure all bands with one parser, on one thread, and return the file of the results."""
    patterns = list(files_of(experiment))
    check_files(experiment, patterns)
    model = request.model
    if model is None and request.miniature:
        model = str(_tiny_model(Path(experiment.folder), request.output / experiment.name / "tiny"))
    name = model if model is not None else experiment.model
    parser = load(name, threads=1)
    bands = read_bands(expand(experiment.folder), limit=experiment.limit)
    progress = _progress(request.report)
    measured = measure_bands(parser, bands, sample=experiment.sample, repeat=experiment.repeat, progress=progress)
    files = [find_file(pattern, variant="", made=Path()) for pattern in patterns]
    record: dict[str, Any] = {
        "run": RUN,
        "variant": "",
        "seed": None,
        "command": _command(experiment, model, miniature=request.miniature),
        "code": describe_code(),
        "machine": describe_machine(parser.engine.network.device),
        "data": checksums(filter(None, files)),
        "model": public_name(name),
        "weights": next(iter(checksums([str(locate(name).resolve() / WEIGHTS)]).values())),
        "measured": measured,
    }
    return add_result(request.results, experiment, run=RUN, record=record, miniature=request.miniature)


def _command(experiment: SpeedTest, model: str | None, *, miniature: bool) -> str:
    if miniature:
        return f"{command_of(experiment.source)} --miniature"
    return command_of(experiment.source) + (f" --model {public_name(model)}" if model is not None else "")


def _progress(report: OnEvent) -> Callable[[str, float], None]:
    """Return what is told of progress and reports every twentieth of the way."""
    told = 0

    def progress(band: str, share: float) -> None:
        nonlocal told
        if int(share * STEPS) > told:
            told = int(share * STEPS)
            report(Note(text=f"{100 * told // STEPS} % done, in the band of {band} words"))

    return progress


def _tiny_model(data: Path, folder: Path) -> Path:
    """Return the folder of a parser that has learned generated sentences for a moment."""
    if not (folder / "model").is_dir():
        config = replace(layer_config({"preset": "small"}, OVERLAY), output=str(folder))
        files = (str(data / "train.ptb"), str(data / "train.conllu"))
        examples = load_examples([Treebank(files=files)], data=config.data)
        train(config, examples, (), resume=True)
    return folder / "model"
