"""`h3n serve` as a process: where it listens, how it ends, what it says of bad options."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.client import Client

COMMAND = [sys.executable, "-m", "h3n", "serve"]


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen([*COMMAND, "--port", "0", *arguments], stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            match = re.search(r"http://\S+", line)
            assert match is not None, line
            yield process, match.group()
        finally:
            process.kill()


def test_request_under_way_is_answered_after_the_signal_to_end(tiny_model: Path) -> None:
    with started("--model", f"mine={tiny_model}", "--window", "1500") as (process, url):
        assert url.startswith("http://127.0.0.1:")
        with Client(url) as client:
            assert [model["name"] for model in client.models()] == ["mine"]
        answers: list[object] = []

        def ask() -> None:
            with Client(url) as client:
                answers.append(client.parse("A dog barks."))

        thread = threading.Thread(target=ask)
        thread.start()
        waiting = Client(url)
        while "h3n_queue_requests 1.0" not in waiting._content("GET", "/metrics").decode():
            thread.join(0.01)
        waiting.close()
        process.send_signal(signal.SIGTERM)
        thread.join(30)
        assert len(answers) == 1
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--log", "xx"], "accepted: warning, info, debug"),
        (["--model", "a=en", "--model", "a=en"], "the name 'a' is taken"),
        (["--port", "70000"], "ports are 0 to 65535"),
        (["--max-words", "0"], "words is 0; more than 0 is accepted"),
    ],
)
def test_bad_options_are_said_in_one_line(arguments: list[str], said: str) -> None:
    code, errors = run(*arguments)
    assert code == 2
    assert said in errors
    assert errors.count("\n") == 1


def test_port_in_use_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, errors = run("--port", str(port))
    assert code == 2
    assert errors == f"h3n: cannot listen on 127.0.0.1, port {port}: Address already in use\n"
