"""What a service counts, in the text format that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SENTENCES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Counter:
    """A number that only grows, for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self.name, self.about, self.labels = name, about, labels
        self._values: dict[tuple[str, ...], float] = defaultdict(float)
        if not labels:
            self._values[()] = 0.0
        self._lock = Lock()

    def add(self, amount: float = 1, *values: str) -> None:
        with self._lock:
            self._values[values] += amount

    def lines(self) -> Iterator[str]:
        with self._lock:
            values = sorted(self._values.items())
        for labels, value in values:
            yield f"{self.name}{_labels(self.labels, labels)} {value:.10g}"


class Gauge:
    """A number that goes up and down."""

    kind = "gauge"

    def __init__(self, name: str, about: str) -> None:
        self.name, self.about = name, about
        self.value = 0.0

    def lines(self) -> Iterator[str]:
        yield f"{self.name} {self.value:.10g}"


class Histogram:
    """How often values fell below each of some bounds."""

    kind = "histogram"

    def __init__(self, name: str, about: str, bounds: Sequence[float]) -> None:
        self.name, self.about, self.bounds = name, about, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        self._lock = Lock()

    def observe(self, value: float) -> None:
        with self._lock:
            self._counts[bisect_left(self.bounds, value)] += 1
            self._sum += value

    def lines(self) -> Iterator[str]:
        with self._lock:
            counts, total = list(accumulate(self._counts)), self._sum
        for bound, count in zip([f"{bound:g}" for bound in self.bounds] + ["+Inf"], counts, strict=True):
            yield f'{self.name}_bucket{{le="{bound}"}} {count}'
        yield f"{self.name}_sum {total:.10g}"
        yield f"{self.name}_count {counts[-1]}"


class Metrics:
    """All that is counted."""

    def __init__(self) -> None:
        self.requests = Counter("h3n_requests_total", "Answered requests.", "path", "status")
        self.request_seconds = Histogram("h3n_request_seconds", "Time from a request to its answer.", SECONDS)
        self.sentences = Counter("h3n_sentences_total", "Parsed sentences.")
        self.words = Counter("h3n_words_total", "Words of parsed sentences.")
        self.batches = Histogram("h3n_batch_sentences", "Sentences parsed together.", SENTENCES)
        self.batch_seconds = Histogram("h3n_batch_seconds", "Time to parse one batch.", SECONDS)
        self.queue_words = Gauge("h3n_queue_words", "Words that wait to be parsed.")
        self.queue_requests = Gauge("h3n_queue_requests", "Requests that wait or are being parsed.")
        self.dropped = Counter("h3n_dropped_requests_total", "Requests given up: client gone, or out of time.", "why")

    def text(self) -> str:
        """Return the numbers as Prometheus reads them."""
        rows: list[str] = []
        for one in vars(self).values():
            rows += [f"# HELP {one.name} {one.about}", f"# TYPE {one.name} {one.kind}", *one.lines()]
        return "\n".join(rows) + "\n"


def _labels(names: Sequence[str], values: Sequence[str]) -> str:
    escaped = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in values)
    return "{" + ",".join(f'{n}="{v}"' for n, v in zip(names, escaped, strict=True)) + "}" if names else ""
