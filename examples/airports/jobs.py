"""The weather of all airports, by three operators: what one writes for a job of one's own."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import msgspec
from fetching import Fetch, Job, airports, weather_in
from rich.console import Console
from rich.progress import track

from asyncwait.backends import pool, threads
from asyncwait.backends.journal import Attempt, Journal, key_of, paid_once, summary
from asyncwait.backends.watching import show_progress
from asyncwait.spec import OperatorError

TASKS = 2
"""Of Spark, at a time; each has its share of the calls."""

Row: TypeAlias = tuple[str, str, float | None, float | None, str | None]
"""Code and country of an airport; temperature and wind, or why there are none."""


@dataclass(frozen=True)
class Result:
    """What came of a start that was not killed.

    Args:
        rows: in the order of the airports.
        found: answers that the journal held when it began.
        began: when that was, by the machine's monotonic clock.
    """

    rows: list[Row]
    found: int
    began: float


async def on_pool(job: Job, url: str, folder: Path, *, quiet: bool) -> Result:
    """Do a job by the pool, in this process."""
    asked, journal = airports(job.airports), _journal(folder)
    codes = [icao for icao, _ in asked]
    fetch = Fetch(url, job.capacity)
    with journal.attempt("pool") as attempt:
        began, found = time.monotonic(), summary(journal.path).keys
        await fetch.open()
        try:
            weathers = await _weathers(job, codes, fetch, attempt, quiet=quiet)
        finally:
            await fetch.close()
    return Result(_rows(asked, weathers), found, began)


async def _weathers(
    job: Job, codes: Sequence[str], fetch: Fetch, attempt: Attempt, *, quiet: bool
) -> list[dict[str, Any]]:
    """Return the weather of each, or its error; the journal is asked first."""
    paid = _paid(fetch, attempt)
    operator = pool.ordered_wait(
        codes, paid, capacity=job.capacity, on_error=_error, **job.options()
    )
    async with (
        operator as results,
        nullcontext() if quiet else show_progress(results, len(codes), description="pool"),
    ):
        return [weather async for weather in results]


def in_threads(job: Job, url: str, folder: Path, *, quiet: bool) -> Result:
    """Do a job in threads, by a client that blocks: only its own time limit ends a call there."""
    asked, journal = airports(job.airports), _journal(folder)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=job.capacity)

    def fetch(icao: str) -> dict[str, float]:
        return weather_in(client.get(f"/weather/{icao}"))

    with (
        httpx.Client(base_url=url, limits=limits, timeout=job.timeout, trust_env=False) as client,
        journal.attempt("threads") as attempt,
    ):
        began, found = time.monotonic(), summary(journal.path).keys
        codes, paid = [icao for icao, _ in asked], _paid(fetch, attempt)
        with threads.ordered_wait(
            codes, paid, capacity=job.capacity, on_error=_error, **job.options()
        ) as results:
            console = Console(stderr=True)
            weathers = [*track(results, "threads", len(asked), console=console, disable=quiet)]
    return Result(_rows(asked, weathers), found, began)


def _paid(fetch: Any, attempt: Attempt) -> Any:
    """Return what asks the journal first."""
    return paid_once(fetch, attempt, key_of, msgspec.json.encode, msgspec.json.decode)


def on_spark(job: Job, url: str, folder: Path, *, quiet: bool) -> Result:
    """Do a job on an embedded Spark."""
    from asyncwait.backends.spark import Progress, embedded_spark, ordered_wait

    session = embedded_spark(f"local[{TASKS}]").session
    asked, journal = airports(job.airports), _journal(folder)
    df = session.createDataFrame(asked, "icao string, country string")
    began, found = time.monotonic(), summary(journal.path).keys
    with Progress(len(asked), session=session, show=not quiet) as progress:
        rows = ordered_wait(
            df,
            Fetch(url, -(-job.capacity // TASKS)),
            "temperature double, wind double",
            columns="icao",
            keep=["icao", "country"],
            capacity=job.capacity,
            max_in_flight=job.capacity,  # of all tasks together
            adaptive=True,
            on_error="column",
            journal=journal,
            progress=progress,
            **job.options(),
        ).collect()
    return Result([(*row[:4], row.error and row.error.message) for row in rows], found, began)


def _journal(folder: Path) -> Journal:
    """Return the journal: what the service says of an airport depends on nothing else."""
    journal = Journal(str(folder / "journal"), "weather of airports", "1")
    journal.prepare()
    return journal


def _error(icao: str, error: OperatorError) -> dict[str, str]:
    """Stand for the weather of an airport."""
    return {"error": str(error.__cause__ or error)}


def _rows(asked: Sequence[tuple[str, str]], weathers: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        (*airport, weather.get("temperature"), weather.get("wind"), weather.get("error"))
        for airport, weather in zip(asked, weathers, strict=True)
    ]
