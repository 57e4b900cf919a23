"""`h3n model push`: all that happens before the hub, without a hub."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from h3n.cli import main
from h3n.models import hub, locate

Run = Callable[..., tuple[int, str]]
CARD = "---\nlicense: mit\n---\n# Mine\n\n- Language: en\n"
SENT = ["README.md", "model.safetensors", "parser.json"]


@pytest.fixture
def run(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that pushes where a model `mine` is: (exit code, stderr). Nobody is logged in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    shutil.copytree(tiny_model, "mine")
    Path("mine/README.md").write_text(CARD, encoding="utf-8")

    def command(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "model", "push", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), capsys.readouterr().err

    return command


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_folder_has_what_loading_reads_and_nothing_else(run: Run) -> None:
    Path("mine/encoder").mkdir()
    for name in ("notes.py", "encoder/vocab.txt", "encoder/weights.bin"):
        Path("mine", name).write_text("x", encoding="utf-8")
    assert run("mine", "me/mine", "--folder", "ready") == (0, "h3n: ready is ready; nothing was sent\n")
    assert files_in(Path("ready")) == ["README.md", "encoder/vocab.txt", "model.safetensors", "parser.json"]
    assert Path("ready/README.md").read_text(encoding="utf-8") == (
        "---\nlicense: mit\nlanguage: [en]\nlibrary_name: h3n\ntags: [constituency-parsing, dependency-parsing]\n---\n"
        '# Mine\n\n- Language: en\n\n## Use\n\n```python\nimport h3n\n\nparser = h3n.load("me/mine")\n```\n'
    )
    assert run("mine", "me/mine", "--folder", "ready")[0] == 2  # not into a folder that holds something


def test_a_model_that_is_pushed_again_does_not_change(run: Run) -> None:
    run("mine", "me/mine", "--folder", "once")
    run("once", "me/mine", "--folder", "twice")
    assert [Path("once", name).read_bytes() for name in SENT] == [Path("twice", name).read_bytes() for name in SENT]


def test_metadata_name_what_a_model_finds() -> None:
    about = {"vocabulary": {"labels": [""], "relations": ["nsubj"]}}
    assert hub.metadata(about, "Afrikaans") == {"library_name": "h3n", "tags": "[dependency-parsing]"}
    assert hub.metadata(about, "de, frk")["language"] == "[de, frk]"
    assert hub.metadata(about, None) == hub.metadata(about, "Afrikaans")
    card = (locate("en") / "README.md").read_text(encoding="utf-8")
    assert hub.with_metadata(card, {"language": "[xy]", "library_name": "x", "tags": "[]"}) == card


def test_push_sends_the_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def create_repo(_: HfApi, repository: str, *, private: bool, exist_ok: bool) -> None:
        calls.append((repository, private, exist_ok))

    def upload_folder(_: HfApi, *, repo_id: str, folder_path: Path, commit_message: str) -> None:
        calls.append((repo_id, files_in(folder_path), commit_message))

    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a token")
    monkeypatch.setattr(HfApi, "create_repo", create_repo)
    monkeypatch.setattr(HfApi, "upload_folder", upload_folder)
    assert run("mine", "me/mine", "--private") == (0, "h3n: mine is on the hub as me/mine\n")
    assert calls == [("me/mine", True, True), ("me/mine", SENT, "A model of h3n")]


def test_what_the_hub_refuses_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = HfHubHTTPError.__mro__[1]  # what the hub's library raises when nobody answers

    def create_repo(*_: object, **__: object) -> None:
        raise connection("nobody answers\nat all")

    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a token")
    monkeypatch.setattr(HfApi, "create_repo", create_repo)
    assert run("mine", "me/mine") == (2, "h3n: the hub does not take 'me/mine': nobody answers\n")


def test_push_says_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("mine", "mine")[1].startswith("h3n: repository 'mine'; expected owner/name")
    assert run("mine", "me/mine") == (2, "h3n: no token for the hub; run `hf auth login`, or set HF_TOKEN\n")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert run("mine", "me/mine")[1].startswith("h3n: models on the hub need the extra 'hub'")
    Path("mine/README.md").write_text("- Licence: (fill in)\n", encoding="utf-8")
    assert "mine/README.md still says (fill in) somewhere\n" in run("mine", "me/mine", "--folder", "draft")[1]
    Path("mine/README.md").unlink()
    code, err = run("mine", "me/mine", "--folder", "ready")
    assert code == 2
    assert err.startswith("h3n: mine has no card; write README.md there: ")
    assert not Path("ready").exists()


def test_a_damaged_model_is_not_sent(run: Run) -> None:
    weights = Path("mine/model.safetensors")
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    code, err = run("mine", "me/mine", "--folder", "ready")
    assert code == 2
    assert "checksum" in err
    assert not Path("ready").exists()
