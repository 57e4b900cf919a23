"""Whom the service answers: by the name it is called by, and by the page that asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n.errors import UsageError
from h3n.parser import Parser
from h3n.serve import Settings
from h3n.serve.settings import LOCAL, host_name
from tests.serve.conftest import Running

Start = Callable[..., AbstractContextManager[Running]]
PATHS = [
    ("/v1/parse", {"text": "A dog."}, "application/json"),
    ("/", b"A dog.", "text/plain"),
    ("/v1/treebank?name=x.ptb", b"(S (N a))", "text/plain"),
    ("/healthz", None, ""),
    ("/metrics", None, ""),
    ("/openapi.json", None, ""),
    ("/static/page.js", None, ""),
    ("/nothing", None, ""),
]


def one_line(answer: object, field: str) -> bool:
    return isinstance(answer, dict) and answer["field"] == field and "\n" not in answer["error"]


@pytest.mark.parametrize(("path", "body", "kind"), PATHS)
def test_a_name_that_is_not_the_services_is_refused_on_every_path(
    service: Running, path: str, body: object, kind: str
) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b"):
        status, answer, _ = service.send(path, body, headers={"Host": host, "Content-Type": kind})
        assert status == 403, (host, answer)
        assert one_line(answer, "host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]", "[::1]:8000"])
def test_names_of_this_machine_are_accepted_with_any_port(service: Running, host: str) -> None:
    assert service.send("/v1/parse", {"text": "A dog."}, headers={"Host": host})[0] == 200


@pytest.mark.parametrize(("path", "body", "kind"), PATHS)
def test_a_page_of_another_site_is_refused_on_every_path(service: Running, path: str, body: object, kind: str) -> None:
    for origin in (
        "https://evil.example",
        "null",
        "http://localhost:1",
        f"http://127.0.0.1:{service.port}.evil.example",
    ):
        status, answer, headers = service.send(path, body, headers={"Origin": origin, "Content-Type": kind})
        assert status == 403, origin
        assert one_line(answer, "origin")
        assert "access-control-allow-origin" not in headers
    own = {"Origin": service.url, "Content-Type": kind}
    assert service.send(path, body, headers=own)[0] == (404 if path == "/nothing" else 200)


def test_names_and_sites_can_be_added(start: Start, parser: Parser) -> None:
    site = "https://site.example"
    settings = Settings(hosts=frozenset({*LOCAL, "parser.example"}), origins=frozenset({site}))
    with start({"tiny": parser}, settings) as service:
        body = {"text": "A dog."}
        assert service.send("/v1/parse", body, headers={"Host": "parser.example"})[0] == 200
        assert service.send("/v1/parse", body, headers={"Host": "other.example"})[0] == 403
        status, _, headers = service.send("/v1/parse", body, headers={"Origin": site})
        assert (status, headers["access-control-allow-origin"]) == (200, site)
        assert service.send("/v1/parse", body, headers={"Origin": "https://other.example"})[0] == 403
    with start({"tiny": parser}, Settings(hosts=frozenset({"*"}))) as service:
        assert service.send("/healthz", headers={"Host": "any.example"})[0] == 200
        assert service.send("/healthz", headers={"Origin": "https://any.example"})[0] == 403


def test_names_that_are_none_are_refused() -> None:
    assert [host_name(name) for name in ("::1", "[::1]", "Host.Example")] == ["[::1]", "[::1]", "host.example"]
    for hosts in ({"http://x"}, {"x:1"}, {""}):
        with pytest.raises(UsageError, match="without scheme and port"):
            Settings(hosts=frozenset(hosts))
    for origins in ({"x.example"}, {"https://x/path"}, {"*"}):
        with pytest.raises(UsageError, match="expected one such as"):
            Settings(origins=frozenset(origins))


@pytest.mark.parametrize("option", ["--allow-host=http://x", "--allow-origin=x"])
def test_options_that_are_wrong_are_reported_in_one_line(option: str) -> None:
    done = subprocess.run([sys.executable, "-m", "h3n", "serve", option], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
