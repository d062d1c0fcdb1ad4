"""The consumer's side of an open operator."""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncIterator
from typing import Any

import anyio.lowlevel

from asyncwait.backends.pool._core import NOTHING, Core
from asyncwait.spec import Statistics
from asyncwait.toolkit import HomeLoop, running_trio


class PoolValues:
    """The output of an open pool operator, for one consumer at a time: plain values.

    See `asyncwait.toolkit.PlainResults`.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._poll = core.poll
        self._awaited = False
        self._loop: AbstractEventLoop | None = None
        """The asyncio loop that entered the operator: comparing it costs no time."""
        self._home: HomeLoop | None = None

    def enter(self) -> None:
        """Note which event loop reads from now on."""
        self._home = HomeLoop()
        self._loop = None if running_trio() is not None else get_running_loop()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if self._awaited:
            raise RuntimeError("another task waits for the next element; there is one consumer")
        # No await lies between taking an element and returning it: a cancellation loses nothing.
        while (element := self._poll()) is NOTHING:
            if self._core.is_interrupted:
                await anyio.lowlevel.checkpoint_if_cancelled()  # as its consumer mostly is
            self._core.raise_if_over()
            await self._wait()
        return element

    async def _wait(self) -> None:
        if self._home is not None and (self._loop is None or get_running_loop() is not self._loop):
            self._home.require("read")
        self._awaited = True
        try:
            await self._core.output.wait()
        finally:
            self._awaited = False

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return self._core.statistics()

    def take_ready(self, limit: int) -> list[Any]:
        """Take up to `limit` results that can be emitted now, without waiting.

        Each counts as emitted. This method raises no error: the end, or a failure, comes with the
        next `__anext__`.
        """
        batch: list[Any] = []
        while len(batch) < limit and (result := self._core.poll()) is not NOTHING:
            batch.append(result)
        return batch


class PoolResults(PoolValues):
    """The output of an open pool operator, for one consumer at a time.

    See `asyncwait.spec.OperatorResults` and `SnapshotOnDemand`.
    """

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a Snapshot as the next output, even if the operator is full.

        After the end or a failure it does nothing.
        """
        self._core.request_snapshot(checkpoint_id)
