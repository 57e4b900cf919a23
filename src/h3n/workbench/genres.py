"""The genre of each sentence, as far as a treebank's comments say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from h3n.trees import Sentence

# GUM_academic_art, GENTLE_poetry_raven; weblog-blogspot.com_... (EWT)
_NAMES = (re.compile(r"[A-Z]+_([A-Za-z]+)_"), re.compile(r"([A-Za-z]+)-"))
UNKNOWN = "unknown"


def genres(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield the genre of each sentence: of ``# genre = NAME``, or of the name in ``# newdoc id``, which holds for the
    sentences that follow too, or in ``# sent_id``."""
    document = UNKNOWN
    for sentence in sentences:
        comments = dict(_entries(sentence.comments))
        if "newdoc id" in comments:
            document = _in_name(comments["newdoc id"])
        if "genre" in comments:
            if "newdoc id" in comments:
                document = comments["genre"]
            yield comments["genre"]
        elif document != UNKNOWN:
            yield document
        else:
            yield _in_name(comments.get("sent_id", ""))


def _entries(comments: Iterable[str]) -> Iterator[tuple[str, str]]:
    for comment in comments:
        key, equals, value = comment.lstrip("# ").partition("=")
        if equals:
            yield key.strip().removeprefix("meta::"), value.strip()


def _in_name(name: str) -> str:
    matches = (pattern.match(name) for pattern in _NAMES)
    return next((match[1] for match in matches if match is not None), UNKNOWN)
