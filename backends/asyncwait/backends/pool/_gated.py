"""Records that wait for permits between their admission and their calls."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Collection, Iterable
from math import inf
from operator import itemgetter
from typing import Any

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.backends.pool._timing import Sweep
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.limits import (
    BreakerOpen,
    Budget,
    BudgetSpent,
    LedgerLost,
    NotCalled,
)
from asyncwait.toolkit import Gate, Hand, Permit, arrive, call_failed, part_of

_END_ALL = (LedgerLost, BreakerOpen)
"""Refusals that no single record has caused."""


class Limited:
    """The limits of one operator: its gate, calls that pass it, and records that it refuses.

    Args:
        core: the operator.
        gate: its gate.
        fn: the user's function. Its `is_free`, if it has one, returns whether a call for a value
            needs no permit.
    """

    def __init__(self, core: Core, gate: Gate, fn: Any) -> None:
        self._core, self.gate = core, gate
        budgets = [limit for limit in gate.limits if isinstance(limit, Budget)]
        self.has_budget = bool(budgets)
        self._stops = all(budget.then == "stop" for budget in budgets)
        """Whether a spent budget ends the results without an error."""
        self.is_free: Callable[[Any], bool] = getattr(fn, "is_free", None) or _never
        self.begins_later: bool = getattr(fn, "begins_later", False)
        """Whether the function starts its calls for the limits, in a thread."""
        self._makes_several: bool = part_of(fn, "makes_several", False)
        """Whether the function makes several calls, and each call has its own permit."""
        self.is_simple = self.is_free is _never and not self._makes_several
        """Whether each call needs its permit, and no other."""
        self.forget: Callable[[Entry], object] = lambda _: None
        """Called with a record that is decided without its call."""
        self._spent: BudgetSpent | None = None
        self._refused: list[Entry] = []
        self._stopped: list[tuple[int, Any]] = []
        self.is_spending = False
        """Whether records are being decided because a budget is spent."""
        self.about: Callable[[], Collection[Entry]] = tuple
        """Returns the records whose calls are about to begin."""
        self.paused: Callable[[], list[Entry]] = list
        """Returns the records that back off."""

    async def call(self, permit: Permit | None, function: Callable[[Any], Any], value: Any) -> Any:
        """Make a call with its permit; return its result without its cost."""
        if permit is not None and self.is_free(value):
            self.gate.give_back(permit)
            permit = None
        if self._makes_several:
            return await Hand(self.gate, permit).call_all(function, value)
        if permit is None:
            return await function(value)
        return await self.gate.call(permit, function, value)

    def refuse(self, entries: Iterable[Entry], error: AsyncWaitError) -> None:
        """Decide records whose call the gate has refused."""
        core = self._core
        if isinstance(error, BudgetSpent):
            self._spend(entries, error)
        elif isinstance(error, NotCalled) and not isinstance(error, _END_ALL):
            for entry in entries:
                self._mark(entry)
                core.fail_for(entry, call_failed(core.record(entry), error))
        else:
            core.fail(error)

    def look_at_budgets(self) -> None:
        """Report the records that back off once a budget has nothing left for any of them."""
        if self._spent is not None:
            self._spend((), self._spent)
        else:
            self.gate.watch(self._is_over)

    def _is_over(self, _: Permit, error: AsyncWaitError | None) -> None:
        assert error is not None
        self.refuse((), error)

    def _mark(self, entry: Entry) -> None:
        """Count a record as called, so that it leaves the operator like all others."""
        self.forget(entry)
        if entry.started is None:
            entry.started = self._core.clock()
            self._core.called.append(entry)

    def _spend(self, entries: Iterable[Entry], error: BudgetSpent) -> None:
        """Read nothing more; omit the records behind the last call, and report all others.

        A record that waits for its key is decided in the order of its key.
        """
        self._refused.extend(entries)
        if self.is_spending:  # Deciding a record has admitted others.
            return
        core, self.is_spending = self._core, True
        if self._spent is None:
            self._spent = error
            core.halt(None if self._stops else error)
        try:
            while not core.closed:
                omitted, reported = core.uncalled({*self.about()})
                reported += [each for each in self._refused if each.results is None]
                reported += self.paused()
                self._refused.clear()
                if not (omitted or reported):
                    break
                if omitted and not core.is_cut:
                    core.cut(omitted[0])
                for entry in omitted:
                    self._stop(entry)
                for entry in reported:
                    if entry.results is None and not core.closed:
                        self._report(entry, error)
        finally:
            self.is_spending = False

    def _report(self, entry: Entry, error: BudgetSpent) -> None:
        core = self._core
        self._mark(entry)
        own = BudgetSpent(*error.args)
        own.__cause__ = entry.error
        if core.failure_handler is not None:
            core.fail_for(entry, call_failed(core.record(entry), own))
            return
        assert self._spent is not None
        if self._spent.__cause__ is None:
            self._spent.__cause__ = entry.error
            after = "" if entry.attempts < 1 else f" after {entry.attempts} call(s)"
            self._spent.args = (f"{self._spent}; it stopped {core.record(entry)}{after}",)
        core.halt(self._spent)
        self._stop(entry)

    def _stop(self, entry: Entry) -> None:
        assert self._spent is not None
        insort(self._stopped, (entry.number, entry.value), key=itemgetter(0))
        self._spent.stopped = tuple(value for _, value in self._stopped)
        self._mark(entry)
        self._core.decide(entry, ())


def _never(_: Any) -> bool:
    return False


class Gated(deque[Entry]):
    """The records that may be called, in the order of their permits; others wait at the gate.

    It replaces `core.pending`.

    Args:
        core: the operator.
        limited: its limits.
        sweep: knows the deadlines.
    """

    def __init__(self, core: Core, limited: Limited, sweep: Sweep) -> None:
        super().__init__()
        self._core, self._gate, self._limited = core, limited.gate, limited
        self._is_free = limited.is_free
        self._keeps_order = limited.has_budget
        """Whether free calls keep their place, so that a budget omits only the end of the input."""
        core.arrive, core.pending = arrive, self
        limited.forget = sweep.forget = self.forget
        limited.about = lambda: self

    def append(self, entry: Entry) -> None:
        """Request a permit for the call of a record."""
        if entry.results is not None or self._core.closed:
            return
        is_free = self._is_free is not _never and self._is_free(entry.value)
        if is_free and not self._keeps_order:
            deque.append(self, entry)
            return
        arrival = entry.permit if isinstance(entry.permit, int) else None
        try:
            permit = self._gate.ask(
                [entry.value],
                self._answered,
                is_retry=entry.attempts > 0,
                is_free=is_free,
                arrival=arrival,
                subject=entry,
            )
        except AsyncWaitError as error:
            self._limited.refuse([entry], error)
            return
        entry.permit = permit
        if not permit.is_waiting:
            if self._keeps_order:
                self._core.calls_of(entry)
            deque.append(self, entry)  # `super()` takes as long again

    def _answered(self, permit: Permit, error: AsyncWaitError | None) -> None:
        entry: Entry = permit.subject
        if entry.results is not None:
            self._gate.give_back(permit)
        elif error is not None:
            entry.permit = None
            self._limited.refuse([entry], error)
        else:
            if self._keeps_order:
                self._core.calls_of(entry)
            super().append(entry)
            self._core.on_pending()

    def clear(self) -> None:
        """Give back the permits of all records, because their calls do not start."""
        self._gate.close()
        for entry in self:
            self.forget(entry)
        super().clear()

    def extend(self, entries: Iterable[Entry]) -> None:
        """Request permits for the calls of records."""
        for entry in entries:
            self.append(entry)

    def forget(self, entry: Entry) -> None:
        """Give back the permit of a record that is decided without its call, or during the call."""
        if isinstance(entry.permit, Permit):
            permit, entry.permit = entry.permit, None
            if permit.began < inf:
                self._gate.ended(permit, TimeoutError("no outcome within its time"))
            else:
                self._gate.give_back(permit)
