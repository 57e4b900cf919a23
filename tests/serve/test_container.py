"""The container file and the compose example keep to what such files should: there is no engine here to build them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    text = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text, flags=re.M))
    return [(word.upper(), rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def last_stage() -> dict[str, str]:
    lines = instructions()
    start = max(at for at, (word, _) in enumerate(lines) if word == "FROM")
    return dict(lines[start:])


def test_known_instructions_and_fixed_images() -> None:
    known = {
        "FROM",
        "RUN",
        "COPY",
        "USER",
        "ENV",
        "EXPOSE",
        "STOPSIGNAL",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
        "WORKDIR",
        "ARG",
    }
    for word, rest in instructions():
        assert word in known
        if word == "FROM":
            assert re.match(r"[\w/.-]+:[\w.-]+( AS \w+)?$", rest)
            assert ":latest" not in rest


def test_packages_leave_nothing_behind() -> None:
    for word, rest in instructions():
        if word == "RUN" and "apt-get install" in rest:
            assert "--no-install-recommends" in rest
            assert "rm -rf /var/lib/apt/lists/*" in rest
        if word == "RUN" and "pip install" in rest:
            assert rest.count("pip install") == rest.count("--no-cache-dir") == rest.count("-c constraints.txt")


def test_it_runs_without_root_and_says_how_it_is() -> None:
    stage = last_stage()
    assert int(stage["USER"]) > 0
    assert "/readyz" in stage["HEALTHCHECK"]
    assert stage["STOPSIGNAL"] == "SIGTERM"
    command = json.loads(stage["ENTRYPOINT"]) + json.loads(stage["CMD"])  # in the form that signals reach
    assert command[:2] == ["h3n", "serve"]
    code = json.loads(stage["HEALTHCHECK"].partition("CMD ")[2])
    compile(code[2], "healthcheck", "exec")


def test_its_command_is_one_that_h3n_understands() -> None:
    stage = last_stage()
    options = {one for one in json.loads(stage["ENTRYPOINT"]) + json.loads(stage["CMD"]) if one.startswith("--")}
    source = (PROJECT / "src" / "h3n" / "cli" / "serve.py").read_text(encoding="utf-8")
    names = set(re.findall(r"^    (\w+): Annotated", source, flags=re.M))
    assert {one.removeprefix("--") for one in options} <= names


def test_compose_example_is_bound_to_this_machine_and_waits_for_the_end() -> None:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    (service,) = yaml.safe_load((PROJECT / "examples" / "compose.yaml").read_text(encoding="utf-8"))[
        "services"
    ].values()
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert int(service["stop_grace_period"].removesuffix("s")) > 10
    assert (PROJECT / "examples" / service["build"] / "Dockerfile").is_file()
