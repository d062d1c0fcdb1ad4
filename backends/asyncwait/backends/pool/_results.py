"""The consumer's side of an open operator."""

from collections.abc import AsyncIterator

import anyio.lowlevel

from asyncwait.backends.pool._core import Core
from asyncwait.spec import Element, Statistics


class PoolResults:
    """The output of an open pool operator, for one consumer at a time.

    See `asyncwait.spec.OperatorResults` and `SnapshotOnDemand`.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._awaited = False

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        if self._awaited:
            raise RuntimeError("another task waits for the next element; there is one consumer")
        core = self._core
        # No await lies between taking an element and returning it: a cancellation loses nothing.
        while (element := core.poll()) is None:
            if core.is_interrupted:
                await anyio.lowlevel.checkpoint_if_cancelled()  # as its consumer mostly is
            core.raise_if_over()
            await self._wait()
        return element

    async def _wait(self) -> None:
        self._awaited = True
        try:
            await self._core.output.wait()
        finally:
            self._awaited = False

    def take_ready(self, limit: int) -> list[Element]:
        """Take up to `limit` elements that can be emitted now, without waiting.

        Each counts as emitted. Nothing is raised here: the end, or a failure, comes with the
        next `__anext__`.
        """
        batch: list[Element] = []
        while len(batch) < limit and (element := self._core.poll()) is not None:
            batch.append(element)
        return batch

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self._core.statistics()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not.

        After the end or a failure it does nothing.
        """
        self._core.request_snapshot(checkpoint_id)
