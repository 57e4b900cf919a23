"""A small file as bytes, unpacked if it is compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

from h3n.errors import CorruptInput, InputError

UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"BZh": bz2.decompress,
}


def read_bytes(file: Path) -> bytes:
    """Return the contents of a file; for formats that cannot be read line by line."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    for magic, unpack in UNPACK.items():
        if raw.startswith(magic):
            try:
                return unpack(raw)
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise CorruptInput(f"{file}: cannot be unpacked: {error}") from None
    return raw
