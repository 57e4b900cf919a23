"""Experiments that run: trained once, gone on with, recorded; every one of them in miniature."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from h3n.errors import UsageError
from h3n.experiments import Comparison, experiment_names, load_experiment, run_experiment, write_page
from h3n.experiments.counts import intervals, unpack_counts
from h3n.experiments.running import Started
from h3n.training import Check, Note, Update
from tests.experiments.small import parse


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
