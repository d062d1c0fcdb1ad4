"""Messages between processes: a length, and as many bytes of MessagePack."""

import socket
import struct
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

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
    return framed(msgspec.msgpack.encode(message))


def framed(payload: bytes) -> bytes:
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


def length_of(prefix: bytes) -> int:
    """Return the length in front of a message.

    Raises:
        ConnectionError: the message is too long.
    """
    (length,) = LENGTH.unpack(prefix)
    if length > LONGEST:
        raise ConnectionError(f"a message must have at most {LONGEST} bytes, got {length}")
    return int(length)


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
