"""The native code compiled for arm64 and run, where there are a cross compiler and an emulator (see .ci/programs)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks._emulation import DECODERS, ROOT

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
LONGEST = "26"  # words; the program goes up to 70 by itself, which takes an emulator minutes
LIBRARIES = "/usr/aarch64-linux-gnu"
FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-Inative", "-ffp-contract=off")
LAYERS = {"baseline": "armv8-a", "neon_dot": "armv8.2-a+dotprod", "neon_i8mm": "armv8.2-a+dotprod+i8mm"}


@pytest.fixture(autouse=True)
def programs() -> None:
    """Skip where a program is missing."""
    for program in (COMPILER, EMULATOR):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def kernels(source: str, target: str, march: str, folder: Path) -> Path:
    """Return the object file of a source compiled for one target."""
    made = folder / f"{target}.o"
    run(COMPILER, *FLAGS, "-Wno-psabi", f"-march={march}", f"-DH3N_TARGET={target}", "-c", source, "-o", made)
    return made


@pytest.mark.parametrize(
    ("processor", "targets"),
    [
        ("max", ["neon_i8mm", "neon_dot", "baseline"]),
        ("neoverse-n1", ["neon_dot", "baseline"]),
        ("cortex-a72", ["baseline"]),
    ],
)
def test_layers(layers_program: Path, processor: str, targets: list[str]) -> None:
    assert run(EMULATOR, "-L", LIBRARIES, "-cpu", processor, layers_program).split() == [*targets, "0", "failures"]


@pytest.fixture(scope="module")
def layers_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which(COMPILER) is None:
        pytest.skip(f"{COMPILER} is not installed")
    folder = tmp_path_factory.mktemp("layers")
    objects = [kernels("native/layer_kernels.cpp", target, march, folder) for target, march in LAYERS.items()]
    sources = ("tests/native/layers.cpp", "native/layers.cpp", "native/transformer.cpp")
    run(COMPILER, *FLAGS, "-DH3N_HAS_NEON_DOT", *sources, *objects, "-o", folder / "layers")
    return folder / "layers"


def test_decoders(tmp_path: Path) -> None:
    made = kernels("native/kernels.cpp", "baseline", "armv8-a", tmp_path)
    sources = ["tests/native/decoders.cpp", *DECODERS.read_text().split()]
    program = tmp_path / "decoders"
    run(COMPILER, *FLAGS, *sources, made, "-pthread", "-o", program)
    assert run(EMULATOR, "-L", LIBRARIES, program, LONGEST).split() == ["fine:", "baseline"]
