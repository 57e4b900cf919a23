"""Experiments as data: what their files say, which runs and files they come down to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from h3n.decode import DECODERS
from h3n.errors import InputError, UnknownName, UsageError
from h3n.experiments import Comparison, experiment_names, load_experiment
from h3n.experiments.experiment import Make
from h3n.experiments.files import find_file, how_to_get, make_file
from h3n.experiments.grammar import write_treebank
from h3n.experiments.kinds import missing_files
from h3n.experiments.plan import Choice, plan
from h3n.formats import read
from h3n.treebanks import known_recipes
from tests.experiments.small import SMALL, parse


@pytest.mark.parametrize("name", experiment_names())
def test_data_files_name_what_exists(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.name == name
    for need in experiment.needs:
        for variant in experiment.variants or ("",):
            assert need.recipe.replace("{variant}", variant) in known_recipes()
    if not isinstance(experiment, Comparison):
        return
    names = {dev.name for dev in experiment.dev}
    for paper in experiment.paper:
        assert paper.variant in ("", *experiment.variants)
        assert paper.set == "" or paper.set in names
        assert set(paper.figures) <= set(experiment.columns)
    assert {row.run for row in experiment.rows} == {run.name for run in experiment.runs}
    assert all(part in DECODERS for row in experiment.rows for part in row.decoder.split("+"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A title"', 'tilte = "A title"', r"unknown option tilte \(did you mean title\?\); accepted"),
        ('title = "A title"', "", "option title is missing"),
        ('run = "joint"\ndecoder = "h3n"', 'run = "jiont"\ndecoder = "h3n"', "run 'jiont'; known: joint, phrases"),
        ('decoder = "cky+mst"', 'decoder = "cky+msst"', "decoder 'msst'; known: cky"),
        ('decoder = "h3n"', 'decoder = "h3n"\nweight = 2', r"option rows\[0\].weight: 2.0 is out of range"),
        ('learns = ["constituents"]', 'learns = ["phrases"]', "'phrases' is not known; accepted: 'constituents'"),
        ('preset = "small"', 'preset = "small"\noutput = "x"', "options.output: expected"),
        ('decoder = "cky+mst"', 'decoder = "cky"\nagainst = "nix"', "against 'nix', which is not the label of a row"),
        ('name = "phrases"', 'name = "joint"', "two .* of one name"),
        (
            'title = "A title"',
            'kind = "spede"\ntitle = "A title"',
            "unknown kind of experiment 'spede'; known: acc",
        ),
        ('title = "A title"', 'kind = "speed"\ntitle = "A title"', "unknown option train"),
        ("[[rows]]", "[[rows]", "not a TOML file"),
    ],
)
def test_mistakes_in_a_data_file_are_said(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(UsageError, match=f"^small.toml: .*{message}"):
        parse(SMALL.replace(old, new, 1))


def test_plan_gives_each_run_its_files_and_options(small: str, tmp_path: Path) -> None:
    jobs = plan(parse(small), Choice(output=tmp_path / "runs"))
    assert [job.name for job in jobs] == ["joint-1", "phrases-1", "phrases-2"]
    joint, phrases, again = (job.config for job in jobs)
    made = str(tmp_path / "runs" / "small" / "made" / "train.conllu")
    assert joint.data.train[0].files == (str(tmp_path / "data" / "train.ptb"), made)
    assert phrases.data.train[0].files == (str(tmp_path / "data" / "train.ptb"),)
    assert [len(treebank.files) for treebank in phrases.data.dev] == [1], "nothing is chosen on a test set"
    assert [dev.name for dev in jobs[0].dev] == ["small dev", "small test"]
    assert (phrases.training.seed, again.training.seed) == (1, 2)
    assert joint.encoder.layers.size == 32
    assert joint.encoder.characters == "cnn", "the preset lies below"


def test_only_and_seed_pick_runs(small: str, tmp_path: Path) -> None:
    experiment = replace(parse(small), variants=("one", "two"))

    def names(**choice: Any) -> list[str]:
        return [job.name for job in plan(experiment, Choice(output=tmp_path, **choice))]

    assert names(only="joint") == ["one-joint-1", "two-joint-1"]
    assert names(only="two") == ["two-joint-1", "two-phrases-1", "two-phrases-2"]
    assert names(only="two-phrases", seed=7) == ["two-phrases-7"]
    with pytest.raises(UnknownName, match="unknown run of small 'three'; known: joint, one, phrases, two"):
        names(only="three")


def test_files_are_found_in_all_their_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H3N_DATA", str(tmp_path))
    (tmp_path / "b-x.ptb.xz").touch()

    def find(pattern: str) -> str | None:
        return find_file(pattern, variant="x", made=Path("made"))

    assert find("$H3N_DATA/a.ptb|$H3N_DATA/b-{variant}.ptb") == "$H3N_DATA/b-x.ptb.xz"
    assert find("$H3N_DATA/a.ptb") is None
    assert find("{made}/c.ptb") == "made/c.ptb"
    monkeypatch.delenv("H3N_DATA")
    assert find("$H3N_DATA/b-{variant}.ptb") is None


def test_missing_data_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H3N_DATA", str(tmp_path))
    rules = load_experiment("spmrl-rules")
    assert "h3n prepare spmrl-german SOURCE $H3N_DATA/spmrl-german-rules --scheme generic:de" in " ".join(
        how_to_get(rules)
    )
    with pytest.raises(InputError, match=r"ptb: \$H3N_DATA/ptb/train.ptb and 5 more not found .*h3n prepare ptb"):
        plan(load_experiment("ptb"), Choice(output=tmp_path))
    assert len(missing_files(load_experiment("ud"), variants=["german-gsd"])) == 4


def test_the_plan_of_gum_is_that_of_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from h3n.config import load_config

    monkeypatch.setenv("H3N_DATA", str(tmp_path))
    (tmp_path / "gum").mkdir()
    for name in ("train.ptb", "train.conllu", "dev.ptb", "dev.conllu"):
        (tmp_path / "gum" / f"{name}.xz").touch()
    [job] = plan(load_experiment("gum"), Choice(output=tmp_path, only="joint"))
    file = Path(__file__).parents[2] / "configs" / "gum-minilm.toml"
    assert replace(job.config, output="here") == load_config(file, settings=["training.epochs=3", "output=here"])


def test_the_plan_of_order_is_that_of_gum_on_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from h3n.config import load_config

    monkeypatch.setenv("H3N_DATA", str(tmp_path))
    (tmp_path / "gum").mkdir()
    for name in ("train.ptb", "train.conllu", "dev.ptb", "dev.conllu"):
        (tmp_path / "gum" / f"{name}.xz").touch()
    jobs = plan(load_experiment("order"), Choice(output=tmp_path))
    file = Path(__file__).parents[2] / "configs" / "gum-minilm.toml"
    settings = ["training.epochs=3", "training.threads=1", "output=here"]
    for seed, job in enumerate(jobs, start=1):
        assert replace(job.config, output="here") == load_config(file, settings=[*settings, f"training.seed={seed}"])


@pytest.mark.parametrize(("scheme", "source", "target"), [("ud2", "ptb", "conllu"), ("phrases", "conllu", "ptb")])
def test_the_other_half_is_made_whole(tmp_path: Path, scheme: str, source: str, target: str) -> None:
    write_treebank(tmp_path, sentences={"train": 12}, seed=1)
    make = Make(source=str(tmp_path / f"train.{source}"), target=str(tmp_path / "made" / f"it.{target}"), scheme=scheme)
    made = make_file(make)
    assert [s.words for s in read(made)] == [s.words for s in read(make.source)]
    assert [path.name for path in made.parent.iterdir()] == [made.name]
    made.write_text("", encoding="utf-8")
    assert make_file(make).read_text(encoding="utf-8") == "", "what is there is left alone"
