"""The documentation site: all pages in the navigation, all links alive, all public names in the reference."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parent.parent
DOCS = PROJECT / "docs"
MADE = {"reference.md", "model-en.md", "model-en-large.md"}  # by `make docs`, from the code


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", PROJECT / ".ci" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation() -> None:
    nav = re.findall(r'"([\w-]+\.md)"', (PROJECT / "zensical.toml").read_text(encoding="utf-8"))
    pages = {path.name for path in DOCS.glob("*.md") if not path.name.startswith("model-")}
    assert set(nav) == pages | MADE
    assert len(nav) == len(set(nav))


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [PROJECT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists() or file.name in MADE, f"{page.name} links {target}"
        if anchor and file.suffix == ".md" and file.exists():
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{page.name} links {target}"


def test_the_reference_shows_every_public_name_with_its_docstring() -> None:
    pytest.importorskip("nltk", reason="the reference shows h3n.nltk, which needs NLTK")
    generator = load_generator()
    page = generator.reference()
    for name in generator.MODULES:
        module = importlib.import_module(name)
        assert f"\n## {name}\n" in page
        for each in generator.public_names(module):
            assert f"\n### {each}\n" in page
            assert getattr(module, each).__doc__, f"{name}.{each} has no docstring"


def test_a_model_card_becomes_a_page_without_its_metadata() -> None:
    generator = load_generator()
    assert generator.card("xy", "---\nlanguage: en\n---\nText.\n") == "# The model xy\n\nText.\n"
    assert generator.card("xy", "# XY\n\nText.\n") == "# XY\n\nText.\n"


def test_the_citation_has_the_version_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"version: {project['version']}\n" in (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
