"""The weights in a file of safetensors: their shapes, checked before any is read, and themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from h3n.engine.storage import SCALE, Stored, is_scale, shape_once_unpacked, stored
from h3n.errors import InputError, first_line
from h3n.files import check_regular

FLOATS = ("F32", "F16")
LARGEST_WEIGHTS = 1 << 34  # bytes
# Weights can be stored in 16 bits. Larger ones overflow on the way to scores, with some sentences and not with others.
LARGEST_WEIGHT = float(np.finfo(np.float16).max)
LARGEST_SCALE = LARGEST_WEIGHT / 127  # of weights in 8 bits

Shapes = dict[str, tuple[int, ...]]


def read_shapes(file: Path) -> Shapes:
    """Return the shapes of the weights as they are once unpacked, from the file's header alone."""
    check_regular(file, largest=LARGEST_WEIGHTS)
    shapes: Shapes = {}
    try:
        with safe_open(file, framework="np") as weights:
            names = dict.fromkeys(weights.keys())
            for name in names:
                if is_scale(name, names):
                    continue
                part = weights.get_slice(name)
                kind, shape = part.get_dtype(), tuple(part.get_shape())
                if kind not in FLOATS and name + SCALE not in names:
                    raise InputError(f"{file}: {name} holds {kind}; expected floating-point numbers, F32 or F16")
                scale = weights.get_slice(name + SCALE) if name + SCALE in names else None
                if scale is not None and scale.get_dtype() not in FLOATS:
                    raise InputError(
                        f"{file}: {name}{SCALE} holds {scale.get_dtype()}; expected floating-point numbers"
                    )
                whole = shape_once_unpacked(kind, shape, tuple(scale.get_shape()) if scale is not None else None)
                if whole is None:
                    raise InputError(f"{file}: {name}{SCALE} does not fit {name}, whose shape is {shape} ({kind})")
                shapes[name] = whole
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: the weights cannot be read: {first_line(error)}") from None
    return shapes


def compare(file: Path, found: Shapes, implied: Shapes) -> None:
    """Raise unless a file has the weights that the options imply, and no others."""
    for name, shape in implied.items():
        if name not in found:
            raise InputError(f"{file}: {name} is missing; expected weights of shape {shape}")
        if found[name] != shape:
            raise InputError(f"{file}: {name} has shape {found[name]}; the model's options ask for {shape}")
    for name in found:
        if name not in implied:
            shown = name[:100] if name.isprintable() else repr(name[:100])
            raise InputError(f"{file}: {shown} is not known; the model's options ask for no such weights")


def read_weights(file: Path) -> dict[str, Stored]:
    """Return the weights as they are stored, all of them numbers; `read_shapes` has checked their types."""
    try:
        with safe_open(file, framework="np") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - not a mapping
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file}: the weights cannot be read: {first_line(error)}") from None
    weights: dict[str, Stored] = {}
    for name, values in tensors.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise InputError(f"{file}: {name} holds something that is not a number, or is infinite")
        if is_scale(name, tensors):
            if values.size and float(np.abs(values).max()) > LARGEST_SCALE:
                raise InputError(
                    f"{file}: {name} holds a scale that is too large; accepted: {LARGEST_SCALE:.0f} at most"
                )
            continue
        if values.dtype.kind == "f" and values.size and float(np.abs(values).max()) > LARGEST_WEIGHT:
            raise InputError(f"{file}: {name} holds a number that is too large; accepted: {LARGEST_WEIGHT:.0f} at most")
        weights[name] = stored(values, tensors.get(name + SCALE))
    return weights
