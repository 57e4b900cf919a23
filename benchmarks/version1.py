"""How far UD version 1, renamed to 2, agrees with version 2: `python -m benchmarks.version1 OLD NEW`.

Sentences with the same words, punctuation aside, are compared, all words counted: governors (UAS), governors with
relations (LAS) and with relations without subtypes; before the renaming and after it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from h3n import formats
from h3n.convert.version1 import to_version_2
from h3n.evaluate import is_punctuation, punctuation, score_attachments
from h3n.trees import Sentence


def main(argv: list[str] | None = None) -> int:
    """Print the agreement and the differences that are left; return 0."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("old", help="a CoNLL-U file of version 1")
    options.add_argument("new", help="one of version 2 with the same sentences, or some of them")
    options.add_argument("--differences", type=int, default=15, help="how many kinds of differences to print")
    given = options.parse_args(argv)
    wanted = {_key(sentence): sentence for sentence in formats.read(given.new)}
    old = [sentence for sentence in formats.read(given.old) if _key(sentence) in wanted]
    new = [replace(wanted[_key(sentence)], words=sentence.words) for sentence in old]
    renamed = list(map(to_version_2, old))
    print(f"{len(old)} sentences with the same words, {sum(map(len, old))} words")
    for name, sentences in (("as they are", old), ("renamed", renamed)):
        exact = score_attachments(new, sentences, counted=punctuation("all"))
        main_types = score_attachments(new, sentences, counted=punctuation("all"), subtypes=False)
        print(f"  {name:12} UAS {exact.uas:.2f}   LAS {exact.las:.2f}   without subtypes {main_types.las:.2f}")
    for (ours, theirs, same), count in _differences(new, renamed).most_common(given.differences):
        print(f"  {count:6}  {ours} is {theirs}{'' if same else ', with another governor'}")
    return 0


def _key(sentence: Sentence) -> tuple[str, ...]:
    """Return the words; one version may have wide marks where the other has narrow ones."""
    return tuple("" if is_punctuation(word) else word for word in sentence.words)


def _differences(new: Sequence[Sentence], renamed: Sequence[Sentence]) -> Counter[tuple[str, str, bool]]:
    found: Counter[tuple[str, str, bool]] = Counter()
    for wanted, ours in zip(new, renamed, strict=True):
        if wanted.dependencies is None or ours.dependencies is None:
            continue
        sides = (ours.dependencies.governors, wanted.dependencies.governors)
        names = (ours.dependencies.relations, wanted.dependencies.relations)
        for governor, gold, relation, right in zip(*sides, *names, strict=True):
            if governor != gold or relation.partition(":")[0] != right.partition(":")[0]:
                found[relation, right, governor == gold] += 1
    return found


if __name__ == "__main__":
    sys.exit(main())
