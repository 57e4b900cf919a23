"""`h3n serve` for minutes, with everything a service meets: good, bad, slow, huge and cancelled requests.

`python -m benchmarks.soak --minutes 30` prints what came of every kind of request, what the service itself counted, and
its memory every quarter. Bounds: every request is answered, refused or cancelled as its kind has to be, and the service
counted the same; at the end it holds a tenth more memory than after the first quarter at most.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from benchmarks._exchange import announce_too_much, metrics, send_slowly, send_too_much, stop_in_the_middle
from benchmarks.serving import GROWTH_BOUND, Process, check, questions, service
from h3n.client import AsyncClient
from h3n.errors import ServiceError

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


# kind -> what is done, how often of 100 times, and what may come of it
KINDS: dict[str, tuple[Callable[[AsyncClient, str], Awaitable[str]], int, set[str]]] = {
    "good": (good, 50, {"answered", FULL}),
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
    known = {200, 413, 422, 429}
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


def main(argv: list[str] | None = None) -> int:
    """Print what came of all requests, and memory by quarters; return 1 if something is lost or memory grows."""
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
    for kind, outcomes in tally.outcomes.items():
        print(f"{kind}: {tally.sent[kind]} sent; {', '.join(f'{n} {what}' for what, n in sorted(outcomes.items()))}")
    print(f"the service counted: {dict(sorted(counted.items()))}")
    wrong = tally.wrong() + disagreements(tally, counted)
    print("\n".join(wrong) or "every request is accounted for")
    return int(bool(wrong) or sizes[-1] > GROWTH_BOUND * sizes[0])


if __name__ == "__main__":
    sys.exit(main())
