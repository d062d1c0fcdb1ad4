"""A sliding window whose calls have a deadline: a handler may answer for one that is late.

asyncwait verify deadlines:backend
"""

import asyncio
from functools import partial
from typing import Any

import sliding_window
from sliding_window import SlidingWindow

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import CallTimedOut, OperatorConfig, Record, Statistics, TooManyAbandonedCalls
from asyncwait.toolkit import FunctionParts, collect_results, reraise_fatal

GRACE = 0.01
"""Seconds in which a cancelled call may end, before it counts as abandoned."""


class WindowWithDeadlines(SlidingWindow):
    """What comes out: of a call or, at its deadline, of the handler."""

    def __init__(self, config: OperatorConfig, parts: FunctionParts, elements: Any) -> None:
        super().__init__(config, parts, elements)
        self._config = config
        self._late = set[asyncio.Task[Any]]()
        self._abandoned = self._abandoned_now = 0

    async def _results(self, record: Record) -> tuple[Any, ...]:
        timeout = self._config.timeout
        if timeout is None:
            return await super()._results(record)
        now = asyncio.get_running_loop().time
        times: list[float] = []  # when the call began, and when it ended

        async def call() -> tuple[Any, ...]:
            times.append(now())
            try:
                return await SlidingWindow._results(self, record)
            finally:
                times.append(now())

        running = asyncio.create_task(call())
        try:
            await asyncio.sleep(0)  # it has begun
            await asyncio.wait({running}, timeout=times[0] + timeout - now())
        finally:
            # What ends late has lost, also where the loop was too busy to look.
            if is_late := len(times) < 2 or times[1] > times[0] + timeout:
                self._give_up(running)
        return self._at_deadline(record) if is_late else running.result()

    def _give_up(self, running: asyncio.Task[Any]) -> None:
        running.cancel()
        for task in (running, asyncio.create_task(self._watch(running))):
            self._late.add(task)
            task.add_done_callback(self._late.discard)

    def _at_deadline(self, record: Record) -> tuple[Any, ...]:
        try:
            results = None if self._parts.timeout is None else self._parts.timeout(record.value)
        except BaseException as error:
            reraise_fatal(error)
            raise CallTimedOut(record, f"too late, and its handler raised {error!r}") from error
        if results is None:
            raise CallTimedOut(record, "too late, and nothing stands in for it")
        return collect_results(record, results)

    async def _watch(self, late: asyncio.Task[Any]) -> None:
        """Count a call that does not end when it is told to."""
        await asyncio.wait({late}, timeout=GRACE)
        if not late.done():
            self._abandoned += 1
            self._abandoned_now += 1
            if self._abandoned_now > self._config.capacity:
                error = TooManyAbandonedCalls(None, f"{self._abandoned_now} calls run on")
                self._end(error)
                self._news.set()
            await asyncio.wait({late})
            self._abandoned_now -= 1

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return Statistics(in_flight=len(self._window), abandoned=self._abandoned)

    async def leave(self) -> None:
        """Wait for what is late, too."""
        try:
            await super().leave()
        finally:
            if self._late:
                _ = await asyncio.wait(self._late)


open_operator = partial(sliding_window.open_operator, window_class=WindowWithDeadlines)


def backend() -> StreamBackend:
    """Say what it has besides the core."""
    return stream_backend(open_operator, profiles=["ordered", "timeouts", "copies"])
