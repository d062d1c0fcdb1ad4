"""A small weather service: its answers are made up, some late, some errors, and not too many.

python examples/airports/weather.py '{"seed": 7, "tell_at": 1000}'

It tells its port in a line of JSON, and in another one when it has given so many answers. It serves
until its input ends, and then prints its log.
"""

import asyncio
import json
import math
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

SHUTTING_DOWN = 5
"""Seconds for connections to end when the input has ended."""

REASONS = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}


class Answer(NamedTuple):
    """What a call is answered with, and how many seconds that takes."""

    status: int
    seconds: float


class Call(NamedTuple):
    """A line of the log; times are those of the machine's monotonic clock, in seconds."""

    icao: str
    began: float
    ended: float
    status: int


@dataclass(frozen=True)
class Behaviour:
    """Says how a call is answered; the same one always alike, but for the limit.

    Args:
        seed: another one gives another service.
        median: seconds that half of the answers take at most. They have a long tail.
        longest: seconds that no answer takes longer than.
        failing: the share of calls that are answered by an error (500).
        broken: the share of airports that always are.
        limit: calls that are served in a second; more are told to come in the next one (429).
    """

    seed: int = 1
    median: float = 0.05
    longest: float = 2
    failing: float = 0.02
    broken: float = 0.001
    limit: int = 700

    def answer(self, icao: str, attempt: int) -> Answer:
        """Return the answer to an attempt, the first of which is 1, for an airport."""
        chance = Random(f"{self.seed}, {icao}, {attempt}")
        seconds = min(chance.lognormvariate(math.log(self.median), 1), self.longest)
        fails = self.is_broken(icao) or chance.random() < self.failing
        return Answer(500 if fails else 200, seconds)

    def is_broken(self, icao: str) -> bool:
        """Say whether an airport never has an answer."""
        return Random(f"{self.seed}, {icao}").random() < self.broken

    def weather(self, icao: str) -> dict[str, Any]:
        """Return the weather there: degrees, and metres a second."""
        chance = Random(f"weather {self.seed}, {icao}")
        temperature, wind = chance.gauss(15, 10), chance.expovariate(1 / 4)
        return {"icao": icao, "temperature": round(temperature, 1), "wind": round(wind, 1)}


class Service:
    """Answers calls, and keeps a log of them.

    An answer that has been worked on is billed, whether or not somebody still waits for it.

    Args:
        behaviour: says how.
        tell_at: how many answers there are to be when that is told.
    """

    def __init__(self, behaviour: Behaviour, tell_at: int) -> None:
        self.log: list[Call] = []
        self._connections = set[asyncio.Task[None] | None]()
        self._behaviour = behaviour
        self._until_told = tell_at
        self._attempts = Counter[str]()
        self._second, self._served = 0, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection, one after the other."""
        self._connections.add(task := asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    asked = head.split()[1].decode().rpartition("/")[2]
                    writer.write(await self._answer(asked))
                    await writer.drain()
        finally:
            self._connections.discard(task)
            writer.close()

    async def end(self) -> None:
        """Wait for the clients to leave."""
        if self._connections:
            await asyncio.wait(filter(None, self._connections), timeout=SHUTTING_DOWN)

    async def _answer(self, asked: str) -> bytes:
        """Return the response for an airport when it is time for it."""
        began = time.monotonic()
        if not self._has_room(began):
            self.log.append(Call(asked, began, began, 429))
            return response(429, {}, f"Retry-After: {1.001 - began % 1:.3f}")
        self._attempts[asked] += 1
        status, seconds = self._behaviour.answer(asked, self._attempts[asked])
        await asyncio.sleep(seconds)
        self.log.append(Call(asked, began, time.monotonic(), status))
        self._tell(status)
        return response(status, self._behaviour.weather(asked) if status == 200 else {})

    def _has_room(self, now: float) -> bool:
        """Count a call, unless there were as many in this second as there may be."""
        if int(now) != self._second:
            self._second, self._served = int(now), 0
        self._served += self._served < self._behaviour.limit + 1
        return self._served <= self._behaviour.limit

    def _tell(self, status: int) -> None:
        if status == 200:
            self._until_told -= 1
            if self._until_told == 0:
                tell("answered")


def response(status: int, body: dict[str, Any], *headers: str) -> bytes:
    """Return a response as it is sent."""
    text = json.dumps(body)
    lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Length: {len(text)}", *headers]
    return "\r\n".join([*lines, "", text]).encode()


def tell(what: object) -> None:
    """Print a line for whoever has started the service."""
    print(json.dumps(what), flush=True)


def start() -> None:
    """Serve until the input ends; the arguments of the command are JSON with options."""
    options = {"port": 0, "tell_at": 0, **json.loads(" ".join(sys.argv[1:]) or "{}")}
    port, tell_at = options.pop("port"), options.pop("tell_at")
    # Ctrl-C is for whoever has started it, and with them the input ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_main(port, Service(Behaviour(**options), tell_at)))


async def _main(port: int, service: Service) -> None:
    try:
        server = await asyncio.start_server(service.serve, "127.0.0.1", port, backlog=1000)
    except OSError as error:
        return tell({"error": os.strerror(error.errno or 0)})
    tell({"port": server.sockets[0].getsockname()[1]})
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    await service.end()
    return tell(service.log)


if __name__ == "__main__":
    start()
