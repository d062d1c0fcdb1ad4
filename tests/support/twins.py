"""The operators of `examples`, each with one slip that such an operator is likely to have."""

import asyncio
from collections import deque
from functools import partial
from typing import Any

import sliding_window
from as_completed import AsCompleted
from deadlines import WindowWithDeadlines
from sliding_window import SlidingWindow

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import OperatorError, Record


class TellsAFailureInItsTurn(SlidingWindow):
    """Lets the consumer wait for a failure until it has read everything in front of it."""

    async def _call(self, record: Record) -> deque[Record]:
        try:
            results = await self._results(record)
            return deque(Record(result, record.timestamp, record.key) for result in results)
        finally:
            self._news.set()

    async def __anext__(self) -> Record:
        try:
            return await super().__anext__()
        except OperatorError as error:
            self._over = error
            raise


class ForgetsWhatItHasBegun(AsCompleted):
    """Looks for a call that has ended each time, and so mixes the results of two."""

    def _turn(self) -> asyncio.Task[deque[Record]] | None:
        return next((call for call in reversed(self._window) if call.done()), None)


class WaitsForWhatItCancels(WindowWithDeadlines):
    """Ends a late call by `asyncio.timeout`, which waits until the call has cleaned up."""

    async def _results(self, record: Record) -> tuple[Any, ...]:
        try:
            async with asyncio.timeout(self._config.timeout):
                return await SlidingWindow._results(self, record)
        except TimeoutError:
            return self._at_deadline(record)


def in_its_turn() -> StreamBackend:
    """A broken sliding window."""
    opened = partial(sliding_window.open_operator, window_class=TellsAFailureInItsTurn)
    return stream_backend(opened, profiles=["ordered"])


def mixing() -> StreamBackend:
    """A broken operator that gives results as they are completed."""
    opened = partial(sliding_window.open_operator, window_class=ForgetsWhatItHasBegun)
    return stream_backend(opened, profiles=["unordered"])


def waiting_for_clean_up() -> StreamBackend:
    """A broken window with deadlines."""
    opened = partial(sliding_window.open_operator, window_class=WaitsForWhatItCancels)
    return stream_backend(opened, profiles=["ordered", "timeouts"])


def deaf_to_timeouts() -> StreamBackend:
    """The sliding window, said to have deadlines that it knows nothing of."""
    return stream_backend(sliding_window.open_operator, profiles=["ordered", "timeouts"])
