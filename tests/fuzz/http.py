"""`make fuzz-http`: schemathesis asks a running service whatever its OpenAPI document allows, and what it does not.

    python -m tests.fuzz.http --minutes 3 --seed 0

Every answer is checked by the document: its status, media type, headers and content, and that bad requests are refused.
The service is a process of its own with a small model. Requests with which something is found are printed as curl
commands; put into tests/fuzz/findings under the name http-WHAT, as the bytes that go over the socket, a request is sent
with every run of the tests.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.targets import model_folder

# Whether a request is good is more than a schema says: exactly one of text, texts and words, for instance.
LEFT_OUT = "positive_data_acceptance"
PHASES = "examples,coverage,fuzzing,stateful"


@contextmanager
def service() -> Iterator[str]:
    """Yield the address of a service that runs for this."""
    command = [
        sys.executable,
        "-m",
        "h3n",
        "serve",
        "--port",
        "0",
        "--threads",
        "1",
        "--model",
        f"tiny={model_folder()}",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://\S+", process.stderr.readline() if process.stderr else "")
            if found is None:
                raise SystemExit("the service does not start")
            yield found.group()
        finally:
            process.terminate()


def main() -> int:
    """Return schemathesis' exit code: 1 if something was found."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.http", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with service() as address:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json"]
        command += ["--phases", PHASES, "--exclude-checks", LEFT_OUT, "--continue-on-failure", "--no-color"]
        command += ["--max-time", str(max(1, round(60 * options.minutes))), "--seed", str(options.seed)]
        command += ["--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off"]
        with tempfile.TemporaryDirectory() as folder:  # it leaves files where it runs
            return subprocess.run(command, check=False, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
