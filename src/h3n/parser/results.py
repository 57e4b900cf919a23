"""What a parse is to its user: both trees of one sentence, in every form one may want them.

Words are counted from 0 and spans are half-open, as in Python: ``words[span.start:span.end]``, ``words[span.head]``.
`Result.heads` alone counts as CoNLL files do, from 1 with 0 for the root, because that is what its name means to
everybody; `Result.governors` is the same from 0, with -1 for the root.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

from h3n import draw, formats, text
from h3n.errors import MissingExtra, Place, TreeError
from h3n.formats import Writing, jsonl
from h3n.parser.lazy import Arc, Found, LabelledSpan, Lazy, fill_lazily
from h3n.parser.navigation import check_word, children_of, path_between, subtree_of
from h3n.parser.objects import added_to, parts_of
from h3n.parser.words import Links, Part, Phrase, Word, at_characters, common_phrase, find_parts
from h3n.trees import ROOT, Constituent, JointTree, Leaf, Sentence, bare_label

BLANK = "_"  # for a blank inside a word, which brackets cannot show
NOUN_PHRASE = "NP"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Result(Lazy):
    """A parsed sentence: a sequence of its words (`Word`), with its phrases (`Phrase`) in ``phrases``.

    ``sentence`` and ``joint`` are the trees as the rest of the library takes them, ``spans`` and ``arcs`` the same
    with confidences; helper spans are in ``joint`` alone. What the decoder does not find is empty, or None. ``source``
    is the number of the input the sentence is from, where several were given; ``note`` says why a sentence was not
    parsed. Results of a parser make their trees when they are first asked for them.
    """

    sentence: Sentence
    joint: JointTree | None = None
    spans: tuple[LabelledSpan, ...] = ()
    arcs: tuple[Arc, ...] = ()
    score: float = 0.0
    source: int = 0
    note: str | None = None

    @classmethod
    def of(cls, found: Found, source: int) -> Result:
        """Return the result of what was found; its trees are made when they are asked for."""
        result = cls.__new__(cls)
        fill_lazily(result, found, score=found.named.parse.score, source=source, note=None)
        return result

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Result:
        """Return the result that `to_dict` made this of; from a treebank's object, its trees with confidence 1."""
        place = Place("the object", 1)
        return cls(**parts_of(jsonl.sentence_of(dict(table), place), table, place))

    def __len__(self) -> int:
        return len(self.flat)

    def __iter__(self) -> Iterator[Word]:
        return iter(Links(self).words)

    @overload
    def __getitem__(self, index: int) -> Word: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Word, ...]: ...

    def __getitem__(self, index: int | slice) -> Word | tuple[Word, ...]:
        links = Links(self)
        return links.words[index] if isinstance(index, slice) else Word(range(len(self))[index], links)

    def __repr__(self) -> str:
        return f"<h3n result: {self.text!r}>"

    def __str__(self) -> str:
        return self.pretty().removesuffix("\n")

    @property
    def words(self) -> tuple[str, ...]:
        return self.flat.words

    @property
    def tags(self) -> tuple[str, ...]:
        """Part-of-speech tags of the treebank (XPOS): those given, or else predicted ones."""
        return self.flat.tags or ()

    @property
    def upos(self) -> tuple[str, ...]:
        """Universal part-of-speech tags: those given, or else predicted ones."""
        return self.flat.upos or ()

    @property
    def lemmas(self) -> tuple[str, ...]:
        """The forms that a dictionary has, where they were given or predicted."""
        return self.flat.lemmas or ()

    @property
    def features(self) -> tuple[str, ...]:
        """Morphological features as in CoNLL-U (``Case=Nom|Number=Sing``), where they were given or predicted."""
        return self.flat.features or ()

    @property
    def heads(self) -> tuple[int, ...]:
        """Governors as in CoNLL files: words count from 1, 0 is the root."""
        return tuple(governor + 1 for governor in self.governors)

    @property
    def governors(self) -> tuple[int, ...]:
        """Governors as indices into ``words``; -1 is the root."""
        return self.flat.dependencies.governors if self.flat.dependencies is not None else ()

    @property
    def relations(self) -> tuple[str, ...]:
        return self.flat.dependencies.relations if self.flat.dependencies is not None else ()

    @property
    def tree(self) -> Constituent | None:
        return self.sentence.tree

    @property
    def root(self) -> int | None:
        """The word on which all others hang; None where there are no dependencies."""
        return self.governors.index(ROOT) if self.governors else None

    @property
    def confidence(self) -> float:
        """The mean confidence of all arcs and phrases; 0 where there are none."""
        sure = [arc.confidence for arc in self.arcs] + [span.confidence for span in self.spans]
        return sum(sure) / len(sure) if sure else 0.0

    @property
    def noun_phrases(self) -> tuple[LabelledSpan, ...]:
        """The phrases labelled NP, alone or in a unary chain, an outer one before those inside it."""
        return tuple(span for span in self.spans if NOUN_PHRASE in map(bare_label, span.labels))

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """All phrases, an outer one before those inside it; the labels of a unary chain are phrases of their own."""
        return Links(self).phrases

    def at(self, start: int, end: int) -> Part | None:
        """Return the word, or else the smallest phrase, over what stands at these characters of the text.

        None where no word is there, or no phrase over all of them. Characters are counted as in ``offsets``.
        """
        return at_characters(Links(self), start, end)

    def common(self, one: Part, other: Part) -> Phrase | None:
        """Return the smallest phrase over two words or phrases; one of them where it holds the other."""
        return common_phrase(one, other)

    def find(self, pattern: str) -> tuple[Part, ...]:
        """Return the words and phrases that a pattern fits, from left to right, outer before inner (docs/corpus.md)."""
        return find_parts(Links(self), pattern)

    def children(self, word: int) -> tuple[int, ...]:
        """Return the words that hang on a word, from left to right; -1 is the root."""
        return children_of(self.governors_for(word), word)

    def subtree(self, word: int) -> tuple[int, ...]:
        """Return a word and all words below it, from left to right."""
        return subtree_of(self.governors_for(word), word)

    def path(self, first: int, last: int) -> tuple[int, ...]:
        """Return the words on the way from one word to another along arcs, both included."""
        return path_between(self.governors_for(first, last), first, last)

    def phrase(self, word: int) -> LabelledSpan | None:
        """Return the largest phrase whose head is the word; None where it is the head of none."""
        check_word(word, len(self))
        if not any(span.head is not None for span in self.spans):
            why = self._why_not("a decoder that finds one tree alone")
            raise TreeError(f"{self!r} has no phrases with heads: {why}")
        return next((span for span in self.spans if span.head == word), None)

    def governors_for(self, *words: int) -> tuple[int, ...]:
        """Return the governors, or raise why there are none; every one of the words must be there."""
        for word in words:
            check_word(word, len(self))
        if not self.governors:
            raise TreeError(f"{self!r} has no dependencies: {self._why_not('a decoder for phrase structure alone')}")
        return self.governors

    def _why_not(self, decoder: str) -> str:
        return self.note or (f"it was parsed with {decoder}" if self.words else "it has no words")

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Start and end of every word in the text it was parsed from; in `text` where it was not parsed from one."""
        return text.offsets(self.flat)

    @property
    def text(self) -> str:
        """The sentence as it was written, as far as that is known, or else its words with blanks between."""
        return text.written(self.flat)

    def brackets(self, *, indent: bool = False) -> str:
        """Return the phrase structure in Penn Treebank notation; a blank inside a word is written ``_``."""
        if self.note is not None:
            return ""
        if not indent and (line := self.bracket_line()) is not None:
            return line
        return _written(self.sentence, "brackets", Writing(indent=indent, blank=BLANK)).removesuffix("\n")

    def joint_brackets(self) -> str:
        """Return both trees on one line: brackets with heads and relations marked."""
        return draw.joint_brackets(self.drawable) if self.words and self.note is None else ""

    def conllu(self) -> str:
        """Return the rows of a CoNLL-U file, with its text above them and the empty line that ends a sentence."""
        sentence = text.with_text(self.flat)
        if self.note is not None:
            sentence = replace(sentence, comments=(*sentence.comments, f"# note = {self.note}"))
        return _written(sentence, "conllu", Writing())

    def to_dict(self, *, digits: int | None = None) -> dict[str, Any]:
        """Return everything as lists, numbers and strings: what `json` writes.

        ``digits`` rounds confidences and score, the last digits of which depend on what is parsed at the same time.
        """
        table = jsonl.object_of(self.sentence)
        table |= {"text": self.text, "offsets": self.offsets}
        return table | added_to(self, digits=digits)

    def json(self) -> str:
        """Return one line of JSON; `h3n.read` gives results back, and all commands read files of such lines."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def pretty(self, *, width: int = 80, colour: bool = False) -> str:
        """Return a drawing for the terminal, one word a line, with its governor beside it."""
        if self.note is not None:
            return f"({self.note})\n"
        return draw.pretty(self.drawable, width=width, colour=colour)

    def svg(self, *, theme: str = "auto", fit: int | None = None, confidence: bool = False) -> str:
        """Return a picture: the phrase tree above the words, the arcs below.

        A sentence wider than ``fit`` pixels stands in rows; ``confidence`` shades what is not sure.
        """
        return draw.svg(self.with_confidence if confidence else self.drawable, theme=theme, fit=fit)

    def png(
        self, *, theme: str = "auto", fit: int | None = None, confidence: bool = False, scale: float = 2.0
    ) -> bytes:
        """Return the same picture as the bytes of a PNG file, ``scale`` times as large; needs the extra ``png``."""
        return draw.png(self.svg(theme=theme, fit=fit, confidence=confidence), scale=scale)

    def to_nltk(self) -> Any:
        """Return the phrase structure as an ``nltk.Tree``, the words as they are; needs NLTK."""
        try:
            from nltk import Tree
        except ImportError:
            raise MissingExtra("NLTK trees", "nltk") from None
        if self.tree is None:
            raise TreeError(f"{self!r} has no phrase structure: {self._why_not('a decoder for dependencies alone')}")
        return _rebuilt(self.tree, Tree)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        # Notebooks cut off what is too wide unless it may scroll.
        return f'<div style="overflow-x: auto">{self.svg()}</div>'

    @property
    def drawable(self) -> JointTree | Sentence:
        """What the functions of `h3n.draw` take: the joint tree, or what there is of it."""
        return self.joint if self.joint is not None else self.sentence

    @property
    def with_confidence(self) -> draw.WithConfidence:
        """The same with a confidence for every phrase and arc, which pictures show as shades."""
        spans = {(span.start, span.end): span.confidence for span in self.spans}
        return draw.WithConfidence(self.drawable, spans, [arc.confidence for arc in self.arcs])


def _written(sentence: Sentence, name: str, options: Writing) -> str:
    stream = io.StringIO()
    formats.write([sentence], stream, format=name, options=options)
    return stream.getvalue()


def _rebuilt(tree: Constituent, kind: Any) -> Any:
    """Return the tree as one of another kind, made of a label and a list; does not recurse."""
    top = kind(tree.label, [])
    stack = [(tree, top)]
    while stack:
        node, target = stack.pop()
        for child in node.children:
            if isinstance(child, Leaf):
                target.append(kind(child.tag, [child.word]) if child.tag else child.word)
            else:
                target.append(kind(child.label, []))
                stack.append((child, target[-1]))
    return top
