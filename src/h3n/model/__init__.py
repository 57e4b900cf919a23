"""Words to scores: batches, encoders, scorers, loss.

Shapes are written with these letters: B sentences of a batch, n words of the longest one, d the size of a vector,
S spans (start < end, of all sentences in a row, see `h3n.model.spans`), L non-empty labels.
"""

from h3n.engine.vocabulary import Vocabulary, count_vocabulary
from h3n.model.batch import Batch, Targets, collate
from h3n.model.model import Model
from h3n.model.network import ENCODERS, Network, Output, build_network

__all__ = [
    "ENCODERS",
    "Batch",
    "Model",
    "Network",
    "Output",
    "Targets",
    "Vocabulary",
    "build_network",
    "collate",
    "count_vocabulary",
]
