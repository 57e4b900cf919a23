"""The files of an experiment: which of the alternatives is there, which are missing, how they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from h3n.config import expand
from h3n.convert import to_phrases
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.errors import InputError, TreeError, UsageError
from h3n.experiments.experiment import Experiment, Learned, Make
from h3n.files import input_errors
from h3n.formats import guess_format, read, write
from h3n.treebanks import load_recipe
from h3n.trees import Sentence

COMPRESSED = ("", ".xz", ".gz", ".bz2")
LEARNED: dict[str, Learned] = {
    "brackets": "constituents",
    "spmrl": "constituents",
    "conllu": "dependencies",
    "conllx": "dependencies",
}


def learned_format(file: str) -> str:
    """Return the format of a treebank file by its name; only formats with one tree are accepted."""
    name = guess_format(file)
    if name not in LEARNED:
        raise UsageError(f"{file}: {name} in an experiment; expected one file for each tree: {', '.join(LEARNED)}")
    return name


def find_file(pattern: str, *, variant: str, made: Path) -> str | None:
    """Return the file that is there of the alternatives in a pattern, ``$VARIABLES`` left as they are.

    Files that the experiment makes need not be there yet.
    """
    for one in pattern.replace("{variant}", variant).split("|"):
        if "{made}" in one:
            return one.replace("{made}", str(made))
        for ending in COMPRESSED:
            try:
                if expand(one + ending).is_file():
                    return one + ending
            except UsageError:
                return None  # a variable that is not set
    return None


def missing_patterns(patterns: Iterable[str], variants: Iterable[str]) -> list[str]:
    """Return those of the patterns that no file is found for, in any of the variants."""
    wanted = list(dict.fromkeys(patterns))
    return [
        pattern.replace("{variant}", variant)
        for variant in sorted(variants) or ("",)
        for pattern in wanted
        if find_file(pattern, variant=variant, made=Path()) is None
    ]


def check_files(experiment: Experiment, patterns: Iterable[str], *, variants: Iterable[str] = ()) -> None:
    """Raise an error if a file is not there that says how to make it."""
    if lost := missing_patterns(patterns, list(variants) or experiment.variants):
        raise InputError(f"{experiment.name}: {_explain(experiment, lost)}")


def how_to_get(experiment: Experiment) -> list[str]:
    """Return the commands that make the experiment's data from the treebanks as their owners give them out."""
    lines = []
    for need in experiment.needs:
        for variant in experiment.variants if "{variant}" in need.recipe else ("",):
            recipe = need.recipe.replace("{variant}", variant)
            folder = (need.folder or need.recipe).replace("{variant}", variant)
            known = load_recipe(recipe)
            options = f" {need.options}".replace("{scheme}", known.scheme or "").rstrip()
            lines.append(f"h3n prepare {recipe} SOURCE $H3N_DATA/{folder}{options}  # {known.get}")
    return lines


def _explain(experiment: Experiment, lost: list[str]) -> str:
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    ways = "; ".join(how_to_get(experiment)) or "see its data file"
    return (
        f"{lost[0].replace('|', ' or ')}{more} not found (H3N_DATA names the folder of treebanks); to make it: {ways}"
    )


PHRASES = "phrases"
ShowReading = Callable[[Iterable[Sentence], str], Iterable[Sentence]]


def make_file(make: Make, *, watch: ShowReading | None = None) -> Path:
    """Make the file and return where it is; one that is there already is left alone.

    It appears whole or not at all, and it holds a sentence for every one of the source, or an error says which fails.
    """
    target = Path(make.target)
    if target.exists():
        return target
    sentences: Iterable[Sentence] = read(expand(make.source))
    if watch is not None:
        sentences = watch(sentences, make.source)
    with input_errors(target, "written"):
        target.parent.mkdir(parents=True, exist_ok=True)
    write(_converted(sentences, make.scheme), target)
    return target


def _converted(sentences: Iterable[Sentence], scheme: str) -> Iterator[Sentence]:
    convert = _phrases if scheme == PHRASES else _dependencies(scheme)
    for number, sentence in enumerate(sentences, start=1):
        try:
            yield convert(sentence)
        except TreeError as error:
            raise TreeError(f"{sentence.place or f'sentence {number}'}: {error}") from None


def _phrases(sentence: Sentence) -> Sentence:
    if sentence.dependencies is None:
        raise TreeError("no dependencies; phrases are made from them")
    tags = sentence.tags or sentence.upos
    return replace(sentence, tree=to_phrases(sentence.dependencies, sentence.words, tags, labels="main").tree)


def _dependencies(scheme: str) -> Callable[[Sentence], Sentence]:
    rules = load_scheme(scheme)

    def convert(sentence: Sentence) -> Sentence:
        if sentence.tree is None:
            raise TreeError("no phrase structure tree; rules make dependencies from one")
        return replace(sentence, dependencies=to_dependencies(sentence.tree, rules))

    return convert
