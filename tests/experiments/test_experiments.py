"""Experiments: their data files, what they come down to, their miniatures, the page made of results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from h3n.cli import main
from h3n.decode import DECODERS
from h3n.errors import InputError, UnknownName, UsageError
from h3n.experiments import Comparison, experiment_names, load_experiment, run_experiment, write_page
from h3n.experiments.catalogue import parse_experiment
from h3n.experiments.counts import intervals, unpack_counts
from h3n.experiments.experiment import Make
from h3n.experiments.files import find_file, how_to_get
from h3n.experiments.grammar import write_treebank
from h3n.experiments.kinds import missing_files
from h3n.experiments.making import make_file
from h3n.experiments.plan import Choice, plan
from h3n.experiments.running import Started
from h3n.formats import read
from h3n.training import Check, Note, Update
from h3n.treebanks import known_recipes

SMALL = """
title = "A title"
question = "A question?"
[[train]]
files = ["FOLDER/train.ptb", "{made}/train.conllu"]
[[make]]
source = "FOLDER/train.ptb"
target = "{made}/train.conllu"
scheme = "ud2"
[[dev]]
name = "small dev"
files = ["FOLDER/dev.ptb", "FOLDER/dev.conllu"]
[[dev]]
name = "small test"
files = ["FOLDER/dev.ptb", "FOLDER/dev.conllu"]
test = true
[options]
preset = "small"
training = { epochs = 1, checks = 1, tune = false, threads = 1, device = "cpu" }
encoder = { layers = { count = 1, size = 32, heads = 2, head_size = 16, inner = 32 } }
scorers = { span = 16, pair = 16, arc = 16, relation = 16, head = 16, tag = 16 }
batches = { words = 150 }
[[runs]]
name = "joint"
[[runs]]
name = "phrases"
learns = ["constituents"]
seeds = [1, 2]
[[rows]]
label = "joint: H3n"
run = "joint"
decoder = "h3n"
[[rows]]
label = "joint: CKY and MST"
run = "joint"
decoder = "cky+mst"
[[rows]]
label = "phrases: CKY"
run = "phrases"
decoder = "cky"
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def threads() -> Any:
    """Give torch its threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small(tmp_path: Path) -> str:
    write_treebank(tmp_path / "data", sentences={"train": 40, "dev": 10}, seed=3)
    return SMALL.replace("FOLDER", str(tmp_path / "data"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("H3N_DATA", raising=False)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["h3n", "experiments", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return command


def parse(text: str) -> Any:
    return parse_experiment(text, name="small", source="small.toml")


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


def test_a_run_is_trained_once_and_goes_on(small: str, tmp_path: Path) -> None:
    experiment = parse(small)
    events: list[Any] = []

    class Stop(Exception):
        pass

    def stop(event: Any) -> None:
        if isinstance(event, Update) and event.step == 2:
            raise Stop

    options: dict[str, Any] = {"output": tmp_path / "runs", "results": tmp_path / "results", "only": "joint"}
    folder = tmp_path / "runs" / "small" / "joint-1"
    with pytest.raises(Stop):
        run_experiment(experiment, report=stop, **options)
    assert (folder / "provenance.json").is_file()
    assert not (tmp_path / "results").exists()
    path = run_experiment(experiment, report=events.append, **options)
    assert [type(event) for event in events if isinstance(event, Check)] == [Check]
    assert isinstance(events[0], Started)
    first = json.loads(path.read_text(encoding="utf-8"))
    events.clear()
    run_experiment(experiment, report=events.append, **options)
    assert not any(isinstance(event, Update) for event in events)
    assert any(isinstance(event, Note) and "trained already" in event.text for event in events)
    assert figures(json.loads(path.read_text(encoding="utf-8"))) == figures(first)
    with pytest.raises(UsageError, match=r"holds a run with other options .encoder.shapes is True there and False"):
        run_experiment(replace(experiment, options=experiment.options | {"encoder": {"shapes": False}}), **options)
    elsewhere = folder.rename(tmp_path / "moved")
    run_experiment(experiment, folders={"joint": elsewhere}, report=events.append, **options)
    assert not folder.exists()
    (elsewhere / "provenance.json").unlink()
    (elsewhere / "model").rename(elsewhere / "not-yet")
    with pytest.raises(UsageError, match="moved is not finished"):
        run_experiment(experiment, folders={"joint": elsewhere}, **options)


def figures(found: dict[str, Any]) -> list[dict[str, float]]:
    rows = [row for record in found["runs"].values() for row in record["rows"]]
    return [{name: value for name, value in row["figures"].items() if name != "sentences/s"} for row in rows]


def test_records_say_all_and_nothing_private(small: str, tmp_path: Path) -> None:
    path = run_experiment(parse(small), output=tmp_path / "runs", results=tmp_path / "results")
    text = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    runs = json.loads(text)["runs"]
    assert list(runs) == ["joint-1", "phrases-1", "phrases-2"]
    joint = runs["joint-1"]
    assert joint["command"] == "h3n experiments run small.toml --only joint --seed 1"
    assert set(joint["data"]) == {"data/train.ptb", "made/train.conllu", "data/dev.ptb", "data/dev.conllu"}
    assert all(len(value) == 64 for value in joint["data"].values())
    assert {"version", "commit"} <= set(joint["code"])
    assert joint["machine"]["threads"] == 1
    assert joint["trained"]["epochs"] == 1
    assert joint["trained"]["data"] == joint["data"]
    assert joint["options"]["batches"]["words"] == 150
    separate = next(row for row in joint["rows"] if row["decoder"] == "cky+mst")
    assert {"HAcc", "LF1", "LAS", "sentences/s"} <= set(separate["figures"])
    assert separate["weight"] is None
    joined = next(row for row in joint["rows"] if row["decoder"] == "h3n")
    assert joined["weight_tuned"] is True
    assert {"LF1"} == {"LF1", "LAS", "HAcc"} & set(runs["phrases-1"]["rows"][0]["figures"])


def test_rows_have_right_heads_and_counts_of_every_sentence(small: str, tmp_path: Path) -> None:
    text = small.replace('decoder = "cky+mst"', 'decoder = "cky+mst"\nagainst = "joint: H3n"')
    path = run_experiment(parse(text), output=tmp_path / "runs", results=tmp_path / "results", only="joint")
    rows = json.loads(path.read_text(encoding="utf-8"))["runs"]["joint-1"]["rows"]
    joint, separate = (next(r for r in rows if r["decoder"] == name) for name in ("h3n", "cky+mst"))
    assert 0 < joint["figures"]["heads right"] <= 100
    assert "heads right" not in separate["figures"]
    for row in (joint, separate):
        sums = {name: unpack_counts(row["counts"][name], sentences=10).sum(0) for name in ("LF1", "UAS", "LAS")}
        matched, gold, predicted = sums["LF1"]
        assert row["figures"]["LF1"] == pytest.approx(200 * matched / (gold + predicted), abs=1e-4)
        for name in ("UAS", "LAS"):
            assert row["figures"][name] == pytest.approx(100 * sums[name][0] / sums[name][1], abs=1e-4)
    found = intervals([separate], [joint])
    assert found["LAS"].difference == pytest.approx(separate["figures"]["LAS"] - joint["figures"]["LAS"], abs=1e-3)
    assert found["LAS"].low <= found["LAS"].difference <= found["LAS"].high
    again = intervals([separate, separate], [joint, joint])
    assert again["LF1"] == found["LF1"], "the mean of two equal seeds is as sure as one: sentences are drawn"
    assert intervals([separate], [{"sentences": 10}]) == {}, "results of earlier versions have no counts"
    page = write_page(tmp_path / "results", tmp_path / "docs").read_text(encoding="utf-8")
    shown = f"{found['LF1'].difference:+.2f} [{found['LF1'].low:+.2f}, {found['LF1'].high:+.2f}]"
    assert f"| joint: CKY and MST | joint: H3n | {shown} |" in page
    assert "| parser and decoder | HAcc | heads right | UAS |" in page


def test_two_decoders_give_one_tree_each(small: str, tmp_path: Path) -> None:
    rows = '[[rows]]\nlabel = "CKY"\nrun = "joint"\ndecoder = "cky"\n[[rows]]\nlabel = "MST"\nrun = "joint"\n'
    text = small + rows + 'decoder = "mst"\n'
    path = run_experiment(parse(text), output=tmp_path / "runs", results=tmp_path / "results", only="joint")
    found = json.loads(path.read_text(encoding="utf-8"))["runs"]["joint-1"]["rows"]
    by = {row["label"]: row["figures"] for row in found if row["set"] == "small dev"}
    assert by["joint: CKY and MST"]["LF1"] == by["CKY"]["LF1"]
    assert by["joint: CKY and MST"]["LAS"] == by["MST"]["LAS"]
    assert "LAS" not in by["CKY"]
    assert "LF1" not in by["MST"]


@pytest.mark.parametrize("name", experiment_names())
def test_miniature(name: str, tmp_path: Path) -> None:
    experiment = load_experiment(name)
    path = run_experiment(experiment, output=tmp_path, miniature=True)
    assert path == tmp_path / "miniature" / "results" / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["miniature"] is True
    if not isinstance(experiment, Comparison):
        assert [band["name"] for band in found["runs"]["bands"]["measured"]["bands"]] == ["0-100", "100-200", "200-300"]
    else:
        labels = [(row["label"], row["set"]) for record in found["runs"].values() for row in record["rows"]]
        assert set(labels) == {(row.label, dev.name) for row in experiment.rows for dev in experiment.dev}
        variants = min(len(experiment.variants), 2) or 1
        assert len(found["runs"]) == variants * sum(len(run.seeds) for run in experiment.runs)
    page = write_page(path.parent, tmp_path / "docs").read_text(encoding="utf-8")
    assert f"## {experiment.title}\n" in page
    assert "The figures mean nothing" in page
    assert all(f"| {row.label} |" in page for row in getattr(experiment, "rows", ()))
    assert (tmp_path / "docs" / "images" / f"results-{name}.png").stat().st_size > 5000
    assert page.count("$ h3n experiments run") == len(experiment_names()) - 1


def example_results(folder: Path) -> None:
    """Write results of the Icelandic experiment by hand, with figures that are known."""
    runs = {}
    for run_name, decoder, label, values in (
        ("constituents", "cky", "constituents only: CKY", (70.0, 71.0)),
        ("joint", "h3n", "with made dependencies: H3n", (70.5, 73.5)),
    ):
        for seed, value in enumerate(values, start=1):
            row = {"label": label, "set": "IcePaHC dev", "decoder": decoder, "sentences": 1322}
            row |= {"weight": None if decoder == "cky" else 0.6, "weight_tuned": decoder != "cky"}
            runs[f"{run_name}-{seed}"] = {
                "run": run_name,
                "variant": "",
                "seed": seed,
                "command": f"h3n experiments run icelandic-constituents --only {run_name} --seed {seed}",
                "code": {"version": "1", "commit": "c0ffee" * 6, "changed_files": seed == 2},
                "machine": {"processor": "a processor", "cores": 2, "threads": 1},
                "data": {"$H3N_DATA/icepahc/train.ptb.xz": "ab" * 32},
                "trained": {"minutes": 4.25, "cpu_minutes": 3.5, "epochs": 5},
                "options": {"data": {"train": [{"limit": 4000}]}},
                "rows": [row | {"figures": {"LF1": value, "sentences/s": 100.0}}],
            }
    found = {"experiment": "icelandic-constituents", "miniature": False, "runs": runs}
    folder.mkdir(exist_ok=True)
    (folder / "icelandic-constituents.json").write_text(json.dumps(found), encoding="utf-8")


def test_page_has_means_seeds_paper_and_provenance(tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    page = write_page(tmp_path / "results", tmp_path / "docs").read_text(encoding="utf-8")
    assert "### IcePaHC dev (1,322 sentences)" in page
    assert "| constituents only: CKY | – | – | 70.50 (70.00, 71.00) | 100 (100, 100) |  |" in page
    assert "| with made dependencies: H3n | – | – | **72.00** (70.50, 73.50) | 100 (100, 100) | 0.6, tuned |" in page
    assert "with made dependencies: CKY" not in page, "a row that was not run is left out"
    assert "| *paper, SPMRL test, mean without Polish: H3n-Par + mBERT, dependencies made by head rules* |" in page
    assert "*90.76*" in page
    made = "`h3n experiments run icelandic-constituents --only joint --seed 2`"
    trained = "5 epochs in 4.2 min, 3.5 min of processor time, by `h3n train`, the first 4,000 sentences of a treebank"
    assert f"| {made} | c0ffeec0ffee* | {trained} |" in page
    assert "`$H3N_DATA/icepahc/train.ptb.xz` abababababab" in page
    assert "miniature" not in page
    assert "$ h3n prepare ptb SOURCE $H3N_DATA/ptb  # https://catalog.ldc.upenn.edu/LDC99T42\n" in page


def test_same_results_same_page(tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    first, second = (write_page(tmp_path / "results", tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    image = Path("images") / "results-icelandic-constituents.png"
    assert (tmp_path / "one" / image).read_bytes() == (tmp_path / "two" / image).read_bytes()


def test_list_shows_every_experiment(run: Run, tmp_path: Path) -> None:
    example_results(tmp_path / "results")
    code, out, _ = run("list")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    assert set(lines) == {"name", *experiment_names()}
    assert "4 of 4" in lines["icelandic-constituents"]
    assert "missing" in lines["ptb"]


def test_commands(run: Run, small: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(small, encoding="utf-8")
    code, _, err = run("run", "mine.toml", "--only", "joint")
    assert code == 0
    assert "run 1 of 1: joint-1" in err
    assert "joint: H3n: small dev: LF1 " in err
    assert (tmp_path / "results" / "mine.json").is_file()
    code, out, _ = run("report")
    assert (code, out) == (0, "the page is docs/results.md\n")
    page = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert "## A title\n" in page
    assert "| joint: H3n |" in page
    assert "`h3n experiments run mine.toml --only joint --seed 1`" in page, "the command that was run"
    assert str(tmp_path) not in page
    assert (tmp_path / "docs" / "images" / "results-mine.png").is_file()
    code, out, _ = run("list")
    assert "1 of 3" in next(line for line in out.splitlines() if line.startswith("mine"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nix"], "unknown experiment 'nix'; known: ctb"),
        (["run", "nix.toml"], "nix.toml: cannot be read"),
        (["run", "ptb"], "ptb: $H3N_DATA/ptb/train.ptb and 5 more not found"),
        (["run", "speed"], "speed: $H3N_DATA/raw/band-001-099.wiki.txt and 2 more not found"),
        (["run", "gum", "--folder", "joint"], "--folder joint: expected RUN=FOLDER"),
        (["run", "gum", "--seed", "x"], "Invalid value for '--seed'"),
    ],
)
def test_mistakes_are_said_in_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_damaged_results_are_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "gum.json").write_text("[]", encoding="utf-8")
    code, _, err = run("report")
    assert code == 2
    assert "results/gum.json: expected the results of experiment 'gum'" in err
