"""The bracket dialect of the SPMRL shared tasks: morphology between double hashes on the tag.

``(NP (DET##lem=le|g=m|n=s## le) (NC##lem=chat|g=m|n=s## chat))``. The tree and ``tags`` hold the bare tags. An
attribute ``lem`` in the first place becomes the word's lemma, all others its features; ``##_##`` says that there are
none. On a label the hashes are left where they are: they are function tags, and go with ``strip_functions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import repeat

from h3n.errors import TreeError
from h3n.files import Source
from h3n.formats import brackets
from h3n.formats.builder import unescape
from h3n.formats.options import READING, WRITING, Reading, Writing
from h3n.trees import TRACE, Constituent, Leaf, Sentence, leaves, map_leaves

MARK = "##"
_LEMMA = "lem="
_NONE = "_"


def read(source: Source, options: Reading = READING) -> Iterator[Sentence]:
    """Yield the sentence of every tree, as `h3n.formats.brackets.read` does."""
    return map(_plain, brackets.read(source, options))


def _plain(sentence: Sentence) -> Sentence:
    """Return the sentence with its morphology moved from the tags to columns of its own."""
    if sentence.tree is None or sentence.tags is None or not any(MARK in tag for tag in sentence.tags):
        return sentence
    tags, lemmas, features = zip(*map(_analysed, sentence.tags), strict=True)
    tree = _retagged(sentence.tree, tags)
    known = tags if any(tag not in ("", _NONE) for tag in tags) else None
    return replace(sentence, tree=tree, tags=known, lemmas=_column(lemmas), features=_column(features))


def _column(values: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if values.count(_NONE) == len(values) else values


def _analysed(tag: str) -> tuple[str, str, str]:
    """Return the bare tag, the lemma and the features."""
    bare, _, rest = tag.partition(MARK)
    bare = bare or _NONE
    if bare == TRACE:  # a trace has no morphology; without it, the word would be one
        return tag, _NONE, _NONE
    first, *others = unescape(rest.removesuffix(MARK)).split("|")
    if first.startswith(_LEMMA):
        return bare, first.removeprefix(_LEMMA) or _NONE, "|".join(others) or _NONE
    lemma = next((other.removeprefix(_LEMMA) for other in others if other.startswith(_LEMMA)), "")
    return bare, lemma or _NONE, "|".join((first, *others)) or _NONE


def _retagged(tree: Constituent, tags: Iterable[str]) -> Constituent:
    rest = iter(tags)
    return map_leaves(tree, lambda leaf: leaf if leaf.tag == TRACE else Leaf(next(rest), leaf.word))


def written(sentence: Sentence, options: Writing = WRITING) -> str:
    """Return the tree as `h3n.formats.brackets.written` does, with the morphology on the tags."""
    return brackets.written(_annotated(sentence), options)


def _annotated(sentence: Sentence) -> Sentence:
    if sentence.tree is None or not sentence.words:
        return sentence
    if sentence.lemmas is None and sentence.features is None:
        _check_tags(sentence.tree)
        return sentence
    tags = sentence.tags or tuple(leaf.tag for leaf in leaves(sentence.tree) if leaf.tag != TRACE)
    columns = zip(tags, sentence.lemmas or repeat(_NONE), sentence.features or repeat(_NONE), strict=False)
    return replace(sentence, tree=_retagged(sentence.tree, (_annotation(*column) for column in columns)))


def _check_tags(tree: Constituent) -> None:
    tag = next((leaf.tag for leaf in leaves(tree) if MARK in leaf.tag), None)
    if tag is not None:
        raise TreeError(f"the tag {tag!r} would be read as one with morphology in SPMRL")


def _annotation(tag: str, lemma: str, features: str) -> str:
    attributes = [] if features == _NONE else features.split("|")
    if lemma != _NONE and not any(attribute.startswith(_LEMMA) for attribute in attributes):
        attributes.insert(0, _LEMMA + lemma)
    annotated = f"{tag or _NONE}{MARK}{'|'.join(attributes) or _NONE}{MARK}"
    if _analysed(annotated) != (tag or _NONE, unescape(lemma), unescape(features)):
        raise TreeError(f"the tag {tag!r}, lemma {lemma!r} and features {features!r} cannot be told apart in SPMRL")
    return annotated
