"""Connections to databases whose drivers block: each statement runs in a thread."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread

T = TypeVar("T")

READ_AT_ONCE = 10_000
"""Rows that are fetched in one go where a table is read whole."""


class Connections:
    """Connections that are used by one thread each at a time, and by several in turn.

    A statement that has begun runs to its end, whoever is cancelled meanwhile: there is no way to
    stop it that all drivers have.

    Args:
        connect: makes one; it is called in a thread.
        limit: how many there are at most.
    """

    def __init__(self, connect: Callable[[], Any], limit: int) -> None:
        self._connect = connect
        self._limit = limit
        self._idle: list[Any] = []

    def open(self) -> None:
        """Get ready, on the loop that is to wait for the threads."""
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
        """Close those that are idle, which all are once nobody asks any more."""
        await to_thread.run_sync(self._close, limiter=self._limiter)

    def _close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def all_rows(self, statement: str) -> AsyncIterator[Any]:
        """Give all rows of a statement, some at a time.

        Raises:
            Exception: the driver raised; the connection may be broken, and is closed.
        """
        is_broken = False

        def begin(connection: Any) -> Any:
            cursor = connection.cursor()
            cursor.execute(statement)
            return cursor

        def fetch_some(_: Any) -> Any:
            nonlocal is_broken
            try:
                return cursor.fetchmany(READ_AT_ONCE)
            except BaseException:
                is_broken = True
                raise

        def end(connection: Any) -> None:
            cursor.close()
            end_transaction(connection)

        cursor = await self.run(begin)
        try:
            while rows := await self.run(fetch_some):
                for row in rows:
                    yield row
        finally:
            if not is_broken:  # Else `run` has closed the cursor's connection, and `end` had none.
                with CancelScope(shield=True):
                    await self.run(end)


def fetch(connection: Any, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Return all rows of a statement."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement, parameters)
        rows: list[Any] = cursor.fetchall()
    end_transaction(connection)
    return rows


def end_transaction(connection: Any) -> None:
    """Have the next statement see what others have written meanwhile."""
    rollback = getattr(connection, "rollback", None)  # not every database has transactions
    if rollback is not None:
        rollback()
