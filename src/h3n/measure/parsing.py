"""How fast text becomes trees: sentences per second, and where the time goes.

Rates are of wall-clock time, on as many threads as asked for; the parts (`h3n.measure.profile`) are processor time on
one thread, since they are to be compared with each other. Of several runs the fastest counts.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from h3n import text as plain
from h3n.errors import InputError, UsageError, first_line
from h3n.measure.profile import profile_parsing
from h3n.measure.provenance import describe_parser, ran_text
from h3n.measure.samples import plain_text
from h3n.measure.timing import least

if TYPE_CHECKING:
    from h3n.parser import Parser


def read_text(file: Path | None) -> str:
    """Return the text of a file, or one of ours."""
    if file is None:
        return plain_text()
    try:
        text = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8 text") from None
    if not text:
        raise UsageError(f"{file}: there is no text in it")
    return text


def repeat_text(text: str, sentences: int) -> str:
    """Return a text repeated so often that it has at least so many sentences."""
    once = sum(1 for _ in plain.segment(text))
    return "\n\n".join([text] * -(-sentences // once))


def measure_parsing(parser: Parser, text: str, *, decoder: str, repeat: int, profile: bool = False) -> dict[str, Any]:
    """Return the rate of a parser on a text and what ran; with ``profile`` also the seconds of each part."""
    count = sum(1 for _ in parser.parse(text, decoder=decoder))  # and everything is warm
    seconds = least(lambda: drain(parser, text, decoder), repeat=repeat, clock=time.perf_counter)
    words = sum(len(sentence) for sentence in plain.segment(text))
    measured = {
        "sentences": count,
        "words": words,
        "seconds": seconds,
        "sentences_per_second": count / seconds,
        "decoder": decoder,
        "threads": parser.threads,
        "ran": describe_parser(parser),
    }
    if profile:
        measured["parts"] = profile_parsing(parser, text, decoder=decoder, repeat=repeat)
    return measured


def drain(parser: Parser, text: str, decoder: str = "auto") -> None:
    """Parse a text and keep nothing."""
    deque(parser.parse(text, decoder=decoder), 0)


def describe_parsing(measured: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    size = f"{measured['sentences']} sentences, {measured['words']} words"
    lines = [
        f"{size}; {measured['model']}, {measured['decoder']}; {measured['threads']} thread(s)",
        ran_text(measured["ran"]),
        f"{measured['sentences_per_second']:8.1f} sentences/s   text in, both trees out",
    ]
    if "parts" in measured:
        lines += _describe_parts(measured["parts"], measured["sentences"])
    for part, rate in measured.get("spacy", {}).items():
        ratio = measured["sentences_per_second"] / rate
        lines.append(f"{rate:8.1f} sentences/s   spaCy ({part}), dependencies alone: h3n is {ratio:.2f} times as fast")
    return "\n".join(lines)


def _describe_parts(parts: Mapping[str, float], sentences: int) -> Iterator[str]:
    total = sum(parts.values())
    yield f"parts, in processor time on one thread ({1000 * total / sentences:.2f} ms a sentence):"
    for name, seconds in parts.items():
        yield f"{100 * seconds / total:7.1f} %  {name}"


# What is left out of a spaCy pipeline for each of its two rates.
SPACY_PARTS: dict[str, list[str]] = {"whole": [], "parser": ["ner", "lemmatizer", "attribute_ruler"]}


def spacy_rates(name: str, text: str, *, count: int, repeat: int) -> dict[str, float]:
    """Return how many of our sentences a spaCy pipeline parses per second, a paragraph being one of its documents.

    ``whole`` is the pipeline as it comes, names and lemmas included; ``parser`` its tagger and parser alone.
    """
    try:
        import spacy
    except ImportError:
        raise UsageError("--spacy: spaCy is not installed: pip install spacy") from None
    documents = text.split("\n\n")
    rates = {}
    for part, left_out in SPACY_PARTS.items():
        try:
            pipeline = spacy.load(name, exclude=left_out)
        except OSError as error:
            raise InputError(f"spaCy pipeline {name!r} cannot be loaded: {first_line(error)}") from None
        # Once more than ours: the first run is for warming up.
        seconds = least(lambda: deque(pipeline.pipe(documents), 0), repeat=repeat + 1, clock=time.perf_counter)  # noqa: B023
        rates[part] = count / seconds
    return rates
