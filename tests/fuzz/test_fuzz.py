"""The share of the fuzzing that every run of the tests does, with a fixed seed, and all that was ever found."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from h3n.cli.commands import COMMANDS
from h3n.errors import UsageError
from tests.fuzz.arrays import ARRAY_TARGETS
from tests.fuzz.clients import CLIENT_TARGETS
from tests.fuzz.driver import Counts, Target, fuzz, portions, try_one
from tests.fuzz.pairs import PAIR_TARGETS
from tests.fuzz.patterns import PATTERN_TARGETS
from tests.fuzz.saved import SAVED_TARGETS
from tests.fuzz.targets import TARGETS

FINDINGS = sorted((Path(__file__).parent / "findings").iterdir())
CORPUS = Path(__file__).parent / "corpus"
OURS = TARGETS | PATTERN_TARGETS | PAIR_TARGETS | ARRAY_TARGETS | CLIENT_TARGETS | SAVED_TARGETS
# As many as take about two seconds of processor time each, or fewer.
FEW = {
    "brackets": 150,
    "convert": 30,
    "parse": 40,
    "model-options": 60,
    "model-weights": 60,
    "rules": 60,
    "service": 100,
    "http": 60,
}
INPUTS = dict.fromkeys(OURS, 300) | dict.fromkeys(SAVED_TARGETS, 100) | FEW | {"commands": 120}


def all_targets() -> dict[str, Target]:
    pytest.importorskip("fastapi", reason="needs the extra serve")
    pytest.importorskip("starlette.testclient", reason="needs httpx")
    pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
    from tests.fuzz.everything import ALL

    return ALL


@pytest.mark.parametrize("name", [*OURS, "service", "http", "commands"])
def test_damaged_input_is_read_or_refused(name: str) -> None:
    target = OURS[name] if name in OURS else all_targets()[name]
    counts = fuzz(name, target, seed=0, inputs=INPUTS[name])
    assert counts.findings == []
    assert counts.inputs == INPUTS[name]


@pytest.mark.parametrize("file", FINDINGS, ids=lambda file: file.name)
def test_what_was_found_once_holds(file: Path) -> None:
    name = next(name for name in sorted(all_targets(), key=len, reverse=True) if file.name.startswith(f"{name}-"))
    counts = Counts()
    try_one(name, all_targets()[name], file.read_bytes(), counts)
    assert counts.findings == []


@pytest.mark.parametrize("name", sorted(folder.name for folder in CORPUS.iterdir()))
def test_what_reached_much_is_read_or_refused(name: str) -> None:
    counts, files = Counts(), sorted((CORPUS / name).iterdir())
    assert files
    for file in files:
        try_one(name, OURS[name], file.read_bytes(), counts)
    assert counts.findings == []


def test_all_inputs_are_shared_out() -> None:
    parts = portions({"a": Target(_nothing, print, share=3), "b": Target(_nothing, print)}, 1000)
    assert parts == {"a": 750, "b": 250}


def _nothing(_: Random) -> bytes:
    return b""


def test_every_command_is_fuzzed_and_what_it_writes_is_seen() -> None:
    all_targets()
    from tests.fuzz.commands import LINES, run_line
    from tests.fuzz.scratch import scratch

    assert sorted(LINES) == sorted(COMMANDS)
    outside = scratch().top.parent / f"{scratch().top.name}-outside.jsonl"
    try:
        code, said, written = run_line(["convert", "a.ptb", str(outside)])
        assert (code, said) == (0, "")
        assert str(outside) in written
        assert run_line(["convert", "a.ptb", "b.jsonl"]) == (0, "", [])
        assert not (scratch().folder / "b.jsonl").exists()  # the folder is new again
    finally:
        outside.unlink(missing_ok=True)


def test_what_goes_wrong_is_counted() -> None:
    def attempt(content: bytes) -> None:
        if content == b"0":
            raise KeyError("x")
        if content == b"1":
            raise UsageError("in\ntwo lines")
        if content == b"2":
            raise UsageError("fine")
        assert content != b"3"

    numbers = iter(range(5))

    def make(_: Random) -> bytes:
        return str(next(numbers)).encode()

    counts = fuzz("x", Target(make, attempt), seed=0, inputs=5)
    assert [finding.kind for finding in counts.findings] == ["traceback", "lines", "loss"]
    assert (counts.inputs, counts.refused) == (5, 2)


def test_inputs_follow_from_the_seed() -> None:
    made = [[TARGETS["conllu"].make(Random(f"{seed}/conllu/{at}")) for at in range(20)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
