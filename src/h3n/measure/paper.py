"""The paper's table of speed, read from its data file, and the decoder that it calls the published one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from h3n.config import build_options
from h3n.decode import DECODERS

PUBLISHED = "hpsg_n5"
COMPLEXITY = {**{name: decoder.cost for name, decoder in DECODERS.items()}, PUBLISHED: "n^5"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTime:
    """A decoder's line, as printed."""

    seconds: float
    sentences_per_second: float
    speed_up: float | None = None  # over the published decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperBand:
    """A band of sentence lengths with at most ``top`` words and ``words`` on average."""

    words: float
    top: int
    rows: dict[str, PaperTime]


@cache
def paper_bands() -> dict[str, PaperBand]:
    """Return the bands of the table by name, in its order."""
    text = (resources.files(__package__) / "data" / "paper-speed.toml").read_text(encoding="utf-8")
    return {name: build_options(PaperBand, band, where=name) for name, band in tomllib.loads(text).items()}


def paper_row(band: str, decoder: str) -> PaperTime | None:
    """Return what the paper has for a decoder in a band, or None."""
    bands = paper_bands()
    return bands[band].rows.get(decoder) if band in bands else None
