"""A disk that is full while a shard is written: whole shards stay, and the run goes on when there is room again."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")

from h3n.corpus import Options, parse_corpus, storage
from h3n.errors import H3nError
from h3n.files import written_file
from tests.corpus.conftest import contents


class Filling:
    """A file on a disk that is full after so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, content: Any) -> int:
        self.room -= len(content)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self.file.write(content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("kind", ["parquet", "conllu"])
def test_a_disk_that_is_full_leaves_whole_shards(
    texts: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    options = Options(shard_size=300, output_format=kind)
    whole, out = tmp_path / "whole", tmp_path / "out"
    parse_corpus([str(texts)], whole, model=str(tiny_model), options=options, workers=1)
    for full_at, room in ((2, 0), (3, 40), (5, 200)):
        files = count()

        @contextlib.contextmanager
        def written(path: Path, files: Any = files, full_at: int = full_at, room: int = room) -> Iterator[Any]:
            is_full = path.name.startswith("part-") and next(files) >= full_at
            with written_file(path) as file:
                yield Filling(file, room) if is_full else file

        with monkeypatch.context() as patch:
            patch.setattr(storage, "written_file", written)
            with pytest.raises((H3nError, OSError), match="No space left"):
                parse_corpus([str(texts)], out, model=str(tiny_model), options=options, workers=1)
        shards = {name: content for name, content in contents(out, missing=True).items() if name.startswith("part-")}
        assert shards.items() <= contents(whole).items()
    parse_corpus([str(texts)], out, model=str(tiny_model), options=options, workers=1)
    assert contents(out) == contents(whole)
