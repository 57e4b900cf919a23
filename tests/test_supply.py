"""What is delivered beside the wheel: a list of what it brings along."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("packaging", reason="needs packaging")
PROGRAM = Path(__file__).parents[1] / ".ci" / "sbom.py"
pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason="the folder .ci is not in every copy of the source")


def program() -> Any:
    spec = importlib.util.spec_from_file_location("sbom", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Return a wheel that requires two packages, one of them for an extra alone."""
    lines = ["Metadata-Version: 2.4", "Name: h3n", "Version: 9.9", "Requires-Dist: numpy>=1", "Requires-Dist: typer"]
    lines.append('Requires-Dist: no-such-package; extra == "other"')
    path = tmp_path / "h3n-9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("h3n-9.9.dist-info/METADATA", "\n".join(lines) + "\n")
    return path


def test_every_requirement_is_listed_with_its_version(wheel: Path) -> None:
    program().main([str(wheel)])
    document = json.loads(wheel.with_name("h3n-9.9-py3-none-any.cdx.json").read_text(encoding="utf-8"))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    versions = {one["name"]: one["version"] for one in document["components"]}
    assert versions["numpy"] == version("numpy")
    assert len(versions) > 2  # typer brings others along
    known = {one["bom-ref"] for one in document["components"]} | {"pkg:pypi/h3n@9.9"}
    assert {one["ref"] for one in document["dependencies"]} == known
    assert all(need in known for one in document["dependencies"] for need in one["dependsOn"])
    assert program().document(wheel) == document


def test_what_is_not_installed_is_said() -> None:
    with pytest.raises(SystemExit, match="no-such-package is required, but not installed"):
        program().closure(["no-such-package"])
