"""Miniature treebanks laid out like the real ones; all trees are our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from h3n import formats
from h3n.convert.rules import scheme_names
from h3n.treebanks import SPLITS
from h3n.trees import Constituent, Sentence, leaves

PENN = """( (S
    (NP-SBJ-1 (DT The) (JJ small) (NN parser) )
    (VP (VBD was)
      (VP (VBN trained)
        (NP (-NONE- *-1) )
        (PP-LOC (IN on)
          (NP (-LRB- -LRB-) (CD ten) (-RRB- -RRB-) (NNS trees) ))))
    (. .) ))
"""
PENN_WORDS = ("The", "small", "parser", "was", "trained", "on", "(", "ten", ")", "trees", ".")

CHINESE = """<DOC>
<DOCID> CHTB_{number} </DOCID>
<BODY>
<S ID={number}>
( (IP (NP-SBJ (NN 句法))
      (VP (VV 分析)
          (NP-OBJ (NN 句子)))
      (PU 。)))
</S>
</BODY>
</DOC>
"""

GERMAN = (
    "( (S (NP-SB (ART-NK##lem=der|case=nom## Der) (NN-NK##lem=Hund|case=nom## Hund))"
    " (VVFIN-HD##lem=bellen## bellt)) ($.##lem=.## .) )\n"
)
GERMAN_CONLL = """1\tDer\tder\tART\tART\tcase=nom\t2\tNK\t_\t_
2\tHund\tHund\tN\tNN\tcase=nom\t3\tSB\t_\t_
3\tbellt\tbellen\tV\tVVFIN\t_\t0\t--\t_\t_
4\t.\t.\t$\t$.\t_\t3\t--\t_\t_

"""

GENIA = """<?xml version="1.0" encoding="UTF-8"?>
<Annotation><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>{name}</PMID>
<Article><ArticleTitle>
<sentence id="S1"><cons cat="NP"><tok cat="NN">Cells</tok> <tok cat="PERIOD">.</tok></cons></sentence>
</ArticleTitle><Abstract><AbstractText>
<sentence id="S2"><cons cat="S"><cons cat="NP" role="SBJ" id="i1"><tok cat="PRP">They</tok></cons>
<cons cat="VP"><tok cat="VBP">gr ow</tok><cons cat="NP" null="NONE" ref="i1"></cons></cons>
<tok cat="PERIOD">.</tok></cons></sentence>
</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet></Annotation>
"""


def conllu(*sentences: str, heads: dict[str, int] | None = None) -> str:
    """Return CoNLL-U of plain sentences; the words hang on the first, except for those in ``heads``."""
    blocks = []
    for sentence in sentences:
        rows = []
        for number, word in enumerate(sentence.split(), start=1):
            head = (heads or {}).get(word, 0 if number == 1 else 1)
            relation = "root" if head == 0 else "dep:x"
            rows.append(f"{number}\t{word}\t_\tX\tTAG\t_\t{head}\t{relation}\t_\t_")
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def brackets(*sentences: str) -> str:
    """Return flat trees of plain sentences, one per line."""
    return "".join(f"(ROOT (S-X {' '.join(f'(TAG {word})' for word in s.split())}))\n" for s in sentences)


def put(root: Path, files: dict[str, str]) -> Path:
    """Write the files below a folder and return it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def penn(root: Path, *, below: str = "parsed/mrg/wsj", sections: range = range(25)) -> Path:
    """Return a folder like the LDC's: one file of two trees per section."""
    return put(
        root,
        {f"{below}{'/' if below else ''}{n:02}/wsj_{n:02}01.mrg": PENN + PENN.replace("ten", str(n)) for n in sections},
    )


def need_scheme(name: str) -> str:
    """Return the name, or skip where its rules do not come with this version."""
    if name not in scheme_names():
        pytest.skip(f"there are no rules for {name} yet")
    return name


def both(folder: Path, split: str = "train") -> Iterator[tuple[Constituent, Sentence]]:
    """Yield the sentences of a prepared split; the words of the two files must be the same."""
    trees = formats.read(folder / f"{split}.ptb")
    for tree, sentence in zip(trees, formats.read(folder / f"{split}.conllu"), strict=True):
        assert tree.tree is not None
        assert tuple(leaf.word for leaf in leaves(tree.tree)) == sentence.words
        yield tree.tree, sentence


def in_splits(pattern: str, text: str) -> dict[str, str]:
    """Return files of one text, one for each split."""
    return {pattern.format(split): text for split in SPLITS}
