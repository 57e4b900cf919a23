"""The counts of every sentence, kept beside a row's figures so that intervals can be computed from results alone."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from h3n.evaluate import SentenceCounts
from h3n.evaluate.significance import Counts, Interval, metrics, paired_bootstrap

COMPARED = ("LF1", "UAS", "LAS")
SAMPLES = 2000
_STORED = np.dtype("<u2")  # no sentence has 65,536 words


def pack_counts(sentences: Sequence[SentenceCounts]) -> dict[str, str]:
    """Return the counts behind each score that all sentences have: numbers of 16 bits, packed, as text."""
    packed = {}
    for name in COMPARED:
        rows = [metrics()[name].counts(one) for one in sentences]
        if rows and None not in rows:
            packed[name] = base64.b64encode(zlib.compress(np.array(rows, dtype=_STORED).tobytes(), 9)).decode()
    return packed


def unpack_counts(packed: str, *, sentences: int) -> Counts:
    """Return the counts of one score, a row for each sentence."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=_STORED)
    return flat.reshape(sentences, -1).astype(np.float64)


def intervals(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    """Return the differences of two rows of a table, each with an entry for every seed, in the scores that both have.

    Sentences are drawn, not seeds: a sentence's counts are summed over the seeds.
    """
    found = {}
    for name in COMPARED:
        sides = [_summed(entries, name) for entries in (ours, theirs)]
        if sides[0] is not None and sides[1] is not None and sides[0].shape == sides[1].shape:
            found[name] = paired_bootstrap(sides[0], sides[1], metrics()[name].score, samples=SAMPLES)
    return found


def _summed(entries: Sequence[Mapping[str, Any]], name: str) -> Counts | None:
    packed = [(entry.get("counts", {}).get(name), entry["sentences"]) for entry in entries]
    if not packed or any(text is None for text, _ in packed) or len({count for _, count in packed}) > 1:
        return None
    total: Counts = np.sum([unpack_counts(text, sentences=count) for text, count in packed], axis=0)
    return total
