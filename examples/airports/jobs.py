"""The weather of all airports, by three operators: the code that one writes for a job of one's own.

As a script it is a job in a process of its own, which `run.py` starts and kills. Its result is in a
file when it ends.
"""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import airportsdata
import httpx
import msgspec
from rich.console import Console
from rich.progress import track

from asyncwait.backends import pool, threads
from asyncwait.backends.journal import Attempt, Journal, key_of, paid_once, summary
from asyncwait.backends.services import transient
from asyncwait.backends.watching import show_progress
from asyncwait.spec import AsyncWaitError, OperatorError, Retry

EACH = 10
"""Connections of a client: a client spends more time on its connections the more of them it has."""

TASKS = 2
"""Of Spark, at a time; each has its share of the calls."""

Row: TypeAlias = tuple[str, str, float | None, float | None, str | None]
"""Code and country of an airport; temperature and wind, or the error."""


@dataclass(frozen=True)
class Job:
    """The work, and the options of each operator.

    Args:
        airports: their number.
        capacity: calls at a time.
        max_held: finished rows that may wait for an earlier row, and take no room from calls.
        timeout: seconds for an airport, with all of its attempts.
        max_attempts: of an airport.
    """

    airports: int
    capacity: int = 100
    max_held: int = 4000
    timeout: float = 30
    max_attempts: int = 6

    def options(self) -> dict[str, Any]:
        """Return the options of each `ordered_wait`."""
        retry = Retry(max_attempts=self.max_attempts, initial=0.05, on_error=transient)
        return {
            "capacity": self.capacity,
            "max_held": self.max_held,
            "timeout": self.timeout,
            "retry": retry,
        }


@dataclass(frozen=True)
class Result:
    """The result of a start that was not killed.

    Args:
        rows: in the order of the airports.
        found: answers that the journal held when it began.
        began: when the calls began, by the machine's monotonic clock.
    """

    rows: list[Row]
    found: int
    began: float


class Fetch:
    """Asks for the weather of an airport, by clients that live as long as their task."""

    def __init__(self, url: str, connections: int) -> None:
        self._url = url
        self._connections = connections

    async def open(self) -> None:
        """Make the clients; the operator limits their calls."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=EACH)
        context, forever = ssl.create_default_context(), httpx.Timeout(None)
        self._clients = [
            httpx.AsyncClient(
                base_url=self._url, limits=limits, timeout=forever, verify=context, trust_env=False
            )
            for _ in range(-(-self._connections // EACH))
        ]
        self._next = cycle(self._clients)

    async def close(self) -> None:
        """Close the clients."""
        for client in self._clients:
            await client.aclose()

    async def __call__(self, icao: str) -> dict[str, float]:
        """Return the weather."""
        return weather_in(await next(self._next).get(f"/weather/{icao}"))


def weather_in(response: httpx.Response) -> dict[str, float]:
    """Return the weather in an answer.

    Raises:
        httpx.HTTPStatusError: the service has failed, or says when to come again.
    """
    response.raise_for_status()
    weather = response.json()
    return {"temperature": weather["temperature"], "wind": weather["wind"]}


def airports(number: int | None = None) -> list[tuple[str, str]]:
    """Return codes and countries of so many airports, or all, in the order of the package."""
    known = airportsdata.load().values()
    return [(each["icao"], each["country"]) for each in known][:number]


def journal_in(folder: Path) -> Journal:
    """Return the journal: the weather depends on nothing but the airport."""
    journal = Journal(str(folder / "journal"), "weather of airports", "1")
    journal.prepare()
    return journal


def stored(fetch: Any, attempt: Attempt) -> Any:
    """Return a function that looks into the journal first."""
    return paid_once(fetch, attempt, key_of, msgspec.json.encode, msgspec.json.decode)


def failed(icao: str, error: OperatorError) -> dict[str, str]:
    """Return the error in place of the weather of an airport."""
    return {"error": str(error.__cause__ or error)}


def rows_of(asked: Sequence[tuple[str, str]], weathers: Sequence[dict[str, Any]]) -> list[Row]:
    """Return the rows of airports and their weather."""
    return [
        (*airport, weather.get("temperature"), weather.get("wind"), weather.get("error"))
        for airport, weather in zip(asked, weathers, strict=True)
    ]


async def on_pool(job: Job, url: str, folder: Path) -> Result:
    """Do a job by the pool."""
    asked, journal = airports(job.airports), journal_in(folder)
    fetch = Fetch(url, job.capacity)
    with journal.attempt("pool") as attempt:
        began, found = time.monotonic(), summary(journal.path).keys
        await fetch.open()
        codes, fn = [icao for icao, _ in asked], stored(fetch, attempt)
        async with (
            pool.ordered_wait(codes, fn, on_error=failed, **job.options()) as results,
            show_progress(results, len(codes), description="pool"),
        ):
            weathers = [weather async for weather in results]
        await fetch.close()
    return Result(rows_of(asked, weathers), found, began)


def in_threads(job: Job, url: str, folder: Path) -> Result:
    """Do a job in threads, by a client that blocks; only its own time limit ends a call there."""
    asked, journal = airports(job.airports), journal_in(folder)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=job.capacity)

    def fetch(icao: str) -> dict[str, float]:
        return weather_in(client.get(f"/weather/{icao}"))

    with (
        httpx.Client(base_url=url, limits=limits, timeout=job.timeout, trust_env=False) as client,
        journal.attempt("threads") as attempt,
    ):
        began, found = time.monotonic(), summary(journal.path).keys
        codes, fn = [icao for icao, _ in asked], stored(fetch, attempt)
        with threads.ordered_wait(codes, fn, on_error=failed, **job.options()) as results:
            weathers = [*track(results, "threads", len(asked), console=Console(stderr=True))]
    return Result(rows_of(asked, weathers), found, began)


def on_spark(job: Job, url: str, folder: Path) -> Result:
    """Do a job on an embedded Spark."""
    from asyncwait.backends.spark import Progress, embedded_spark, ordered_wait

    session = embedded_spark(f"local[{TASKS}]").session
    asked, journal = airports(job.airports), journal_in(folder)
    df = session.createDataFrame(asked, "icao string, country string")
    began, found = time.monotonic(), summary(journal.path).keys
    with Progress(len(asked), session=session) as progress:
        rows = ordered_wait(
            df,
            Fetch(url, -(-job.capacity // TASKS)),
            "temperature double, wind double",
            columns="icao",
            keep=["icao", "country"],
            max_in_flight=job.capacity,  # of all tasks together
            adaptive=True,
            on_error="column",
            journal=journal,
            progress=progress,
            **job.options(),
        ).collect()
    return Result([(*row[:4], row.error and row.error.message) for row in rows], found, began)


def main(on: str, url: str, folder: str, **job: Any) -> None:
    """Do a job, and leave its result, or its error in a line, in the folder."""
    given = Job(**job), url, Path(folder)
    try:
        if on == "pool":
            result = asyncio.run(on_pool(*given))
        else:
            result = (in_threads if on == "threads" else on_spark)(*given)
        outcome = asdict(result)
    except AsyncWaitError as error:
        outcome = {"error": str(error)}
    part = Path(folder, uuid4().hex)
    part.write_text(json.dumps(outcome))
    part.rename(Path(folder, "result"))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
