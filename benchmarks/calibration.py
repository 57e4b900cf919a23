"""How often a model is right where it says how sure it is: `python -m benchmarks.calibration MODEL dev.ptb dev.conllu`.

Prints the expected calibration error of the confidences of arcs and spans as they come and with a temperature, and for
spans a score of no span, fitted on these sentences (on one half for the other). ``--plot FILE`` draws the reliability,
``--store`` writes what was fitted into the options of the model, which is then a folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from h3n.measure.tables import text_table

COLUMNS = ("", "choices", "right %", "ECE", "temperature", "none", "ECE, fitted")


def main(argv: list[str] | None = None) -> int:
    """Print the table; return 0."""
    from h3n.measure.accuracy import read_gold, score_gold
    from h3n.measure.calibration import calibrate, collect_choices, plot_calibration, store_fits
    from h3n.models import locate
    from h3n.parser import load

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model")
    options.add_argument("files", nargs="+")
    options.add_argument("--limit", type=int, default=0)
    options.add_argument("--plot", type=Path)
    options.add_argument("--store", action="store_true", help="write what was fitted into the model's options")
    options.add_argument("--json", action="store_true")
    given = options.parse_args(argv)
    folder = locate(given.model)
    parser = load(folder, precision="float32")
    gold = read_gold(parser, given.files, name="gold", limit=given.limit)
    choices = collect_choices(parser, gold, score_gold(parser, gold))
    found = {kind: calibrate(some) for kind, some in choices.items()}
    if given.json:
        print(json.dumps({kind: asdict(one) for kind, one in found.items()}, indent=1))
    else:
        rows = [
            [
                kind,
                f"{c.choices:,}",
                f"{c.right:.2f}",
                f"{c.error:.4f}",
                f"{c.temperature:.3f}",
                f"{c.none:.3f}",
                f"{c.fitted_error:.4f}",
            ]
            for kind, c in found.items()
        ]
        print(text_table([COLUMNS, *rows], left=1))
    if given.plot is not None:
        plot_calibration(found, given.plot)
    if given.store:
        store_fits(folder, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
