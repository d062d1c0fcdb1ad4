"""The task that reads the source, and closes it."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any

import anyio

from asyncwait.backends.pool._core import Core
from asyncwait.toolkit import PlainSource, SourceTask, ValuesAhead, no_end_in_disguise

_AT_ONCE = 1_000
"""Most values that are read at once from a source that never waits."""


class Feeder(SourceTask):
    """Reads the source as far as there is room."""

    def __init__(self, core: Core, elements: AsyncIterable[Any]) -> None:
        super().__init__(elements, None, core.end, self._begin_core)
        self._core = core

    async def _begin_core(self) -> None:
        self._core.begin()
        await self._room()

    async def read_all(self) -> None:
        """Read with as little work for each element as possible."""
        self.iterator = aiter(self.elements)
        await self._iterate(self.iterator, self._core.read)

    async def _iterate(
        self,
        iterator: AsyncIterator[Any],
        read: Callable[[Any], bool],
        at_hand: Callable[[int], list[Any]] | None = None,
    ) -> None:
        async for element in iterator:
            goes_on = read(element)
            del element  # The element may be emitted long before the next one comes.
            while at_hand is not None and goes_on and (chunk := at_hand(self._core.wanted)):
                goes_on = self._core.read_values(chunk)
                del chunk
            if not (goes_on or await self._room()):
                return

    async def _room(self) -> bool:
        """Wait for room; return whether the operator is still open."""
        try:
            await self._until_room()
        except anyio.get_cancelled_exc_class():
            # A scope that the source keeps open concerns only the source, which sees it later. If
            # the operator is cancelled, the close rings.
            with anyio.CancelScope(shield=True):
                await self._until_room()
        return not self._core.closed

    async def _until_room(self) -> None:
        while not (self._core.may_read() or self._core.closed):
            await self._core.room.wait()


class PlainFeeder(Feeder):
    """Reads a source of plain values, async or not."""

    def __init__(self, core: Core, source: PlainSource) -> None:
        super().__init__(core, source)
        self._source = source

    async def read_all(self) -> None:
        """Read values one by one, or all available values at once."""
        values = self._source.values()
        if isinstance(values, AsyncIterator):
            at_hand = values.at_hand if isinstance(values, ValuesAhead) else None
            await self._iterate(values, self._core.read_value, at_hand)
        else:
            await self._read_at_once(values)

    async def _read_at_once(self, values: Iterator[Any]) -> None:
        core = self._core
        with no_end_in_disguise():
            while True:
                chunk: list[Any] = []
                wanted = min(core.wanted, _AT_ONCE)
                try:
                    # In place, to keep the values that were read before the source raised.
                    chunk.extend(islice(values, wanted))
                finally:
                    goes_on = core.read_values(chunk)
                is_over = len(chunk) < wanted
                del chunk  # The values may be emitted long before more values come.
                if is_over or not (goes_on or await self._room()):
                    return
