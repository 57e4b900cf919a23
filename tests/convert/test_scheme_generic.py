"""The generic schemes: small trees checked by hand, all trees at hand converted, agreement with references."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from h3n import formats
from h3n.convert.rules import load_scheme, scheme_names, to_dependencies
from h3n.errors import UnknownName
from h3n.trees import check_dependencies
from tests.convert.handmade import Example, examples, read_tree, shown

LANGUAGES = ("ar", "de", "eu", "fo", "fr", "he", "hu", "id", "is", "ja", "ko", "pl", "sinica", "sv")


@pytest.mark.parametrize("example", examples("generic"), ids=lambda example: example.name)
def test_by_hand(example: Example) -> None:
    assert shown(example) == example.expected


def test_every_language_has_an_example() -> None:
    assert {example.scheme for example in examples("generic")} == {f"generic:{name}" for name in LANGUAGES}


def test_names() -> None:
    assert {name for name in scheme_names() if name.startswith("generic:")} == {f"generic:{n}" for n in LANGUAGES}
    assert load_scheme("generic:de").name == "generic:de"
    with pytest.raises(UnknownName, match=r"unknown scheme 'generic:xx'; known: .*generic:ar.*generic:sv"):
        load_scheme("generic:xx")


@pytest.mark.parametrize("scheme", ["generic:de", "generic:sv"])
def test_a_marked_function_word_is_no_head(scheme: str) -> None:
    verb = {"generic:de": ("VAFIN", "VVPP"), "generic:sv": ("HV", "VV")}[scheme]
    tree = read_tree(f"(S (PN-X a) ({verb[0]}-HD b) (VP (NN-X c) ({verb[1]}-HD d)))")
    assert to_dependencies(tree, load_scheme(scheme)).governors == (3, 3, 3, -1)


@pytest.mark.parametrize(("scheme", "head"), [("generic:fr", 0), ("generic:ko", 2)])
def test_unknown_categories_take_the_side_of_the_language(scheme: str, head: int) -> None:
    unknown: Counter[str] = Counter()
    mark = {"generic:fr": "PONCT", "generic:ko": "sf"}[scheme]
    made = to_dependencies(read_tree(f"(QQ (t1 a) (t2 b) (t3 c) ({mark} .))"), load_scheme(scheme), unknown=unknown)
    assert made.governors.index(-1) == head
    assert unknown == {"QQ": 1}


FILES = {
    "icepahc/dev.ptb.xz": "generic:is",
    "farpahc/dev.ptb": "generic:fo",
    "farpahc/train.ptb.xz": "generic:fo",
    "sinica/dev.ptb": "generic:sinica",
    "icon/dev.ptb.xz": "generic:id",
    "keyaki/aozora.ptb.xz": "generic:ja",
}


@pytest.mark.parametrize("file", FILES)
def test_every_tree_converts(data: Path, file: str) -> None:
    rules = load_scheme(FILES[file])
    unknown: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    trees = 0
    for sentence in formats.read(data / file):
        assert sentence.tree is not None
        made = to_dependencies(sentence.tree, rules, unknown=unknown)
        check_dependencies(made)
        assert len(made.governors) == len(sentence)
        relations.update(made.relations)
        trees += 1
    assert relations["root"] == trees > 0
    assert unknown.total() <= trees / 200
    assert relations["dep"] <= 0.015 * relations.total()


# The least agreement with the dependencies that come with the trees, in percent of all words; the names of Sinica's
# relations are semantic roles, so only its governors can be compared.
REFERENCES = {
    "generic:is": ("icepahc/dev.ptb.xz", "icepahc/dev.conllu.xz", 93.0, 91.5),
    "generic:fo": ("farpahc/dev.ptb", "farpahc/dev.conllu.xz", 89.0, 87.0),
    "generic:sinica": ("sinica/dev.ptb", "sinica/dev.conllu.xz", 97.5, 0.0),
}


@pytest.mark.parametrize("scheme", REFERENCES)
def test_agreement_with_the_treebank(data: Path, scheme: str) -> None:
    trees, reference, least_governors, least_relations = REFERENCES[scheme]
    rules = load_scheme(scheme)
    words = governors = relations = 0
    for sentence, expected in zip(formats.read(data / trees), formats.read(data / reference), strict=True):
        assert sentence.tree is not None
        assert expected.dependencies is not None
        made = to_dependencies(sentence.tree, rules)
        for word in range(len(expected)):
            words += 1
            if made.governors[word] == expected.dependencies.governors[word]:
                governors += 1
                relations += made.relations[word] == expected.dependencies.relations[word]
    assert 100 * governors / words >= least_governors
    assert 100 * relations / words >= least_relations
