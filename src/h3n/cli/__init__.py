"""The command line: one module per command, gathered here."""

from __future__ import annotations


def main() -> None:
    raise SystemExit("not yet")
