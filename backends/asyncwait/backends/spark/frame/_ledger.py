"""Limits that the driver keeps for all tasks of a job: exact, however many slots there are."""

import socket
from collections.abc import Sequence
from functools import cache
from secrets import token_bytes

import msgspec
from msgspec import Struct

from asyncwait.backends.services import Limits
from asyncwait.backends.spark.progress import Endpoint
from asyncwait.backends.spark.progress._progress import Reach
from asyncwait.backends.spark.progress._server import Server
from asyncwait.backends.spark.progress._wire import LENGTH, SECRET, connect, length_of, packed
from asyncwait.spec.limits import AnyLimit
from asyncwait.toolkit import Ledger, Reply, Told

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
        """Report calls, and return the answer; an OSError says that the driver can't be reached."""
        try:
            if self._stream is None:
                self._stream = connect(self._endpoint, _PATIENCE)
            self._stream.sendall(packed(told))
            length = length_of(_exactly(self._stream, LENGTH.size))
            return msgspec.msgpack.decode(_exactly(self._stream, length), type=Reply)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Have the driver know that no call runs any more."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def _exactly(stream: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = stream.recv(count)
        if not part:
            raise ConnectionError("it has closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _AtTask:
    """The driver's end of the connection of a task."""

    def __init__(self, limits: Limits) -> None:
        self._ledger = limits.ledger()

    def heard(self, payload: bytes) -> bytes:
        """Answer a report."""
        told = msgspec.msgpack.decode(payload, type=Told)
        return msgspec.msgpack.encode(self._ledger.exchange(told))

    def broken(self) -> None:
        """Give the permits of the task back."""
        self._ledger.close()


class _Server:
    """Answers the tasks of all jobs of this process."""

    def __init__(self, address: str) -> None:
        self._limits: dict[bytes, Limits] = {}
        self.port = Server(address, self._meet, "asyncwait-ledger").port

    def add(self, limits: Limits) -> bytes:
        """Answer for limits from now on; return their secret."""
        known = next((key for key, each in self._limits.items() if each is limits), None)
        secret = known or token_bytes(SECRET)
        self._limits[secret] = limits
        return secret

    def _meet(self, secret: bytes) -> _AtTask | None:
        limits = self._limits.get(secret)
        return None if limits is None else _AtTask(limits)


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
