"""For people who make treebanks: what two files disagree in, what to correct first, what looks like a mistake."""

from h3n.workbench.checking import Finding, check_treebank

__all__ = ["Finding", "check_treebank"]
