"""The weather of an airport, and how it is asked for, by whichever operator."""

import ssl
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import airportsdata
import httpx

from asyncwait.backends.services import transient
from asyncwait.spec import Retry

EACH = 10
"""Connections of a client."""


@dataclass(frozen=True)
class Job:
    """What is to be done, and how.

    Args:
        airports: how many.
        capacity: calls at a time.
        max_held: rows that may wait for one in front of them, and take no room from calls.
        timeout: seconds for an airport, with all of its attempts.
        max_attempts: of an airport.
    """

    airports: int
    capacity: int = 100
    max_held: int = 4000
    timeout: float = 30
    max_attempts: int = 6

    def options(self) -> dict[str, Any]:
        """Return how each `ordered_wait` is told of it."""
        retry = Retry(max_attempts=self.max_attempts, initial=0.05, on_error=transient)
        return {"max_held": self.max_held, "timeout": self.timeout, "retry": retry}


class Fetch:
    """Asks for the weather of an airport, by clients that live as long as their task.

    They are several, as one spends more time on its connections the more of them it has: with a
    hundred it is good for some hundred calls a second.

    Args:
        url: of the service.
        connections: that are kept open.
    """

    def __init__(self, url: str, connections: int) -> None:
        self._url = url
        self._connections = connections

    async def open(self) -> None:
        """Make the clients. What bounds their calls is the operator."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=EACH)
        context, forever = ssl.create_default_context(), httpx.Timeout(None)
        self._clients = [
            httpx.AsyncClient(
                base_url=self._url, limits=limits, timeout=forever, verify=context, trust_env=False
            )
            for _ in range(-(-self._connections // EACH))
        ]
        self._turns = cycle(self._clients)

    async def close(self) -> None:
        """Close them."""
        for client in self._clients:
            await client.aclose()

    async def __call__(self, icao: str) -> dict[str, float]:
        """Return the weather."""
        return weather_in(await next(self._turns).get(f"/weather/{icao}"))


def weather_in(response: httpx.Response) -> dict[str, float]:
    """Return what was answered.

    Raises:
        httpx.HTTPStatusError: the service has failed, or says when to come again.
    """
    response.raise_for_status()
    weather = response.json()
    return {"temperature": weather["temperature"], "wind": weather["wind"]}


def airports(number: int | None) -> list[tuple[str, str]]:
    """Return codes and countries of so many airports, or all, in the order of the package."""
    known = airportsdata.load().values()
    return [(each["icao"], each["country"]) for each in known][:number]
