"""Universal Dependencies version 1 renamed to version 2: tags, features, relations, and what changed in structure.

What can be done by rule. Relations: `dobj` is `obj`, `nsubjpass` is `nsubj:pass`, `mwe` is `fixed` and so on; `neg` is
`advmod`, `det` or `aux` by the word's own tag; `nmod` is `obl` where its governor is no nominal. Structure: a
conjunction, and a comma before it, hangs on the conjunct that follows, not on the first. `remnant` becomes `orphan`
where it stands: version 2 draws ellipsis in another way, which no rule finds. Words are never split or joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from h3n.trees import ROOT, Dependencies, Sentence

RELATIONS = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "mwe": "fixed",
    "name": "flat:name",
    "foreign": "flat:foreign",
    "remnant": "orphan",
}
TAGS = {"CONJ": "CCONJ"}
FEATURES = {
    "Negative=Neg": "Polarity=Neg",
    "Negative=Yes": "Polarity=Neg",
    "Negative=Pos": "Polarity=Pos",
    "Aspect=Pro": "Aspect=Prosp",
    "VerbForm=Trans": "VerbForm=Conv",
    "Definite=Red": "Definite=Cons",
}
_NEGATION = {"DET": "det", "PRON": "det", "AUX": "aux", "VERB": "aux"}  # any other tag: advmod
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "X", "DET"})
_COPULA = "cop"


def to_version_2(sentence: Sentence) -> Sentence:
    """Return a sentence of version 1 in version 2; one without dependencies has its tags and features renamed."""
    upos = sentence.upos and tuple(TAGS.get(tag, tag) for tag in sentence.upos)
    features = sentence.features and tuple(map(_features, sentence.features))
    old = sentence.dependencies
    if old is None:
        return replace(sentence, upos=upos, features=features)
    tags = upos or ("_",) * len(sentence)
    kinds = [relation.partition(":")[0] for relation in old.relations]
    if upos is not None:
        upos = tuple("AUX" if kind == _COPULA and tag == "VERB" else tag for kind, tag in zip(kinds, upos, strict=True))
    relations = tuple(_relation(word, old, kinds, tags) for word in range(len(sentence)))
    governors = _coordination(old.governors, kinds)
    return replace(
        sentence, upos=upos, features=features, dependencies=Dependencies(governors, relations), enhanced=None
    )


def _features(features: str) -> str:
    parts = [FEATURES.get(part, part) for part in features.split("|")]
    return "|".join(sorted(parts, key=lambda part: part.partition("=")[0].lower()))


def _relation(word: int, old: Dependencies, kinds: Sequence[str], tags: Sequence[str]) -> str:
    relation, governor, kind = old.relations[word], old.governors[word], kinds[word]
    subtype = relation[len(kind) :]
    if kind == "neg":
        return _NEGATION.get(tags[word], "advmod") + subtype
    if kind == "nmod" and subtype != ":poss" and governor != ROOT and tags[governor] not in _NOMINAL:
        return "obl" + subtype
    renamed = RELATIONS.get(kind)
    if renamed is None:
        return relation
    return renamed + subtype if ":" not in renamed else renamed


def _coordination(governors: Sequence[int], kinds: Sequence[str]) -> tuple[int, ...]:
    """Return the governors with every conjunction, and the commas beside it, on the conjunct that follows."""
    found = list(governors)
    first = _left_edges(governors)
    conjuncts: dict[int, list[int]] = {}
    for word, (governor, kind) in enumerate(zip(governors, kinds, strict=True)):
        if kind == "conj" and governor < word:
            conjuncts.setdefault(governor, []).append(word)
    for head, parts in conjuncts.items():
        for part in parts:
            joint = part
            between = first[part] - 1
            # From the conjunct to the left over conjunctions and punctuation of the first conjunct.
            while between > head and governors[between] == head and kinds[between] in ("cc", "punct"):
                joint = between
                found[between] = part
                between -= 1
            for word in range(head + 1, joint):  # a conjunction with an adverb after it: `and then`
                if kinds[word] == "cc" and found[word] == head and not any(word < p < part for p in parts):
                    found[word] = part
    return tuple(found)


def _left_edges(governors: Sequence[int]) -> list[int]:
    """Return the first word of everything below each word, itself included."""
    edges = list(range(len(governors)))
    for word in range(len(governors)):
        above, steps = governors[word], 0
        while above != ROOT and edges[above] > word and steps < len(governors):
            edges[above] = word
            above, steps = governors[above], steps + 1
    return edges
