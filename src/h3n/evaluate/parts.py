"""Two versions of one text, read side by side and cut into parts that can be scored on their own.

A part ends where both sides end a sentence with the same token. No arc crosses such a place, and the alignment, which
may take in words left over from before a multiword token, is through with both sides there. So the counts of the parts
add up to those of the whole files, to the last word as the official scorer aligns them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from h3n.evaluate.alignment import Text, check_characters, text_of, tokens_of
from h3n.trees import Sentence

PART = 200  # sentences: enough to make little of the work around each part


def parallel_parts(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> Iterator[tuple[Text, Text]]:
    """Yield the two texts part by part; raise `MismatchError` as soon as their characters differ.

    A part has at least `PART` gold sentences, unless it is the last, and as many more as it takes until both sides end
    a sentence with the same token.
    """
    wanted, found = _Side(gold, "gold"), _Side(predicted, "predicted")
    while True:
        level = not wanted.ahead and not found.ahead and wanted.last_token == found.last_token
        if level and len(wanted.held) >= PART:
            yield wanted.text(), found.text()
        behind, other = (found, wanted) if wanted.ahead else (wanted, found)
        if not behind.read() and (other.ahead or not other.read()):
            break
        if not _matched(wanted, found):
            break
    # Equal here unless one side differs or goes on alone.
    check_characters(last := wanted.text(), rest := found.text())
    yield last, rest


class _Side:
    """One file on its way: the sentences held back, and how many of their last characters the other lacks so far."""

    def __init__(self, sentences: Iterable[Sentence], name: str) -> None:
        self.sentences = iter(sentences)
        self.name = name
        self.before = 0
        self.held: list[Sentence] = []
        self.characters = ""  # of the sentences since both sides were level
        self.ahead = 0
        self.last_token = 0  # its length

    def read(self) -> bool:
        """Take up the next sentence; return whether there was one."""
        sentence = next(self.sentences, None)
        if sentence is None:
            return False
        self.held.append(sentence)
        forms = [form for form, _ in tokens_of(sentence)]
        self.last_token = len(forms[-1]) if forms else self.last_token
        characters = "".join(forms)
        self.characters = self.characters[len(self.characters) - self.ahead :] + characters
        self.ahead += len(characters)
        return True

    def text(self) -> Text:
        """Return the sentences held back as one text, and hold them no longer."""
        text = text_of(self.held, self.name, before=self.before)
        self.before += len(self.held)
        self.held = []
        return text


def _matched(one: _Side, other: _Side) -> bool:
    """Return whether the characters that both sides have by now are the same, and count them off."""
    shared = min(one.ahead, other.ahead)
    start, start_too = (len(side.characters) - side.ahead for side in (one, other))
    if one.characters[start : start + shared] != other.characters[start_too : start_too + shared]:
        return False
    one.ahead -= shared
    other.ahead -= shared
    return True
