"""What a service counts, in the text format that Prometheus reads."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """All that one service counts. Its registry is its own, so that a process may hold several services."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self.requests = Counter("h3n_requests_total", "Answered requests.", ("path", "status"), registry=own)
        self.request_seconds = Histogram(
            "h3n_request_seconds", "Time from a request to its answer.", buckets=SECONDS, registry=own
        )
        self.sentences = Counter("h3n_sentences_total", "Parsed sentences.", registry=own)
        self.words = Counter("h3n_words_total", "Words of parsed sentences.", registry=own)
        self.batches = Histogram("h3n_batch_sentences", "Sentences parsed together.", buckets=SENTENCES, registry=own)
        self.batch_seconds = Histogram("h3n_batch_seconds", "Time to parse one batch.", buckets=SECONDS, registry=own)
        self.queue_words = Gauge("h3n_queue_words", "Words that wait to be parsed.", registry=own)
        self.queue_requests = Gauge("h3n_queue_requests", "Requests that wait or are being parsed.", registry=own)
        self.dropped = Counter(
            "h3n_dropped_requests_total", "Requests given up: client gone, or out of time.", ("why",), registry=own
        )

    def text(self) -> str:
        """Return the numbers as Prometheus reads them."""
        return generate_latest(self.registry).decode()
