"""What calls have given, kept by key; and loads: calls that attempts with one key share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asyncwait.reference._calls import TaskCall
from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.spec import InvalidResult, OperatorError
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

if TYPE_CHECKING:
    from asyncwait.reference._gate import Permit
    from asyncwait.reference._handler import Attempt, ResultHandler
    from asyncwait.reference._operator import AsyncWaitOperator
    from asyncwait.spec import Cache, Record


@dataclass(eq=False)
class LoadCall(TaskCall):
    """One call of the function for all attempts that wait for a key, each of which may leave it.

    Args:
        cache: for which it is called.
        place: what stands for the key.
        record: with whose value the function is called.
        is_background: whether it began for nobody (CACHE-8).
        waiting: the attempts that go by what it comes to, in the order in which they came.
        began: when it did, in seconds of the loop's clock.
        first: the attempt because of which it began; None if that has what was kept.
        permit: of the call, or for which it waits, where there are limits.
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
    def operator(self) -> AsyncWaitOperator:
        """The one whose records they are."""
        return self.cache.operator

    def join(self, attempt: Attempt) -> None:
        """Have an attempt wait for it."""
        self.waiting[attempt] = None
        attempt.load = self
        if self.permit is not None and self.permit.begun < math.inf:
            attempt.begin()

    def leave(self, attempt: Attempt) -> None:
        """Go on without an attempt; when the last has left, nobody waits any more (CACHE-3)."""
        self.waiting.pop(attempt, None)
        if not self.waiting:
            self.cache.is_over(self)
            self.cancel()
            if self.scope is None:
                self.leave_gate()

    # Where there are limits

    def ask(self) -> None:
        """Have the function called, once the limits have room (LIMIT-7)."""
        if self.operator.gate is None:
            self.start()
        else:
            self.operator.gate.enter(self)

    @property
    def values(self) -> Sequence[Any]:
        """The value of its record."""
        return (self.record.value,)

    @property
    def handlers(self) -> Sequence[ResultHandler]:
        """The handlers of the records that wait for it."""
        return [attempt.handler for attempt in self.waiting]

    def leave_gate(self) -> None:
        """Wait for no permit any more, as no record does."""
        if self.operator.gate is not None and self.permit is not None:
            self.operator.gate.withdraw(self.permit)
            self.cache.running -= 1

    def is_refused(self) -> None:
        """Take note that it does not begin."""
        self.permit = None
        self.cache.is_over(self)
        self.cache.running -= 1

    def begin_all(self) -> None:
        """Begin the attempts that have waited for it, and their deadlines (LIMIT-9)."""
        if self.operator.gate is not None:
            self.has_begun()
            for attempt in self.waiting:
                attempt.begin()

    async def invoke(self) -> Outcome:
        """Call the function, and wait for what it comes to."""
        function = self.operator.function.call
        assert function is not None
        assert self.scope is not None
        self.began = self.operator.clock()
        self.begin_all()
        returned = await outcome_of(self.record, function(self.record.value), self.scope)
        return Returned(returned, self.operator.clock())

    def on_ended(self, outcome: Outcome | None) -> None:
        """The mail of the call's end: all that wait for it have its outcome (CACHE-4).

        Whatever one gives that was cancelled, nobody waits for it, and a later one may run.
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
        """Return what the call came to when its results are read: whole, and once for all."""
        if isinstance(outcome, Raised):
            return outcome
        try:
            return Returned(collect_results(self.record, outcome.given), outcome.at)
        except InvalidResult as error:
            return Raised(NoAnswer(error.reason), outcome.at)
        except OperatorError as error:
            return Raised(cause_or_self(error), outcome.at)

    def tell(self, outcome: Outcome) -> None:
        """Keep results, and hand on what the call came to, or what is kept in its place."""
        if isinstance(outcome, Returned):
            self.cache.keep(self, outcome)
        else:
            outcome = self.cache.despite(self, outcome)
        for attempt in list(self.waiting):
            if attempt in self.waiting:
                attempt.on_outcome(outcome)


class ResultCache:
    """The results of keys, the loads that run, and what becomes of each attempt.

    Args:
        operator: whose attempts they are.
        settings: how much is kept, and for how long.
        load_class: calls the function for a key.

    Attributes:
        store: what is kept.
        loads: the load of each key that has one.
        running: how many calls of the function have begun, and not ended.
    """

    def __init__(
        self, operator: AsyncWaitOperator, settings: Cache, load_class: type[LoadCall]
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
        """Have the key function see what was set when the operator was opened, and nobody see it.

        As with handlers and predicates (CTX-3).
        """
        if self.key is not None:
            self.key = isolated(self.key, opened)

    def ask(self, attempt: Attempt) -> None:
        """Give an attempt what is kept of its key, or have it wait for a load of it.

        An attempt without a key has failed, as if its call had raised (CACHE-1).
        """
        self.begin(attempt)
        self.null_keys += 1  # while its key is told, and if none is (CACHE-11)
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
        """Begin an attempt; where there are limits, as late as it is known that it waits for none.

        Args:
            attempt: of a record.
            is_late: whether that is known.
        """
        if is_late is (self.operator.gate is not None):
            attempt.begin()

    def place_of(self, value: Any) -> Any:
        """Return what stands for the key of a value, so that 1 is not True."""
        return stand_in(value if self.key is None else self.key(value))

    def ask_for(self, place: Any, attempt: Attempt) -> None:
        """Ask for a key: it is kept, is being loaded, or is loaded now (CACHE-2, CACHE-5)."""
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
        """Return what is kept of a key and good, and have it loaded ahead if there is room."""
        kept, now = self.store.entries.get(place), self.operator.clock()
        if kept is None or now >= kept.good_until:
            return None
        if now >= kept.refresh_from and self.running < self.operator.config.capacity:
            self.refresh(place, attempt)
        return kept.results

    def refresh(self, place: Any, attempt: Attempt) -> None:
        """Have a key loaded for nobody, once in the life of what is kept of it (CACHE-8)."""
        self.store.refreshing(place)
        if place not in self.loads:
            self.refreshes += 1
            record = attempt.handler.record
            self.start(self.load_class(self, place, record, is_background=True))

    def start(self, load: LoadCall) -> None:
        """Have a key loaded; nobody shares the load of one that is null (CACHE-1)."""
        if load.place is not NULL_KEY:
            self.loads[load.place] = load
        self.running += 1
        load.ask()

    def is_over(self, load: LoadCall) -> None:
        """Have nobody join a load any more: it has ended, or nobody waits for it."""
        if self.loads.get(load.place) is load:
            del self.loads[load.place]

    def keep(self, load: LoadCall, outcome: Returned) -> None:
        """Keep what a load gave for as long as it is good, as of its begin (CACHE-5, CACHE-7)."""
        if load.place is not NULL_KEY:
            self.store.put(load.place, outcome.given, load.began, outcome.at)

    def despite(self, load: LoadCall, failure: Raised) -> Outcome:
        """Return old results, as long as they may be given, in place of a failure (CACHE-9)."""
        results = None if load.place is NULL_KEY else self.store.stale(load.place, failure.at)
        if results is None:
            return failure
        self.stale += len(load.waiting)
        self.begun -= load.first in load.waiting
        self.shared -= len(load.waiting) - (load.first in load.waiting)
        return Returned(results, failure.at)

    def figures(self) -> dict[str, int]:
        """Return the figures of this moment, as `Statistics` has them (CACHE-11)."""
        return {
            "hits": self.hits,
            "shared": self.shared,
            "loads": self.begun,
            "stale": self.stale,
            "null_keys": self.null_keys,
            "refreshes": self.refreshes,
            "evictions": self.store.evictions,
        }
