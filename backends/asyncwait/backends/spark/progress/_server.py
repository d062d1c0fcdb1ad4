"""The server of the driver, to which tasks connect: one thread for all connections."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Protocol

from msgspec import MsgspecError

from asyncwait.backends.spark.progress._wire import LENGTH, SECRET, framed, length_of

_TICK = 0.5
"""Seconds after which the server accepts again when this process had no more files."""

_SILENCE = 10.0
"""Seconds for a client to send the secret."""

_DRAIN = 0.5
"""Most seconds for received messages that were not read, when the server closes."""

_QUIET = 50
"""Turns of the loop without a message, after which no message is left; a connection takes 8."""


class Link(Protocol):
    """The driver's end of a connection. The thread of the server calls its methods."""

    def heard(self, payload: bytes) -> bytes:
        """Process a message; return the reply, which is empty for none."""
        ...

    def broken(self) -> None:
        """Note that the connection has ended before the server."""
        ...


class Server:
    """Listens from its construction until it is closed.

    A client that does not begin with a known secret, or sends a wrong message, loses its connection
    and has no other effect. So does a client that sends no secret in time. If there are more
    connections than this process should have files open, the later ones wait.

    Args:
        address: to listen at, on a free port.
        meet: returns the driver's end of a connection that begins with these bytes; None if they
            are no secret.

    Raises:
        OSError: this process can't listen there.
    """

    def __init__(self, address: str, meet: Callable[[bytes], Link | None], name: str) -> None:
        self._door = listening(address)
        self.port: int = self._door.getsockname()[1]
        self._meet = meet
        self._news = 0
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Process the received messages, and end all connections and the thread."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        with self._door, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        accepting = asyncio.create_task(self._accept())
        await self._closing.wait()
        quiet, give_up = 0, self._loop.time() + _DRAIN
        while quiet < _QUIET and self._loop.time() < give_up:
            before = self._news
            await asyncio.sleep(0)
            quiet = quiet + 1 if before == self._news else 0
        accepting.cancel()

    async def _accept(self) -> None:
        room = asyncio.Semaphore(_most_connections())
        running = set[asyncio.Task[None]]()

        def ended(task: asyncio.Task[None]) -> None:
            running.discard(task)
            room.release()

        while await room.acquire():
            try:
                stream, _ = await self._loop.sock_accept(self._door)
            except OSError:  # no more files, or the client is gone again
                room.release()
                await asyncio.sleep(_TICK)
                continue
            self._news += 1
            task = asyncio.create_task(self._answer(stream))
            running.add(task)
            task.add_done_callback(ended)

    async def _answer(self, stream: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=stream)
        try:
            with suppress(OSError, EOFError, MsgspecError, UnicodeError, RecursionError):
                async with asyncio.timeout(_SILENCE):
                    secret = await reader.readexactly(SECRET)
                if (link := self._meet(secret)) is not None:
                    await self._hear(link, reader, writer)
        finally:
            writer.close()

    async def _hear(
        self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                length = length_of(await reader.readexactly(LENGTH.size))
                reply = link.heard(await reader.readexactly(length))
                self._news += 1
                if reply:
                    writer.write(framed(reply))
        except Exception:  # closing the server is no such end
            link.broken()
            raise


def listening(address: str) -> socket.socket:
    family, *_, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
    door = socket.socket(family, socket.SOCK_STREAM)
    try:
        door.bind(where)
        door.listen(socket.SOMAXCONN)
        door.setblocking(False)
    except OSError:
        door.close()
        raise
    return door


def _most_connections() -> int:
    """Return half of the files that this process may have open, because it needs others."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return 500
    limit, _ = getrlimit(RLIMIT_NOFILE)
    return 10_000 if limit == RLIM_INFINITY else max(1, limit // 2)
