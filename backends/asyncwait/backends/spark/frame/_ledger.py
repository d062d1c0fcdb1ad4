"""Limits that the driver keeps for all tasks of a job: exact, however many slots there are."""

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from secrets import token_bytes

import msgspec
from msgspec import Struct

from asyncwait.backends.services import Limits
from asyncwait.backends.spark.progress import Endpoint
from asyncwait.backends.spark.progress._progress import Reach
from asyncwait.backends.spark.progress._server import listening
from asyncwait.spec.limits import AnyLimit
from asyncwait.toolkit import Ledger, Reply, Told

_PREFIX = 4
_LONGEST = 1 << 24
_SECRET = 16
_PATIENCE = 5.0
"""Seconds for the driver to answer."""


class DriverLimits(Struct, frozen=True):
    """Where tasks tell their calls; it travels to the workers.

    Args:
        endpoint: of the driver. Its secret says which limits are meant.
    """

    endpoint: Endpoint
    limits: Sequence[AnyLimit] = ()

    def ledger(self) -> Ledger:
        """Return where one task tells its calls."""
        return _AtDriver(self.endpoint)


class ProcessLimits(Struct, frozen=True):
    """The share of a slot, which its tasks use one after the other, in one process of a worker.

    Args:
        key: of the job.
        limits: what they may do.
    """

    key: bytes
    limits: Sequence[AnyLimit] = ()

    def ledger(self) -> Ledger:
        """Return where one task tells its calls."""
        if self.key not in _SHARES and len(_SHARES) >= _MOST_SHARES:
            del _SHARES[next(iter(_SHARES))]
        return _SHARES.setdefault(self.key, Limits(self.limits)).ledger()


_MOST_SHARES = 64
"""Jobs of which a process remembers the share."""

_SHARES: dict[bytes, Limits] = {}


class _AtDriver:
    """The ledger of one task, behind a connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._stream: socket.socket | None = None

    def __str__(self) -> str:
        return f"the driver at {self._endpoint.host}:{self._endpoint.port}"

    def exchange(self, told: Told) -> Reply:
        """Hear of calls, and answer; an OSError says that the driver can't be reached."""
        try:
            if self._stream is None:
                where = (self._endpoint.host, self._endpoint.port)
                self._stream = socket.create_connection(where, _PATIENCE)
                self._stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._stream.sendall(self._endpoint.secret)
            _send(self._stream, msgspec.msgpack.encode(told))
            return msgspec.msgpack.decode(_receive(self._stream), type=Reply)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Have the driver know that no call runs any more."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def _send(stream: socket.socket, message: bytes) -> None:
    stream.sendall(len(message).to_bytes(_PREFIX, "big") + message)


def _receive(stream: socket.socket) -> bytes:
    length = int.from_bytes(_exactly(stream, _PREFIX), "big")
    if length > _LONGEST:
        raise ConnectionError("a message is too long")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = stream.recv(count)
        if not part:
            raise ConnectionError("it has closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Server:
    """Answers the tasks of all jobs of this process, each connection in a thread of its own.

    Whoever does not name limits by their secret is not answered.
    """

    def __init__(self, address: str) -> None:
        self._limits: dict[bytes, Limits] = {}
        self._door = listening(address)
        self._door.setblocking(True)
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, name="asyncwait-ledger", daemon=True).start()

    def add(self, limits: Limits) -> bytes:
        """Answer for limits from now on; return their secret."""
        known = next((key for key, each in self._limits.items() if each is limits), None)
        secret = known or token_bytes(_SECRET)
        self._limits[secret] = limits
        return secret

    def _accept(self) -> None:
        while True:
            stream, _ = self._door.accept()
            threading.Thread(
                target=self._answer, args=(stream,), name="asyncwait-ledger-task", daemon=True
            ).start()

    def _answer(self, stream: socket.socket) -> None:
        with suppress(OSError, msgspec.MsgspecError), stream:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            limits = self._limits.get(_exactly(stream, _SECRET))
            if limits is not None:
                self._answer_for(limits, stream)

    def _answer_for(self, limits: Limits, stream: socket.socket) -> None:
        ledger = limits.ledger()
        try:
            while True:
                told = msgspec.msgpack.decode(_receive(stream), type=Told)
                _send(stream, msgspec.msgpack.encode(ledger.exchange(told)))
        finally:
            ledger.close()


@cache
def _server(address: str) -> _Server:
    return _Server(address)


def serve(limits: Limits, reach: Reach) -> DriverLimits:
    """Answer the tasks of a job, as long as this process lives.

    Args:
        limits: which they keep to together.
        reach: where to listen, and how workers call that.

    Raises:
        OSError: nobody can listen there.
    """
    server = _server(reach.bind)
    return DriverLimits(Endpoint(reach.host, server.port, server.add(limits)), limits.limits)
