"""The sentences of a treebank's files, as the recipe says they are to be read."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from h3n import formats
from h3n.convert.phrases import NO_TAG
from h3n.errors import InputError, MismatchError, TreeError
from h3n.files import read_bytes
from h3n.formats import Reading
from h3n.formats.spelling import same_words, with_words
from h3n.prepare import alpino, genia
from h3n.prepare.align import OnLoss, align
from h3n.treebanks import Layout, Pair, Recipe
from h3n.trees import TRACE, Constituent, Leaf, Node, Sentence, leaves, rebuild

_SGML = re.compile(r"\s*<.*>\s*")
_BLANK = re.compile("_+")
BOTH = frozenset({"alpino"})  # formats of trees that bring their dependencies along


class _Text(io.StringIO):
    """A text with the name of the file it comes from, so that messages can say it."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def read_pair(pair: Pair, recipe: Recipe, layout: Layout, *, options: Reading, on_loss: OnLoss) -> Iterator[Sentence]:
    """Yield the sentences of a pair of files with the trees there are; ``on_loss`` hears of those without a partner."""
    if pair.trees is None:
        if pair.dependencies is None:
            raise MismatchError("a pair of no files")
        yield from formats.read(pair.dependencies, format=layout.dependencies_format, options=options)
        return
    trees = _read_trees(pair.trees, recipe, layout, options, on_loss)
    if pair.dependencies is None:
        yield from trees
        return
    dependencies = formats.read(pair.dependencies, format=layout.dependencies_format, options=options)
    empty: list[Sentence] = []
    for left, right in align(_with_words(trees, empty), dependencies, same=_same(recipe), on_loss=on_loss):
        yield _merge(left, right)
    yield from empty


def _read_trees(file: Path, recipe: Recipe, layout: Layout, options: Reading, on_loss: OnLoss) -> Iterator[Sentence]:
    clean = _cleaner(recipe, layout)
    for sentence in _raw_trees(file, layout, options):
        if sentence.tree is not None and next(leaves(sentence.tree), None) is None:
            on_loss(sentence, TreeError(f"{sentence.place}: a tree without words"))
            continue
        tree = clean(sentence.tree) if sentence.tree is not None else None
        found = list(leaves(tree)) if tree is not None else []
        whole = len(found) == len(sentence)  # otherwise nobody knows which of the other columns' cells are left
        yield replace(
            sentence,
            words=tuple(leaf.word for leaf in found),
            tags=tuple(leaf.tag or NO_TAG for leaf in found),
            lemmas=sentence.lemmas if whole else None,
            features=sentence.features if whole else None,
            tree=tree,
        )


def _with_words(sentences: Iterator[Sentence], empty: list[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences with words; the others, which no dependencies can stand against, are put aside."""
    for sentence in sentences:
        if sentence.words:
            yield sentence
        else:
            empty.append(sentence)


def _raw_trees(file: Path, layout: Layout, options: Reading) -> Iterator[Sentence]:
    if layout.trees_format == "genia":
        return genia.read(file, options)
    if layout.trees_format == "alpino":
        return alpino.read(file, options)
    if layout.encodings == ("utf-8",) and not layout.sgml:
        return formats.read(file, format=layout.trees_format, options=options)
    # Between the trees of such a file stands markup, so it is the brackets that say where a tree ends.
    text = _Text(_decoded(file, layout), str(file))
    return formats.read(text, format=layout.trees_format, options=replace(options, layout="free"))


def _decoded(file: Path, layout: Layout) -> str:
    """Return a file's text in the first encoding that fits; markup leaves empty lines, so that line numbers hold."""
    raw = read_bytes(file)
    for encoding in layout.encodings:
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise InputError(f"{file}: is in none of the encodings {', '.join(layout.encodings)}")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return "\n".join("" if layout.sgml and _SGML.fullmatch(line) else line for line in lines)


def _cleaner(recipe: Recipe, layout: Layout) -> Callable[[Constituent], Constituent | None]:
    """Return what takes all that is not a word out of a tree; None is left of a tree without words."""
    dropped = re.compile(layout.drop_words) if layout.drop_words is not None else None
    tags = {TRACE, *layout.drop_tags}

    def leaf(node: Leaf) -> Leaf | None:
        if node.tag in tags or (dropped is not None and dropped.fullmatch(node.word)):
            return None
        word, tag = node.word, node.tag
        if layout.lemma_mark is not None:
            word = word.rpartition(layout.lemma_mark)[0] or word
        if recipe.tag_functions:
            tag = tag.partition("-")[0] or tag
        return node if (tag, word) == (node.tag, node.word) else Leaf(tag, word)

    def bracket(node: Constituent, children: tuple[Node, ...]) -> Constituent | None:
        return Constituent(node.label, children) if children else None

    def clean(tree: Constituent) -> Constituent | None:
        cleaned = rebuild(tree, leaf, bracket)
        return cleaned if isinstance(cleaned, Constituent) else None

    return clean


def is_blanked(sentence: Sentence) -> bool:
    """Return whether all words are underscores: the text was taken out."""
    return all(_BLANK.fullmatch(word) for word in sentence.words)


def _same(recipe: Recipe) -> Callable[[Sentence, Sentence], bool]:
    def same(left: Sentence, right: Sentence) -> bool:
        if same_words(left.words, right.words):
            return True
        return recipe.blanked and len(left) == len(right) and is_blanked(right)

    return same


def _merge(trees: Sentence, dependencies: Sentence) -> Sentence:
    """Return one sentence with both trees; its words, blanked or not, are those of the dependency file.

    Lemmas and features are from there too, or else from the file of trees.
    """
    tree = with_words(trees.tree, dependencies.words) if trees.tree is not None else None
    lemmas, features = dependencies.lemmas or trees.lemmas, dependencies.features or trees.features
    return replace(dependencies, tree=tree, lemmas=lemmas, features=features)
