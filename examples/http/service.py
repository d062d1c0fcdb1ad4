"""A small HTTP service whose answers are made up: some late, some errors, some "come again".

python examples/http/service.py '{"seed": 7}'

It tells its port in a line of JSON, serves until its input ends, and then prints its log.
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
from dataclasses import asdict, dataclass
from random import Random
from typing import NamedTuple

SHUTTING_DOWN = 5
"""Seconds for connections to end when the input has ended."""

REASONS = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}


class Answer(NamedTuple):
    """What a call is answered with, and how many seconds that takes."""

    status: int
    seconds: float


class Call(NamedTuple):
    """A line of the log; times are those of the machine's monotonic clock, in seconds.

    The status is 0 if the client has left before the answer.
    """

    number: int
    began: float
    ended: float
    status: int


@dataclass(frozen=True)
class Behaviour:
    """Says how a request is answered; the same one always alike, whenever it comes.

    Args:
        seed: another one gives another service.
        median: seconds that half of the answers take at most. They have a long tail.
        longest: seconds that no answer takes longer than.
        busy: the share of requests that are told to come again (429), the first time.
        failing: the share of calls that are answered by an error (500).
        broken: the share of requests that always are.
        stuck: the share of requests that are not answered at all.
        retry_after: seconds after which those may come again that are told to.
    """

    seed: int = 1
    median: float = 0.03
    longest: float = 0.2
    busy: float = 0.02
    failing: float = 0.03
    broken: float = 0.003
    stuck: float = 0.002
    retry_after: float = 1

    def answer(self, number: int, attempt: int) -> Answer:
        """Return the answer to an attempt, the first of which is 1, for a request."""
        chance = Random(f"{self.seed}, {number}, {attempt}")
        seconds = min(chance.lognormvariate(math.log(self.median), 0.8), self.longest)
        fate = Random(f"{self.seed}, {number}").random()
        if fate < self.stuck:
            return Answer(200, math.inf)
        if fate < self.stuck + self.broken:
            return Answer(500, seconds)
        if fate < self.stuck + self.broken + self.busy and attempt == 1:
            return Answer(429, seconds)
        return Answer(500 if chance.random() < self.failing else 200, seconds)


class Service:
    """Answers calls, and keeps a log of them.

    Args:
        behaviour: says how.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.log: list[Call] = []
        self._behaviour = behaviour
        self._attempts = Counter[int]()
        self._connections = set[asyncio.Task[None] | None]()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection, one after the other."""
        self._connections.add(task := asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    number = int(head.split()[1].lstrip(b"/"))
                    await self._answer(number, reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        began = time.monotonic()
        self._attempts[number] += 1
        answer = self._behaviour.answer(number, self._attempts[number])
        stays = await _stays(reader, answer.seconds)
        self.log.append(Call(number, began, time.monotonic(), answer.status if stays else 0))
        if stays:
            writer.write(self._response(number, answer.status))
            await writer.drain()

    def _response(self, number: int, status: int) -> bytes:
        body = json.dumps({"number": number}) if status == 200 else ""
        lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Length: {len(body)}"]
        if status == 429:
            lines.append(f"Retry-After: {self._behaviour.retry_after:g}")
        return "\r\n".join([*lines, "", body]).encode()

    async def end(self) -> None:
        """Wait for the clients to leave."""
        if self._connections:
            await asyncio.wait(filter(None, self._connections), timeout=SHUTTING_DOWN)


async def _stays(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait, and say whether the client does, too."""
    with suppress(ConnectionError):
        try:
            async with asyncio.timeout(seconds):
                await reader.read(1)
        except TimeoutError:
            return True
    return False


def _tell(what: object) -> None:
    print(json.dumps(what), flush=True)


async def main(behaviour: Behaviour, port: int) -> None:
    """Serve until the input ends."""
    service = Service(behaviour)
    try:
        server = await asyncio.start_server(service.serve, "127.0.0.1", port, backlog=1000)
    except OSError as error:
        return _tell({"error": os.strerror(error.errno or 0)})
    _tell({"port": server.sockets[0].getsockname()[1]})
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    await service.end()
    return _tell(service.log)


if __name__ == "__main__":
    options = {"port": 0, **asdict(Behaviour()), **json.loads(" ".join(sys.argv[1:]) or "{}")}
    # Ctrl-C is for whoever has started it, and with them the input ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(main(port=options.pop("port"), behaviour=Behaviour(**options)))
