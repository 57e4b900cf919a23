"""How the time to cut a text into sentences and words grows with its length, on the text that is worst for each rule.

`python -m benchmarks.segmentation_growth` repeats the text of every rule to 64 KB and to 1 MB, as one line and as
running text, and prints the exponent of the growth: 1 is linear, 2 quadratic. The exit code is 1 if one is above the
bar. What a rule takes back when a text ends otherwise than it began is tried with endings of other kinds.

`--search SECONDS` makes up texts instead: a few random characters that rules begin with, repeated, between others.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from h3n import text

SMALL, LARGE = 1 << 16, 1 << 20
BAR = 1.1

# Rule -> texts that it, or the rules it is tried before, take at least in part.
RULES: dict[str, tuple[str, ...]] = {
    "contractions": ("'s", "s'", "'ll", "n't", "’ve", "don't", "'d'm", "s's ", "cannot", "y'all"),
    "apostrophes": ("'", "’", "girls' ", "'a ", "'90s", "'em", "0's", "n'"),
    "hyphens": ("a-", "ha-", "non-", "-", "--", "a--", "well-known ", "-ish"),
    "slashes": ("a/", "/", "s/he", "1/", "and/or "),
    "stops": ("a.", "A.", "U.S. ", "e.g.", ".", "Dr.", "vol.", "No. ", "Ph.D.", "a.b c", "1. "),
    "ampersands": ("A&", "&", "a&b "),
    "numbers": ("1", "1,", "1,000", ",111", "1:", "1.", ".1", "1:1/1.", "+1", "1-", "5km", "$1", "US$", "0", "1st "),
    "telephones and dates": ("555-1234", "2020-01-31", "12-12-", "5-555-", "12345-1234"),
    "addresses": ("http://", "www.", "http://a(", "www.(", "www.,", "doi:", "a.co/", "a.co", "a.co/(b)", "http://a)."),
    "mail": ("a@", "@", "a.b@c.", "a%", "+a@b"),
    "tags": ("#a", "@a", "#", "#1"),
    "smiles": (":)", ":D", ":", ":-", "^_", "-_", ":((", "<3", "=]", ";'"),
    "emoji": ("😀", "😀\u200d", "👋🏽", "🇩", "1\ufe0f\u20e3", "\u200d"),
    "brackets": ("(", ")", "(a)", "a(s)", "a(", "[", "[1]", "[1", '"(', "(s"),
    "marks": (".)", "?!", "...", "…", '"', "``", "=", "==-", "_", "|", "。", "这。", ". ", "! ", '." ', ". [1] "),
    "sentences": ("A. ", "Mr. ", "a? ", "a. B ", "The end. ", 'he. "So ', "— I ", "etc. "),
    "lines": ("\n", " \n", "\n ", "a\n", "A\n", "- a\n", ", \n", "a,\n", "The end\n", "\r\n", "\n\n", "\f", "of\n "),
    "spacing": (" ", "\t", "\u3000", "\u200b", "\x00", "a \u2028", " a"),
    "letters": ("a", "é", "e\u0301", "A", "aB1_", "नमस्ते", "שלום"),
}
ENDINGS = ("", "a", "'s", "(", ".", " x")
WAYS: dict[str, Callable[[str], Iterable[object]]] = {
    "as a line": lambda source: map(text.offsets, text.lines(source)),
    "as running text": lambda source: map(text.written, text.segment(source)),
    "in small pieces": lambda source: text.split(source[at : at + 3] for at in range(0, len(source), 3)),
}


def main(argv: list[str] | None = None) -> int:
    """Print the growth for every rule; return 1 if one is above the bar."""
    parser = argparse.ArgumentParser(prog="benchmarks.segmentation_growth", description=__doc__)
    parser.add_argument("--search", type=float, default=0.0, metavar="SECONDS", help="make up texts for so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rule", choices=list(RULES), action="append", help="this one alone")
    options = parser.parse_args(argv)
    if options.search:
        return search(options.search, options.seed)
    worst = 0.0
    for rule in options.rule or RULES:
        found = max(_exponents(RULES[rule]))
        worst = max(worst, found[0])
        print(f"{rule:22} exponent {found[0]:5.2f}  {found[1]:6.2f} s for 1 MB of {found[2]!a} {found[3]}", flush=True)
    print(f"the largest exponent is {worst:.2f}; at most {BAR} is linear")
    return int(worst > BAR)


def _exponents(units: Iterable[str]) -> Iterator[tuple[float, float, str, str]]:
    """Yield the exponent, the time for the large text, the unit and the way, for every unit."""
    for unit in units:
        for way, run in WAYS.items():
            blocks = way != "as a line"
            ending = max(ENDINGS, key=lambda ending: _seconds(run, _repeated(unit, SMALL // 8, ending)))
            texts = [_repeated(unit, size, ending, blocks=blocks) for size in (SMALL, LARGE)]
            best = [math.inf, math.inf]
            for _ in range(5):  # another program's work is a reason to measure again
                best = [min(before, _seconds(run, source)) for before, source in zip(best, texts, strict=True)]
                exponent = math.log(best[1] / best[0]) / math.log(LARGE / SMALL)
                if exponent <= 1.05:
                    break
            yield exponent, best[1], unit + ending, way


def _repeated(unit: str, size: int, ending: str = "", *, blocks: bool = False) -> str:
    """Return the unit repeated; in blocks of 64 KB, where running text is cut and would go on as another text."""
    if not blocks:
        return unit * (size // len(unit.encode(errors="surrogatepass"))) + ending
    block = (unit * (SMALL // len(unit))).ljust(SMALL)
    return block[:size] * max(1, size // SMALL) + ending


def _seconds(run: Callable[[str], Iterable[object]], source: str) -> float:
    """Return the processor time that the text takes."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        for _ in run(source):
            pass
        return time.process_time() - start
    finally:
        gc.enable()


def search(seconds: float, seed: int) -> int:
    """Try texts that are made up until the time is over; print those that grow faster than they should."""
    chance = random.Random(seed)
    characters = sorted({character for units in RULES.values() for unit in units for character in unit})
    pieces = [*characters, *(unit for units in RULES.values() for unit in units), "http://a.co/", "111", " "]
    ends = time.monotonic() + seconds
    tried = found = 0
    size = 1 << 13
    while time.monotonic() < ends:
        before, unit, after = ("".join(chance.choices(pieces, k=chance.randint(*k))) for k in ((0, 2), (1, 4), (0, 3)))
        way = chance.choice(list(WAYS))
        tried += 1
        for grown in (4, 16):  # the longer text only where the shorter one is suspicious
            small = max(1e-4, min(_seconds(WAYS[way], before + _repeated(unit, size, after)) for _ in range(2)))
            large = min(_seconds(WAYS[way], before + _repeated(unit, grown * size, after)) for _ in range(2))
            exponent = math.log(large / small) / math.log(grown)
            if exponent <= 1.25:
                break
        else:
            found += 1
            print(f"exponent {exponent:.2f}  {large:.2f} s  {before!a} + {unit!a} * n + {after!a} {way}", flush=True)
    print(f"{tried} texts, {found} that grow too fast")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
