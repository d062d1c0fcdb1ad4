"""The task that reads the source, and closes it."""

from collections.abc import AsyncIterable, AsyncIterator

import anyio

from asyncwait.backends.emitter._blocking import ElementQueue
from asyncwait.backends.emitter._intake import Intake
from asyncwait.backends.emitter._life import Life
from asyncwait.spec import Element
from asyncwait.toolkit import (
    call_scope,
    close_source,
    join_errors,
    reraise_fatal,
    unless_cancelled,
)


class Reader:
    """Reads one element after the other, and each when the last one has found its place.

    It is one task from the first read to the close, and enters no scope in which the source goes
    on, so that a generator with a cancel scope round its `yield` finds what it left (END-16).

    Args:
        elements: the source.
        intake: takes each element in.
        queue: told when there will be no more.
        life: of the operator.
    """

    def __init__(
        self, elements: AsyncIterable[Element], intake: Intake, queue: ElementQueue, life: Life
    ) -> None:
        self._elements = elements
        self._intake = intake
        self._queue = queue
        self._life = life
        self._iterator: AsyncIterator[Element] | None = None
        self._is_closed = False
        self._scope = call_scope(shield=True)
        self.trouble: BaseException | None = None
        """What closing the source has raised, be it in a read that was cancelled."""

    async def run(self) -> None:
        """Restore, read to the end, and close the source, whoever cancels that (END-5)."""
        with self._scope, anyio.CancelScope() as guard:
            try:
                self._life.source_error = await self._read()
                self._queue.end()
            finally:
                self._scope.shield = guard.shield = True
                await self.close()

    def stop(self) -> None:
        """Read no further, and give up the source if it is being asked."""
        self._scope.cancel()

    async def close(self) -> None:
        """Close the source, and the iterator that it made, once; shield it."""
        if not self._is_closed:
            self._is_closed = True
            trouble = await close_source(self._iterator, self._elements)
            self.trouble = join_errors(self.trouble, trouble)

    async def _read(self) -> BaseException | None:
        """Return what the source has raised; None if it has ended well, or is read no more."""
        try:
            await self._intake.restore()
            if not self._life.is_over:
                await self._read_elements()
        except BaseException as error:
            reraise_fatal(error)
            if self._scope.cancel_called:
                self.trouble = unless_cancelled(error)
                return None
            return error
        return None

    async def _read_elements(self) -> None:
        self._iterator = aiter(self._elements)
        async for element in self._iterator:
            await self._intake.process(element)
            if self._life.is_over:
                break
            del element  # it may be out long before the next one comes
