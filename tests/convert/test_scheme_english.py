"""English schemes: small trees checked by hand, and agreement with the stored output of the real converters."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from h3n import formats
from h3n.convert.rules import load_scheme, to_dependencies
from h3n.trees import TRACE, check_dependencies, leaves, strip_tree

Example = tuple[str, str, str, str]


def examples() -> list[Example]:
    """Return name, tree, scheme and expected words of each example: blocks of a name, a tree, a line per scheme."""
    text = (Path(__file__).parent / "examples" / "english.txt").read_text(encoding="utf-8")
    found = []
    for block in text.strip().split("\n\n"):
        name, tree, *lines = block.splitlines()
        found += [(name.removeprefix("# "), tree, *line.split(" ", 1)) for line in lines]
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example[0]}-{example[2]}")
def test_by_hand(example: Example) -> None:
    _, text, scheme, expected = example
    sentence = next(formats.read(io.StringIO(text), format="brackets"))
    assert sentence.tree is not None
    made = to_dependencies(sentence.tree, load_scheme(scheme))
    words = [leaf.word for leaf in leaves(sentence.tree) if leaf.tag != TRACE]
    shown = [f"{w}/{g + 1}/{r}" for w, g, r in zip(words, made.governors, made.relations, strict=True)]
    assert shown == expected.split()


# Trees, the real converter's output on them, the least agreement in percent of all words: governors, then relations.
REFERENCES = {
    "sd on masc": ("sd", "masc/dev.clean.ptb", "masc/dev.conllu.xz", 99.98, 99.95),
    "sd on genia": ("sd", "genia/dev.ptb.xz", "genia/dev.conllu.xz", 99.98, 99.95),
    "sd on gum": ("sd", "convert/gum-dev.mrg.xz", "convert/gum-dev.sd330.conllx.xz", 99.98, 99.95),
    "ud1 on gum": ("ud1", "convert/gum-dev.mrg.xz", "convert/gum-dev.ud352.conllx.xz", 99.9, 99.6),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_agreement_with_the_real_converter(data: Path, name: str) -> None:
    scheme, trees, reference, least_governors, least_relations = REFERENCES[name]
    rules = load_scheme(scheme)
    words = governors = relations = 0
    pairs = zip(formats.read(data / trees), formats.read(data / reference), strict=True)
    for sentence, expected in pairs:
        assert sentence.tree is not None
        assert expected.dependencies is not None
        bare = strip_tree(sentence.tree)  # the references were made from trees without function tags
        assert bare is not None
        made = to_dependencies(bare, rules)
        check_dependencies(made)
        for word in range(len(expected)):
            words += 1
            if made.governors[word] == expected.dependencies.governors[word]:
                governors += 1
                relations += made.relations[word] == expected.dependencies.relations[word]
    assert 100 * governors / words >= least_governors
    assert 100 * relations / words >= least_relations
