"""The card of a released model from what was measured: `python models/card.py NAME`.

Reads configs/NAME.toml and those of the models that it starts from, the figures in runs/figures/NAME and the commands
in runs/models/steps.json; writes README.md into runs/release/NAME. What only a person knows is taken from
models/notes/NAME.md, and marked as missing where there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from h3n.config import load_config
from h3n.models import CARD, UNKNOWN

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make import read_record

NOTES = Path(__file__).resolve().parent / "notes"
LICENCE = "cc-by-sa-4.0"  # the strictest of the data's
COLUMNS = {"UAS": "UAS", "LAS": "LAS", "LP": "LP", "LR": "LR", "LF1": "LF1", "tags": "XPOS", "upos": "UPOS"}
HEAD = """---
language: en
license: {licence}
library_name: h3n
tags: [constituency-parsing, dependency-parsing, universal-dependencies, hpsg]
---

# {name}: English, both trees

Phrase structure (Penn Treebank labels), dependencies (Universal Dependencies 2) and both kinds of tags, as one
head-driven tree. {megabytes:.1f} MB. Licence: CC BY-SA 4.0; commercial use is allowed. The encoder is under Apache 2.0.

```sh
h3n parse --model {name} --text "She is carefully making the cake."
```

## Data

| config | treebank | seen in an epoch | licence |
|---|---|---|---|"""


def card_lines(name: str, config: Path, release: Path, figures: Path, record: Path) -> Iterator[str]:
    """Yield the lines of a card."""
    size = sum(file.stat().st_size for file in release.rglob("*") if file.is_file() and file.name != CARD)
    yield HEAD.format(licence=LICENCE, name=name, megabytes=size / 1e6)
    for one in reversed(list(_from(config))):
        for treebank in load_config(one).data.train:
            yield f"| {one.stem} | {treebank.title} | {treebank.weight:.0%} | {treebank.licence} |"
    yield from _english(_read(figures / "english.json"))
    yield from _everyday(_read(figures / "everyday.json"))
    yield from _calibration(_read(figures / "calibration.json"))
    notes = NOTES / f"{name}.md"
    yield "\n" + (notes.read_text(encoding="utf-8").strip() if notes.is_file() else f"## Weaknesses\n\n{UNKNOWN}")
    yield "\n## Steps\n\n| step | command | minutes |\n|---|---|---|"
    yield from _steps(name, read_record(record))


def _from(config: Path) -> Iterator[Path]:
    """Yield a config, the config of the run that it starts from, and so on."""
    yield config
    if start := load_config(config).start:  # runs/NAME/model is of configs/NAME.toml
        yield from _from(config.with_name(f"{Path(start).parent.name}.toml"))


def _steps(name: str, record: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    """Yield the steps up to the training of a model, on which it may depend, and its own after that."""
    trained = False
    for step, (command, seconds) in record.items():
        if not trained or step.endswith(f" {name}"):
            shown = command.replace("|", "\\|")
            yield f"| {step} | `{shown}` | {seconds / 60:.1f} |"
        trained = trained or step == f"train {name}"


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _english(found: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## How good it is\n\nDev files, gold words, no gold tags (`python -m benchmarks.english`). Settings were"
    yield "chosen on these files.\n\n| dev | " + " | ".join(COLUMNS.values()) + " |\n|---|" + "---|" * len(COLUMNS)
    for row, scores in found["rows"].items():
        cells = (f"{scores[column]:.2f}" if column in scores else "" for column in COLUMNS)
        name = f"**{row}**" if row[0].isupper() else row  # genres are not capitalised
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield "\nFrom raw text, F1 as in the CoNLL 2018 shared task:\n"
    for row, scores in found["text"].items():
        yield f"- {row}: " + ", ".join(f"{metric} {value:.2f}" for metric, value in scores.items())


def _everyday(found: Mapping[str, Any]) -> Iterator[str]:
    shares = ", ".join(f"{kind} {share:.0f} %" for kind, share in found["right"].items())
    yield f"\nOf {found['sentences']} everyday and classic sentences right (`python -m benchmarks.everyday`): {shares}."


def _calibration(found: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## How sure it is\n\nConfidences against how often they are right, GUM dev (`h3n model calibrate`)."
    yield "Temperatures, and the score of no span, are fitted on dev and stored; ECE with those of the other half of"
    yield "the sentences.\n"
    yield "| | choices | right % | ECE before | temperature | no span | ECE |\n|---|---|---|---|---|---|---|"
    for kind, one in found.items():
        numbers = f"{one['choices']:,} | {one['right']:.2f} | {one['error']:.4f} | {one['temperature']:.3f}"
        yield f"| {kind} | {numbers} | {one['none']:.3f} | {one['fitted_error']:.4f} |"
    for kind, one in found.items():
        yield f"\nReliability of {kind}:\n\n| confidence | right | choices |\n|---|---|---|"
        for point in one["fitted_reliability"]:
            yield f"| {point['confidence']:.3f} | {point['right']:.3f} | {point['choices']:,} |"


def write_card(name: str, config: Path, release: Path, figures: Path, record: Path) -> None:
    """Write the card into the model's folder, and a mark beside the figures that it is there."""
    lines = "\n".join(card_lines(name, config, release, figures, record))
    (release / CARD).write_text(f"{lines}\n", encoding="utf-8")
    (figures / "card").write_text(f"{release / CARD}\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the card of a model; return 0."""
    (name,) = argv
    runs = Path("runs")
    steps = runs / "models" / "steps.json"
    write_card(name, Path("configs") / f"{name}.toml", runs / "release" / name, runs / "figures" / name, steps)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
