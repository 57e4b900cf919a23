"""The wheel of a model: `python models/wheel.py PROJECT MODEL DIST`.

PROJECT is a folder with a pyproject.toml whose entry point of the group h3n.models names the folder of the model, such
as models/en-large; MODEL is the model's folder. Only what h3n reads of it goes into the wheel, and the licences.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from h3n.models import CARD, FILES, GROUP, read_about

ROOT = Path(__file__).resolve().parents[1]
LICENCES = ("LICENSE-MODELS", "LICENSES")


def assemble(project: Path, model: Path, target: Path) -> None:
    """Put what the wheel is built from into a folder."""
    options = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    (package,) = options["project"]["entry-points"][GROUP].values()
    read_about(model)
    shutil.copyfile(project / "pyproject.toml", target / "pyproject.toml")
    shutil.copyfile(model / CARD, target / CARD)
    for file in (file for pattern in FILES for file in sorted(model.glob(pattern))):
        copy = target / package / file.relative_to(model)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    for name in LICENCES:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target / name)


def main(argv: list[str]) -> int:
    """Build the wheel; return 0."""
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    project, model, dist = map(Path, argv)
    if not (model / CARD).is_file():
        print(f"{model}: a model without a card ({CARD}) is not published", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        assemble(project, model, Path(folder))
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(dist.resolve()), folder]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
