"""Options: every mistake is named together with what is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from h3n.config import Config, config_of, expand, load_config, presets, table_of
from h3n.errors import H3nError, InputError, UsageError


def test_the_presets_are_all_there_and_all_valid() -> None:
    assert presets() == ("attentive", "minilm", "paper", "paper-bert", "paper-xlnet", "small")
    for name in presets():
        assert isinstance(load_config(settings=[f"preset={name}"]), Config)


def test_the_paper_preset_has_the_papers_sizes() -> None:
    config = load_config(settings=["preset=paper"])
    layers = config.encoder.layers
    assert (layers.count, layers.size, layers.heads, layers.head_size, layers.inner) == (12, 1024, 8, 64, 2048)
    assert (config.optimiser.rate, config.optimiser.warmup, config.optimiser.betas) == (8e-4, 160, (0.9, 0.98))
    assert (config.batches.sentences, config.loss.spans) == (250, "hinge")
    assert load_config(settings=["preset=paper-bert"]).decoding.weight == 0.8
    assert load_config(settings=["preset=paper-xlnet"]).batches.sentences == 100


def test_the_file_overrides_the_preset_and_settings_override_both(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('preset = "small"\n[optimiser]\nrate = 0.5\nclip = 7\n[[data.train]]\nfiles = ["a", "b"]\n')
    config = load_config(
        path, settings=["optimiser.rate=0.25", "encoder.kind=pretrained", "encoder.name=minilm", "training.tune=false"]
    )
    assert (config.optimiser.rate, config.optimiser.clip, config.optimiser.schedule) == (0.25, 7.0, "linear")
    assert (config.encoder.kind, config.training.tune) == ("pretrained", False)
    assert config.data.train[0].files == ("a", "b")
    assert config_of(table_of(config)) == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "optimiser.rat=1",
            r"unknown option optimiser\.rat \(did you mean rate\?\); accepted here: rate, ",
        ),
        ("nonsense=1", r"unknown option nonsense; accepted here: output, start, encoder"),
        ("optimiser.rate=fast", r"option optimiser\.rate: expected a number, found 'fast'"),
        ("training.epochs=2.5", r"option training\.epochs: expected a whole number, found 2\.5"),
        ("training.epochs=true", r"option training\.epochs: expected a whole number, found True"),
        ("training.tune=1", r"option training\.tune: expected true or false, found 1"),
        ("output=3", r"option output: expected a string, found 3"),
        (
            "encoder.kind=lstm",
            r"option encoder\.kind: 'lstm' is not known; accepted: 'attentive', 'recurrent', 'pretrained'",
        ),
        ("training.epochs=0", r"option training\.epochs: 0 is out of range; accepted: between 1 and 2147483647"),
        ("encoder.dropout=1.5", r"option encoder\.dropout: 1\.5 is out of range; accepted: 0 or more, less than 1"),
        ("encoder=3", r"option encoder: expected a table, found 3"),
        ("data.train=3", r"option data\.train: expected a list, found 3"),
        ("data.train=[{file='x'}]", r"unknown option data\.train\[0\]\.file \(did you mean files\?\)"),
        ("optimiser.rate", r"setting 'optimiser\.rate': expected name=value"),
        ("=3", r"expected name=value"),
        ("preset=huge", r"unknown preset 'huge'; known: attentive, minilm, paper"),
    ],
)
def test_mistakes_are_named_with_what_is_accepted(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_config(settings=[setting])


def test_a_group_cannot_be_replaced_by_a_value() -> None:
    with pytest.raises(UsageError, match="encoder is a group of options"):
        load_config(settings=["preset=small", "encoder=3"])


@pytest.mark.parametrize(("text", "message"), [("a = = 1", "not a TOML file"), ("\xff", "not a TOML file")])
def test_files_that_are_not_toml_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(H3nError, match=message):
        load_config(path)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_config(tmp_path / "none.toml")


def test_paths_may_name_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H3N_SOMEWHERE", "data")
    assert expand("$H3N_SOMEWHERE/train.ptb") == Path("data/train.ptb")
    assert expand("${H3N_SOMEWHERE}/x") == Path("data/x")
    monkeypatch.delenv("H3N_SOMEWHERE")
    with pytest.raises(UsageError, match="H3N_SOMEWHERE is not set"):
        expand("$H3N_SOMEWHERE/train.ptb")
