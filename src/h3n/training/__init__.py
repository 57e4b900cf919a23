"""Training: treebanks in, a parser out."""

from h3n.training.data import load_examples
from h3n.training.evaluation import evaluate, tune_weight
from h3n.training.loop import Check, Note, Report, Update, train
from h3n.training.tensorboard import with_tensorboard

__all__ = ["Check", "Note", "Report", "Update", "evaluate", "load_examples", "train", "tune_weight", "with_tensorboard"]
