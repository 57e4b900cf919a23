"""A cluster gives the same shards and bytes as one machine, even when a node is lost."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import h3n
from h3n.corpus import Options, parse_corpus, ray_engine, read
from h3n.errors import InputError, MissingExtra, UsageError
from tests.corpus.conftest import contents
from tests.corpus.test_read_back import ODD, check_same

PROJECT = Path(__file__).parents[2]
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra ray)")


@needs_ray
def test_a_cluster_that_loses_a_node_gives_the_same_bytes(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    (texts / "odd.txt").write_text("\n\n".join(ODD), encoding="utf-8")
    (texts / "short.txt.gz").write_bytes(gzip.compress("\n\n".join(ODD).encode())[:-3])
    parse_corpus([str(texts)], tmp_path / "local", model=str(tiny_model), options=Options(shard_size=300), workers=1)
    command = [sys.executable, "-m", "tests.corpus.cluster", str(tiny_model), str(texts), str(tmp_path / "ray")]
    with subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            said, errors = process.communicate(timeout=400)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, errors[-3000:]
    # Ray may print something of its own after the answer.
    told = json.loads(next(line for line in reversed(said.splitlines()) if line.startswith("{")))
    assert told.pop("refused").startswith("memory:// is seen by one process alone")
    shards = len(list((tmp_path / "local").glob("part-*")))
    assert told.pop("reports") >= 1
    assert told == {"shards": shards, "nodes": 2, "alive": 1, "same": True}
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert b"short.txt.gz" in (tmp_path / "ray" / "errors.jsonl").read_bytes()
    for name in ("odd.txt", "short.txt.gz"):
        rows = [row for row in read(tmp_path / "ray") if row.document == str(texts / name)]
        parsed = h3n.load(tiny_model).parse((texts / "odd.txt").read_text(encoding="utf-8"))
        for row, expected in zip(rows, parsed, strict=True):
            check_same(row.result, expected, batched=True)


def test_a_cluster_that_is_not_there_is_said_at_once() -> None:
    with socket.socket() as unused:  # bound and not listening: nobody answers there
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no cluster at {address}: .*refused"):
            ray_engine._connected(address)
    with pytest.raises(UsageError, match="accepted: host:port"):
        ray_engine._connected("somewhere")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"h3n\[ray\]"):
        ray_engine._connected(None)


@pytest.mark.parametrize("file", sorted((PROJECT / "examples" / "cluster").glob("*.yaml")), ids=lambda file: file.name)
def test_the_examples_of_clusters_are_what_their_programs_read(file: Path) -> None:
    documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    text = file.read_text(encoding="utf-8")
    assert "h3n corpus parse" in text
    assert "--engine ray" in text
    if file.name == "kuberay.yaml":
        (job,) = documents
        assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
        spec = job["spec"]["rayClusterSpec"]
        images = {
            group["template"]["spec"]["containers"][0]["image"]
            for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"])
        }
        assert len(images) == 1
    else:
        (cluster,) = documents
        assert cluster["available_node_types"].keys() >= {cluster["head_node_type"]}
        jsonschema = pytest.importorskip("jsonschema")
        schema = find_spec("ray.autoscaler")
        if schema is None or schema.origin is None:
            pytest.skip("ray is not installed (extra ray)")
        rules = json.loads((Path(schema.origin).parent / "ray-schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(cluster, rules)


def test_the_reason_of_an_actor_is_its_last_line() -> None:
    class Error(Exception):
        cause = InputError("a.txt: cannot be opened")

    assert ray_engine._reason(Error("a\nlong traceback")) == "a.txt: cannot be opened"
    assert ray_engine._reason(ValueError("a\nb\n")) == "b"
