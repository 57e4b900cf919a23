"""`h3n serve` for minutes, with everything a service meets: good requests, bad ones, and clients that go away.

`python -m benchmarks.soak --minutes 3` prints the memory of the service every quarter; bound: at the end a tenth more
than after the first quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time

from benchmarks.serving import GROWTH_BOUND, Process, check, questions, service
from h3n.client import AsyncClient
from h3n.errors import ServiceError


async def one(client: AsyncClient, text: str, kind: int) -> None:
    """Do one of the things that clients do."""
    if kind == 0:
        try:
            await client.parse(text, decoder="no such decoder")
        except ServiceError as error:
            if error.status != 422:
                raise
    elif kind == 1:
        task = asyncio.ensure_future(client.parse([text] * 20))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    elif kind == 2:
        check(text, [sentence async for sentence in client.stream([text])])
    elif kind == 3:
        await client.parse(text, fields=["svg", "conllu"])
    else:
        check(text, await client.parse(text))


async def work(process: Process, texts: list[str], *, until: float, clients: int, seed: int) -> int:
    """Keep the service busy until then; return how many requests were made."""
    chance = random.Random(seed)
    done = 0

    async def client() -> None:
        nonlocal done
        connection = AsyncClient(process.url)
        while time.monotonic() < until:
            await one(connection, chance.choice(texts), chance.randrange(12))
            done += 1

    await asyncio.gather(*(client() for _ in range(clients)))
    return done


def main(argv: list[str] | None = None) -> int:
    """Print memory by quarters; return 1 if it grows."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("model", nargs="?", default="en")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args(argv)
    texts = questions(2_000)
    sizes: list[float] = []
    with service(options.model, 1) as process:
        for quarter in range(4):
            until = time.monotonic() + options.minutes * 15
            done = asyncio.run(work(process, texts, until=until, clients=options.clients, seed=quarter))
            sizes.append(process.megabytes())
            print(f"quarter {quarter + 1}: {done} requests, {sizes[-1]:.0f} MB", flush=True)
    return int(sizes[-1] > GROWTH_BOUND * sizes[0])


if __name__ == "__main__":
    sys.exit(main())
