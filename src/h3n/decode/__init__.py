"""Scores to parses: five decoders behind one table, each as a plain Python twin and a native one."""

from h3n.decode.constraints import Constraints, constrain
from h3n.decode.decoders import DECODERS, EXACT_UP_TO, MEMORY_LIMIT, PARTS, Decoder, decode_batch, usual_decoder
from h3n.decode.forest import Distribution, best_parses, distributions, least_risk, sample_parses
from h3n.decode.native import cky_nodes, tree_head_scores
from h3n.decode.scores import Parse, Scores, bars_helper, label_scores, trusted, weigh

__all__ = [
    "DECODERS",
    "EXACT_UP_TO",
    "MEMORY_LIMIT",
    "PARTS",
    "Constraints",
    "Decoder",
    "Distribution",
    "Parse",
    "Scores",
    "bars_helper",
    "best_parses",
    "cky_nodes",
    "constrain",
    "decode_batch",
    "distributions",
    "label_scores",
    "least_risk",
    "sample_parses",
    "tree_head_scores",
    "trusted",
    "usual_decoder",
    "weigh",
]
