"""A treebank made ready for training: aligned splits with both trees, a manifest and a report.

`prepare` reads the files that `treebanks.locate_treebank` finds, makes the trees that are missing, and writes a folder:
``{train,dev,test}.{ptb,conllu}``, sentence i of one file standing against sentence i of the other; ``manifest.json``
with counts and checksums of what was read and written; ``report.json`` and ``report.txt`` with everything left out or
disagreeing. The same sources give the same bytes, and the folder appears when it is complete.
"""

from h3n.prepare.preparing import Options, prepare
from h3n.prepare.report import Finding, Report, SplitReport

__all__ = ["Finding", "Options", "Report", "SplitReport", "prepare"]
