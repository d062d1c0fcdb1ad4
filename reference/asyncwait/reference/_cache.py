"""The cache of results by key, and loads: calls that attempts with one key share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

from asyncwait.reference._calls import SharedCall
from asyncwait.reference._counts import Permit
from asyncwait.reference._handler import Attempt, RecordOperator, ResultHandler
from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.spec import Cache, InvalidResult, OperatorError, Record
from asyncwait.toolkit import (
    NULL_KEY,
    NoAnswer,
    Store,
    cause_or_self,
    collect_results,
    isolated,
    outcome_of,
    reraise_fatal,
    stand_in,
)


@dataclass(eq=False)
class LoadCall(SharedCall):
    """One call of the function for all attempts that wait for a key, each of which may leave it.

    Args:
        cache: cache of the results.
        place: stand-in of the key.
        record: record with whose value the function is called.
        is_background: whether no attempt waited for it when it began (CACHE-8).
        waiting: attempts that wait for the outcome, in the order of their arrival.
        began: start of the call, in seconds of the loop's clock.
        first: attempt that began the load; None if the attempt took cached results.
        permit: permit of the call, or its request for a permit; None without limits.
    """

    cache: ResultCache
    place: Any
    record: Record
    is_background: bool = False
    waiting: dict[Attempt, None] = field(default_factory=dict)
    began: float = 0.0
    first: Attempt | None = None
    permit: Permit | None = None

    @property
    def operator(self) -> RecordOperator:
        """Operator of the records."""
        return self.cache.operator

    def join(self, attempt: Attempt) -> None:
        """Add an attempt that waits for the outcome."""
        self.waiting[attempt] = None
        attempt.load = self
        if self.permit is not None and self.permit.begun < math.inf:
            attempt.begin()

    def leave(self, attempt: Attempt) -> None:
        """Remove an attempt; cancel the load when the last attempt has left (CACHE-3)."""
        self.waiting.pop(attempt, None)
        if not self.waiting:
            self.cache.is_over(self)
            self.cancel()
            if self.scope is None:
                self.leave_gate()

    # Where there are limits

    def ask(self) -> None:
        """Call the function, once the limits have room (LIMIT-7)."""
        if self.operator.gate is None:
            self.start()
        else:
            self.operator.gate.enter(self)

    @property
    def values(self) -> Sequence[Any]:
        """Value of the load's record."""
        return (self.record.value,)

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """Handlers of the records that wait for the load."""
        return [attempt.handler for attempt in self.waiting]

    def leave_gate(self) -> None:
        """Withdraw the request for a permit, as no attempt waits."""
        if self.operator.gate is not None and self.permit is not None:
            self.operator.gate.withdraw(self.permit)
            self.cache.running -= 1

    def is_refused(self) -> None:
        """Take note that the load does not begin."""
        self.permit = None
        self.cache.is_over(self)
        self.cache.running -= 1

    def begin_all(self) -> None:
        """Begin the waiting attempts, and their deadlines (LIMIT-9)."""
        if self.operator.gate is not None:
            self.has_begun()
            for attempt in self.waiting:
                attempt.begin()

    async def invoke(self) -> Outcome:
        """Call the function, and wait for its outcome."""
        function = self.operator.function.call
        assert function is not None
        assert self.scope is not None
        self.began = self.operator.clock()
        self.begin_all()
        returned = await outcome_of(self.record, function(self.record.value), self.scope)
        return Returned(returned, self.operator.clock())

    def on_ended(self, outcome: Outcome | None) -> None:
        """Give the outcome to all waiting attempts, as the mail of the call's end (CACHE-4).

        Ignore the outcome of a cancelled load: no attempt waits for it, and a later load may run.
        """
        self.cache.is_over(self)
        self.cache.running -= 1
        scope, self.scope = self.scope, None
        outcome = self.has_ended(outcome)
        if scope is not None and scope.cancel_called:
            self.operator.cancelled.ended(self)
        elif outcome is not None:
            self.tell(self.read(outcome))

    def read(self, outcome: Outcome) -> Outcome:
        """Read the results of the call whole, once for all attempts; return the final outcome."""
        if isinstance(outcome, Raised):
            return outcome
        try:
            return Returned(collect_results(self.record, outcome.given), outcome.at)
        except InvalidResult as error:
            return Raised(NoAnswer(error.reason), outcome.at)
        except OperatorError as error:
            return Raised(cause_or_self(error), outcome.at)

    def tell(self, outcome: Outcome) -> None:
        """Cache results, or replace a failure by stale results; give them to all attempts."""
        if isinstance(outcome, Returned):
            self.cache.keep(self, outcome)
        else:
            outcome = self.cache.despite(self, outcome)
        for attempt in list(self.waiting):
            if attempt in self.waiting:
                attempt.on_outcome(outcome)


class ResultCache:
    """Cached results by key, and running loads; it answers the lookup of each attempt.

    Args:
        operator: operator of the attempts.
        settings: bounds of the cache.
        load_class: class of the loads.

    Attributes:
        store: cached results.
        loads: running load of each key.
        running: number of loads that have begun, and not ended.
    """

    def __init__(
        self, operator: RecordOperator, settings: Cache, load_class: type[LoadCall]
    ) -> None:
        self.operator = operator
        self.settings = settings
        self.load_class = load_class
        self.key = settings.key
        self.store = Store(settings)
        self.loads: dict[Any, LoadCall] = {}
        self.running = 0
        self.hits = self.shared = self.begun = self.stale = self.null_keys = self.refreshes = 0

    def open(self, opened: Context) -> None:
        """Run the key function in copies of the context of `open()`, like handlers (CTX-3)."""
        if self.key is not None:
            self.key = isolated(self.key, opened)

    def ask(self, attempt: Attempt) -> None:
        """Look up the key of an attempt, which takes cached results or waits for a load.

        An attempt whose key function raises fails as if its call had raised (CACHE-1).
        """
        self.begin(attempt)
        self.null_keys += 1  # until the key is known, and if it stays unknown (CACHE-11)
        try:
            place = self.place_of(attempt.handler.record.value)
        except BaseException as error:
            reraise_fatal(error)
            self.begin(attempt, is_late=True)
            attempt.post(attempt.on_outcome, Raised(error, self.operator.clock()))
        else:
            self.null_keys -= 1
            self.ask_for(place, attempt)

    def begin(self, attempt: Attempt, *, is_late: bool = False) -> None:
        """Begin an attempt; with limits, only when the attempt is known not to wait for a permit.

        Args:
            attempt: attempt of a record.
            is_late: whether the attempt is known not to wait for a permit.
        """
        if is_late is (self.operator.gate is not None):
            attempt.begin()

    def place_of(self, value: Any) -> Any:
        """Return the stand-in of a value's key, which distinguishes 1 and True."""
        return stand_in(value if self.key is None else self.key(value))

    def ask_for(self, place: Any, attempt: Attempt) -> None:
        """Take cached results, join a running load, or begin a load (CACHE-2, CACHE-5)."""
        results = None if place is NULL_KEY else self.kept(place, attempt)
        if results is not None:
            self.hits += 1
            self.begin(attempt, is_late=True)
            attempt.post(attempt.on_outcome, Returned(results, self.operator.clock()))
        elif place in self.loads:
            self.shared += 1
            self.loads[place].join(attempt)
        else:
            self.null_keys += place is NULL_KEY
            self.begun += place is not NULL_KEY
            load = self.load_class(self, place, attempt.handler.record, first=attempt)
            load.join(attempt)
            self.start(load)

    def kept(self, place: Any, attempt: Attempt) -> tuple[Any, ...] | None:
        """Return the fresh results of a key, and refresh them if due, with room for a call."""
        kept, now = self.store.entries.get(place), self.operator.clock()
        if kept is None or now >= kept.good_until:
            return None
        if now >= kept.refresh_from and self.running < self.operator.config.capacity:
            self.refresh(place, attempt)
        return kept.results

    def refresh(self, place: Any, attempt: Attempt) -> None:
        """Load a key in the background, once in the life of its cached results (CACHE-8)."""
        self.store.refreshing(place)
        if place not in self.loads:
            self.refreshes += 1
            record = attempt.handler.record
            self.start(self.load_class(self, place, record, is_background=True))

    def start(self, load: LoadCall) -> None:
        """Begin a load, which other attempts can join unless its key is null (CACHE-1)."""
        if load.place is not NULL_KEY:
            self.loads[load.place] = load
        self.running += 1
        load.ask()

    def is_over(self, load: LoadCall) -> None:
        """Let no attempt join a load any more."""
        if self.loads.get(load.place) is load:
            del self.loads[load.place]

    def keep(self, load: LoadCall, outcome: Returned) -> None:
        """Cache the results of a load; their `ttl` runs from its begin (CACHE-5, CACHE-7)."""
        if load.place is not NULL_KEY:
            self.store.put(load.place, outcome.given, load.began, outcome.at)

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        """Return stale results in place of a failure, as long as they may be used (CACHE-9)."""
        results = None if load.place is NULL_KEY else self.store.stale(load.place, failure.at)
        if results is None:
            return failure
        self.stale += len(load.waiting)
        self.begun -= load.first in load.waiting
        self.shared -= len(load.waiting) - (load.first in load.waiting)
        return Returned(results, failure.at)

    def figures(self) -> dict[str, int]:
        """Return the present figures of the cache for `Statistics` (CACHE-11)."""
        return {
            "hits": self.hits,
            "shared": self.shared,
            "loads": self.begun,
            "stale": self.stale,
            "null_keys": self.null_keys,
            "refreshes": self.refreshes,
            "evictions": self.store.evictions,
        }
