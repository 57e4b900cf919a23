"""The native code for instructions of x86 that this machine may lack, which SIMDe computes in plain C++.

The compiler aims at any processor, so what its target would bring is given by hand: the names of the instruction sets
are defined, `tests/native/emulated` has the header of their instructions, and the processor is said to have them all.
For `benchmarks.instruction_sets` and `tests/native/test_vnni.py`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
DECODERS = ROOT / "native" / "decoders.txt"  # names the sources that are compiled once
COMPILER = os.environ.get("CXX", "c++")
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-ffp-contract=off", "-Inative")
HAS_ALL = "-D__builtin_cpu_supports(name)=true"
AVX2 = ("-isystem", "tests/native/emulated", "-D__SSE2__", "-D__AVX2__")
TARGETS = {
    "baseline": (),
    "avx2": AVX2,
    "avx2_vnni": (*AVX2, "-D__AVXVNNI__"),
    "avx512": (*AVX2, "-D__AVX512F__"),
    "avx512_vnni": (*AVX2, "-D__AVX512F__", "-D__AVX512VNNI__"),
}
LAYERS = ("baseline", "avx2", "avx2_vnni", "avx512_vnni")


def missing() -> str | None:
    """Return what the emulation would need that is not installed; None if everything is."""
    if shutil.which(COMPILER) is None:
        return f"{COMPILER} is not installed"
    including = (COMPILER, "-E", "-x", "c++", "-include", "simde/x86/avx512.h", os.devnull)
    found = subprocess.run(including, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600).returncode == 0
    return None if found else "SIMDe's headers are not installed (Debian's libsimde-dev)"


def run(*command: str | Path) -> str:
    """Return what a program prints; raise `RuntimeError` with its words if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def kernels(source: str, target: str, folder: Path, *flags: str) -> Path:
    """Return the object file of a source that is compiled once per target."""
    compiled = folder / f"{target}.o"
    run(COMPILER, *FLAGS, *TARGETS[target], f"-DH3N_TARGET={target}", *flags, "-c", source, "-o", compiled)
    return compiled


def build_layers(folder: Path) -> ModuleType:
    """Return `h3n.engine._layers` as it is on a processor that has everything; its files are in a folder."""
    import nanobind

    flags = ("-O2", "-fPIC", "-fvisibility=hidden")
    objects = [kernels("native/layer_kernels.cpp", target, folder, *flags) for target in LAYERS]
    robin_map = Path(nanobind.source_dir()).parent / "ext" / "robin_map" / "include"
    headers = (sysconfig.get_path("include"), nanobind.include_dir(), robin_map)
    includes = [text for header in headers for text in ("-isystem", str(header))]
    # Types of its own: the module of this name that is installed may be loaded, too.
    binding = (*flags, *includes, "-fno-strict-aliasing", "-DNDEBUG", "-DNB_DOMAIN=emulated")
    ours = [f"native/{name}.cpp" for name in ("layer_bindings", "network_bindings", "layers", "network", "transformer")]
    sources = [*ours, Path(nanobind.source_dir()) / "nb_combined.cpp"]
    path = folder / f"_layers{sysconfig.get_config_var('EXT_SUFFIX')}"
    run(COMPILER, *FLAGS, *binding, HAS_ALL, "-DH3N_HAS_AVX2", "-shared", *sources, *objects, "-o", path)
    return _loaded(path)


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("_layers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
