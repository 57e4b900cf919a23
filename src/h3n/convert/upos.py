"""Universal part-of-speech tags for the tags of the Penn Treebank, by tag, word and relation."""

from __future__ import annotations

from collections.abc import Sequence

UNKNOWN = "X"
_GROUPS = {
    "ADJ": "JJ JJR JJS",
    "ADP": "RP",
    "ADV": "RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "PDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS",
    "PRON": "PRP PRP$ WP WP$ EX",
    "PROPN": "NNP NNPS",
    "PUNCT": ". , : `` '' -LRB- -RRB- -LSB- -RSB- -LCB- -RCB- HYPH NFP",
    "SYM": "$ # SYM",
    "VERB": "VB VBD VBG VBN VBP VBZ",
    "X": "FW LS ADD AFX GW XX",
}
_PLAIN = {tag: universal for universal, tags in _GROUPS.items() for tag in tags.split()}
_AUXILIARY = frozenset({"aux", "auxpass", "cop"})
_NEGATIONS = frozenset({"not", "n't", "n’t"})


def universal_tags(words: Sequence[str], tags: Sequence[str], relations: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of Universal Dependencies 2; a tag that the Penn Treebank does not have is ``X``."""
    return tuple(map(_universal, words, tags, relations))


def _universal(word: str, tag: str, relation: str) -> str:
    main = relation.partition(":")[0]
    if tag == "IN":
        return "SCONJ" if main == "mark" else "ADP"
    if tag == "TO":
        return "ADP" if main == "case" else "PART"
    if tag in ("DT", "WDT"):
        return "DET" if main == "det" else "PRON"
    if tag.startswith("VB") and main in _AUXILIARY:
        return "AUX"
    if tag == "RB" and word.lower() in _NEGATIONS:
        return "PART"
    return _PLAIN.get(tag, UNKNOWN)
