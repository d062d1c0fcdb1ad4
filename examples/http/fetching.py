"""The same requests twice: by the pool with a client that awaits, in threads with one that blocks.

This is what one writes for a service of one's own; the rest of the folder looks at it.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from rich.console import Console
from rich.progress import track

from asyncwait.backends import pool, threads
from asyncwait.backends.watching import show_progress
from asyncwait.spec import CallTimedOut, OperatorError, Retry, RetryAfter, Statistics


@dataclass(frozen=True)
class Job:
    """What is to be fetched, and how.

    Args:
        requests: how many; they are numbered from 0 on.
        capacity: calls at a time.
        max_held: answers that may wait for one in front of them, and take no room from calls.
        timeout: seconds for a request, with all of its attempts.
        patience: seconds that a client waits which nobody can interrupt.
        max_attempts: of a request.
        back_off: seconds before the second attempt, if the service does not say when.
    """

    requests: int = 2000
    capacity: int = 20
    max_held: int = 1000
    timeout: float = 2.5
    patience: float = 2.25
    max_attempts: int = 4
    back_off: float = 0.05

    def options(self) -> dict[str, Any]:
        """Return how `ordered_wait` is told of it."""
        return {
            "capacity": self.capacity,
            "max_held": self.max_held,
            "timeout": self.timeout,
            "retry": Retry(
                max_attempts=self.max_attempts,
                initial=self.back_off,
                on_error=httpx.HTTPStatusError,
            ),
            "on_error": Missing.of,
        }


@dataclass(frozen=True)
class Missing:
    """Stands where an answer would.

    Args:
        number: of the request.
        why: its deadline passed; the client did not wait any longer; or its attempts have failed.
    """

    number: int
    why: Literal["deadline", "client", "failed"]

    @classmethod
    def of(cls, number: int, error: OperatorError) -> "Missing":
        """Note what has become of a request."""
        if isinstance(error, CallTimedOut):
            return cls(number, "deadline")
        late = isinstance(error.__cause__, httpx.TimeoutException)
        return cls(number, "client" if late else "failed")


@dataclass
class Fetched:
    """What came of a job, as it looks from here.

    Args:
        begun: numbers of requests, once for each call.
        took: seconds of each call that was answered.
        results: numbers out of the answers, or what stands for them.
        statistics: of the operator, when all was done.
        seconds: of the whole.
    """

    begun: list[int] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    results: list[int | Missing] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    seconds: float = 0.0


def number_in(response: httpx.Response) -> int:
    """Return what was answered.

    Raises:
        RetryAfter: the service says when to come again.
        httpx.HTTPStatusError: it has failed.
    """
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise RetryAfter(float(response.headers["Retry-After"]))
    response.raise_for_status()
    number: int = response.json()["number"]
    return number


async def on_pool(job: Job, url: str, *, quiet: bool) -> Fetched:
    """Fetch everything by the pool, which ends a call at the deadline."""
    fetched = Fetched()

    async def fetch(number: int) -> int:
        told = _begin(fetched, number)
        response = await client.get(f"/{number}")
        told()
        return number_in(response)

    async with (
        httpx.AsyncClient(base_url=url, **_connections(job, None)) as client,
        pool.ordered_wait(range(job.requests), fetch, **job.options()) as results,
        nullcontext() if quiet else show_progress(results, job.requests, description="pool"),
    ):
        began = time.monotonic()
        fetched.results = [result async for result in results]
        fetched.statistics = results.statistics()
        fetched.seconds = time.monotonic() - began
    return fetched


def in_threads(job: Job, url: str, *, quiet: bool) -> Fetched:
    """Fetch everything in threads: nothing ends a call there, so the client has a time limit."""
    fetched = Fetched()

    def fetch(number: int) -> int:
        told = _begin(fetched, number)
        response = client.get(f"/{number}")
        told()
        return number_in(response)

    with (
        httpx.Client(base_url=url, **_connections(job, job.patience)) as client,
        threads.ordered_wait(range(job.requests), fetch, **job.options()) as results,
    ):
        began = time.monotonic()
        for result in _tracked(results, job, quiet=quiet):
            fetched.results.append(result)
        fetched.statistics = results.statistics()
        fetched.seconds = time.monotonic() - began
    return fetched


def _connections(job: Job, timeout: float | None) -> dict[str, Any]:
    """Say that there is a connection for each call, and no proxy on the way to this machine."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=job.capacity)
    return {"timeout": timeout, "limits": limits, "trust_env": False}


def _begin(fetched: Fetched, number: int) -> Callable[[], None]:
    """Note a call; what is returned notes its answer."""
    fetched.begun.append(number)
    began = time.monotonic()
    return lambda: fetched.took.append(time.monotonic() - began)


def _tracked(results: Any, job: Job, *, quiet: bool) -> Any:
    console = Console(stderr=True)
    return track(results, "threads", job.requests, console=console, disable=quiet)
