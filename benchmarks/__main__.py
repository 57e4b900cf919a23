"""Run every benchmark that needs nothing beyond the `bench` extra; one name as argument runs that one alone."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = ["reading", "scoring", "conversion", "phrases", "segmentation", "segmentation_growth", "decoders"]


def main() -> int:
    chosen = sys.argv[1:] or BENCHMARKS
    if unknown := set(chosen) - set(BENCHMARKS):
        sys.exit(f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(BENCHMARKS)}")
    worst = 0
    for name in chosen:
        print(f"== {name}", flush=True)
        worst = max(worst, importlib.import_module(f"benchmarks.{name}").main([]))
    return worst


if __name__ == "__main__":
    sys.exit(main())
