"""Training: treebanks in, a parser out."""

from h3n.training.data import StreamedExamples, load_examples
from h3n.training.evaluation import evaluate, tune_weight
from h3n.training.events import Check, Event, Listener, Note, Update, with_tensorboard
from h3n.training.loop import train
from h3n.training.segmenter import learn_segmenter, train_segmenter
from h3n.training.words import train_words

__all__ = [
    "Check",
    "Event",
    "Listener",
    "Note",
    "StreamedExamples",
    "Update",
    "evaluate",
    "learn_segmenter",
    "load_examples",
    "train",
    "train_segmenter",
    "train_words",
    "tune_weight",
    "with_tensorboard",
]
