"""What travels from a task to the driver: a length, and as many bytes of MessagePack."""

import hmac
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from asyncwait.backends.spark.progress._figures import TaskFigures, TaskName

LONGEST = 64 * 1024
"""Bytes that a message may have, without its length."""

_PREFIX = 4


class Endpoint(Struct, frozen=True):
    """Where the tasks of an operator report to; it travels to the workers.

    Args:
        host: of the driver, as workers know it.
        port: of TCP.
        secret: which each report has to carry. It is not shown, and travels as it is.
        operator: which they are of; each report says so.
    """

    host: str
    port: int
    secret: bytes
    operator: bytes = b""

    def __repr__(self) -> str:
        return f"Endpoint({self.host!r}, {self.port})"


State: TypeAlias = Literal["running", "ended", "failed"]


class Report(Struct, frozen=True, array_like=True):
    """What a task says at one moment.

    Args:
        secret: of the endpoint.
        run: of this reporter alone. Spark may use the name of a task again.
        number: of the report, from 0; none of a run is older than one with a smaller number.
        state: of the attempt.
        name: of the task.
        figures: of its operator.
        operator: which that is.
    """

    secret: bytes
    run: bytes
    number: int
    state: State
    name: TaskName
    figures: TaskFigures
    operator: bytes = b""


class Refused(Exception):
    """What has arrived is no report, or not one of ours."""


_DECODER = msgspec.msgpack.Decoder(Report)


def packed(report: Report) -> bytes:
    """Return the message that holds a report."""
    payload = msgspec.msgpack.encode(report)
    return len(payload).to_bytes(_PREFIX, "big") + payload


class Messages:
    """Makes reports of the bytes of one connection, however they are cut."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._rest = bytearray()

    def reports(self, data: bytes) -> Iterator[Report]:
        """Return the reports that are complete with `data`.

        Raises:
            Refused: a message is too long, no report, or without the secret.
        """
        self._rest += data
        while len(self._rest) >= _PREFIX:
            end = _PREFIX + int.from_bytes(self._rest[:_PREFIX], "big")
            if end > _PREFIX + LONGEST:
                raise Refused
            if len(self._rest) < end:
                return
            payload = bytes(self._rest[_PREFIX:end])
            del self._rest[:end]
            yield self._read(payload)

    def _read(self, payload: bytes) -> Report:
        try:
            report = _DECODER.decode(payload)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Refused from error
        if not hmac.compare_digest(report.secret, self._secret):
            raise Refused
        return report
