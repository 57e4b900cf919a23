"""`h3n serve` for minutes, with everything a service meets: good, bad, slow, huge, foreign and cancelled requests.

`python -m benchmarks.soak --minutes 30` prints what came of every kind of request, what the service itself counted, its
memory every quarter, and how long it takes to end while long requests are under way. Bounds: every request is answered,
refused or cancelled as its kind has to be, and the service counted the same; at the end it holds a tenth more memory
than after the first quarter at most; it is gone 10 seconds after TERM.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks._exchange import (
    announce_too_much,
    connection,
    head,
    leave_unread,
    metrics,
    send_raw,
    send_slowly,
    send_too_much,
    stop_in_the_middle,
)
from benchmarks.serving import GROWTH_BOUND, Process, check, questions, service
from h3n.client import AsyncClient
from h3n.errors import ServiceError
from h3n.serve.running import GRACE

FULL = "refused with 429"  # whatever is asked, a full service may say so


async def good(client: AsyncClient, text: str) -> str:
    """Parse a text and check that the answer is that to this question."""
    check(text, await client.parse(text))
    return "answered"


async def streamed(client: AsyncClient, text: str) -> str:
    """The same as lines."""
    check(text, [sentence async for sentence in client.stream([text])])
    return "answered"


async def drawn(client: AsyncClient, text: str) -> str:
    """Ask for a picture and for rows."""
    sentences = await client.parse(text, fields=["svg", "conllu"])
    if not all(text.split()[1] in one["conllu"] for one in sentences[:1]):
        raise SystemExit(f"asked: {text}\nanswered: {sentences}")
    return "answered"


async def bad(client: AsyncClient, text: str) -> str:
    """Ask for something that is not there."""
    await client.parse(text, decoder="no such decoder")
    return "answered"


async def many_words(client: AsyncClient, text: str) -> str:
    """Ask for more words than one request may have."""
    await client.parse([text] * 1_999 + ["a b c. " * 20_000])
    return "answered"


async def long_sentence(client: AsyncClient, text: str) -> str:
    """Ask for a sentence that is longer than is accepted."""
    await client.parse(words=[text] * 2_000)
    return "answered"


async def cancelled(client: AsyncClient, text: str) -> str:
    """Go away while the service parses; it may have answered already."""
    task = asyncio.ensure_future(client.parse([text] * 20))
    await asyncio.sleep(0.01)
    task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    if isinstance(outcome, ServiceError):
        raise outcome
    return "cancelled" if isinstance(outcome, BaseException) else "answered"


async def slow(client: AsyncClient, text: str) -> str:
    """Send the body byte by byte."""
    status, content = await send_slowly(client.address, json.dumps({"text": text}).encode())
    if status == 200:
        check(text, json.loads(content)["sentences"])
    return "answered" if status == 200 else f"refused with {status}"


async def unfinished(client: AsyncClient, text: str) -> str:
    """Go away in the middle of the body."""
    await stop_in_the_middle(client.address, json.dumps({"text": text}).encode())
    return "cancelled"


async def huge(client: AsyncClient, _: str) -> str:
    """Announce a body that is too large."""
    return f"refused with {await announce_too_much(client.address)}"


async def huge_in_chunks(client: AsyncClient, _: str) -> str:
    """Send a body that is too large, and do not announce it."""
    return f"refused with {await send_too_much(client.address)}"


async def repeated(client: AsyncClient, text: str) -> str:
    """Ask for one field very often."""
    await client.parse(text, fields=["svg"] * 10_000)
    return "answered"


async def many_values(client: AsyncClient, text: str) -> str:
    """Ask for one field so often that the body is not read."""
    await client.parse(text, fields=["svg"] * 500_000)
    return "answered"


async def foreign_host(client: AsyncClient, text: str) -> str:
    """Call the service by the name of another site."""
    body = json.dumps({"text": text}).encode()
    return f"refused with {await send_raw(client.address, head(client.address, len(body), host='evil.example') + body)}"


async def foreign_origin(client: AsyncClient, text: str) -> str:
    """Ask from a page of another site, with a body that browsers send without asking first."""
    body = text.encode()
    start = head(client.address, len(body), "Origin: https://evil.example", path="/")
    return f"refused with {await send_raw(client.address, start + body)}"


async def huge_head(client: AsyncClient, _: str) -> str:
    """Send a head of a megabyte."""
    return f"refused with {await send_raw(client.address, head(client.address, 0, 'X: ' + 'a' * (1 << 20)))}"


async def half_a_head(client: AsyncClient, _: str) -> str:
    """Send half a head and wait."""
    return f"refused with {await send_raw(client.address, head(client.address, 0)[:-2])}"


async def absurd_length(client: AsyncClient, _: str) -> str:
    """Announce a body by a number of 5,000 digits."""
    return f"refused with {await send_raw(client.address, head(client.address, '9' * 5_000))}"


async def unread(client: AsyncClient, text: str) -> str:
    """Ask for pictures, do not read the answer, and go away."""
    body = json.dumps({"texts": [text] * 50, "fields": ["svg"]}).encode()
    await leave_unread(client.address, head(client.address, len(body)) + body)
    return "cancelled"


# kind -> what is done, how often of 100 times, and what may come of it
KINDS: dict[str, tuple[Callable[[AsyncClient, str], Awaitable[str]], int, set[str]]] = {
    "good": (good, 40, {"answered", FULL}),
    "good, as lines": (streamed, 10, {"answered", FULL}),
    "good, with a picture": (drawn, 10, {"answered", FULL}),
    "bad": (bad, 10, {"refused with 422"}),
    "slow": (slow, 6, {"answered", FULL}),
    "huge: bytes, announced": (huge, 2, {"refused with 413"}),
    "huge: bytes, not announced": (huge_in_chunks, 1, {"refused with 413"}),
    "huge: words": (many_words, 1, {"refused with 413"}),
    "huge: a sentence": (long_sentence, 1, {"refused with 413"}),
    "cancelled": (cancelled, 6, {"cancelled", "answered", FULL}),
    "cancelled in the body": (unfinished, 3, {"cancelled"}),
    "cancelled, not read": (unread, 1, {"cancelled"}),
    "one field very often": (repeated, 2, {"refused with 422"}),
    "one field 500,000 times": (many_values, 1, {"refused with 413"}),
    "a foreign host": (foreign_host, 2, {"refused with 403"}),
    "a foreign origin, plain text": (foreign_origin, 2, {"refused with 403"}),
    "a huge head": (huge_head, 1, {"refused with 431"}),
    "half a head": (half_a_head, 1, {"refused with 408"}),
    "an absurd length": (absurd_length, 1, {"refused with 400"}),
}


class Tally:
    """What was sent and what came of it, by kind."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}

    async def one(self, client: AsyncClient, text: str, kind: str) -> None:
        self.sent[kind] += 1
        try:
            outcome = await KINDS[kind][0](client, text)
        except ServiceError as error:
            outcome = f"refused with {error.status}" if error.status else f"lost: {error}"
        except (OSError, EOFError, TimeoutError) as error:
            outcome = f"lost: {type(error).__name__}: {error}"
        self.outcomes[kind][outcome] += 1

    def wrong(self) -> list[str]:
        """Return what is not accounted for, or came out as it should not."""
        lines = [f"{kind}: {self.sent[kind]} sent" for kind in KINDS if self.sent[kind] != self.outcomes[kind].total()]
        for kind, outcomes in self.outcomes.items():
            lines += [f"{kind}: {count} {what}" for what, count in outcomes.items() if what not in KINDS[kind][2]]
        return lines

    def with_status(self, status: int) -> int:
        """Return how many requests clients saw answered with this status."""
        name = "answered" if status == 200 else f"refused with {status}"
        return sum(outcomes[name] for outcomes in self.outcomes.values())

    def cancelled(self) -> int:
        return sum(outcomes["cancelled"] for outcomes in self.outcomes.values())


def disagreements(tally: Tally, counted: Counter[int]) -> list[str]:
    """Return where the service counted otherwise than its clients: it may have answered some that had gone, only."""
    known = {200, 400, 403, 408, 413, 422, 429, 431}
    lines = [f"the service answered {counted[status]} times {status}" for status in counted.keys() - known - {499}]
    over = 0
    for status in known:
        surplus = counted[status] - tally.with_status(status)
        over += surplus
        if surplus < 0 or (surplus > 0 and status != 200):
            lines.append(f"{status}: clients saw {tally.with_status(status)}, the service counted {counted[status]}")
    if over + counted[499] > tally.cancelled():
        lines.append(f"{over} answers and {counted[499]} drops for {tally.cancelled()} clients that went away")
    return lines


async def work(process: Process, texts: list[str], tally: Tally, *, until: float, clients: int, seed: int) -> None:
    """Keep the service busy until then."""
    chance = random.Random(seed)
    weights = [weight for _, weight, _ in KINDS.values()]

    async def client() -> None:
        connection = AsyncClient(process.url, retries=0)
        while time.monotonic() < until:
            (kind,) = chance.choices(list(KINDS), weights)
            await tally.one(connection, chance.choice(texts), kind)

    await asyncio.gather(*(client() for _ in range(clients)))


async def end_under_load(process: Process, texts: list[str]) -> float:
    """Return how many seconds the service takes to end while long requests and half-sent heads are under way."""
    client = AsyncClient(process.url, retries=0)
    pictures = [asyncio.ensure_future(client.parse(texts[:1_500], fields=["svg", "pretty"])) for _ in range(8)]
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(100):
            _, writer = await stack.enter_async_context(connection(client.address))
            writer.write(head(client.address, 0)[:-2])
        await asyncio.sleep(3)
        started = time.monotonic()
        os.kill(process.number, signal.SIGTERM)
        while _lives(process) and time.monotonic() < started + 10 * GRACE:
            await asyncio.sleep(0.05)
        taken = time.monotonic() - started
    await asyncio.gather(*pictures, return_exceptions=True)
    return taken


def _lives(process: Process) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{process.number}/status").read_text()
    return False


def main(argv: list[str] | None = None) -> int:
    """Print what came of all requests, and memory by quarters; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("model", nargs="?", default="en")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args(argv)
    texts, tally, sizes = questions(2_000), Tally(), []
    with service(options.model, 1) as process:
        address = AsyncClient(process.url).address
        for quarter in range(4):
            until = time.monotonic() + options.minutes * 15
            asyncio.run(work(process, texts, tally, until=until, clients=options.clients, seed=quarter))
            sizes.append(process.megabytes())
            print(f"quarter {quarter + 1}: {tally.sent.total()} requests so far, {sizes[-1]:.0f} MB", flush=True)
        counted = asyncio.run(metrics(address))
        ending = asyncio.run(end_under_load(process, texts))
    for kind, outcomes in tally.outcomes.items():
        print(f"{kind}: {tally.sent[kind]} sent; {', '.join(f'{n} {what}' for what, n in sorted(outcomes.items()))}")
    print(f"the service counted: {dict(sorted(counted.items()))}")
    wrong = tally.wrong() + disagreements(tally, counted)
    print("\n".join(wrong) or "every request is accounted for")
    print(f"TERM was obeyed in {ending:.1f} s, with 8 long requests and 100 half-sent heads under way")
    return int(bool(wrong) or sizes[-1] > GROWTH_BOUND * sizes[0] or ending > GRACE)


if __name__ == "__main__":
    sys.exit(main())
