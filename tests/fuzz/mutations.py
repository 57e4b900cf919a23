"""Damage to files and tables: bytes changed, cut, doubled and mixed, and values of the wrong kind."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any

PIECES = [
    b"(",
    b")",
    b"()",
    b"\t",
    b"\n",
    b"\n\n",
    b"\r\n",
    b" ",
    b"_",
    b"-",
    b"0",
    b"1",
    b"-1",
    b"1-2",
    b"1.1",
    b"#",
    b"##",
]
PIECES += [b"|", b"=", b"%", b":", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"\0", b"\x1b", b"\x85", b"\xff", b"\xc3"]
PIECES += [
    b"\xef\xbb\xbf",
    "\u2028".encode(),
    "\u00a0".encode(),
    "語".encode(),
    "e\u0301".encode(),
    "\U0001f600".encode(),
]
PIECES += [
    b"-LRB-",
    b"-NONE-",
    b"<H>",
    b"::",
    b"9" * 30,
    b"(" * 300,
    b"a" * 300,
    b"# text = ",
    b"SpaceAfter=No",
    b"true",
]
VALUES: list[Any] = [None, True, "", "x", "\ud800", "a\tb", -1, 0, 7, 10**9, 10**30, 1.5, -0.0, 1e308, [], {}, [None]]
VALUES += [[[]], {"x": 1}, ["x"], [-1], [[0, 1]], [["a"]], "\0", "auto", "hpsg"]


def mutated(samples: Sequence[bytes], chance: Random) -> bytes:
    """Return a sample with some damage, sometimes the beginning of one and the end of another."""
    content = chance.choice(samples)
    if chance.random() < 0.15:
        other = chance.choice(samples)
        content = content[: chance.randint(0, len(content))] + other[chance.randint(0, len(other)) :]
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 8))):
        content = _once(content, chance)
    return content


def _once(content: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(content))
    end = min(len(content), at + chance.choice((0, 0, 1, 1, 2, 5, 40)))
    kind = chance.randrange(5)
    if kind == 0:
        return content[:at] + content[end:]
    if kind == 1:
        return content[:at] + bytes([chance.randrange(256)]) + content[end:]
    if kind == 2:
        return content[:end] + content[at:]
    return content[:at] + chance.choice(PIECES) + content[end:]


def mutated_table(samples: Sequence[Any], chance: Random) -> bytes:
    """Return the JSON of a sample in which some values are others; sometimes with damaged bytes."""
    table = copy.deepcopy(chance.choice(samples))
    for _ in range(chance.choice((1, 1, 2, 4))):
        _change(table, chance)
    content = json.dumps(table).encode()
    return mutated([content], chance) if chance.random() < 0.1 else content


def _change(table: Any, chance: Random) -> None:
    """Walk down to some place and put another value there, or take it away."""
    while True:
        keys = list(table) if isinstance(table, dict) else list(range(len(table)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(table[key], dict | list) and table[key] and chance.random() < 0.7:
            table = table[key]
            continue
        if chance.random() < 0.15:
            del table[key]
        elif isinstance(table, dict) and chance.random() < 0.1:
            table["unknown"] = chance.choice(VALUES)
        else:
            table[key] = copy.deepcopy(chance.choice(VALUES))
        return


def random_text(chance: Random) -> bytes:
    """Return text of any characters, or such as people write."""
    parts = []
    for _ in range(chance.randint(0, 12)):
        kind = chance.randrange(4)
        if kind == 0:
            parts.append(
                chr(
                    chance.choice(
                        (chance.randrange(32, 127), chance.randrange(0xD800), chance.randrange(0xE000, 0x10FFFF))
                    )
                )
            )
        elif kind == 1:
            parts.append(chance.choice(PIECES).decode(errors="replace"))
        else:
            parts.append(
                chance.choice(
                    ["Mr. Smith", "don't", "3.5%", "a", "The dog", "http://a.b/c", "...", "?!", "(", "U.S.", "\n\n"]
                )
            )
        parts.append(chance.choice(["", " ", " ", "\n", "\t", "\u00a0"]))
    return "".join(parts).encode()
