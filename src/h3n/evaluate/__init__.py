"""Scores: brackets as EVALB, attachment, the CoNLL 2018 metrics, head and tag accuracy; counts that add up."""

from h3n.evaluate.attachment import (
    PUNCTUATION,
    AttachmentCounts,
    by_tag,
    count_attachments,
    is_punctuation,
    punctuation,
    score_attachments,
)
from h3n.evaluate.bracketing import Bracketed, bracketed_line, bracketed_tree
from h3n.evaluate.brackets import BracketCounts, BracketScore, Status, score_sentence
from h3n.evaluate.conll18 import AlignedCounts, conll18_lines, score_conll18
from h3n.evaluate.heads import ClassCounts, count_classes
from h3n.evaluate.leaves import LeafCounts, count_leaves
from h3n.evaluate.pairs import check_words, pair, pair_words
from h3n.evaluate.parameters import BUILT_IN, Parameters, as_spmrl, load_parameters, parse_parameters, without_top
from h3n.evaluate.report import BracketTotals, LabelCounts, compact_line, count_labels, evalb_lines, score_brackets
from h3n.evaluate.summary import (
    attachment_numbers,
    bracket_numbers,
    conll18_numbers,
    leaf_numbers,
    parameter_words,
    part_numbers,
)

__all__ = [
    "BUILT_IN",
    "PUNCTUATION",
    "AlignedCounts",
    "AttachmentCounts",
    "BracketCounts",
    "BracketScore",
    "BracketTotals",
    "Bracketed",
    "ClassCounts",
    "LabelCounts",
    "LeafCounts",
    "Parameters",
    "Status",
    "as_spmrl",
    "attachment_numbers",
    "bracket_numbers",
    "bracketed_line",
    "bracketed_tree",
    "by_tag",
    "check_words",
    "compact_line",
    "conll18_lines",
    "conll18_numbers",
    "count_attachments",
    "count_classes",
    "count_labels",
    "count_leaves",
    "evalb_lines",
    "is_punctuation",
    "leaf_numbers",
    "load_parameters",
    "pair",
    "pair_words",
    "parameter_words",
    "parse_parameters",
    "part_numbers",
    "punctuation",
    "score_attachments",
    "score_brackets",
    "score_conll18",
    "score_sentence",
    "without_top",
]
