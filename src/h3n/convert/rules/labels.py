"""Labels as a scheme wants them: function tags cut, categories under the names its rules use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from h3n.convert.rules.nodes import Cleaner
from h3n.convert.rules.patterns import Strings


def label_cleaner(options: Mapping[str, str], read_as: Mapping[str, Sequence[str]]) -> Cleaner:
    """Return the function from a label to (the label as kept, its bare category), with a memory.

    The option ``cut`` has the marks that end a category, ``keep`` the function tags that stay (``NP-TMP``; of several
    the first listed, and no others; ``*`` keeps all). ``read_as`` gives categories another name.
    """
    cut, keep = options["cut"], options["keep"].split()
    names = [(name, Strings(labels)) for name, labels in read_as.items()]

    @lru_cache(maxsize=4096)
    def clean(label: str) -> tuple[str, str]:
        bare = _bare(label, cut)
        basic = next((name for name, labels in names if labels[bare]), bare)
        functions = label[len(bare) :]
        if keep == ["*"]:
            return basic + functions, basic
        for kept in keep:
            category, _, function = kept.partition("-")
            if category == basic and function in functions.split("-"):
                return kept, basic
        return basic, basic

    return clean


def _bare(label: str, cut: str) -> str:
    # -LRB- is a tag, not an empty category with a function: the mark that opens a label may close it again.
    start = label.find(label[0], 1) + 1 if label and label[0] in cut and label[0] in label[1:] else 1
    return label[: min((at for mark in cut if (at := label.find(mark, start)) > 0), default=len(label))]
