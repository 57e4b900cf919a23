"""How well and how fast plain text is cut into sentences and words, beside the libraries one could take instead.

`python -m benchmarks.segmentation` with the environment variable H3N_DATA naming a folder of treebanks. The raw text
of each document is rebuilt from the sentences of GUM and EWT, a blank line between paragraphs. Sentences, tokens and
words are scored as in the CoNLL 2018 shared task. Libraries that are not installed are left out. Sentence splitters
get a paragraph at a time; word tokenisers, ours too, get one gold sentence at a time.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from h3n import formats
from h3n.evaluate import score_conll18
from h3n.text import segment, split
from h3n.trees import Dependencies, Sentence

TREEBANKS = {"GUM": "gum/{part}.conllu.xz", "EWT": "ud/en_ewt-ud-{part}.conllu.xz"}
Splitter = Callable[[str], Iterable[str]]
Spans = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Document:
    """The gold sentences of a document and the paragraphs of its text."""

    gold: list[Sentence]
    paragraphs: list[str]


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
        documents = list(read_documents(Path(options.data) / path.format(part=options.part)))
        print(f"{name} {options.part}: {sum(len(d.gold) for d in documents)} sentences, {len(documents)} documents")
        report_scores(documents)
        report_sentences(documents, options.repeat)
        report_words(documents, options.repeat)
    return 0


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


def report_scores(documents: list[Document]) -> None:
    """Print Tokens, Words and Sentences of `segment`, for several ways a text may be laid out."""
    layouts: dict[str, Callable[[str], str]] = {
        "blank line between paragraphs": "\n\n{}".format,
        "the same, lines wrapped at 72": lambda text: "\n\n" + textwrap.fill(text, 72, break_on_hyphens=False),
        "one paragraph per line": "\n{}".format,
    }
    gold = [sentence for document in documents for sentence in document.gold]
    for name, layout in layouts.items():
        found: list[Sentence] = []
        for document in documents:
            found += map(attached, segment("".join(map(layout, document.paragraphs))))
        scores = score_conll18(gold, found)
        figures = "   ".join(f"{metric} {scores[metric].f1:.2f}" for metric in ("Tokens", "Words", "Sentences"))
        print(f"  h3n, {name:32} {figures}")


def report_sentences(documents: list[Document], repeat: int) -> None:
    """Print how each sentence splitter does."""
    gold = [cuts([text_of(sentence) for sentence in document.gold]) for document in documents]
    total = sum(len(ends) for ends in gold)
    for name, splitter in splitters():
        found = [cuts([s for p in document.paragraphs for s in splitter(p)]) for document in documents]
        correct = sum(len(stretches(one) & stretches(two)) for one, two in zip(gold, found, strict=True))
        predicted = sum(len(ends) for ends in found)
        seconds = least(lambda cut=splitter: [list(cut(p)) for d in documents for p in d.paragraphs], repeat)
        print(
            f"  sentences  {name:28} F1 {200 * correct / (total + predicted):6.2f} {total / seconds:9.0f} sentences/s"
        )


def report_words(documents: list[Document], repeat: int) -> None:
    """Print how each word tokeniser does."""
    gold = [sentence for document in documents for sentence in document.gold]
    texts = [text_of(sentence) for sentence in gold]
    wanted = [stretches(cuts(sentence.words)) for sentence in gold]
    total = sum(len(sentence) for sentence in gold)
    for name, tokenizer in tokenizers():
        found = [stretches(cuts([text[a:b] for a, b in tokenizer(text)])) for text in texts]
        correct = sum(len(one & two) for one, two in zip(wanted, found, strict=True))
        predicted = sum(len(one) for one in found)
        seconds = least(lambda cut=tokenizer: [list(cut(text)) for text in texts], repeat)
        print(f"  words      {name:28} F1 {200 * correct / (total + predicted):6.2f} {total / seconds:9.0f} words/s")


def cuts(parts: Iterable[str]) -> list[int]:
    """Return where the parts end in the text without white space."""
    lengths = [len("".join(part.split())) for part in parts]
    return list(accumulate(length for length in lengths if length))


def stretches(ends: list[int]) -> set[tuple[int, int]]:
    return set(zip([0, *ends], ends, strict=False))


def least(work: Callable[[], object], repeat: int) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def attached(sentence: Sentence) -> Sentence:
    """Return the sentence with some tree, which scoring asks for and the figures here do not depend on."""
    size = len(sentence)
    return replace(sentence, dependencies=Dependencies(tuple(range(-1, size - 1)), ("root", *["dep"] * (size - 1))))


def splitters() -> Iterator[tuple[str, Splitter]]:
    """Yield the sentence splitters that are installed."""
    yield "h3n (sentences and words)", lambda text: [text[s[0].start : s[-1].end] for s in split(text)]
    try:
        import sentencex

        yield "sentencex", lambda text: sentencex.segment("en", text)
    except ImportError:
        pass
    try:
        import nupunkt

        yield "nupunkt", nupunkt.sent_tokenize
    except ImportError:
        pass
    try:
        import pysbd

        segmenter = pysbd.Segmenter(language="en", clean=False)
        yield "pysbd", segmenter.segment
    except ImportError:
        pass
    try:
        import spacy

        pipeline = spacy.blank("en")
        pipeline.add_pipe("sentencizer")
        yield "spaCy sentencizer", lambda text: [s.text for s in pipeline(text).sents]
    except ImportError:
        pass


def tokenizers() -> Iterator[tuple[str, Callable[[str], Spans]]]:
    """Yield the word tokenisers that are installed, as functions from a text to where its words are."""
    yield "h3n", _our_words
    try:
        from nltk.tokenize import NLTKWordTokenizer, TreebankWordTokenizer

        yield "NLTK NLTKWordTokenizer", NLTKWordTokenizer().span_tokenize
        yield "NLTK TreebankWordTokenizer", TreebankWordTokenizer().span_tokenize
    except ImportError:
        pass
    try:
        import spacy

        tokenizer = spacy.blank("en").tokenizer
        yield "spaCy English", lambda text: [(t.idx, t.idx + len(t)) for t in tokenizer(text)]
    except ImportError:
        pass


def _our_words(text: str) -> Iterator[tuple[int, int]]:
    for tokens in split(text):
        for token in tokens:
            at = token.start
            for word in token.words:
                yield at, at + len(word)
                at += len(word)


if __name__ == "__main__":
    sys.exit(main())
