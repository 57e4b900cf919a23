"""Text to trees: load a parser by name, parse whatever comes, take the result in any form."""

from h3n.pipeline.pipeline import Pipeline, load
from h3n.pipeline.results import Arc, LabelledSpan, Result
from h3n.pipeline.windows import LOOK_AHEAD

__all__ = ["LOOK_AHEAD", "Arc", "LabelledSpan", "Pipeline", "Result", "load"]
