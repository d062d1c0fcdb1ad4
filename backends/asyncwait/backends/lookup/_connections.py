"""Connections to databases whose drivers block: each statement runs in a thread."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread

T = TypeVar("T")

READ_AT_ONCE = 10_000
"""Number of rows fetched at once when a table is read whole."""


class Connections:
    """Connections that are used by one thread each at a time, and by several in turn.

    A statement that has begun runs to its end despite a cancellation, because not all drivers can
    stop a statement.
    """

    def __init__(self, connect: Callable[[], Any], limit: int) -> None:
        self._connect = connect
        self._limit = limit
        self._idle: list[Any] = []

    def open(self) -> None:
        """Prepare, on the loop that will wait for the threads."""
        self._limiter = CapacityLimiter(self._limit)

    async def run(self, job: Callable[[Any], T]) -> T:
        """Run `job` in a thread, with a connection.

        Raises:
            Exception: connecting or `job` raised; the connection may be broken, and is closed.
        """
        return await to_thread.run_sync(self._run, job, limiter=self._limiter)

    def _run(self, job: Callable[[Any], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            result = job(connection)
        except BaseException:
            with suppress(Exception):
                connection.close()
            raise
        self._idle.append(connection)
        return result

    async def close(self) -> None:
        """Close the idle connections: after the last request, all connections are idle."""
        await to_thread.run_sync(self._close, limiter=self._limiter)

    def _close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def all_rows(self, statement: str) -> AsyncIterator[Any]:
        """Yield all rows of a statement, some at a time, with a connection of their own.

        Raises:
            Exception: connecting or the driver raised.
        """
        in_thread = partial(to_thread.run_sync, limiter=self._limiter)
        connection = await in_thread(self._connect)
        try:
            cursor = await in_thread(connection.cursor)
            await in_thread(cursor.execute, statement)
            while rows := await in_thread(cursor.fetchmany, READ_AT_ONCE):
                for row in rows:
                    yield row
        finally:
            with CancelScope(shield=True), suppress(Exception):  # The connection may be broken.
                await in_thread(connection.close)


def fetch(connection: Any, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Return all rows of a statement."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement, parameters)
        rows: list[Any] = cursor.fetchall()
    rollback = getattr(connection, "rollback", None)  # not every database has transactions
    if rollback is not None:
        rollback()  # so that the next statement sees later writes of others
    return rows
