"""Connections of tasks to the driver: their messages, the driver's server, and reports of a task.

A message is a length, and as many bytes of MessagePack.
"""

import asyncio
import secrets
import socket
import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import MsgspecError, Struct

from asyncwait.backends.spark.progress._figures import TaskFigures, TaskName

LONGEST = 1 << 24
"""Largest number of bytes of a message, without its length."""

LENGTH = struct.Struct(">I")

SECRET = 16
"""Bytes of a secret, with which a task begins each connection."""


class Endpoint(Struct, frozen=True):
    """The address to which the tasks of an operator report; it travels to the workers.

    Args:
        host: of the driver, as workers know it.
        port: of TCP.
        secret: begins each connection. It is not shown, and travels unencrypted.
        operator: of the tasks; each report names it.
    """

    host: str
    port: int
    secret: bytes
    operator: bytes = b""

    def __repr__(self) -> str:
        return f"Endpoint({self.host!r}, {self.port})"


State: TypeAlias = Literal["running", "ended", "failed"]


class Report(Struct, frozen=True, array_like=True):
    """The report of a task at one moment.

    Args:
        run: of this reporter alone. Spark may use the name of a task again.
        number: of the report, from 0; within a run, larger numbers are later.
    """

    run: bytes
    number: int
    state: State
    name: TaskName
    figures: TaskFigures
    operator: bytes = b""


def packed(message: Any) -> bytes:
    payload = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(payload)) + payload


def received(receive: Callable[[int], bytes]) -> bytes:
    """Return the bytes of the next message.

    Args:
        receive: returns up to the given number of bytes; none at the end of the connection.

    Raises:
        ConnectionError: the connection has ended.
    """
    (length,) = LENGTH.unpack(_exactly(receive, LENGTH.size))
    return _exactly(receive, length)


def _exactly(receive: Callable[[int], bytes], length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = receive(min(length - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other process has closed the connection")
        parts += part
    return bytes(parts)


def connect(endpoint: Endpoint, patience: float) -> socket.socket:
    """Return a connection to the driver that has sent the secret.

    Args:
        endpoint: of the driver.
        patience: seconds that the network may take for each step.

    Raises:
        OSError: the driver can't be reached.
    """
    stream = socket.create_connection((endpoint.host, endpoint.port), patience)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.sendall(endpoint.secret)
    return stream


_SILENCE = 10.0
"""Seconds for a client to send the secret."""

_DRAIN = 0.5
"""Most seconds for received messages that were not read, when the server closes."""

_QUIET = 50
"""Turns of the loop without a message, after which no message is left; a connection takes 8."""


Link: TypeAlias = tuple[Callable[[bytes], Any], Callable[[], object]]
"""The driver's end of a connection, which the thread of the server calls: a function of each
message, whose reply is None for none, and a function for a connection that ends before the server.
"""


class Server:
    """Listens from its construction until it is closed, in one thread for all connections.

    A client that does not begin with a known secret, or sends a wrong message, loses its connection
    and has no other effect. So does a client that sends no secret in time.

    Args:
        address: to listen at, on a free port.
        meet: returns the driver's end of a connection that begins with these bytes; None if they
            are no secret.

    Raises:
        OSError: this process can't listen there.
    """

    def __init__(self, address: str, meet: Callable[[bytes], Link | None], name: str) -> None:
        family = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0][0]
        self._door = socket.create_server((address, 0), family=family, backlog=socket.SOMAXCONN)
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
        server = await asyncio.start_server(self._answer, sock=self._door, backlog=socket.SOMAXCONN)
        await self._closing.wait()
        quiet, give_up = 0, self._loop.time() + _DRAIN
        while quiet < _QUIET and self._loop.time() < give_up:
            before = self._news
            await asyncio.sleep(0)
            quiet = quiet + 1 if before == self._news else 0
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._news += 1
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
        heard, broken = link
        try:
            while True:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                if length > LONGEST:
                    raise ConnectionError(f"a message has at most {LONGEST} bytes, got {length}")
                reply = heard(await reader.readexactly(length))
                self._news += 1
                if reply is not None:
                    writer.write(packed(reply))
        except Exception:  # closing the server is no such end
            broken()
            raise


EVERY = 0.5
"""Seconds from one report to the next."""

_TRIES = 8
"""Failures in a row after which the driver counts as gone."""

_PATIENCE = 2.0
"""Seconds for a step of the network; only the thread of the reporter waits."""

_FAREWELL = 0.8
"""Seconds that an ending task waits for its last report to go out."""


@contextmanager
def reporting(
    endpoint: Endpoint | None,
    task: TaskName,
    figures: Callable[[], TaskFigures],
    *,
    every: float = EVERY,
) -> Generator[None]:
    """Report the figures of a task while the body runs: at once, at intervals, and at its end.

    The last report says whether the attempt ended, or failed with the error of the body; closing it
    early, like a generator that is no longer read, counts as an end. Without a reachable driver
    nothing is reported: this is never an error, and delays the end by less than a second.

    Args:
        endpoint: of the driver; None for no reports.
        task: name of the task.
        figures: returns its figures. It is called in a thread of its own, for the last time when
            the body has ended; an error of it is dropped, and the earlier figures are reported
            again.
        every: seconds from one report to the next.
    """
    if endpoint is None:
        yield
        return
    reporter = _Reporter(endpoint, task, figures, every)
    state: State = "failed"
    try:
        yield
        state = "ended"
    except GeneratorExit:
        state = "ended"
        raise
    finally:
        reporter.leave(state)


class _Reporter:
    """Reports in a thread, which starts at construction; see `reporting`."""

    def __init__(
        self,
        endpoint: Endpoint,
        task: TaskName,
        figures: Callable[[], TaskFigures],
        every: float,
    ) -> None:
        self._endpoint, self._task = endpoint, task
        self._ask, self._every = figures, every
        self._figures = TaskFigures()
        self._run_name = secrets.token_bytes(8)
        self._number = 0
        self._state: State = "running"
        self._is_left = Event()
        self._thread = Thread(target=self._run, name="asyncwait-reporting", daemon=True)
        with suppress(RuntimeError):  # the process has too many threads
            self._thread.start()

    def leave(self, state: State) -> None:
        """Send the last report, if that takes only a moment."""
        self._state = state
        self._is_left.set()
        if self._thread.ident is not None:
            self._thread.join(_FAREWELL)

    def _run(self) -> None:
        failures, stream = 0, None
        while failures < _TRIES:
            state = self._state  # before the figures: the last ones are read after the end
            try:
                message = self._report(state)
                stream = stream or connect(self._endpoint, _PATIENCE)
                stream.sendall(message)
                failures = 0
            except Exception:  # Nothing about a report, figures included, may fail a task.
                failures += 1
                if stream is not None:
                    stream.close()
                stream = None
            if state != "running":
                break
            self._is_left.wait(self._every * (1 + failures))
        if stream is not None:
            stream.close()  # Sent messages still arrive.

    def _report(self, state: State) -> bytes:
        with suppress(Exception):
            self._figures = self._ask()
        number, self._number = self._number, self._number + 1
        what = (number, state, self._task, self._figures, self._endpoint.operator)
        return packed(Report(self._run_name, *what))
