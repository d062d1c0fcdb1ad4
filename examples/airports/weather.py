"""A small weather service: its answers are drawn, some late, some errors, and limited in number.

python examples/airports/weather.py '{"seed": 7, "tell_at": 1000}'

It prints its port in a line of JSON, and another line when it has given so many answers. It serves
until its input ends, and then prints its log.
"""

import asyncio
import json
import math
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

REASONS = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}


class Call(NamedTuple):
    """A line of the log; times are those of the machine's monotonic clock, in seconds."""

    icao: str
    began: float
    ended: float
    status: int


@dataclass(frozen=True)
class Behaviour:
    """Answers by airport and attempt, equal in each run except for the limit.

    Args:
        seed: of all answers.
        median: seconds of an answer; they have a long tail.
        longest: seconds of an answer at most.
        failing: share of calls that end with an error (500).
        broken: share of airports whose calls all fail.
        limit: calls served in a second; further ones are refused until the next second (429).
    """

    seed: int = 1
    median: float = 0.05
    longest: float = 2
    failing: float = 0.02
    broken: float = 0.001
    limit: int = 700

    def answer(self, icao: str, attempt: int) -> tuple[int, float]:
        """Return status and seconds of an attempt, the first of which is 1, for an airport."""
        chance = Random(f"{self.seed}, {icao}, {attempt}")
        seconds = min(chance.lognormvariate(math.log(self.median), 1), self.longest)
        fails = self.is_broken(icao) or chance.random() < self.failing
        return 500 if fails else 200, seconds

    def is_broken(self, icao: str) -> bool:
        """Return whether all calls for an airport fail."""
        return Random(f"{self.seed}, {icao}").random() < self.broken

    def weather(self, icao: str) -> dict[str, Any]:
        """Return the weather there: degrees, and metres a second."""
        chance = Random(f"weather {self.seed}, {icao}")
        temperature, wind = chance.gauss(15, 10), chance.expovariate(1 / 4)
        return {"icao": icao, "temperature": round(temperature, 1), "wind": round(wind, 1)}


class Service:
    """Answers calls, and keeps a log of them; an answer counts even if its client has gone.

    Args:
        behaviour: of the answers.
        tell_at: number of answers after which it prints a line.
    """

    def __init__(self, behaviour: Behaviour, tell_at: int) -> None:
        self.log: list[Call] = []
        self._behaviour = behaviour
        self._until_told = tell_at
        self._attempts = Counter[str]()
        self._second, self._served = 0, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection, one after the other."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head.split()[1].decode().rpartition("/")[2]))
                await writer.drain()
        writer.close()

    async def _answer(self, asked: str) -> bytes:
        began = time.monotonic()
        if not self._has_room(began):
            self.log.append(Call(asked, began, began, 429))
            return response(429, {}, f"Retry-After: {1.001 - began % 1:.3f}")
        self._attempts[asked] += 1
        status, seconds = self._behaviour.answer(asked, self._attempts[asked])
        await asyncio.sleep(seconds)
        self.log.append(Call(asked, began, time.monotonic(), status))
        if status == 200:
            self._until_told -= 1
            if self._until_told == 0:
                print("answered", flush=True)
        return response(status, self._behaviour.weather(asked) if status == 200 else {})

    def _has_room(self, now: float) -> bool:
        if int(now) != self._second:
            self._second, self._served = int(now), 0
        self._served += self._served < self._behaviour.limit + 1
        return self._served <= self._behaviour.limit


def response(status: int, body: dict[str, Any], *headers: str) -> bytes:
    """Return a response as it is sent."""
    text = json.dumps(body)
    lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Length: {len(text)}", *headers]
    return "\r\n".join([*lines, "", text]).encode()


async def main(options: dict[str, Any]) -> None:
    """Serve until the input ends."""
    tell_at = options.pop("tell_at", 0)
    service = Service(Behaviour(**options), tell_at)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    print(json.dumps(service.log), flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends its parent, and so its input.
    asyncio.run(main(json.loads(" ".join(sys.argv[1:]) or "{}")))
