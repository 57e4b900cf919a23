"""A saved model read and run with numpy and native code alone: no torch, no transformers."""

from h3n.engine.architectures import ARCHITECTURES, Architecture, UnknownEncoder
from h3n.engine.pieces import Tokenizer
from h3n.engine.saved import Saved, read_saved
from h3n.engine.storage import Stored
from h3n.engine.vocabulary import Vocabulary, count_vocabulary

__all__ = [
    "ARCHITECTURES",
    "Architecture",
    "Saved",
    "Stored",
    "Tokenizer",
    "UnknownEncoder",
    "Vocabulary",
    "count_vocabulary",
    "read_saved",
]
