"""One task looks after all deadlines of an operator."""

from collections import deque
from math import inf
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from asyncwait.backends.pool._bell import Bell, loop_clock
from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.spec import (
    CallTimedOut,
    FunctionParts,
    OperatorConfig,
    OperatorError,
    TooManyAbandonedCalls,
    collect_results,
)

_TURN_TO_END = 0.005
"""Seconds after its cancellation from which a call that still runs counts as abandoned."""

_TURNS = 5
"""Turns of the loop that it has besides, however late the loop is: a stall is not its fault."""


class Sweep:
    """Decides records at their deadlines.

    First calls start in input order and the timeout is the same for all, so that the admitted
    entries are in the order of their deadlines, and the next is that of the first undecided one.

    Args:
        core: whose records they are.
        parts: of the user's function.
        config: of the operator.
        group: where the task lives, from the first deadline on.
    """

    def __init__(
        self, core: Core, parts: FunctionParts, config: OperatorConfig, group: TaskGroup
    ) -> None:
        self._core = core
        self._handler = parts.timeout
        self._timeout = inf if config.timeout is None else config.timeout
        self._capacity = config.capacity
        self._group = group
        self._clock = loop_clock()
        self._bell = Bell()
        self._scope: anyio.CancelScope | None = None
        self._cancelled: deque[tuple[float, Entry]] = deque()
        self._abandoned: list[Entry] = []

    def started(self, entry: Entry) -> None:
        """Note that the first call of `entry` starts now."""
        self._core.calls += 1
        if self._timeout == inf:
            return
        entry.deadline = self._clock() + self._timeout
        if self._scope is None:
            self._scope = anyio.CancelScope()
            self._group.start_soon(self._run, self._scope)
        else:
            self._bell.ring()

    def beat(self, entry: Entry) -> bool:
        """Decide `entry` by its deadline if that has passed; return whether it had.

        Where something blocks the loop, a call may end late and yet before the sweep comes.
        """
        if entry.deadline is None or self._clock() <= entry.deadline:
            return False
        if entry.results is None and not self._core.closed:
            self._decide(entry)
        return True

    def close(self) -> None:
        """End the task."""
        if self._scope is not None:
            self._scope.cancel()

    async def _run(self, scope: anyio.CancelScope) -> None:
        with scope:
            while not self._core.closed:
                when = min(self._next_deadline(), self._next_judgement())
                if when == inf:
                    await self._bell.wait()
                else:
                    await anyio.sleep_until(when)
                    if self._next_judgement() <= self._clock():
                        await self._let_turn()
                    # A timer may come a rounding error early; it is the deadline all the same.
                    self._sweep(max(when, self._clock()))

    async def _let_turn(self) -> None:
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()

    def _next_deadline(self) -> float:
        for entry in self._core.admitted:
            if entry.results is None:
                return inf if entry.deadline is None else entry.deadline
        return inf

    def _next_judgement(self) -> float:
        return self._cancelled[0][0] if self._cancelled else inf

    def _sweep(self, now: float) -> None:
        self._judge(now)
        for entry in list(self._core.admitted):
            if entry.results is not None:
                continue
            if self._core.closed or entry.deadline is None or entry.deadline > now:
                break
            self._cancel(entry, now)
            self._decide(entry)

    def _cancel(self, entry: Entry, now: float) -> None:
        if entry.worker is not None:
            entry.worker.scope.cancel()
            self._cancelled.append((now + _TURN_TO_END, entry))

    def _decide(self, entry: Entry) -> None:
        """Decide `entry` without its call."""
        self._core.timeouts += 1
        try:
            results = self._fallback(entry.element)
        except OperatorError as error:
            self._core.fail(error)
        else:
            self._core.decide(entry, results)

    def _fallback(self, record: Any) -> tuple[Any, ...]:
        """Ask the handler, once."""
        text = f"no results after {self._timeout:g} s"
        if self._handler is None:
            raise CallTimedOut(record, f"{text}, and there is no timeout handler")
        try:
            returned = self._handler(record.value)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise CallTimedOut(record, f"{text}, and the handler raised {error!r}") from error
        if returned is None:
            raise CallTimedOut(record, f"{text}, and the handler gave none")
        return collect_results(record, returned)

    def _judge(self, now: float) -> None:
        """Count the cancelled calls that go on although they had their turn to end."""
        while self._cancelled and self._cancelled[0][0] <= now:
            entry = self._cancelled.popleft()[1]
            if _runs(entry):
                self._core.abandoned += 1
                self._abandoned.append(entry)
        self._abandoned = [entry for entry in self._abandoned if _runs(entry)]
        if len(self._abandoned) > self._capacity:
            reason = (
                f"{len(self._abandoned)} calls run on after their deadline, and the capacity is "
                f"{self._capacity}; do they swallow their cancellation?"
            )
            self._core.fail(TooManyAbandonedCalls(None, reason))


def _runs(entry: Entry) -> bool:
    return entry.worker.entry is entry
