"""What the services of `http` and `airports` share: connections, a log, and lines of JSON.

A service tells its port in a line of JSON, serves until its input ends, and then prints its log.
"""

import asyncio
import json
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

SHUTTING_DOWN = 5
"""Seconds for connections to end when the input has ended."""

REASONS = {200: "OK", 429: "Too Many Requests", 500: "Internal Server Error"}


class Answer(NamedTuple):
    """What a call is answered with, and how many seconds that takes."""

    status: int
    seconds: float


class Service(ABC):
    """Answers calls, and keeps a log of them."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self._connections = set[asyncio.Task[None] | None]()

    @abstractmethod
    async def answer(self, asked: str, reader: asyncio.StreamReader) -> bytes:
        """Return the response to what stands last in a path, when it is time for it."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the calls of one connection, one after the other."""
        self._connections.add(task := asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    asked = head.split()[1].decode().rpartition("/")[2]
                    writer.write(await self.answer(asked, reader))
                    await writer.drain()
        finally:
            self._connections.discard(task)
            writer.close()

    async def end(self) -> None:
        """Wait for the clients to leave."""
        if self._connections:
            await asyncio.wait(filter(None, self._connections), timeout=SHUTTING_DOWN)


def response(status: int, body: dict[str, Any], *headers: str) -> bytes:
    """Return a response as it is sent."""
    text = json.dumps(body)
    lines = [f"HTTP/1.1 {status} {REASONS[status]}", f"Content-Length: {len(text)}", *headers]
    return "\r\n".join([*lines, "", text]).encode()


def tell(what: object) -> None:
    """Print a line for whoever has started the service."""
    print(json.dumps(what), flush=True)


def start(make: Callable[..., Service], defaults: dict[str, Any]) -> None:
    """Serve until the input ends.

    Args:
        make: gives the service of options.
        defaults: of them; the arguments of the command are JSON that has others.
    """
    options = {"port": 0, **defaults, **json.loads(" ".join(sys.argv[1:]) or "{}")}
    # Ctrl-C is for whoever has started it, and with them the input ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_main(options.pop("port"), make(**options)))


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
