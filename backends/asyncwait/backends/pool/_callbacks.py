"""The callback form: outcomes arrive from any thread and are decided on the loop."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from asyncwait.backends.pool._core import Core
from asyncwait.backends.pool._order import Entry
from asyncwait.spec.limits import CostMistold
from asyncwait.toolkit import Gate, Permit, reraise_fatal, running_loop, supplied

Outcome: TypeAlias = Callable[[Core, Entry], None]
"""What decides a record when it is called with it."""


class PoolResultFuture:
    """Where the function puts the outcome of one record; the first one counts."""

    __slots__ = ("_entry", "_gate", "_inbox", "_permit")

    def __init__(self, inbox: "Inbox | Attempt", entry: Entry) -> None:
        self._inbox = inbox
        self._entry = entry
        self._gate: Gate | None = None
        self._permit: Permit | None = None

    def hold(self, gate: Gate, permit: Permit, *, starts: bool) -> None:
        """Take the permit of the call, until that ends.

        Args:
            gate: of the operator.
            permit: the permit.
            starts: whether the call starts now; else it starts with `run`.
        """
        self._gate, self._permit = gate, permit
        if starts:
            gate.started(permit)

    def run(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call a plain function in the present thread, with the permit if there is one."""
        permit, self._permit = self._permit, None
        if permit is None or self._gate is None:
            return function(value)
        return self._gate.call_in_thread(permit, function, value)

    def give_back(self) -> None:
        """Give the permit back if the call has not started, and never will."""
        permit, self._permit = self._permit, None
        if permit is not None and self._gate is not None:
            self._gate.give_back(permit)

    def ended(self, error: BaseException) -> None:
        """Note that the call has failed."""
        permit, self._permit = self._permit, None
        if permit is not None and self._gate is not None:
            self._gate.ended(permit, error)

    def _without_cost(self, given: Any) -> Any:
        permit, self._permit = self._permit, None
        if permit is None or self._gate is None:
            return given
        return self._gate.result(permit, given)

    def complete(self, results: Iterable[Any]) -> None:
        """Decide the record with `results`."""
        try:
            results = self._without_cost(results)
        except CostMistold as error:
            self.complete_exceptionally(error)
            return
        self._inbox.put(self._entry, lambda core, entry: core.settle(entry, results))

    def complete_with(self, supplier: Callable[[], Iterable[Any]]) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        try:
            self._without_cost(None)
        except CostMistold as error:
            self.complete_exceptionally(error)
            return
        self._inbox.put(self._entry, lambda core, entry: core.settle(entry, supplied(supplier)))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self.ended(error)
        self._inbox.put(self._entry, lambda core, entry: core.call_raised(entry, error))

    @property
    def is_further(self) -> bool:
        """Whether the record was called before."""
        return self._entry.attempts > 1

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Raise on the loop what `take` gives there, whatever has become of the record.

        That is for the whole program. Where the operator is closed, nobody may take it.
        """
        self._inbox.interrupt(take)


class BeginsLater:
    """A function whose calls begin some time after they are asked for, in a thread, say.

    Attributes:
        calls: that have begun.
        retries: further calls among them.
    """

    def __init__(self) -> None:
        self.calls = self.retries = 0
        self._counting = threading.Lock()

    def begins(self, *, is_further: bool) -> None:
        """Count a call that begins; from any thread."""
        with self._counting:
            self.calls += 1
            self.retries += is_further


class RunningCall:
    """What a function in callback form may return of a call that runs by itself, in a thread, say.

    It counts as abandoned while it runs on after the deadline of its record.

    Attributes:
        is_over: whether it has ended.
    """

    __slots__ = ("is_over",)

    is_over: bool

    def cancel(self) -> None:
        """Take note that nobody wants it any more; called on the operator's loop."""


class Inbox:
    """Outcomes that wait for the loop; many of them share one wake-up.

    Args:
        wake: called on the loop when there is something to process.
        expire_due: decides what was due before a time, and tells whether a record was.
    """

    def __init__(
        self, wake: Callable[[], None], expire_due: Callable[[Entry, float], bool]
    ) -> None:
        self._wake = wake
        self._expire_due = expire_due
        self._outcomes: deque[tuple[Entry, Outcome, float]] = deque()
        self._loop = running_loop()
        self._clock = self._loop.time
        self._interruption: Callable[[], BaseException | None] = lambda: None
        self._armed = False
        self._closed = False

    def future(self, entry: Entry) -> PoolResultFuture:
        """Return where the outcome of `entry` goes."""
        return PoolResultFuture(self, entry)

    def runs(self, entry: Entry, call: RunningCall) -> None:
        """Note that the call of `entry` runs by itself."""
        attempt = entry.worker = Attempt(self)
        attempt.scope = call

    def put(self, entry: Entry, outcome: Outcome) -> None:
        """Hand in an outcome, from any thread."""
        if not self._closed:
            self._outcomes.append((entry, outcome, self._clock()))
            self._arm()

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Raise what `take` gives, behind the outcomes; from any thread."""
        if not self._closed:
            self._interruption = take
            self._arm()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_from_thread(self._arrive)

    def _arrive(self) -> None:
        # Cleared before anything is taken out: what comes later than this arms it again.
        self._armed = False
        self._wake()

    def process(self, core: Core) -> None:
        """Decide what the outcomes say, in the order of their arrival."""
        outcomes = self._outcomes
        while outcomes:
            entry, outcome, at = outcomes.popleft()
            if entry.results is not None or self._expire_due(entry, at):
                continue
            try:
                outcome(core, entry)
            except BaseException as error:
                reraise_fatal(error)
                core.call_raised(entry, error)
        if (interruption := self._interruption()) is not None:
            raise interruption

    def close(self) -> None:
        """Ignore whatever comes from now on."""
        self._closed = True
        self._outcomes.clear()


class Attempt:
    """Hands in what one of several calls of a record comes to, as long as it is the present one."""

    __slots__ = ("_inbox", "scope")

    lingers = False
    """Nothing can cancel it, so that nobody waits for its end."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self.scope: RunningCall | None = None
        """What runs by itself; None if nothing is known of it."""

    @property
    def entry(self) -> RunningCall | None:
        """What runs, as long as it does."""
        return None if self.scope is None or self.scope.is_over else self.scope

    def cancel(self) -> bool:
        """Ask it to end; whether it runs on is to be seen."""
        if self.scope is not None:
            self.scope.cancel()
        return True

    def put(self, entry: Entry, outcome: Outcome) -> None:
        """Hand in an outcome, from any thread."""

        def if_present(core: Core, entry: Entry) -> None:
            if entry.worker is self:
                outcome(core, entry)

        self._inbox.put(entry, if_present)

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Raise what `take` gives, from any thread."""
        self._inbox.interrupt(take)


class AttemptInbox(Inbox):
    """Gives each call of a record a future of its own."""

    def future(self, entry: Entry) -> PoolResultFuture:
        """Return where the outcome of the call of `entry` goes that begins now."""
        attempt = entry.worker = Attempt(self)
        return PoolResultFuture(attempt, entry)

    def runs(self, entry: Entry, call: RunningCall) -> None:
        """Note that the present call of `entry` runs by itself."""
        if entry.worker is not None:
            entry.worker.scope = call
