"""`h3n model` as a user meets it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h3n import models
from h3n.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command where no model is bundled yet: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(models, "BUNDLED", tmp_path / "models")
    monkeypatch.setenv("H3N_MODELS", str(tmp_path / "own"))

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "model", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def test_list(run: Run, tiny_model: Path) -> None:
    assert run("list") == (0, "", "h3n: no model is bundled with this version; `h3n train` makes one\n")
    assert run("list", "--json") == (0, "[]\n", "")
    shutil.copytree(tiny_model, "models/xy")
    code, out, err = run("list")
    assert (code, err) == (0, "")
    assert out.startswith("xy ")
    assert "labels" in out
    (row,) = json.loads(run("list", "--json")[1])
    assert row["name"] == "xy"
    assert row["label_count"] > 3


def test_info_shows_what_the_model_knows_and_its_card(run: Run, tiny_model: Path) -> None:
    shutil.copytree(tiny_model, "models/xy")
    Path("models/xy/README.md").write_text("# A small model\n", encoding="utf-8")
    code, out, _ = run("info", "xy")
    assert code == 0
    assert "encoder   recurrent" in out
    assert "segmenter english" in out
    assert "relations: " in out
    assert " nsubj " in out
    assert out.endswith("# A small model\n")
    made = json.loads(run("info", str(tiny_model), "--json")[1])
    assert "NP" in made["labels"]
    assert made["config"]["encoder"]["kind"] == "recurrent"
    assert made["folder"] == str(tiny_model)


def test_export_makes_a_model_of_its_own(run: Run, tiny_model: Path) -> None:
    shutil.copytree(tiny_model, "models/xy")
    assert run("export", "xy", "mine/copy") == (0, "", "h3n: xy is in mine/copy\n")
    assert run("info", "mine/copy")[0] == 0
    code, _, err = run("export", "xy", "mine/copy")
    assert (code, err) == (2, "h3n: mine/copy is there already and not an empty folder; name another\n")
    Path("full").write_text("x")
    assert run("export", "xy", "full")[0] == 2
    assert run("export", "xy", "full/inner")[2].startswith("h3n: full/inner: cannot be written: ")


def test_what_is_no_model(run: Run, tmp_path: Path) -> None:
    code, out, err = run("info", "nix")
    assert (code, out) == (2, "")
    assert err.startswith("h3n: no model 'nix'; expected a name (none is bundled")
    assert "is . a saved parser?" in run("export", ".", "elsewhere")[2]
    assert not (tmp_path / "elsewhere").exists()


def test_models_are_described_without_torch(tiny_model: Path) -> None:
    code = (
        "import sys\nfrom h3n.cli import main\n"
        f"sys.argv = ['h3n', 'model', 'info', {str(tiny_model)!r}]\n"
        "try:\n    main()\nexcept SystemExit as left:\n    sys.exit(left.code or 'torch' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_export_in_fewer_bits(run: Run, tiny_model: Path) -> None:
    shutil.copytree(tiny_model, "models/xy")
    Path("models/xy/README.md").write_text("# A small model\n", encoding="utf-8")
    assert run("export", "xy", "half", "--bits", "16")[0] == 0
    before, after = (Path(folder, "model.safetensors").stat().st_size for folder in ("models/xy", "half"))
    assert after < 0.6 * before
    assert run("info", "half")[1].endswith("# A small model\n")
    assert run("export", "xy", "eighth", "--bits", "4", "--embedding-bits", "8")[0] == 0
    assert Path("eighth", "model.safetensors").stat().st_size < 0.35 * before
    said = "h3n: --embedding-bits without --bits; expected both\n"
    assert run("export", "xy", "third", "--embedding-bits", "4")[2] == said
    assert run("export", "xy", "third", "--bits", "11")[2] == "h3n: 11 bits; accepted: 4, 8, 16, 32\n"


def test_verify_says_whether_a_model_is_whole(
    tiny_model: Path, tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    code, _, err = run("verify", str(tiny_model))
    assert code == 0
    assert "is whole; the weights are those that were saved" in " ".join(err.split())
    folder = tmp_path / "damaged"
    shutil.copytree(tiny_model, folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    code, _, err = run("verify", str(folder))
    assert code == 2
    assert err.count("\n") == 1
    assert "the checksum differs" in err


@pytest.mark.parametrize(("missing", "kept", "decoder"), [("relations", [], "cky"), ("labels", [""], "mst")])
def test_info_names_the_decoder_of_a_model_of_one_kind_of_tree(
    tiny_model: Path, tmp_path: Path, run: Run, missing: str, kept: list[str], decoder: str
) -> None:
    folder = tmp_path / "one-kind"
    shutil.copytree(tiny_model, folder)
    about = json.loads((folder / "parser.json").read_text(encoding="utf-8"))
    about["vocabulary"][missing] = kept
    if missing == "relations":
        about["vocabulary"] |= {"at_root": [], "elsewhere": []}
    (folder / "parser.json").write_text(json.dumps(about), encoding="utf-8")
    lines = run("info", str(folder))[1].splitlines()
    assert f"decoder   {decoder}" in lines
    assert json.loads(run("info", str(folder), "--json")[1])["decoder"] == decoder
    assert ", spans weighted " in run("info", str(tiny_model))[1]
