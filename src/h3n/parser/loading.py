"""Which network runs a saved model: the engine's own, native or plain, or that of torch."""

from __future__ import annotations

import warnings
from pathlib import Path

from h3n.engine.architectures import UnknownEncoder
from h3n.engine.engine import Engine
from h3n.engine.native import NativeNetwork, is_built, is_fast, target
from h3n.engine.output import Network
from h3n.engine.plain import PlainNetwork
from h3n.engine.saved import Saved, read_saved
from h3n.engine.segmenter import LearnedSegmenter
from h3n.errors import UsageError, missing_extra

PRECISIONS = ("auto", "float32", "int8")
NOT_BUILT = "installed without native code: the network is run in numpy, which is slower"


def load_engine(folder: Path, *, device: str, precision: str, one_thread: bool = False) -> Engine:
    """Return what runs the model in a folder.

    On a processor that is the engine alone. Torch runs what it alone can: other devices, and encoders of transformers.
    ``one_thread`` asks that torch keeps to one thread, as several batches are run beside each other.
    """
    if device != "cpu":
        device = _device(device)
    if device != "cpu":
        if precision == "int8":
            raise UsageError(f"precision int8 with device {device}; it is for cpu alone")
        return _with_torch(folder, device, one_thread=one_thread)
    try:
        saved = read_saved(folder)
    except UnknownEncoder as error:
        if precision == "int8":
            raise UsageError(f"precision int8: {error}") from None
        return _with_torch(folder, device, one_thread=one_thread, unknown=error)
    network, segmenter = _network(saved, precision), saved.segmenter
    if isinstance(network, NativeNetwork) and isinstance(segmenter, LearnedSegmenter):
        segmenter = segmenter.natively(target())
    return Engine(network, saved.vocabulary, saved.config, saved.tokenizer, segmenter)


def _network(saved: Saved, precision: str) -> Network:
    if precision == "int8" or (precision == "auto" and is_fast()):
        return NativeNetwork(saved)
    if precision == "auto" and not is_built():
        warnings.warn(NOT_BUILT, stacklevel=2)
    return PlainNetwork(saved)


def _device(name: str) -> str:
    """Return the device that a name means; ``auto`` is one of torch's where there is one, else the processor."""
    try:
        from h3n.model.devices import choose_device
    except ModuleNotFoundError as error:
        if name == "auto" and error.name == "torch":
            return "cpu"
        raise missing_extra(error) from None
    return choose_device(name)


def _with_torch(folder: Path, device: str, *, one_thread: bool, unknown: UnknownEncoder | None = None) -> Engine:
    try:
        from h3n.model import Model
        from h3n.model.devices import use_one_thread
        from h3n.parser.processes import prepare_for_forks
    except ModuleNotFoundError as error:
        raise (unknown if unknown is not None else missing_extra(error)) from None
    prepare_for_forks()
    model = Model.load(folder, device=device)
    if one_thread:
        use_one_thread()
    return model.engine
