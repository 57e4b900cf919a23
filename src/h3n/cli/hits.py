"""What a pattern finds, shown: as a table, JSON lines or a page of pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import typer

from h3n.cli.outputs import check_output, write_drawings, write_parts
from h3n.cli.terminal import say
from h3n.draw import Drawable
from h3n.outputs import OUTPUTS, Look


class Shown(StrEnum):
    TABLE = "table"
    JSONL = "jsonl"
    HTML = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A phrase or word that fits. ``place`` names its sentence; ``key`` is the same for all hits of one sentence."""

    place: dict[str, Any]
    text: str
    label: str
    start: int
    end: int
    words: str
    key: int
    drawable: Callable[[], Drawable]


def show_hits(hits: Iterator[Hit], pattern: str, output: str, *, kind: Shown | None, limit: int) -> None:
    """Write what is found, at most ``limit`` of it unless that is 0; leave with 1 if there is nothing."""
    chosen = kind or {".jsonl": Shown.JSONL, ".html": Shown.HTML}.get(Path(output).suffix.lower(), Shown.TABLE)
    check_output(output, pictures=False)
    counted = _Counted(list(islice(hits, limit)) if limit else hits)
    if chosen is Shown.HTML:
        write_drawings(_pictures(counted), output, chosen=OUTPUTS["html"], look=Look(title=pattern))
    else:
        write_parts(map(_table_line if chosen is Shown.TABLE else _json_line, counted), output)
    if limit and next(hits, None) is not None:
        say(f"the first {limit}; --limit 0 shows all")
    if not counted.count:
        raise typer.Exit(1)


class _Counted:
    """What is found, counted as it goes by."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._hits = hits
        self.count = 0

    def __iter__(self) -> Iterator[Hit]:
        for hit in self._hits:
            self.count += 1
            yield hit


def _table_line(hit: Hit) -> str:
    cells = (*map(str, hit.place.values()), hit.label, hit.words, hit.text)
    return "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


def _json_line(hit: Hit) -> str:
    found = {"label": hit.label, "start": hit.start, "end": hit.end, "words": hit.words}
    return json.dumps({**hit.place, "text": hit.text, **found}, ensure_ascii=False) + "\n"


def _pictures(hits: Iterable[Hit]) -> Iterator[tuple[int, Drawable, str]]:
    """Yield a picture for each sentence, with all that was found in it as its caption."""
    for number, (_, group) in enumerate(groupby(hits, key=lambda hit: hit.key), start=1):
        same = list(group)
        phrases = "; ".join(f"{hit.label} {hit.words}" for hit in same)
        document, sentence = map(str, same[0].place.values())
        yield number, same[0].drawable(), f"{phrases} ({document}, sentence {sentence})"
