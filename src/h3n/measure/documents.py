"""The raw text of a treebank's documents, rebuilt from its sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from h3n import formats
from h3n.trees import Sentence


@dataclass(frozen=True)
class Document:
    """The gold sentences of a document and the paragraphs of its text."""

    gold: list[Sentence]
    paragraphs: list[str]


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a CoNLL-U file."""
    gold: list[Sentence] = []
    paragraphs: list[str] = []
    for sentence in formats.read(path):
        if any(comment.startswith("# newdoc") for comment in sentence.comments) and gold:
            yield Document(gold, paragraphs)
            gold, paragraphs = [], []
        text = text_of(sentence)
        if not paragraphs or any(comment.startswith("# newpar") for comment in sentence.comments):
            paragraphs.append(text)
        else:
            paragraphs[-1] += ("" if is_joined(gold[-1]) else " ") + text
        gold.append(sentence)
    yield Document(gold, paragraphs)


def text_of(sentence: Sentence) -> str:
    """Return what stands after `# text =`."""
    return next(c.partition("=")[2].strip() for c in sentence.comments if c.startswith("# text ="))


def is_joined(sentence: Sentence) -> bool:
    """Return whether no space follows the sentence."""
    last = sentence.misc[-1] if sentence.misc else ""
    ranges = [insert.row for insert in sentence.inserts if insert.row.split("\t")[0].endswith(f"-{len(sentence)}")]
    return "SpaceAfter=No" in (ranges[-1] if ranges else last)
