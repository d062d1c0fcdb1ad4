"""The task that reads the source, and closes it."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import anyio

from asyncwait.backends.pool._bell import cancelled_from_outside
from asyncwait.backends.pool._core import Core
from asyncwait.spec import Element


class Feeder:
    """Reads the source as far as there is room.

    One task reads and closes, so that a generator with a cancel scope round its `yield` finds
    itself where it began; and it only reads, so that no call ever delays a barrier.

    Args:
        core: takes the elements.
        elements: the source.
    """

    def __init__(self, core: Core, elements: AsyncIterable[Element]) -> None:
        self._core = core
        self._elements = elements
        self._iterator: AsyncIterator[Element] | None = None
        self._scope = anyio.CancelScope()
        self.trouble: Exception | None = None
        """What closing the source raised."""

    async def run(self) -> None:
        """Read to the end, or until `stop`; then close the source."""
        with self._scope:
            try:
                await self._read()
            finally:
                await self.close()

    def stop(self) -> None:
        """Read no further."""
        self._scope.cancel()

    async def _read(self) -> None:
        try:
            await self._feed()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if self._scope.cancel_called:
                return
            if cancelled_from_outside(error):
                self._core.interrupt()
                raise
            self._core.end(error)
        else:
            self._core.end(None)

    async def _feed(self) -> None:
        self._core.begin()
        if not await self._room():
            return
        self._iterator = aiter(self._elements)
        async for element in self._iterator:
            self._core.read(element)
            if not await self._room():
                return

    async def _room(self) -> bool:
        """Wait for room; return whether the operator is still open."""
        core = self._core
        while not core.may_read():
            await core.room.wait()
        return not core.closed

    async def close(self) -> None:
        """Close the source, and what it made to be iterated over."""
        closed: Any = None
        for thing in (self._iterator, self._elements):
            close = getattr(thing, "aclose", None)
            if close is None or thing is closed:
                continue
            closed = thing
            try:
                with anyio.CancelScope(shield=True):
                    await close()
            except Exception as error:
                self.trouble = error
