"""The native code's VNNI and AVX-512, run where the processor has neither: SIMDe has them in C++ (see .ci/programs)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks._emulation import COMPILER, DECODERS, FLAGS, HAS_ALL, LAYERS, TARGETS, kernels, missing, run

LONGEST = "26"  # words; the program goes up to 70 by itself, which takes an emulation long
INSTRUCTIONS = {  # that must be what is run, of all that a target has
    ("layer_kernels", "avx2_vnni"): "simde_mm256_dpbusd_epi32",
    ("layer_kernels", "avx512_vnni"): "simde_mm512_dpbusd_epi32",
    ("kernels", "avx512"): "simde_mm512_max_ps",
}


@pytest.fixture(scope="module", autouse=True)
def headers() -> None:
    """Skip where a program or SIMDe is missing."""
    if reason := missing():
        pytest.skip(reason)


@pytest.mark.parametrize(("source", "target"), INSTRUCTIONS)
def test_what_is_emulated(source: str, target: str) -> None:
    everything = run(COMPILER, *FLAGS, *TARGETS[target], "-E", f"native/{source}.cpp")
    assert INSTRUCTIONS[source, target] in ours(everything)


def ours(preprocessed: str) -> str:
    """Return what the preprocessor made of files under native/ alone."""
    lines, is_ours = [], False
    for line in preprocessed.splitlines():
        if line.startswith("# "):
            is_ours = ' "native/' in line
        elif is_ours:
            lines.append(line)
    return "\n".join(lines)


def test_layers(tmp_path: Path) -> None:
    objects = [kernels("native/layer_kernels.cpp", target, tmp_path, "-O1") for target in LAYERS]
    sources = ("tests/native/layers.cpp", "native/layers.cpp", "native/transformer.cpp")
    run(COMPILER, *FLAGS, "-O1", HAS_ALL, "-DH3N_HAS_AVX2", *sources, *objects, "-o", tmp_path / "layers")
    assert run(tmp_path / "layers").split() == ["avx512_vnni", "avx2_vnni", "avx2", "baseline", "0", "failures"]


def test_decoders(tmp_path: Path) -> None:
    objects = [kernels("native/kernels.cpp", target, tmp_path, "-O1") for target in ("baseline", "avx512")]
    sources = ["tests/native/decoders.cpp", *DECODERS.read_text().split()]
    program = tmp_path / "decoders"
    run(COMPILER, *FLAGS, "-O1", HAS_ALL, "-DH3N_HAS_AVX512", *sources, *objects, "-pthread", "-o", program)
    assert run(program, LONGEST).split() == ["fine:", "avx512", "baseline"]
