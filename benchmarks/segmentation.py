"""How well and how fast plain text is cut into sentences and words, beside the libraries one could take instead.

`python -m benchmarks.segmentation` with the environment variable H3N_DATA naming a folder of treebanks. The raw text
of each document is rebuilt from the sentences of GUM and EWT, a blank line between paragraphs. Sentences, tokens and
words are scored as in the CoNLL 2018 shared task. Libraries that are not installed are left out. Sentence splitters
get a paragraph at a time; word tokenizers, ours too, get one gold sentence at a time.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from h3n import formats
from h3n.evaluate import score_segmentation
from h3n.measure.timing import least
from h3n.text import segment, split
from h3n.text.documents import Document, text_of
from h3n.text.documents import documents as documents_of
from h3n.trees import Sentence

Splitter = Callable[[str], Iterable[str]]
Tokenizer = Callable[[str], Iterable[tuple[int, int]]]
# Ways a text may be laid out: what is made of a paragraph.
LAYOUTS: dict[str, Callable[[str], str]] = {
    "blank line between paragraphs": "\n\n{}".format,
    "the same, lines wrapped at 72": lambda text: "\n\n" + textwrap.fill(text, 72, break_on_hyphens=False),
    "one paragraph per line": "\n{}".format,
}


@dataclass(frozen=True, slots=True)
class Cutting:
    """How one program cuts: F1 in percent, and sentences or words per second of processor time."""

    name: str
    f1: float
    rate: float


def score_layouts(documents: Sequence[Document]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield F1 of tokens, words and sentences of `segment` as in the CoNLL 2018 shared task, for each layout."""
    gold = [sentence for document in documents for sentence in document.gold]
    for name, layout in LAYOUTS.items():
        ours: list[Sentence] = []
        for document in documents:
            ours += segment("".join(map(layout, document.paragraphs)))
        scores = score_segmentation(gold, ours)
        yield name, {metric: scores[metric].f1 for metric in ("Tokens", "Words", "Sentences")}


def measure_splitters(documents: Sequence[Document], *, repeat: int) -> Iterator[Cutting]:
    """Yield how each sentence splitter that is installed does."""
    gold = [_ends(map(text_of, document.gold)) for document in documents]
    total = sum(map(len, gold))
    for name, splitter in splitters():
        ours = [_ends(s for p in document.paragraphs for s in splitter(p)) for document in documents]
        f1 = _f1(map(_stretches, gold), map(_stretches, ours))
        seconds = least(lambda: [list(splitter(p)) for d in documents for p in d.paragraphs], repeat=repeat)  # noqa: B023
        yield Cutting(name, f1, total / seconds)


def measure_tokenizers(documents: Sequence[Document], *, repeat: int) -> Iterator[Cutting]:
    """Yield how each word tokenizer that is installed does."""
    gold = [sentence for document in documents for sentence in document.gold]
    texts = list(map(text_of, gold))
    total = sum(map(len, gold))
    for name, tokenizer in tokenizers():
        ours = [_stretches(_ends(text[a:b] for a, b in tokenizer(text))) for text in texts]
        f1 = _f1((_stretches(_ends(sentence.words)) for sentence in gold), ours)
        seconds = least(lambda: [list(tokenizer(text)) for text in texts], repeat=repeat)  # noqa: B023
        yield Cutting(name, f1, total / seconds)


def _ends(parts: Iterable[str]) -> list[int]:
    """Return where the parts end in the text without white space."""
    lengths = [len("".join(part.split())) for part in parts]
    return list(accumulate(length for length in lengths if length))


def _stretches(ends: list[int]) -> set[tuple[int, int]]:
    return set(zip([0, *ends], ends, strict=False))


def _f1(gold: Iterable[set[tuple[int, int]]], ours: Iterable[set[tuple[int, int]]]) -> float:
    right = total = 0
    for one, two in zip(gold, ours, strict=True):
        right += len(one & two)
        total += len(one) + len(two)
    return 200 * right / total


def splitters() -> Iterator[tuple[str, Splitter]]:
    """Yield the sentence splitters that are installed."""
    yield "h3n (sentences and words)", lambda text: [text[s[0].start : s[-1].end] for s in split(text)]
    if (sentencex := _installed("sentencex")) is not None:
        yield "sentencex", lambda text: sentencex.segment("en", text)
    if (nupunkt := _installed("nupunkt")) is not None:
        yield "nupunkt", nupunkt.sent_tokenize
    if (pysbd := _installed("pysbd")) is not None:
        yield "pysbd", pysbd.Segmenter(language="en", clean=False).segment
    if (spacy := _installed("spacy")) is not None:
        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer")
        yield "spaCy sentencizer", lambda text: [s.text for s in pipeline(text).sents]


def tokenizers() -> Iterator[tuple[str, Tokenizer]]:
    """Yield the word tokenizers that are installed, as functions from a text to where its words are."""
    yield "h3n", _our_words
    if (nltk := _installed("nltk.tokenize")) is not None:
        yield "NLTK NLTKWordTokenizer", nltk.NLTKWordTokenizer().span_tokenize
        yield "NLTK TreebankWordTokenizer", nltk.TreebankWordTokenizer().span_tokenize
    if (spacy := _installed("spacy")) is not None:
        tokenizer = spacy.blank("en").tokenizer
        yield "spaCy English", lambda text: [(t.idx, t.idx + len(t)) for t in tokenizer(text)]


def _installed(name: str) -> Any:
    """Return a module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _our_words(text: str) -> Iterator[tuple[int, int]]:
    for tokens in split(text):
        for token in tokens:
            at = token.start
            for word in token.words:
                yield at, at + len(word)
                at += len(word)


TREEBANKS = {"GUM": "gum/{part}.conllu.xz", "EWT": "ud/en_ewt-ud-{part}.conllu.xz"}


def main(argv: list[str] | None = None) -> int:
    """Print a table per treebank; return 0."""
    parser = argparse.ArgumentParser(prog="benchmarks.segmentation", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("H3N_DATA"), help="folder of treebanks")
    parser.add_argument("--part", default="dev", choices=["train", "dev"])
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the fastest counts")
    options = parser.parse_args(argv)
    if options.data is None:
        print("not measured: name a folder of treebanks with --data or in H3N_DATA")
        return 0
    for name, path in TREEBANKS.items():
        documents = list(documents_of(formats.read(Path(options.data) / path.format(part=options.part))))
        print(f"{name} {options.part}: {sum(len(d.gold) for d in documents)} sentences, {len(documents)} documents")
        for layout, scores in score_layouts(documents):
            figures = "   ".join(f"{metric} {value:.2f}" for metric, value in scores.items())
            print(f"  h3n, {layout:32} {figures}")
        for one in measure_splitters(documents, repeat=options.repeat):
            print(f"  sentences  {one.name:28} F1 {one.f1:6.2f} {one.rate:9.0f} sentences/s")
        for one in measure_tokenizers(documents, repeat=options.repeat):
            print(f"  words      {one.name:28} F1 {one.f1:6.2f} {one.rate:9.0f} words/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
