"""The share of the fuzzing that every run of the tests does, with a fixed seed, and all that was ever found."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from h3n.errors import UsageError
from tests.fuzz.driver import Counts, Target, fuzz, try_one
from tests.fuzz.targets import TARGETS

FINDINGS = sorted((Path(__file__).parent / "findings").iterdir())
# As many as take about three seconds of processor time each, or fewer.
INPUTS = dict.fromkeys(TARGETS, 300) | {"convert": 30, "parse": 40, "model-options": 60, "model-weights": 60}


def all_targets() -> dict[str, Target]:
    pytest.importorskip("fastapi", reason="needs the extra serve")
    pytest.importorskip("starlette.testclient", reason="needs httpx")
    from tests.fuzz.service import SERVICE

    return TARGETS | SERVICE


@pytest.mark.parametrize("name", [*TARGETS, "service"])
def test_damaged_input_is_read_or_refused(name: str) -> None:
    target = all_targets()[name] if name == "service" else TARGETS[name]
    counts = fuzz(name, target, seed=0, inputs=INPUTS.get(name, 100))
    assert counts.findings == []
    assert counts.inputs == INPUTS.get(name, 100)


@pytest.mark.parametrize("file", FINDINGS, ids=lambda file: file.name)
def test_what_was_found_once_holds(file: Path) -> None:
    name = next(name for name in sorted(all_targets(), key=len, reverse=True) if file.name.startswith(f"{name}-"))
    counts = Counts()
    try_one(name, all_targets()[name], file.read_bytes(), counts)
    assert counts.findings == []


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
