"""What is said of licences is the same everywhere: the card of the model, the wheel's metadata, the README."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from h3n import models
from h3n.config import load_config

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "LICENSE-MODELS").is_file(), reason="not in every copy of the source")
NC_GENRES = ("GUM_essay", "GUM_letter", "GUM_podcast", "GUM_fiction", "GUM_whow")
FIRST_SCREEN = 45  # lines


def licence_in(folder: Path) -> str:
    """Return the licence in the metadata of a model's card, as SPDX writes it."""
    card = (folder / models.CARD).read_text(encoding="utf-8")
    match = re.search(r"^license: (\S+)$", card, re.M)
    assert match is not None
    return match[1].upper()


@pytest.mark.parametrize("model", sorted(models.bundled()))
def test_the_wheel_says_what_the_card_says(model: str) -> None:
    licence = licence_in(models.bundled()[model])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"].split(" AND ") == ["MIT", "Apache-2.0", licence]
    said = licence.replace("CC-BY", "CC BY").replace("-4.0", " 4.0")
    screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN])
    assert said in screen
    assert ("non-commercial" in screen) == ("-NC-" in licence)
    listed = (ROOT / "LICENSE-MODELS").read_text(encoding="utf-8").partition(f"{model}, in the package h3n ")[2]
    assert listed.strip().splitlines()[1].strip().startswith(said)
    assert said in (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_package_of_the_large_model_says_what_its_card_says() -> None:
    project = ROOT / "models" / "en-large"
    options = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licence = licence_in(project / "h3n_en_large")
    assert options["license"].split(" AND ") == ["Apache-2.0", licence]
    said = licence.replace("CC-BY", "CC BY").replace("-4.0", " 4.0")
    text = (ROOT / "LICENSE-MODELS").read_text(encoding="utf-8")
    listed = text.partition("en-large, in the package h3n-en-large ")[2]
    assert listed.strip().splitlines()[1].strip().startswith(said)


def test_every_licence_file_is_there() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license-files"]
    files = [file.name for pattern in patterns for file in ROOT.glob(pattern)]
    assert {"LICENSE", "LICENSE-MODELS", "CC-BY-SA-4.0.txt", "Apache-2.0.txt"} <= set(files)


@pytest.mark.parametrize("name", ["en-taught", "en", "en-large"])
def test_models_learn_from_free_texts_alone(name: str) -> None:
    config = load_config(ROOT / "configs" / f"{name}.toml")
    for treebank in config.data.train:
        assert treebank.title
        assert treebank.licence
        assert "NC" not in treebank.licence
        assert "genia" not in treebank.files[0]
        assert "whow" not in treebank.files[0]
        if "/gum/" in treebank.files[0]:
            assert treebank.without == NC_GENRES
    assert config.decoding.head_score == "tree-order"
