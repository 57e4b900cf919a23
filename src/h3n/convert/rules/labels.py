"""Labels as a scheme wants them: function tags cut, categories under the names its rules use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from h3n.convert.rules.nodes import Cleaner
from h3n.convert.rules.patterns import Strings


def label_cleaner(
    options: Mapping[str, str], read_as: Mapping[str, Sequence[str]], *, functions: Mapping[str, Sequence[str]]
) -> Cleaner:
    """Return the function from a label to (the label as kept, its bare category), with a memory.

    The option ``cut`` has the marks that end a category, ``keep`` the function tags that stay (``NP-TMP``; of several
    the first listed, and no others; ``*`` keeps all). ``read_as`` gives categories another name, ``functions`` does so
    for function tags and keeps, on any category, the first of its names that fits.
    """
    cut, keep = options["cut"], options["keep"].split()
    marks = re.compile(f"[{re.escape(cut)}]")
    names = [(name, Strings(labels)) for name, labels in read_as.items()]
    function_names = [(name, Strings(tags)) for name, tags in functions.items()]

    @lru_cache(maxsize=4096)
    def clean(label: str) -> tuple[str, str]:
        bare = _bare(label, cut)
        basic = next((name for name, labels in names if labels[bare]), bare)
        rest = label[len(bare) :]
        if keep == ["*"]:
            return basic + rest, basic
        parts = marks.split(rest) if rest else []
        for kept in keep:
            category, _, function = kept.partition("-")
            if category == basic and function in parts:
                return kept, basic
        for name, tags in function_names:
            if any(tags[part] for part in parts):
                return f"{basic}-{name}", basic
        return basic, basic

    return clean


def _bare(label: str, cut: str) -> str:
    # -LRB- is a tag, not an empty category with a function: the mark that opens a label may close it again.
    start = label.find(label[0], 1) + 1 if label and label[0] in cut and label[0] in label[1:] else 1
    return label[: min((at for mark in cut if (at := label.find(mark, start)) > 0), default=len(label))]
