"""Dependencies from phrases: agreement with the real converters, and trees per second on one core.

``python -m benchmarks.conversion [FOLDER]`` prints the table of docs/conversion.md, from the folder or ``$H3N_DATA``;
``--split train`` uses the files the rules were developed on. Agreement counts all words, punctuation included; trees
are stripped of function tags first, as the references were, but not for the generic schemes. Their references are the
dependencies that come with the trees, and nothing is asked of them. Without treebanks only the speed on a few built-in
trees is shown. Time is processor time of conversion alone, the best of several runs.
"""

from __future__ import annotations

import argparse
import io
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.measure.tables import markdown_heading, markdown_row
from h3n.measure.timing import least
from h3n.trees import Constituent, Dependencies, Sentence, strip_tree


@dataclass(frozen=True, slots=True)
class Reference:
    """Trees and the output of a real converter on them, or a part of both. Bars are percent of all words."""

    scheme: str
    trees: str
    output: str
    least_governors: float = 0.0
    least_relations: float = 0.0
    functions: bool = False
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Percent of the words whose governor, and whose governor and relation, are the reference's."""

    reference: Reference
    trees: int
    words: int
    governors: float
    relations: float
    rate: float  # trees per second
    confusions: list[tuple[str, int]]  # such as ``nsubj > obj``, most frequent first

    @property
    def is_enough(self) -> bool:
        """Whether both bars are met."""
        bars = self.reference.least_governors, self.reference.least_relations
        return self.governors >= bars[0] and self.relations >= bars[1]


def trees_of(sentences: Iterable[Sentence], *, functions: bool = False) -> list[Constituent]:
    """Return the trees without traces, and without function tags unless asked for."""
    trees = [strip_tree(s.tree, functions=not functions) for s in sentences if s.tree is not None]
    return [tree for tree in trees if tree is not None]


def trees_per_second(trees: Sequence[Constituent], scheme: str, *, repeat: int) -> float:
    """Return the best rate of several runs, in processor time of conversion alone."""
    rules = load_scheme(scheme)
    seconds = least(lambda: [to_dependencies(tree, rules) for tree in trees], repeat=repeat)
    return len(trees) / max(seconds, 1e-9)


def count_agreement(trees: Sequence[Constituent], gold: Sequence[Dependencies], scheme: str) -> Counter[str]:
    """Return counts of words, right governors, right relations; and of each confusion ``gold > ours``."""
    rules = load_scheme(scheme)
    counts: Counter[str] = Counter()
    for tree, expected in zip(trees, gold, strict=True):
        ours = to_dependencies(tree, rules)
        for word, governor in enumerate(expected.governors):
            counts["words"] += 1
            if ours.governors[word] != governor:
                counts[f"governor of {expected.relations[word]}"] += 1
                continue
            counts["governors"] += 1
            if ours.relations[word] == expected.relations[word]:
                counts["relations"] += 1
            else:
                counts[f"{expected.relations[word]} > {ours.relations[word]}"] += 1
    return counts


def measure_agreement(folder: Path, reference: Reference, *, repeat: int) -> Agreement:
    """Convert the trees of a reference and compare."""
    part = slice(reference.start, reference.end)
    trees = trees_of(formats.read(folder / reference.trees), functions=reference.functions)[part]
    gold = [s.dependencies for s in formats.read(folder / reference.output) if s.dependencies is not None]
    counts = count_agreement(trees, gold[part], reference.scheme)
    words = counts.pop("words")
    governors, relations = (100 * counts.pop(key) / words for key in ("governors", "relations"))
    rate = trees_per_second(trees, reference.scheme, repeat=repeat)
    return Agreement(reference, len(trees), words, governors, relations, rate, counts.most_common())


# What the Java converter was measured to do elsewhere, its start included: a yardstick, not measured here.
JAVA_RATE = 3900 / 20

SAMPLES = (
    "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (VBD chased) (NP (PRP$ our) (NNS cats))) (. .)))",
    "(TOP (S (NP (NP (DT a) (NN book)) (SBAR (WHNP (WDT that)) (S (NP (PRP I)) (VP (VBP like))))) (VP (VBD fell))))",
    "(TOP (S (NP (NNS Cats) (CC and) (NNS mice)) (VP (MD will) (RB not) (VP (VB be) (VP (VBN seen))))))",
)


ZH_TREES, ZH_OUTPUT = "convert/zh-synthetic.mrg.xz", "convert/zh-synthetic.sd330.truebasic.conllx.xz"

REFERENCES = {
    "dev": [
        Reference("sd", "masc/dev.clean.ptb", "masc/dev.conllu.xz", 99.8, 98.5),
        Reference("sd", "genia/dev.ptb.xz", "genia/dev.conllu.xz", 99.8, 98.5),
        Reference("sd", "convert/gum-dev.mrg.xz", "convert/gum-dev.sd330.conllx.xz", 99.5, 97.0),
        Reference("ud1", "convert/gum-dev.mrg.xz", "convert/gum-dev.ud352.conllx.xz", 99.0, 96.0),
        Reference("ud2", "convert/gum-dev.mrg.xz", "convert/gum-dev.ud4510.conllx.xz", 98.0, 94.0),
        # There is one Chinese file: the rules were developed on its first 2,000 trees.
        Reference("zh", ZH_TREES, ZH_OUTPUT, 99.9, 98.0, start=2000),
        Reference("generic:is", "icepahc/dev.ptb.xz", "icepahc/dev.conllu.xz", functions=True),
        Reference("generic:fo", "farpahc/dev.ptb", "farpahc/dev.conllu.xz", functions=True),
        Reference("generic:sinica", "sinica/dev.ptb", "sinica/dev.conllu.xz", functions=True),
    ],
    "train": [
        Reference("sd", "masc/train.clean.ptb.xz", "masc/train.conllu.xz", 99.8, 98.5),
        Reference("sd", "genia/train.ptb.xz", "genia/train.conllu.xz", 99.8, 98.5),
        Reference("sd", "convert/gum-train3000.mrg.xz", "convert/gum-train3000.sd330.conllx.xz", 99.5, 97.0),
        Reference("ud1", "convert/gum-train3000.mrg.xz", "convert/gum-train3000.ud352.conllx.xz", 99.0, 96.0),
        Reference("ud2", "convert/gum-train3000.mrg.xz", "convert/gum-train3000.ud4510.conllx.xz", 98.0, 94.0),
        Reference("zh", ZH_TREES, ZH_OUTPUT, 99.9, 98.0, end=2000),
        Reference("generic:is", "icepahc/train.ptb.xz", "icepahc/train.conllu.xz", functions=True),
        Reference("generic:fo", "farpahc/train.ptb.xz", "farpahc/train.conllu.xz", functions=True),
        Reference("generic:sinica", "sinica/train.ptb.xz", "sinica/train.conllu.xz", functions=True),
    ],
}


COLUMNS = ("scheme", "trees", "number", "words", "UAS", "LAS", "asked", "trees/s", "times 195/s")


def cells(found: Agreement) -> list[str]:
    """Return a line of the table."""
    reference = found.reference
    asked = f"{reference.least_governors:.1f} / {reference.least_relations:.1f}"
    sizes = [f"{found.trees:,}", f"{found.words:,}", f"{found.governors:.2f}", f"{found.relations:.2f}"]
    rates = [f"{found.rate:,.0f}", f"{found.rate / JAVA_RATE:.0f}"]
    return [reference.scheme, reference.trees, *sizes, asked, *rates]


def show_samples(repeat: int) -> None:
    """Print the speed on a few built-in trees."""
    trees = trees_of(formats.read(io.StringIO("\n".join(SAMPLES)), format="brackets")) * 300
    for scheme in ("sd", "ud1", "ud2"):
        rate = trees_per_second(trees, scheme, repeat=repeat)
        print(f"{scheme}: {rate:,.0f} short trees per second (no folder of treebanks: name one, or set H3N_DATA)")


def main(argv: list[str] | None = None) -> int:
    """Print the table; exit code 1 if a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conversion", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--split", choices=sorted(REFERENCES), default="dev")
    parser.add_argument("--scheme", help="only this scheme")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--confusions", type=int, default=0, metavar="N", help="show the N most frequent differences")
    options = parser.parse_args(argv)
    folder = options.folder or (Path(os.environ["H3N_DATA"]) if "H3N_DATA" in os.environ else None)
    if folder is None or not folder.is_dir():
        show_samples(options.repeats)
        return 0
    print(*markdown_heading(COLUMNS, left=2), sep="\n")
    missed = False
    for reference in REFERENCES[options.split]:
        if options.scheme in (None, reference.scheme):
            found = measure_agreement(folder, reference, repeat=options.repeats)
            print(markdown_row(cells(found)), flush=True)
            for what, count in found.confusions[: options.confusions]:
                print(f"    {count:5} {what}")
            missed = missed or not found.is_enough
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
