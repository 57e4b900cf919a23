"""`make fuzz-guided`: atheris changes inputs until they reach code that none before them reached.

    python -m tests.fuzz.guided --minutes 5 --seed 0
    python -m tests.fuzz.guided --minutes 60 --only conllu,patterns --keep findings/ --grow

Readers, the segmenter, patterns and the files of a saved model have equal times, each in a process of its own. They
start from samples, from what was found once (tests/fuzz/findings) and from inputs that reached much
(tests/fuzz/corpus), to which `--grow` adds those that reach more; both are tried with every run of the tests. Exit
code 1 if something was found, as in tests/fuzz/__main__.py; put into tests/fuzz/findings under the name TARGET-WHAT, a
finding is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from types import FrameType, FunctionType
from typing import Any

from tests.fuzz.driver import Counts, Target, try_one
from tests.fuzz.mutations import mutated, mutated_table
from tests.fuzz.patterns import PATTERN_TARGETS, PATTERNS
from tests.fuzz.saved import SAVED_TARGETS, sound
from tests.fuzz.targets import READERS, TARGETS, samples

HERE = Path(__file__).parent
FINDINGS, CORPUS = HERE / "findings", HERE / "corpus"
GUIDED: dict[str, Target] = {name: TARGETS[name] for name in (*READERS, "text")}
GUIDED |= {"patterns": PATTERN_TARGETS["patterns"], **SAVED_TARGETS}
TABLES = {"jsonl", *SAVED_TARGETS}  # JSON, in which values are changed besides bytes
TEXTS = ["Mr. Smith didn't (really) go to the U.S. in '99! See http://a.b/c, \u201cwhy?\u201d\n\n- 3.5% of $1,000 :)"]
LARGEST, LARGEST_KEPT = 1 << 15, 1 << 12  # bytes of an input
SECONDS, MEGABYTES = 60, 4_000  # for one input; then libFuzzer gives up and keeps it


def seeds(name: str) -> list[bytes]:
    """Return the inputs that a target starts from."""
    kept = [*FINDINGS.glob(f"{name}-*"), *(CORPUS / name).glob("*")]
    return [*_own(name), *(file.read_bytes() for file in sorted(kept))]


def _own(name: str) -> Iterable[bytes]:
    if name in READERS:
        return {*samples(name)}
    if name in SAVED_TARGETS:
        return sound(name).values()
    return [one.encode() for one in (TEXTS if name == "text" else PATTERNS)]


def guide(name: str, folder: Path, arguments: list[str]) -> None:
    """Let libFuzzer try a target, and end this process; what is found is written into the folder."""
    import atheris

    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    target, places = GUIDED[name], set()

    def attempt(content: bytes) -> None:
        counts = Counts()
        try_one(name, target, content, counts)
        for finding in counts.findings:
            place = finding.said.rpartition(" at ")[2]
            if place not in places:  # of each kind one
                places.add(place)
                (folder / f"{name}-{len(places)}").write_bytes(content)
                with (folder / "said").open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{finding.kind}: {finding.said}\n")

    def change(content: bytes, most: int, seed: int) -> bytes:
        chance = Random(seed)
        if name in TABLES and chance.random() < 0.6:
            with contextlib.suppress(ValueError, RecursionError):
                table = json.loads(content)
                if isinstance(table, dict | list):
                    return mutated_table([table], chance)[:most]
        return mutated([content], chance)[:most] if chance.random() < 0.3 else atheris.Mutate(content, most)

    limits = [
        f"-max_len={LARGEST}",
        f"-timeout={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}",
        f"-artifact_prefix={folder}/{name}-",
    ]
    atheris.Setup(["guided", *limits, *arguments], attempt, custom_mutator=change)
    atheris.Fuzz()


def instrument() -> None:
    """Count what is reached in all functions of h3n, as imported: atheris' own way does not know all loaders."""
    import atheris

    for one in gc.get_objects():
        if type(one) is FunctionType and str(one.__module__).partition(".")[0] == "h3n":
            atheris.instrument_func(one)


def run(name: str, folder: Path, arguments: list[str], seconds: float) -> int:
    """Return the exit code of a process that guides a target, 1 if it had to be ended."""
    process = multiprocessing.get_context("fork").Process(target=guide, args=(name, folder, arguments))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()
    return int(process.exitcode != 0)


def fuzz(name: str, folder: Path, seconds: float, seed: int) -> tuple[str, list[str]]:
    """Return what came of a target, in words, and what was found."""
    (folder / "seeds").mkdir(parents=True)
    (folder / "inputs").mkdir()
    for number, content in enumerate(seeds(name)):
        (folder / "seeds" / str(number)).write_bytes(content)
    arguments = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed + 1}", "-print_final_stats=1"]
    code = run(name, folder, [*arguments, str(folder / "inputs"), str(folder / "seeds")], seconds + 3 * SECONDS)
    log = (folder / "log").read_text(encoding="utf-8", errors="replace")
    said = (folder / "said").read_text(encoding="utf-8").splitlines() if (folder / "said").exists() else []
    if code:  # an input of which it did not come back: the last lines tell why
        said.append(f"libFuzzer: {' / '.join(log.strip().splitlines()[-12:])[:1500]}")
    tried, reached = re.findall(r"executed_units: (\d+)", log), re.findall(r"cov: (\d+)", log)
    new = len(list((folder / "inputs").iterdir()))
    words = f"{tried[-1] if tried else '?'} inputs, {reached[-1] if reached else '?'} places reached, {new} inputs new"
    return words, said


def grow(name: str, inputs: Path) -> None:
    """Add the inputs that reach lines which no other that is kept reaches, the smallest first."""
    known: set[tuple[str, int]] = set()
    for content in seeds(name):
        known |= _lines(name, content)
    found = [file.read_bytes() for file in inputs.iterdir() if file.stat().st_size <= LARGEST_KEPT]
    for content in sorted(found, key=lambda content: (len(content), content)):
        lines = _lines(name, content)
        if not lines <= known:
            known |= lines
            (CORPUS / name).mkdir(parents=True, exist_ok=True)
            (CORPUS / name / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)


def _lines(name: str, content: bytes) -> set[tuple[str, int]]:
    """Return the lines of h3n that an input reaches. libFuzzer's way of merging starts itself anew, as a program."""
    found: set[tuple[str, int]] = set()

    def trace(frame: FrameType, _event: str, _value: object) -> Callable[..., Any] | None:
        if f"{os.sep}h3n{os.sep}" not in frame.f_code.co_filename:
            return None
        found.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        try_one(name, GUIDED[name], content, Counts())
    finally:
        sys.settrace(None)
    return found


def main() -> int:
    """Fuzz all targets; return 1 if something was found."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.guided", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(GUIDED), help=f"of: {', '.join(GUIDED)}")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs with which something went wrong")
    parser.add_argument("--grow", action="store_true", help="add to tests/fuzz/corpus what reaches more")
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("atheris is not installed: pip install 'h3n[fuzz]', on Linux with an x86_64 processor")
    for kind in (FutureWarning, RuntimeWarning):  # lines that a user would see
        warnings.simplefilter("error", kind)
    names, found = options.only.split(","), 0
    instrument()
    for name in names:
        with tempfile.TemporaryDirectory(prefix="h3n-guided-") as top:
            folder = Path(top)
            words, said = fuzz(name, folder, 60 * options.minutes / len(names), options.seed)
            print(f"{name}: {words}, {len(said)} findings", *said, sep="\n  ", flush=True)
            found += len(said)
            if options.keep is not None and said:
                options.keep.mkdir(parents=True, exist_ok=True)
                for file in folder.glob(f"{name}-*"):
                    shutil.copy(file, options.keep / file.name)
            if options.grow:
                grow(name, folder / "inputs")
    print(f"in all: {found} findings (seed {options.seed})")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
