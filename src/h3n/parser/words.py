"""A parsed sentence as words and phrases that know each other.

>>> import h3n
>>> tree = h3n.Result.from_dict({
...     "version": 1, "words": ["The", "dogs", "barked"], "lemmas": ["the", "dog", "bark"],
...     "features": ["_", "Number=Plur", "_"], "heads": [2, 3, 0], "relations": ["det", "nsubj", "root"],
...     "tree": "(S (NP (DT The) (NNS dogs)) (VP (VBD barked)))",
... })
>>> [(word.text, word.lemma, word.relation) for word in tree]
[('The', 'the', 'det'), ('dogs', 'dog', 'nsubj'), ('barked', 'bark', 'root')]
>>> dogs = tree[1]
>>> dogs.features, dogs.governor, dogs.dependents
({'Number': 'Plur'}, <word 2: 'barked'>, (<word 0: 'The'>,))
>>> dogs.phrase, dogs.phrase.parent, dogs.phrase.head == dogs
(<NP: 'The dogs'>, <S: 'The dogs barked'>, True)
>>> tree.common(tree[0], tree[2]).children
(<NP: 'The dogs'>, <VP: 'barked'>)
>>> tree.find("NP @lemma dog @feature Number=Plur")
(<NP: 'The dogs'>,)
>>> tree.at(4, 8), tree.at(0, 8), tree.text[dogs.start:dogs.end]
(<word 1: 'dogs'>, <NP: 'The dogs'>, 'dogs')

``start`` and ``end`` are characters of the text that was parsed, as in `Result.offsets`. A unary chain is several
phrases, each the only child of the one before. Nothing is worked out before somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from h3n.convert.rules.finding import Columns, compiled, fitting, link
from h3n.convert.rules.nodes import LinkedNode
from h3n.parser.navigation import subtree_of
from h3n.text.sentences import tokens_of
from h3n.trees import ROOT

if TYPE_CHECKING:
    from h3n.parser.results import Result

NONE = "_"  # no value in a column


class Links:
    """What the words and phrases of one look at a result share; each part is made once."""

    def __init__(self, tree: Result) -> None:
        self.tree = tree

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(Word(index, self) for index in range(len(self.tree)))

    @cached_property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        return self.tree.offsets

    @cached_property
    def governors(self) -> tuple[int, ...]:
        return self.tree.governors_for()

    @cached_property
    def dependents(self) -> list[list[Word]]:
        below: list[list[Word]] = [[] for _ in self.words]
        for word, governor in zip(self.words, self.governors, strict=True):
            if governor != ROOT:
                below[governor].append(word)
        return below

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """All phrases, outer before inner, left before right."""
        found: list[Phrase] = []
        around: list[Phrase] = []  # those that the next one may lie in, the innermost last
        for span in self.tree.spans:
            while around and around[-1].last < span.start:
                around.pop()
            for label in span.labels:
                above = around[-1].index if around else None
                place = (span.start, span.end - 1, span.head, span.confidence)
                found.append(Phrase(label, len(found), *place, above, self))
                around.append(found[-1])
        return tuple(found)

    @cached_property
    def children(self) -> list[list[Phrase | Word]]:
        """The parts of every phrase, from left to right."""
        parts: list[list[Phrase | Word]] = [[] for _ in self.phrases]
        for phrase in self.phrases:
            if phrase.above is not None:
                parts[phrase.above].append(phrase)
        for word, above in zip(self.words, self.around, strict=True):
            if above is not None:
                parts[above.index].append(word)
        for one in parts:
            one.sort(key=lambda part: part.first)
        return parts

    @cached_property
    def around(self) -> list[Phrase | None]:
        """The innermost phrase around each word."""
        found: list[Phrase | None] = [None] * len(self.words)
        for phrase in self.phrases:  # an inner one comes later, and takes its words from those around it
            found[phrase.first : phrase.last + 1] = [phrase] * (phrase.last + 1 - phrase.first)
        return found

    @cached_property
    def headed(self) -> dict[int, Phrase]:
        """The largest phrase of every word that is the head of one."""
        return {phrase.lexical: phrase for phrase in reversed(self.phrases) if phrase.lexical is not None}

    def spelled(self, first: int, last: int) -> str:
        """Return the words from one to another as they were written; a stretch of spacing is one blank."""
        parts: list[str] = []
        for start, end, form, gap in tokens_of(self.tree.flat):
            inside = self.tree.words[max(start, first) : min(end, last + 1)]
            if inside:
                whole = len(inside) == end - start
                parts += (form if whole else "".join(inside), " " if gap and end <= last else "")
        return "".join(parts)

    def lowest(self, first: int, last: int) -> Phrase | None:
        """Return the smallest phrase that holds all words from one to another."""
        phrase = self.around[first]
        while phrase is not None and phrase.last < last:
            phrase = phrase.parent
        return phrase


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Word:
    """A word of a parsed sentence; ``index`` is its number, from 0."""

    index: int
    links: Links

    def __repr__(self) -> str:
        return f"<word {self.index}: {self.text!r}>"

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Word):
            return NotImplemented
        return self.index == other.index and _is_same(self.links, other.links)

    def __hash__(self) -> int:
        return hash((self.index, self.text))

    @property
    def tree(self) -> Result:
        """The sentence the word is in."""
        return self.links.tree

    @property
    def text(self) -> str:
        return self.tree.words[self.index]

    @property
    def lemma(self) -> str | None:
        """The form that a dictionary has; None where it is not known."""
        lemma = _cell(self.tree.lemmas, self.index)
        return lemma if lemma != NONE or self.text == NONE else None

    @property
    def tag(self) -> str | None:
        """The part-of-speech tag of the treebank (XPOS); None where there is none."""
        return _cell(self.tree.tags, self.index) or None

    @property
    def upos(self) -> str | None:
        """The universal part-of-speech tag; None where there is none."""
        return _cell(self.tree.upos, self.index) or None

    @property
    def features(self) -> dict[str, str]:
        """The morphological features by their names: ``{"Number": "Plur"}``; empty where none are known."""
        return features_of(_cell(self.tree.features, self.index) or NONE)

    @property
    def governor(self) -> Word | None:
        """The word that this one hangs on; None for the root word."""
        governor = self.links.governors[self.index]
        return None if governor == ROOT else self.links.words[governor]

    @property
    def relation(self) -> str:
        """The relation to the governor."""
        _ = self.links.governors  # which raises where there are none
        return self.tree.relations[self.index]

    @property
    def confidence(self) -> float | None:
        """How sure the governor is; None where nobody knows."""
        return self.tree.arcs[self.index].confidence if self.tree.arcs else None

    @property
    def dependents(self) -> tuple[Word, ...]:
        """The words that hang on this one, from left to right."""
        return tuple(self.links.dependents[self.index])

    @property
    def ancestors(self) -> tuple[Word, ...]:
        """The governor, its governor, and so on up to the root word."""
        return tuple(self._upwards())

    def _upwards(self) -> Iterator[Word]:
        word = self.governor
        while word is not None:
            yield word
            word = word.governor

    @property
    def subtree(self) -> tuple[Word, ...]:
        """This word and all below it, from left to right."""
        return tuple(self.links.words[index] for index in subtree_of(self.links.governors, self.index))

    @property
    def start(self) -> int:
        """Where the word begins in the text."""
        return self.links.offsets[self.index][0]

    @property
    def end(self) -> int:
        """Where the word ends in the text."""
        return self.links.offsets[self.index][1]

    @property
    def phrase(self) -> Phrase | None:
        """The largest phrase whose head this word is; None where it is the head of none."""
        return self.links.headed.get(self.index)

    @property
    def parent(self) -> Phrase | None:
        """The phrase right around the word."""
        return self.links.around[self.index]

    @property
    def first(self) -> int:
        return self.index

    @property
    def last(self) -> int:
        return self.index


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Phrase:
    """A phrase with one label; ``first`` and ``last`` are the numbers of its words, ``index`` is its own number."""

    label: str
    index: int
    first: int
    last: int
    lexical: int | None
    confidence: float
    above: int | None
    links: Links

    def __repr__(self) -> str:
        return f"<{self.label}: {self.text!r}>"

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return self.last + 1 - self.first

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Phrase):
            return NotImplemented
        return self.index == other.index and _is_same(self.links, other.links)

    def __hash__(self) -> int:
        return hash((self.index, self.label, self.first, self.last))

    @property
    def tree(self) -> Result:
        """The sentence the phrase is in."""
        return self.links.tree

    @property
    def head(self) -> Word | None:
        """The head word; None where the decoder finds no heads."""
        return None if self.lexical is None else self.links.words[self.lexical]

    @property
    def words(self) -> tuple[Word, ...]:
        return self.links.words[self.first : self.last + 1]

    @property
    def text(self) -> str:
        """The phrase as it was written, a stretch of spacing as one blank."""
        return self.links.spelled(self.first, self.last)

    @property
    def parent(self) -> Phrase | None:
        """The phrase right around this one; None for the whole sentence."""
        return None if self.above is None else self.links.phrases[self.above]

    @property
    def children(self) -> tuple[Phrase | Word, ...]:
        """The phrases and words right below, from left to right."""
        return tuple(self.links.children[self.index])

    @property
    def start(self) -> int:
        """Where the first word begins in the text."""
        return self.links.offsets[self.first][0]

    @property
    def end(self) -> int:
        """Where the last word ends in the text."""
        return self.links.offsets[self.last][1]


Part: TypeAlias = Word | Phrase


def features_of(column: str) -> dict[str, str]:
    """Return the features of a word by their names: ``Case=Nom|Number=Sing`` has two, ``_`` has none."""
    pairs = (pair.partition("=") for pair in column.split("|") if pair not in ("", NONE))
    return {name: value for name, _, value in pairs}


def at_characters(links: Links, start: int, end: int) -> Part | None:
    """Return the word, or else the smallest phrase, that holds all words which these characters touch."""
    touched = [word for word, (first, last) in enumerate(links.offsets) if first < max(end, start + 1) and start < last]
    if not touched:
        return None
    return links.words[touched[0]] if len(touched) == 1 else links.lowest(touched[0], touched[-1])


def common_phrase(one: Part, other: Part) -> Phrase | None:
    """Return the smallest phrase that holds both; one of them where it holds the other."""
    around = {phrase.index for phrase in _around(other)}
    return next((phrase for phrase in _around(one) if phrase.index in around), None)


def _around(part: Part) -> Iterator[Phrase]:
    """Yield the phrases from a part upwards, a phrase itself first."""
    phrase = part if isinstance(part, Phrase) else part.parent
    while phrase is not None:
        yield phrase
        phrase = phrase.parent


def find_parts(links: Links, pattern: str) -> tuple[Part, ...]:
    """Return the words and phrases that a pattern fits."""
    tree, fits = links.tree, compiled(pattern)
    columns = Columns(
        words=tree.words,
        tags=tree.tags,
        upos=tree.upos,
        lemmas=tree.lemmas,
        features=tree.features,
        governors=tree.governors,
        relations=tree.relations,
        spans=[(span.start, span.end, span.label, span.head) for span in tree.spans],
    )
    nodes = link(columns)
    parts: dict[LinkedNode, Part] = dict(zip(nodes.phrases, links.phrases, strict=True))
    parts.update(zip(nodes.words, links.words, strict=True))
    return tuple(parts[node] for node in fitting(nodes, fits))


def _cell(column: tuple[str, ...], index: int) -> str | None:
    return column[index] if column else None


def _is_same(one: Links, other: Links) -> bool:
    return one is other or one.tree is other.tree or one.tree == other.tree
