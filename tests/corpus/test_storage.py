"""Input and output elsewhere: in memory, on a local S3."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from h3n import corpus
from h3n.corpus import Options, parse_corpus
from h3n.corpus.storage import Folder, filesystem, opened
from h3n.errors import InputError, UsageError
from tests.corpus.conftest import TEXT, contents

pytest.importorskip("pyarrow", reason="the extra corpus is not installed")
SMALL = Options(shard_size=100)


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def test_memory_in_and_out(memory: fsspec.AbstractFileSystem, tiny_model: Path) -> None:
    for number in range(3):
        memory.pipe(f"/texts/{number}.txt", TEXT.encode())
    finished = parse_corpus(["memory://texts"], "memory://out", model=str(tiny_model), options=SMALL, workers=2)
    assert finished.shards == 3
    whole = {name: memory.cat(name) for name in memory.find("/out") if "part-" in name}
    memory.rm("/out/part-000001.parquet")
    again = parse_corpus(["memory://texts/*.txt"], "memory://out", model=str(tiny_model), options=SMALL)
    assert again == finished
    assert {name: memory.cat(name) for name in memory.find("/out") if "part-" in name}.keys() == whole.keys()
    assert memory.cat("/out/part-000001.parquet") == whole["/out/part-000001.parquet"]
    assert [row.document for row in corpus.read("memory://out")][::3] == [f"memory://texts/{n}.txt" for n in range(3)]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of a bucket on an S3 server of this machine, which every process finds by its environment."""
    pytest.importorskip("s3fs", reason="s3fs is not installed (extra s3)")
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    system, _ = filesystem("s3://corpora")
    system.clear_instance_cache()
    try:
        filesystem("s3://corpora")[0].mkdir("corpora")
        yield "s3://corpora"
    finally:
        running.stop()


# The client of S3 is cut off from its server at the end, and says so.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_s3_in_and_out_with_two_workers(bucket: str, texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    system, _ = filesystem(bucket)
    for file in texts.rglob("*.txt"):
        system.pipe(f"corpora/texts/{file.relative_to(texts)}", file.read_bytes())
    command = [sys.executable, "-m", "h3n", "corpus", "parse", f"{bucket}/texts", "--out", f"{bucket}/out"]
    command += ["--model", str(tiny_model), "--workers", "2", "--shard-size", "300"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert said.returncode == 0, said.stderr
    local = tmp_path / "local"
    parse_corpus([f"{bucket}/texts"], local, model=str(tiny_model), options=Options(shard_size=300), workers=1)
    stored = Folder(f"{bucket}/out")
    for name, content in contents(local).items():
        assert stored.read(name) == content, name
    assert len(list(corpus.read(f"{bucket}/out"))) == len(list(corpus.read(local)))


def test_what_is_not_there_is_one_line(memory: fsspec.AbstractFileSystem) -> None:
    with pytest.raises(InputError, match="no-such: cannot be opened"), opened("memory://no-such"):
        pass
    with pytest.raises(UsageError, match="accepted: a path, s3://"):
        filesystem("strange://x")
    assert Folder("memory://nowhere").names() == []
    assert Folder("memory://nowhere").read("x") is None
    memory.pipe("/folder/x", b"1")
    assert Folder("memory://folder").names() == ["x"]


def test_a_file_is_moved_to_its_name_where_writes_are_not_whole(
    memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[tuple[str, str]] = []
    original = type(memory).mv

    def mv(self: fsspec.AbstractFileSystem, one: str, other: str, **options: object) -> None:
        moved.append((one, other))
        original(self, one, other, **options)

    monkeypatch.setattr(type(memory), "mv", mv)
    monkeypatch.setattr("h3n.corpus.storage.WHOLE", ())
    Folder("memory://folder").write("x", b"12")
    assert Folder("memory://folder").names() == ["x"]
    assert [other for _, other in moved] == ["/folder/x"]
