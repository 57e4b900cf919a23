"""A progress bar on stderr, for work that lasts and people who watch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from h3n.cli.streams import printable, steering

Item = TypeVar("Item")


def progress(
    items: Iterable[Item], *, label: str, total: int | None = None, unit: str = " sentences"
) -> Iterator[Item]:
    """Yield the items; draw a bar if stderr is a terminal and the work takes longer than a moment."""
    if not sys.stderr.isatty():
        yield from items
        return
    yield from bar(items, desc=printable(label), total=total, unit=unit, delay=1.0)


def bar(items: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, which steers the terminal: what is written beside it has to be ours or printable."""
    from tqdm import tqdm

    return tqdm(items, file=steering(sys.stderr), leave=False, dynamic_ncols=True, **options)
