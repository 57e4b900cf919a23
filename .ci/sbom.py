"""Write what a wheel brings along, as a CycloneDX document in JSON beside it: `python .ci/sbom.py dist/h3n-*.whl`.

The components are the packages that the wheel requires, and what those require, as they are installed in the
environment of this program. Nothing in the document changes from one run to the next.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def normal(name: str) -> str:
    """Return a package's name as the index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(lines: Iterable[str]) -> list[str]:
    """Return the names of the packages that are required here, without any extra."""
    requirements = map(Requirement, lines)
    return [normal(one.name) for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]


def closure(names: Iterable[str]) -> dict[str, tuple[Distribution, list[str]]]:
    """Return the installed packages of these names and all that they require: the package, and the names."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is required, but not installed here") from None
        found[name] = (package, required(package.requires or []))
        waiting += found[name][1]
    return found


def reference(name: str, version: str) -> str:
    """Return the address of a package in the form that CycloneDX asks for."""
    return f"pkg:pypi/{name}@{version}"


def component(name: str, package: Distribution) -> dict[str, Any]:
    """Return a package as a component."""
    licence = package.metadata["License-Expression"] or package.metadata["License"] or ""
    entry = {"type": "library", "name": name, "version": package.version}
    entry |= {"purl": reference(name, package.version), "bom-ref": reference(name, package.version)}
    return entry if not licence or len(licence) > 80 else {**entry, "licenses": [{"license": {"name": licence}}]}


def document(wheel: Path) -> dict[str, Any]:
    """Return the document of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(file).decode())
    name, version = normal(metadata["Name"]), metadata["Version"]
    direct = required(metadata.get_all("Requires-Dist") or [])
    packages = closure(direct)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    of = {each: reference(each, package.version) for each, (package, _) in packages.items()}
    edges = {reference(name, version): direct} | {of[each]: needs for each, (_, needs) in packages.items()}
    itself = {"type": "library", "name": name, "version": version, "bom-ref": reference(name, version)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"component": {**itself, "hashes": [{"alg": "SHA-256", "content": digest}]}},
        "components": [component(each, packages[each][0]) for each in sorted(packages)],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted({of[need] for need in needs})} for ref, needs in sorted(edges.items())
        ],
    }


def main(arguments: list[str]) -> None:
    """Write a document beside each wheel."""
    for argument in arguments:
        wheel = Path(argument)
        target = wheel.with_name(wheel.name.removesuffix(".whl") + ".cdx.json")
        target.write_text(json.dumps(document(wheel), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
