"""The raw text of a treebank, rebuilt from its sentences, with where every gold token stands in it.

A sentence's text is its `# text`, or where that is missing or spells other words, its words with their `SpaceAfter`.
Sentences of a paragraph follow each other after a space, or after none where the last token says `SpaceAfter=No`;
`# newpar` begins a paragraph, `# newdoc` a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from h3n.text.sentences import spelled, tokens_of, written
from h3n.text.tokens import Token
from h3n.trees import Sentence

BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Document:
    """The gold sentences of a document and the paragraphs of its text."""

    gold: list[Sentence]
    paragraphs: list[str]

    @property
    def text(self) -> str:
        """Return the paragraphs with an empty line between them."""
        return BREAK.join(self.paragraphs)

    def tokens(self) -> list[tuple[Token, ...]]:
        """Return the gold tokens of every sentence with their offsets in `text`, and the words of each."""
        text, at = self.text, 0
        found = []
        for sentence in self.gold:
            tokens = []
            for first, end, form, _ in tokens_of(sentence):
                while text[at].isspace():
                    at += 1
                start, left = at, sum(not character.isspace() for character in form)
                while left:  # a form may hold a blank, and the text another one or a line end in its place
                    left -= not text[at].isspace()
                    at += 1
                tokens.append(Token(text[start:at], start, at, sentence.words[first:end]))
            found.append(tuple(tokens))
        return found


def documents(sentences: Iterable[Sentence]) -> Iterator[Document]:
    """Yield the documents of a treebank; all its sentences are one where it has no `# newdoc`."""
    gold: list[Sentence] = []
    paragraphs: list[str] = []
    for sentence in sentences:
        if not sentence.words:
            continue
        if _begins(sentence, "newdoc") and gold:
            yield Document(gold, paragraphs)
            gold, paragraphs = [], []
        if not paragraphs or _begins(sentence, "newpar"):
            paragraphs.append(text_of(sentence))
        else:
            paragraphs[-1] += ("" if is_joined(gold[-1]) else " ") + text_of(sentence)
        gold.append(sentence)
    if gold:
        yield Document(gold, paragraphs)


def has_text(sentence: Sentence) -> bool:
    """Return whether the sentence says how it was written: `# text`, or `SpaceAfter` somewhere."""
    given = any(comment.startswith("# text =") for comment in sentence.comments)
    return given or any("SpaceAfter=No" in column for column in sentence.misc or ())


def text_of(sentence: Sentence) -> str:
    """Return the sentence as it was written; its words decide where `# text` spells others."""
    text, words = written(sentence), spelled(sentence)
    return text if "".join(text.split()) == "".join(words.split()) else words


def is_joined(sentence: Sentence) -> bool:
    """Return whether no space follows the sentence."""
    *_, (_, _, _, gap) = tokens_of(sentence)
    return not gap


def _begins(sentence: Sentence, unit: str) -> bool:
    return any(comment.startswith(f"# {unit}") for comment in sentence.comments)
