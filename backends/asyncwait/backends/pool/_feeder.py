"""The task that reads the source, and closes it."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import anyio

from asyncwait.backends.pool._bell import cancelled_from_outside
from asyncwait.backends.pool._core import Core
from asyncwait.spec import Element


class Feeder:
    """Reads the source as far as there is room.

    One task does all the reading and the closing, with no scope of ours between the two, so that
    a generator with a cancel scope round its `yield` finds the stack of scopes as it left it.

    Args:
        core: takes the elements.
        elements: the source.
    """

    def __init__(self, core: Core, elements: AsyncIterable[Element]) -> None:
        self._core = core
        self._elements = elements
        self._iterator: AsyncIterator[Element] | None = None
        self._scope = anyio.CancelScope()
        self._asking = False
        self._closed = False
        self.trouble: Exception | None = None
        """What closing the source raised."""

    async def run(self) -> None:
        """Read to the end, or until `stop`; then close the source."""
        try:
            with self._scope:
                try:
                    await self._read()
                finally:
                    self._scope.shield = True
                    if not self._scope.cancel_called:
                        await self._close()
        finally:
            await self.close()

    def stop(self) -> None:
        """Read no further: give the source up if it is being asked; the close rings `room`."""
        if self._asking:
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
        finally:
            self._asking = False

    async def _feed(self) -> None:
        self._core.begin()
        if not await self._room():
            return
        self._iterator = aiter(self._elements)
        self._asking = True
        async for element in self._iterator:
            self._asking = False
            self._core.read(element)
            if not await self._room():
                return
            self._asking = True

    async def _room(self) -> bool:
        """Wait for room; return whether the operator is still open."""
        core = self._core
        while not core.may_read():
            await core.room.wait()
        return not core.closed

    async def close(self) -> None:
        """Close the source, whoever is cancelled; the first time counts."""
        if not self._closed:
            with anyio.CancelScope(shield=True):
                await self._close()

    async def _close(self) -> None:
        """Close the source, and what it made to be iterated over."""
        self._closed = True
        things: list[Any] = [self._elements]
        if self._iterator is not self._elements:
            things.insert(0, self._iterator)
        for thing in things:
            close = getattr(thing, "aclose", None)
            try:
                if close is not None:
                    await close()
            except Exception as error:
                self.trouble = error
