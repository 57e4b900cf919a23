"""The documents of a treebank's file, with their raw text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from h3n import formats
from h3n.text.documents import Document, documents, text_of

__all__ = ["Document", "read_documents", "text_of"]


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a CoNLL-U file."""
    return documents(formats.read(path))
