"""Nothing here speaks to the network: not at import, not while a model is loaded, not while text is parsed."""

from __future__ import annotations

import subprocess
import sys

# Python tells hooks of every use of a socket, whatever library it comes from. To bind one, as urllib3 does, is not to
# speak to anybody.
PROGRAM = """
import importlib, pkgutil, sys

def forbid(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        raise SystemExit(f"{event} {arguments[1:]}")

sys.addaudithook(forbid)
import h3n

if sys.argv[1] == "import":
    skipped = []
    for module in pkgutil.walk_packages(h3n.__path__, "h3n."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # a library of an extra that is not installed
            skipped.append(error.name)
    print("imported", len(sys.modules) > 100)
elif sys.argv[1] == "parse":
    print(len(next(h3n.load("en").parse("It smells good."))))
else:
    import urllib.request
    urllib.request.urlopen("http://localhost:9")
"""


def run(what: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, what]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_importing_every_module_opens_no_connection() -> None:
    done = run("import")
    assert (done.returncode, done.stdout) == (0, "imported True\n"), done.stderr[-500:]


def test_loading_and_parsing_open_no_connection() -> None:
    done = run("parse")
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr[-500:]


def test_a_connection_would_be_noticed() -> None:
    done = run("connect")
    assert done.returncode == 1
    assert "socket.getaddrinfo" in done.stderr
