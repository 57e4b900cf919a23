"""From the files of a treebank to a folder with both trees of every sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

import h3n
from h3n import files, formats
from h3n.convert import join
from h3n.convert.phrases import LABELS, to_phrases
from h3n.convert.rules import Scheme, load_scheme, to_dependencies, with_made_dependencies
from h3n.convert.version1 import to_version_2
from h3n.errors import FormatError, H3nError, MismatchError, TreeError, UnknownName, UsageError
from h3n.files import checksum, write_json, write_text
from h3n.formats import Reading, Writing
from h3n.prepare.report import Finding, Report, SplitReport
from h3n.prepare.sources import BOTH, is_blanked, read_pair
from h3n.treebanks import SPLITS, LocatedTreebank, Pair, Recipe, load_recipe, locate_treebank
from h3n.trees import Constituent, Leaf, Sentence, is_projective, leaves, strip_tree

MANIFEST = "manifest.json"


@contextmanager
def replaced_folder(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a fresh folder to write into; on success it takes the place of ``folder``, on an error it is gone.

    A folder that holds something is replaced only with ``overwrite``, and only if we wrote it.
    """
    with files.input_errors(folder, "written"):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is not a folder; expected a new or an empty one")
        if folder.exists() and any(folder.iterdir()):
            ours = (folder / MANIFEST).is_file()
            if not (overwrite and ours):
                hint = "--overwrite replaces it" if ours else "expected a new or an empty folder"
                raise UsageError(f"{folder}: exists and is not empty; {hint}")
    with files.written_folder(folder) as draft:
        yield draft


TOP = "TOP"
SUFFIXES = {"ptb": "brackets", "conllu": "conllu"}
Watch = Callable[[Iterator[Sentence], str], Iterator[Sentence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to prepare a treebank.

    ``scheme`` makes the dependencies of every sentence anew, also where the treebank has some. ``labels`` are those of
    phrases made from dependencies. ``divide`` deals out the sentences of a treebank without a split. ``from_version``
    is that of Universal Dependencies; 1 is renamed to 2. ``keep_going`` leaves damaged sentences out instead of
    stopping at the first.
    """

    splits: tuple[str, ...] = SPLITS
    scheme: str | None = None
    labels: str = "names"
    functions: bool = False
    divide: tuple[int, int, int] | None = None
    from_version: Literal[1, 2] = 2
    keep_going: bool = False
    overwrite: bool = False


def prepare(
    name: str,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    options: Options,
    watch: Watch | None = None,
) -> Report:
    """Return the report of preparing the treebank of this recipe from the folder ``source`` into ``target``.

    ``watch`` gets every split's sentences with the name of the split and hands them on: a place for a progress bar.
    """
    recipe = load_recipe(name)
    _check(options)
    scheme = load_scheme(options.scheme) if options.scheme is not None else None
    if options.divide is not None and not any("all" in layout.names for layout in recipe.layouts):
        raise UsageError(f"--divide: {name} has a split of its own")
    found = locate_treebank(
        recipe,
        Path(source),
        splits=options.splits,
        trees_only=scheme is not None,
        divided=options.divide is not None,
    )
    if scheme is not None and found.layout.trees is None:
        raise UsageError(f"--scheme {options.scheme} makes dependencies of trees, and {name} has none")
    if scheme is None and _lacks_dependencies(found):
        if recipe.scheme is None:
            raise UsageError(f"{name} has no dependencies; say how to make them, such as --scheme ud2")
        scheme = load_scheme(recipe.scheme)
    with replaced_folder(Path(target), overwrite=options.overwrite) as folder:
        work = _Work(recipe, found, Path(source), options, scheme)
        report = work.write(folder, watch or (lambda sentences, _: sentences))
        _write_records(folder, work, report)
    return report


def _check(options: Options) -> None:
    if options.labels not in LABELS:
        raise UnknownName("phrase labels", options.labels, LABELS)
    for split in options.splits:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
    if not options.splits:
        raise UsageError(f"no split asked for; expected some of {', '.join(SPLITS)}")
    if options.divide is not None and (min(options.divide) < 0 or sum(options.divide) == 0):
        raise UsageError(f"divide {'/'.join(map(str, options.divide))}; expected three shares, such as 8/1/1")


def _lacks_dependencies(found: LocatedTreebank) -> bool:
    if found.layout.trees_format in BOTH:
        return False
    return any(pair.dependencies is None for pairs in found.files.values() for pair in pairs)


@dataclass(frozen=True, slots=True)
class _Work:
    """What everything below needs to know."""

    recipe: Recipe
    found: LocatedTreebank
    source: Path
    options: Options
    scheme: Scheme | None

    def write(self, folder: Path, watch: Watch) -> Report:
        """Return what was met while all splits were written."""
        reports = {
            split: SplitReport(expected=self.recipe.sentences.get(split))
            for split in SPLITS
            if split in self.options.splits and self._has(split)
        }
        with ExitStack() as stack:
            streams = {
                (split, suffix): stack.enter_context(
                    (folder / f"{split}.{suffix}").open("w", encoding="utf-8", newline="")
                )
                for split in reports
                for suffix in SUFFIXES
            }
            for name, pairs in self.found.files.items():
                for number, sentence in enumerate(watch(self._sentences(name, pairs, reports), name)):
                    split = self._split_of(name, number)
                    if split in reports:
                        self._take(sentence, reports[split], streams[split, "ptb"], streams[split, "conllu"])
        return Report(reports)

    def _has(self, split: str) -> bool:
        """Return whether the treebank has this split: a file of its own, or a share of those that are divided."""
        shares = self.options.divide or self.found.layout.divide
        shared = "all" in self.found.files and (shares is None or shares[SPLITS.index(split)] > 0)
        return split in self.found.files or shared

    def _split_of(self, name: str, number: int) -> str:
        """Return the split of a sentence; those of a treebank without splits are dealt out in turn."""
        if name != "all":
            return name
        shares = self.options.divide or self.found.layout.divide
        if shares is None:
            return self.options.splits[0]
        place = number % sum(shares)
        return SPLITS[0] if place < shares[0] else SPLITS[1] if place < shares[0] + shares[1] else SPLITS[2]

    def _sentences(self, name: str, pairs: Sequence[Pair], reports: dict[str, SplitReport]) -> Iterator[Sentence]:
        """Yield the sentences of a split; damage is raised, or noted where the user wants to go on."""
        report = reports[name if name != "all" else next(iter(reports))]

        def note(where: object, why: str) -> None:
            report.findings.append(Finding(self._relative(where), why, problem=True))

        def on_problem(error: FormatError) -> None:
            note(error.place, f"{error.found}; expected {error.expected}")

        def on_loss(sentence: Sentence, error: H3nError) -> None:
            if not self.options.keep_going:
                raise error
            note(sentence.place, self._relative(error))

        reading = Reading(on_problem=on_problem if self.options.keep_going else None)
        for pair in pairs:
            sentences = read_pair(pair, self.recipe, self.found.layout, options=reading, on_loss=on_loss)
            yield from map(to_version_2, sentences) if self._is_version_1(pair) else sentences

    def _is_version_1(self, pair: Pair) -> bool:
        """Return whether the dependencies are those of version 1 of Universal Dependencies."""
        if pair.dependencies is None:
            return False
        name = pair.dependencies.relative_to(self.found.folder).as_posix()
        return self.options.from_version == 1 or any(name.startswith(old) for old in self.found.layout.version1)

    def _relative(self, text: object) -> str:
        """Return a text without the source's path: the report of one treebank is the same on every machine."""
        base = self.source if self.source.is_dir() else self.source.parent
        return str(text).replace(f"{base}{os.sep}", "")

    def _take(self, sentence: Sentence, report: SplitReport, brackets: IO[str], conllu: IO[str]) -> None:
        """Write a sentence with both trees, or note why not."""
        where = self._relative(sentence.place)
        if not sentence.words:
            report.findings.append(Finding(where, "left out: no words", problem=False))
        elif self.recipe.blanked and is_blanked(sentence):
            report.findings.append(Finding(where, "left out: no text, its words are blanked", problem=False))
        else:
            try:
                both = self._complete(sentence, report)
            except (MismatchError, TreeError) as error:
                if not self.options.keep_going:
                    raise type(error)(f"{sentence.place}: {error}") from None
                report.findings.append(Finding(where, str(error), problem=True))
                return
            formats.write([both], brackets, format="brackets", options=Writing(top=TOP))
            formats.write([both], conllu, format="conllu")

    def _complete(self, sentence: Sentence, report: SplitReport) -> Sentence:
        """Return the sentence with both trees, and count what there is to count."""
        tree, dependencies = sentence.tree, sentence.dependencies
        tags = sentence.tags or sentence.upos
        if dependencies is None and tree is not None and self.scheme is not None:
            dependencies = to_dependencies(tree, self.scheme, unknown=report.unknown_labels)
            report.dependencies_made += 1
        if dependencies is None:
            raise TreeError("the sentence has no dependencies")
        if tree is None:
            phrases = to_phrases(dependencies, sentence.words, tags, upos=sentence.upos, labels=self.options.labels)
            tree = phrases.tree
            report.phrases_made += 1
            report.lifted += phrases.lifted
        elif not self.options.functions:
            tree = _stripped(tree)
        found = list(leaves(tree))
        joined = join(tree, dependencies)
        report.join += joined.counts
        report.sentences += 1
        report.words += len(sentence)
        report.projective += is_projective(dependencies.governors)
        report.words_with_blanks += sum(any(map(str.isspace, word)) for word in sentence.words)
        report.tags_differ += _differences(found, sentence.tags)
        complete = replace(sentence, tree=tree)
        if self.scheme is None or sentence.dependencies is not None:
            return replace(complete, dependencies=dependencies)
        return with_made_dependencies(complete, dependencies, self.scheme)


def _stripped(tree: Constituent) -> Constituent:
    stripped = strip_tree(tree)
    if stripped is None:
        raise TreeError("the tree has no words")
    return stripped


def _differences(found: Sequence[Leaf], tags: Sequence[str] | None) -> int:
    return 0 if tags is None else sum(leaf.tag not in ("", tag) for leaf, tag in zip(found, tags, strict=True))


def _write_records(folder: Path, work: _Work, report: Report) -> None:
    """Write the manifest and the report."""
    write_json(folder / "report.json", report.to_json())
    text = "\n".join([work.recipe.title, *report.lines(all_findings=True)]) + "\n"
    write_text(folder / "report.txt", text)
    write_json(folder / MANIFEST, _manifest(folder, work, report))


def _manifest(folder: Path, work: _Work, report: Report) -> dict[str, Any]:
    recipe, found = work.recipe, work.found
    read = [
        path for pairs in found.files.values() for pair in pairs for path in (pair.trees, pair.dependencies) if path
    ]
    options = {key: value for key, value in asdict(work.options).items() if key not in ("overwrite", "keep_going")}
    return {
        "h3n": h3n.__version__,
        "treebank": recipe.name,
        "recipe": recipe.checksum,
        "title": recipe.title,
        "language": recipe.language,
        "licence": recipe.licence,
        "get": recipe.get,
        "scoring": recipe.scoring,
        "punctuation": list(recipe.punctuation),
        "layout": found.layout.about,
        "dependencies": "source" if work.scheme is None else f"made by scheme {work.scheme.name}",
        "phrases": "source" if not any(s.phrases_made for s in report.splits.values()) else "made of dependencies",
        "options": options,
        "splits": {
            name: {"sentences": split.sentences, "words": split.words, "findings": len(split.findings)}
            for name, split in report.splits.items()
        },
        "sources": {work._relative(path): checksum(path) for path in sorted({*read, *found.lists})},
        "outputs": {file.name: checksum(file) for file in sorted(folder.iterdir())},
    }
