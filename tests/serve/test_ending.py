"""TERM ends the service within its grace period, whatever is under way."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.serve.running import GRACE

# A service in which parsing, drawing or loading is replaced by something that does not end.
SERVICE = """
import re, sys, threading, time
from h3n.parser import load
from h3n.serve import Settings, fields
from h3n.serve.app import create_app
from h3n.serve.running import address, bind, run

def asleep(*_, **__):
    time.sleep(1000)

def busy(*_, **__):
    while True:
        pass

def native(*_, **__):
    re.match("(a*)*b", "a" * 100)  # keeps the interpreter's lock

kind, how = sys.argv[2], globals()[sys.argv[3]]
bound = bind("127.0.0.1", 0)

def make():
    if kind == "loading":
        print(address(bound), file=sys.stderr, flush=True)
        how()
    parser = load(sys.argv[1])
    if kind == "parsing":
        parser.parse = how
    if kind == "drawing":
        fields.FIELDS["svg"] = how
    return create_app({"tiny": parser})

run(make, bound, ready=lambda: print(address(bound), file=sys.stderr, flush=True), settings=Settings())
"""
BODY = b'{"text": "A dog barks.", "fields": ["svg"]}'
HEAD = b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
REQUEST = HEAD % len(BODY) + BODY


@pytest.mark.parametrize(
    ("kind", "how", "sent"),
    [
        ("nothing", "asleep", b""),
        ("nothing", "asleep", REQUEST[:40]),
        ("nothing", "asleep", REQUEST[:-5]),
        ("loading", "asleep", b""),
        ("parsing", "asleep", REQUEST),
        ("parsing", "native", REQUEST),
        ("drawing", "busy", REQUEST),
    ],
    ids=lambda value: f"{len(value)}-bytes" if isinstance(value, bytes) else value,
)
def test_term_is_obeyed_whatever_is_under_way(tiny_model: Path, kind: str, how: str, sent: bytes) -> None:
    command = [sys.executable, "-c", SERVICE, str(tiny_model), kind, how]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r":(\d+)$", process.stderr.readline())
            assert found is not None
            with socket.create_connection(("127.0.0.1", int(found[1])), 30) as client:
                client.sendall(sent)
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(1)  # the request is under way
                process.send_signal(signal.SIGTERM)
                process.wait(GRACE + 5)  # a busy machine may need some seconds more
                if len(sent) > len(HEAD) and how != "native":  # which leaves no time to answer
                    assert client.recv(65536).startswith(b"HTTP/1.1 503")
                assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
