"""Options: every one with its default, read from presets, TOML files and the command line, and checked in one place."""

from h3n.config.building import build_options, parse_toml, read_toml
from h3n.config.checking import check
from h3n.config.describing import describe_options
from h3n.config.loading import config_of, expand, layer_config, load_config, presets, read_preset, table_of
from h3n.config.options import (
    Amount,
    Batches,
    Config,
    Count,
    Data,
    Decoding,
    Encoder,
    Layers,
    Loss,
    Optimiser,
    Scorers,
    Share,
    Training,
    Treebank,
    Whole,
    Within,
)

__all__ = [
    "Amount",
    "Batches",
    "Config",
    "Count",
    "Data",
    "Decoding",
    "Encoder",
    "Layers",
    "Loss",
    "Optimiser",
    "Scorers",
    "Share",
    "Training",
    "Treebank",
    "Whole",
    "Within",
    "build_options",
    "check",
    "config_of",
    "describe_options",
    "expand",
    "layer_config",
    "load_config",
    "parse_toml",
    "presets",
    "read_preset",
    "read_toml",
    "table_of",
]
