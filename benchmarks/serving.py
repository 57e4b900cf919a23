"""How `h3n serve` does under load from another process, beside `h3n parse` on the same texts.

`python -m benchmarks.serving` starts the service, lets clients ask for texts that are all different, checks that every
answer is that to its own question, and prints

- the processor time of the service beside that of `h3n parse`, start not counted. Bound: `parse` needs 70 % of it or
  more.
- the time of an answer, half of them and 99 of 100: wall time, so on a busy machine it says little.
- the memory of the service after a quarter of the requests and at the end. Bound: a tenth more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from h3n.client import AsyncClient
from h3n.measure.samples import plain_text
from h3n.text import segment

SHARE_BOUND = 0.7
GROWTH_BOUND = 1.1
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """A service that runs, seen from outside."""

    number: int
    url: str

    def seconds(self) -> float:
        """Return the processor time it has used."""
        fields = Path(f"/proc/{self.number}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        """Return the memory it holds."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.number}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def service(model: str, threads: int) -> Iterator[Process]:
    """Yield a service of its own process."""
    command = [sys.executable, "-m", "h3n", "serve", "--model", model, "--port", "0", "--threads", str(threads)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline() if process.stderr else ""
            found = re.search(r"http://\S+", line)
            if found is None:
                raise SystemExit(f"the service does not start: {line}")
            yield Process(process.pid, found.group())
        finally:
            process.terminate()


def questions(count: int) -> list[str]:
    """Return texts that are all different: sentences of the sample text, each with a number of its own."""
    words = [sentence.words for sentence in segment(plain_text()) if 4 <= len(sentence) <= 40]
    return [f"Case {n} says : {' '.join(words[n % len(words)])}" for n in range(count)]


def check(text: str, sentences: list[dict[str, object]]) -> None:
    """Raise if this is not an answer to the text."""
    answered = "".join(str(one["text"]) for one in sentences).replace(" ", "")
    if answered != text.replace(" ", ""):
        raise SystemExit(f"asked: {text}\nanswered: {answered}")
    for one in sentences:
        words, heads = one["words"], one["heads"]
        if not isinstance(words, list) or not isinstance(heads, list) or len(words) != len(heads) or 0 not in heads:
            raise SystemExit(f"asked: {text}\nno tree in the answer: {one}")


async def load(url: str, texts: list[str], *, clients: int) -> list[float]:
    """Ask for all texts, several at a time; return how long each answer took."""
    waiting = iter(texts)
    taken: list[float] = []

    async def client() -> None:
        connection = AsyncClient(url)
        for text in waiting:
            started = time.perf_counter()
            sentences = await connection.parse(text)
            taken.append(time.perf_counter() - started)
            check(text, sentences)

    await asyncio.gather(*(client() for _ in range(clients)))
    return taken


def parse_seconds(texts: list[str], model: str, threads: int) -> float:
    """Return the processor time of `h3n parse` on the texts, start not counted."""

    def run(lines: list[str]) -> float:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("\n\n".join(lines) + "\n")
            file.flush()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "h3n", "parse", file.name, "--model", model, "--to", "jsonl"]
            command += ["--threads", str(threads), "-o", os.devnull]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run(texts) - run(texts[:1])


def main(argv: list[str] | None = None) -> int:
    """Print the figures; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__)
    parser.add_argument("model", nargs="?", default="en")
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(argv)
    texts = questions(options.requests)
    quarter = len(texts) // 4
    with service(options.model, options.threads) as process:
        asyncio.run(load(process.url, texts[:50], clients=options.clients))  # what is set up once is not counted
        started = process.seconds()
        taken = asyncio.run(load(process.url, texts[:quarter], clients=options.clients))
        early = process.megabytes()
        taken += asyncio.run(load(process.url, texts[quarter:], clients=options.clients))
        used, late = process.seconds() - started, process.megabytes()
    alone = parse_seconds(texts, options.model, options.threads)
    taken.sort()
    share = alone / used
    print(f"{len(texts)} requests, {options.clients} at a time: every answer belongs to its question")
    print(f"processor time: service {used:.1f} s, h3n parse {alone:.1f} s, ratio {share:.2f} (bound {SHARE_BOUND})")
    print(f"answer: half within {taken[len(taken) // 2]:.3f} s, 99 % within {taken[len(taken) * 99 // 100]:.3f} s")
    print(f"memory: {early:.0f} MB after a quarter, {late:.0f} MB at the end (bound {GROWTH_BOUND:g} times)")
    return int(share < SHARE_BOUND or late > GROWTH_BOUND * early)


if __name__ == "__main__":
    sys.exit(main())
