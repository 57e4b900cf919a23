"""Many files parsed into one folder of shards, on one machine or many, so that a run can stop and go on.

>>> from h3n import corpus
>>> corpus.parse_corpus(["texts/"], "parsed", model="en")
>>> for sentence in corpus.read("parsed"):
...     print(sentence.document, sentence.number, sentence.result.brackets())

Reading and writing Parquet needs the extra ``corpus``, clusters need the extra ``ray``.
"""

from h3n.corpus.finding import Hit, find
from h3n.corpus.options import Options
from h3n.corpus.reading import CorpusSentence, lacking, read
from h3n.corpus.running import ENGINES, Finished, parse_corpus
from h3n.corpus.status import Progress, Status, status_of

__all__ = [
    "ENGINES",
    "CorpusSentence",
    "Finished",
    "Hit",
    "Options",
    "Progress",
    "Status",
    "find",
    "lacking",
    "parse_corpus",
    "read",
    "status_of",
]
