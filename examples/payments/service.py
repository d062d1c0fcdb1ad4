"""A service that scores payments and bills each answer: most are fast, some slow, some errors."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import NamedTuple

FAST, SLOW, OFTEN = 0.05, 5.0, 100
"""Seconds of a fast and a slow call; one payment in so many is slow."""

FAILING = 0.03
"""Share of calls that end with an error (500), which costs nothing."""


class Call(NamedTuple):
    """A line of the log: a payment, when its call came and was answered, and the status."""

    payment: int
    began: float
    ended: float
    status: int


def is_slow(payment: int) -> bool:
    """Return whether the score of a payment takes long."""
    return payment % OFTEN == OFTEN // 4


def fails(payment: int, attempt: int) -> bool:
    """Return whether an attempt, the first of which is 1, ends with an error."""
    return Random(f"{payment}, {attempt}").random() < FAILING


def score(payment: int) -> float:
    """Return the score of a payment, between 0 and 1."""
    return Random(payment).randrange(1_000) / 1_000


class Service(ThreadingHTTPServer):
    """Answers `GET /score/PAYMENT`, and keeps a log.

    It bills each score that it has computed, even if the client has gone.
    """

    daemon_threads = True
    request_queue_size = 1_000

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.log: list[Call] = []
        self.attempts = Counter[int]()
        self.under_way = Counter[int]()
        self.lock = threading.Lock()


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Service

    def handle(self) -> None:
        """Answer calls until the client has gone."""
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """Answer a call after its seconds."""
        service, payment, began = self.server, int(self.path.rpartition("/")[2]), time.time()
        with service.lock:
            service.attempts[payment] += 1
            service.under_way[payment] += 1
            status = 500 if fails(payment, service.attempts[payment]) else 200
        time.sleep(SLOW if is_slow(payment) else FAST)  # It is the service's work.
        with service.lock:
            service.under_way[payment] -= 1
            service.log.append(Call(payment, began, time.time(), status))
        self._answer(status, {"score": score(payment)} if status == 200 else {})

    def _answer(self, status: int, told: dict[str, float]) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def running() -> Iterator[Service]:
    """Run a service while the body runs."""
    with Service() as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        try:
            yield service
        finally:
            service.shutdown()
