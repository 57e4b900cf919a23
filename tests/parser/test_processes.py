"""One parser, several processes: forked, spawned, behind a pre-fork server, and sent by pickle."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import h3n
from h3n.errors import UsageError
from h3n.parser import Parser

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# The text is long enough for torch to use all its threads; a child that waits for ever is ended by the alarm.
HEAD = """
import multiprocessing, os, pickle, signal, socket, sys
import h3n

TEXT = "The old dog near the river saw a very small cat. " * 30

def heads(parser, text=TEXT):
    return [result.heads for result in parser.parse(text)]

def in_child(action):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        os._exit(0 if action() else 3)
    return os.waitpid(pid, 0)[1]
"""
FORKS = """
parser = h3n.load(sys.argv[1], threads=int(sys.argv[2]) or None, precision="float32")
expected = heads(parser)
# Each time right after the threads of a parse have ended: what they do last must not be cut in two.
print([in_child(lambda: heads(parser) == expected) for _ in range(10) if heads(parser) == expected])
"""
SERVER = """
parser = h3n.load(sys.argv[1])
expected = heads(parser)
listener = socket.create_server(("127.0.0.1", 0))

def serve():
    connection, _ = listener.accept()
    with connection:
        connection.sendall(str(heads(parser) == expected).encode())
    return True

workers = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        os._exit(0 if serve() else 3)
    workers.append(pid)
answers = []
for _ in workers:
    with socket.create_connection(listener.getsockname()) as client:
        answers.append(client.recv(100).decode())
print(answers, [os.waitpid(pid, 0)[1] for pid in workers])
"""
POOLS = """
if __name__ == "__main__":
    parser = h3n.load(sys.argv[1], threads=2)
    expected = heads(parser)
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(way, [found == expected for found in pool.map_async(heads, [parser] * 2).get(timeout=120)])
"""
LOKY = """
import joblib

if __name__ == "__main__":
    parser = h3n.load(sys.argv[1])
    expected = heads(parser)
    parses = joblib.Parallel(n_jobs=2, backend="loky", timeout=200)(joblib.delayed(heads)(parser) for _ in range(4))
    workers = joblib.Parallel(n_jobs=2, backend="loky", timeout=200)(joblib.delayed(os.getpid)() for _ in range(4))
    print([parse == expected for parse in parses], os.getpid() in workers)
"""


def ran(code: str, *arguments: str, folder: Path) -> str:
    file = folder / "program.py"
    file.write_text(HEAD + code)
    command = [sys.executable, "-W", "ignore", str(file), *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("threads", ["0", "2"])
def test_ten_of_ten_forked_children_parse(threads: str, tmp_path: Path) -> None:
    assert ran(FORKS, "en", threads, folder=tmp_path) == str([0] * 10)


def test_a_server_that_forks_its_workers_after_loading(tmp_path: Path) -> None:
    assert ran(SERVER, "en", folder=tmp_path) == "['True', 'True', 'True'] [0, 0, 0]"


def test_pools_of_processes_take_the_parser(tiny_model: Path, tmp_path: Path) -> None:
    assert ran(POOLS, str(tiny_model), folder=tmp_path).splitlines() == ["fork [True, True]", "spawn [True, True]"]


def test_a_pickle_holds_where_the_parser_is_from_and_no_weights(tiny_model: Path) -> None:
    parser = h3n.load(tiny_model, max_words=50)
    data = pickle.dumps(parser)
    assert len(data) < 2000
    again = pickle.loads(data)
    assert again.limits.max_words == 50
    (one,), (other,) = parser.parse("The dog sleeps."), again.parse("The dog sleeps.")
    assert one.joint == other.joint
    with pytest.raises(UsageError, match=r"only a parser from h3n\.load can be pickled"):
        pickle.dumps(Parser(parser.engine))


def test_joblib_sends_it_to_threads(tiny_model: Path) -> None:
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    parser = h3n.load(tiny_model)
    calls = [joblib.delayed(lambda one, text: [r.heads for r in one.parse(text)])(parser, "The dog sleeps.")] * 2
    expected = [result.heads for result in parser.parse("The dog sleeps.")]
    assert joblib.Parallel(n_jobs=2, backend="threading")(calls) == [expected] * 2
    assert joblib.hash(parser) == joblib.hash(pickle.loads(pickle.dumps(parser)))


def test_joblib_sends_it_to_other_processes(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="joblib is not installed")
    assert ran(LOKY, str(tiny_model), folder=tmp_path) == "[True, True, True, True] False"
