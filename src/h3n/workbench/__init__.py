"""For people who make treebanks: what two files disagree in, what to correct first, what looks like a mistake.

What needs a model is in `h3n.workbench.preannotation`, so that the rest does not wait for torch.
"""

from h3n.workbench.checking import Finding, check_treebank
from h3n.workbench.differences import Difference, Tables, Verdict, diff_page, find_differences, judge
from h3n.workbench.genres import genres

__all__ = [
    "Difference",
    "Finding",
    "Tables",
    "Verdict",
    "check_treebank",
    "diff_page",
    "find_differences",
    "genres",
    "judge",
]
