"""A progress bar on stderr, for work that lasts and people who watch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def progress(
    items: Iterable[Item], *, label: str, total: int | None = None, unit: str = " sentences"
) -> Iterator[Item]:
    """Yield the items; draw a bar if stderr is a terminal and the work takes longer than a moment."""
    if not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, desc=label, total=total, unit=unit, delay=1.0, leave=False, dynamic_ncols=True)
