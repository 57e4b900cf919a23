"""A folder that commands are tried in, and a watch over what is written outside of it.

The watch is an audit hook of the interpreter: it sees every file that is opened to be written, every folder and link
that is made or removed, and every name that is looked up in the network, which is refused.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.targets import EXAMPLES, model_folder

TREE = "(TOP (S (NP (PRP it)) (VP (VBZ is))))\n"
ROWS = "# text = it is\n1\tit\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\t_\tVERB\tVBZ\t_\t0\troot\t_\t_\n\n"
FILES: dict[str, bytes] = {
    "a.ptb": TREE.encode() * 2,
    "a.conllu": ROWS.encode() * 2,
    "b.conllu": ROWS.replace("nsubj", "obj").encode() * 2,
    "a.txt": b"It is. It (really) is!\n",
    "a.jsonl": b'{"version": 1, "words": ["it", "is"], "heads": [2, 0], "relations": ["nsubj", "root"]}\n',
    "damaged.ptb": b"(TOP (S\n(X y))\n",
    "damaged.conllu": b"1\tit\n\n1\tis\t_\n",
    "latin.txt": "Stra\u00dfe.\n".encode("latin-1"),
    "empty.ptb": b"",
    "zip.ptb.gz": b"\x1f\x8b\x08\0damaged",
    "config.toml": b'output = "run"\n[training]\nepochs = 1\n[[train]]\nfiles = ["missing.ptb"]\n',
    "own.rules": b"extends ud2\n[words]\nbe = is\n",
    "parameters.prm": b"LABELED 1\nDELETE_LABEL TOP\nCUTOFF_LEN x\n",
    "with space.ptb": TREE.encode(),
    "\u8a9e.ptb": TREE.encode(),
}
DEVICES = ("/dev/null", "/dev/full", "/dev/tty")
_OPENING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {
    "os.mkdir": 1,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
}
_LOCAL = (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", b"localhost", b"127.0.0.1")


class Watch:
    """What was written while the watch was on, and where."""

    def __init__(self, inside: Path) -> None:
        self.inside = f"{inside}{os.sep}"
        self.on = False
        self.wrote = False
        self.outside: list[str] = []
        sys.addaudithook(self._see)  # for good: hooks cannot be taken away

    def __enter__(self) -> Watch:
        self.on, self.wrote, self.outside = True, False, []
        return self

    def __exit__(self, *_: object) -> None:
        self.on = False

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _OPENING:
            self._written(arguments[0])
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                self._written(path)
        elif event == "socket.getaddrinfo" and arguments[0] not in _LOCAL:
            raise socket.gaierror(socket.EAI_AGAIN, "no network here")

    def _written(self, path: Any) -> None:
        if not isinstance(path, str | bytes):
            return
        self.on = False  # what follows asks the file system, which is watched too
        try:
            place = os.path.realpath(os.fsdecode(path))
        except (OSError, ValueError):
            return
        finally:
            self.on = True
        self.wrote = True
        if not place.startswith((self.inside, "/dev/pts", "/dev/shm")) and place not in DEVICES:
            self.outside.append(place)


class Scratch:
    """A folder with files of all kinds, which is made anew after something was written into it."""

    def __init__(self) -> None:
        self.top = Path(os.path.realpath(tempfile.mkdtemp(prefix="h3n-fuzz-")))
        self.folder = self.top / "work"
        self.watch = Watch(self.top)
        self._samples = self.top / "samples"
        self._fill(self._samples)
        self.renew()

    def _fill(self, folder: Path) -> None:
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
        (folder / "folder").mkdir()
        (folder / "loop.ptb").symlink_to("loop.ptb")
        (folder / "gone.ptb").symlink_to("nowhere/x.ptb")
        shutil.copytree(model_folder(), folder / "tiny")
        shutil.copy(EXAMPLES / "treebank" / "dev.ptb", folder / "dev.ptb")

    def renew(self) -> None:
        os.chdir("/")
        for path in self.top.iterdir():
            if path != self._samples:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(self._samples, self.folder, symlinks=True)


@cache
def scratch() -> Scratch:
    """Return the folder of this process; it is removed when the process ends."""
    import atexit

    made = Scratch()
    atexit.register(shutil.rmtree, made.top, ignore_errors=True)
    return made
