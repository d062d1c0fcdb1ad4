"""Waiting lines of calls for limits, and the choice of the next call among all operators.

Each limit object has one `Shared` in the process, with a meter for each of its keys. Calls of one
operator that need the same meters wait in one *line*: further attempts first, then first calls,
each in the order of their arrival. A line whose first call lacks room in a meter is *parked* at
that meter. A meter serves its parked lines in the order of their first calls, so the call that
waits longest reserves only the meter that it lacks. Calls that do not need this meter pass that
call, and small calls never delay a large call forever.

One lock of the process covers all lines, because a call takes all of its limits in one step. Each
hold takes microseconds. Callers deliver the answers after they have released the lock.
"""

import sys
from bisect import insort
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from itertools import pairwise
from math import inf
from threading import RLock
from typing import Any, TypeAlias

from msgspec import Struct

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.limits import AnyLimit, BudgetSpent, LedgerLost, PermitTimedOut
from asyncwait.toolkit._limits._meters import BudgetMeter, Room, Use
from asyncwait.toolkit._limits._shared import ARRIVALS, Order, Parking, shared_of

LOCK = RLock()
"""Reentrant: a finalizer may close an operator while the lock is held in its thread."""


arrive = ARRIVALS.__next__
"""Return the number of an arrival, also for records that still wait for their keys."""


class Permit(Struct, eq=False):
    """One call, from its request for a permit to its end.

    Args:
        line: waiting line of the call.
        amounts: estimated amounts, for each limit.
        answer: called with the permit, and with None if the call may start or the reason why the
            call never may start. Not called if the permit is granted when `enter` returns.
        order: its place among the calls that wait: further attempts first, then by arrival.
        subject: the record, or another subject of the call.
        is_free: whether the call needs no room: it only keeps its place after earlier calls.
        is_waiting: whether the call may not start yet.
        is_withdrawn: whether the call does not start.
        since: time of the request.
        began: time of the start, by the clock of the operator; infinity before.
        uses: use of each meter of its line.
        told: actual amounts that the call reports, for each limit.
        given: the result of the call, if it is a `Cost`.
        number: id of this permit in a shared ledger; 0 if no ledger counts the limits.
    """

    line: Any
    amounts: Sequence[float]
    answer: Callable[[Any, AsyncWaitError | None], object]
    order: Order
    subject: Any = None
    is_free: bool = False
    is_waiting: bool = True
    is_withdrawn: bool = False
    since: float = 0.0
    began: float = inf
    uses: Sequence[Use] = ()
    told: Sequence[float | None] = ()
    given: Any = None
    number: int = 0


class Stop(Struct, eq=False, frozen=True):
    """One of the meters that the calls of a line need.

    Args:
        meter: the meter with its parked lines.
        offset: seconds to add to the operator's clock for the clock of the meter.
        place: position of its limit among the limits of the operator.
        max_wait: longest wait for it in seconds; None for no bound.
    """

    meter: "Parking"
    offset: float
    place: int
    max_wait: float | None = None


Answers: TypeAlias = list[tuple[Permit, AsyncWaitError | None]]
_NONE: Answers = []
"""An empty list that no code changes."""


class Asker:
    """An operator, or a client of a ledger, with its lines; a subclass wakes it.

    Args:
        limits: the limits; an outside ledger counts the limits that `is_local` excludes.
        capacity: largest number of concurrent calls that `Adaptive` may choose.
        clock: returns the time in seconds; from any thread.
        is_local: returns whether this process counts a limit.

    Raises:
        InvalidConfig: the file of a budget is unusable.
    """

    def __init__(
        self,
        limits: Sequence[AnyLimit],
        capacity: int,
        clock: Callable[[], float],
        is_local: Callable[[AnyLimit], bool] = lambda _: True,
    ) -> None:
        self.limits = tuple(limits)
        self.clock = clock
        self.lines: dict[Any, Line] = {}
        self._watches: list[Watch] = []
        self.spent: BudgetSpent | None = None
        """Reason why no further call starts; None while calls start."""
        now = clock()
        with LOCK:
            self._shared = [
                (place, *shared_of(limit, capacity, clock, now))
                for place, limit in enumerate(limits)
                if is_local(limit)
            ]
        files = [budget.file for _, shared, _ in self._shared for budget in shared.budgets]
        self._files = sorted(filter(None, files), key=lambda file: file.identity)
        """Files of budgets, in one order for all operators, which prevents a deadlock."""
        for one, other in pairwise(self._files):
            if one.identity == other.identity:
                expected = f"another file than {one.path!r}, which is of another Budget here"
                raise InvalidConfig.of("Budget.path", other.path, expected)
        self._is_plain = not self._files
        """Whether a call with room in all meters may start without further steps."""
        shared = (meters for _, each, _ in self._shared for meters in each.meters(None, -inf))
        self._notes_starts = any(not isinstance(each.meter, Room) for each in shared)
        """Whether a meter needs the starts of calls."""

    def line(self, keys: Any) -> "Line":
        """Return the line of calls with these keys, one for each limit."""
        line = self.lines.get(keys)
        if line is None:
            stops = [
                Stop(meter, offset, place, getattr(self.limits[place], "max_wait", None))
                for place, shared, offset in self._shared
                for meter in shared.meters(keys[place] if keys else None, self.clock() + offset)
            ]
            line = self.lines[keys] = Line(self, keys, [*stops, *self.further_stops()])
        return line

    def further_stops(self) -> Sequence[Stop]:
        """Return meters that belong to no limit."""
        return ()

    def enter(self, permit: Permit) -> Answers:
        """Add a call to its line, or take its limits; return the answers to deliver."""
        line = permit.line
        permit.since = self.clock()
        if self.spent is not None:
            permit.is_waiting = False
            return [(permit, self.spent)]
        with LOCK:
            if line.keys is not None:  # Another thread may have removed it.
                permit.line = line = self.line(line.keys)
            answers: Answers = []
            calls = line.first_calls if permit.order[0] else line.retries
            was_first = line.first()
            if calls and permit.order < calls[-1].order:
                insort(calls, permit, key=lambda each: each.order)
                line.is_mixed = True
            else:
                calls.append(permit)
            if was_first is None or permit.order < was_first.order:
                line.advance(answers)
        return answers

    def withdraw(self, permit: Permit) -> Answers:
        """Take back a request, or a permit whose call does not start."""
        permit.is_withdrawn = True
        if not permit.is_waiting:
            return self.end(permit)
        permit.is_waiting = False
        answers: Answers = []
        with LOCK:
            permit.line.advance(answers)
        return [*answers, *self.end(permit)]

    def begin(self, permit: Permit, now: float) -> Answers:
        """Note the start of a call, which determines when windows stop counting it."""
        permit.began = now
        if not self._notes_starts:
            return _NONE
        answers: Answers | None = None
        with LOCK:
            uses = iter(permit.uses)
            for parking, meter, offset, _ in permit.line.steps if permit.uses else ():
                meter.begin(next(uses), now + offset)
                if parking.lines and meter.counts_starts:
                    pump(parking, answers := [] if answers is None else answers)
        return _NONE if answers is None else answers

    def end(
        self, permit: Permit, error: BaseException | None = None, now: float | None = None
    ) -> Answers:
        """Note the end of a call, or that it does not start; `now` saves a read of the clock."""
        with LOCK:
            if self._files:
                try:
                    with self.files():
                        self.release(permit, error, now)
                except LedgerLost as lost:
                    return [(permit, lost)]
            elif permit.uses:
                self.release(permit, error, now)
            answers: Answers | None = None
            for parking, _, _, _ in permit.line.steps:
                if parking.lines:
                    answers = [] if answers is None else answers
                    self.left_room(parking, answers)
        return _NONE if answers is None else answers

    def left_room(self, parking: Parking, answers: Answers) -> None:
        """Grant waiting calls the room that an ended call has freed."""
        pump(parking, answers)

    def release(
        self, permit: Permit, error: BaseException | None = None, now: float | None = None
    ) -> None:
        """Note in each meter that a call has ended; the caller holds the lock."""
        uses, line, told = permit.uses, permit.line, permit.told
        if not uses:
            return
        permit.uses = ()
        if now is None:
            now = self.clock()
        for use, (_, meter, offset, place) in zip(uses, line.steps, strict=False):
            amount = told[place] if told and place < len(told) else None
            meter.end(use, now + offset, amount, error)
        line.open -= 1
        if line.keys is not None:
            line.forget_if_idle()

    def watch_budgets(self, answer: Callable[[Permit, AsyncWaitError | None], object]) -> Answers:
        """Call `answer` when a budget is spent, even if no call waits for it."""
        answers: Answers = []
        with LOCK:
            if not self._watches:
                self._watches = [
                    Watch(self, Stop(meter, offset, place), answer)
                    for place, shared, offset in self._shared
                    for meter in shared.meters(None, -inf)
                    if isinstance(meter.meter, BudgetMeter)
                ]
                for watch in self._watches:
                    watch.advance(answers)
        return answers

    def stop_all(self, spent: BudgetSpent, answers: Answers) -> None:
        """Answer all calls that wait: no later call may start, however cheap it is."""
        self.spent = spent
        for line in [*self.lines.values()]:
            line.advance(answers)

    def files(self) -> AbstractContextManager[object]:
        """Return a lock on the files of budgets, so that no other process spends meanwhile."""
        return _locked(self._files) if self._files else nullcontext()

    def wake_at(self, stop: Stop, when: float) -> None:
        """Call `look` at a time of the operator's clock."""

    def post(self, permit: Permit, error: AsyncWaitError | None) -> None:
        """Receive an answer for one of its calls, in any thread."""

    def granted(self, permit: Permit, answers: Answers) -> None:
        """Note that a call has all of its meters."""
        answers.append((permit, None))

    def look(self, stop: Stop, now: float) -> Answers:
        """Serve the lines of a meter whose time has come, and end waits that took too long."""
        answers: Answers = []
        with LOCK:
            parking = stop.meter
            parking.last = max(parking.last, now + stop.offset)
            if stop.max_wait is not None:
                for line in [*self.lines.values()]:
                    if line.stop is not None and line.stop.place == stop.place:
                        line.expire(now, answers)
            pump(parking, answers)
        return answers

    def waiting(self) -> tuple[int, ...]:
        """Return the number of waiting calls, for each limit; for any thread."""
        counts = [0] * len(self.limits)
        with LOCK:
            for line in self.lines.values():
                if (stop := line.stop) is not None and stop.place < len(counts):
                    calls = (*line.retries, *line.first_calls)
                    counts[stop.place] += sum(each.is_waiting for each in calls)
        return tuple(counts)


@contextmanager
def _locked(files: Sequence[Any]) -> Generator[None]:
    with ExitStack() as locks:
        for file in files:
            locks.enter_context(file.locked())
        yield


class Line:
    """Calls of one operator that need the same meters."""

    __slots__ = (
        "asker", "first_calls", "is_mixed", "keys", "open", "order", "parked_at", "parked_since",
        "retries", "stamp", "steps", "stop", "stops",
    )  # fmt: skip

    def __init__(self, asker: Asker, keys: Any, stops: Sequence[Stop]) -> None:
        self.asker = asker
        self.keys = keys
        self.stops = stops
        self.steps = [(each.meter, each.meter.meter, each.offset, each.place) for each in stops]
        """The same stops as tuples, for speed: parking, meter, offset, place."""
        self.retries: deque[Permit] = deque()
        self.first_calls: deque[Permit] = deque()
        self.stop: Stop | None = None
        """Stop where the line is parked; None while no call waits."""
        self.order: Order = (False, 0)
        """Order of its first call when it was parked."""
        self.is_mixed = False
        """Whether the order of the calls may differ from the order of their requests."""
        self.open = 0
        """Calls with permits."""
        self.parked_at, self.parked_since = -1, 0.0
        """Place of the limit that it waits for, or -1, and the start of this wait."""
        for stop in stops:
            stop.meter.users += 1
        self.stamp = 0
        """Number of its place among the parked lines."""

    def first(self) -> Permit | None:
        """Return the next call; None if no call waits."""
        for calls in (self.retries, self.first_calls):
            while calls and not calls[0].is_waiting:
                calls.popleft()
            if calls:
                return calls[0]
        return None

    def advance(self, answers: Answers) -> None:
        """Grant permits, and serve the later lines of the meter that this line leaves."""
        left = self.stop
        self.go_on(answers)
        if left is not None and left.meter.first() is not self:
            pump(left.meter, answers)

    def go_on(self, answers: Answers) -> None:
        """Grant permits to the first calls until one lacks room, and park the line there."""
        now = self.asker.clock()
        while (permit := self.first()) is not None:
            self.stop = None  # A line is not blocked by its own reservation.
            if (spent := self.asker.spent) is not None:
                self._pop(permit)
                answers.append((permit, spent))
                continue
            if permit.is_free:
                self._pop(permit)
                self.asker.granted(permit, answers)
                continue
            try:
                with self.asker.files():
                    lacking = self._lacking(permit, now)
                    if lacking is None:
                        self.take(permit, now)
            except AsyncWaitError as error:
                with suppress(LedgerLost):  # The file of another budget may be usable.
                    self.asker.release(permit)
                self._pop(permit)
                answers.append((permit, error))
                if isinstance(error, BudgetSpent):
                    self.asker.stop_all(error, answers)
                continue
            if lacking is not None:
                self._park(permit, lacking)
                return
            self._pop(permit)
            self.asker.granted(permit, answers)
        self.stop, self.parked_at = None, -1
        self.forget_if_idle()

    def forget_if_idle(self) -> None:
        """Remove the line if no call waits or runs: each key may have a line of its own."""
        is_idle = self.keys is not None and not self.open and self.first() is None
        if is_idle and self.asker.lines.get(self.keys) is self:
            del self.asker.lines[self.keys]
            for stop in self.stops:
                stop.meter.users -= 1

    def takes(self, permit: Permit, now: float) -> bool:
        """Take the limits of a call if all have room; return whether they have."""
        if permit.is_free:
            return True
        amounts, steps = permit.amounts, self.steps
        try:
            for parking, meter, offset, place in steps:
                at = now + offset
                if parking.lines or meter.delay(amounts[place], at) > 0:
                    return False
                if at > parking.last:  # noqa: PLR1730 - in half the time of `max`
                    parking.last = at
        except AsyncWaitError:  # `advance` delivers this error
            return False
        permit.uses = uses = []
        for _, meter, offset, place in steps:
            uses.append(meter.take(amounts[place], now + offset))
        self.open += 1
        return True

    def _lacking(self, permit: Permit, now: float) -> Stop | None:
        """Return the first meter without room for a call; None if all have room.

        Raises:
            NotCalled: a meter never has room for it again.
        """
        order, amounts = permit.order, permit.amounts
        for stop in self.stops:
            parking = stop.meter
            if parking.is_reserved(order):
                return stop
            parking.last = at = max(now + stop.offset, parking.last)
            amount = amounts[stop.place] if stop.place < len(amounts) else 1.0
            delay = parking.meter.delay(amount, at)
            if delay > 0:
                parking.due = at + delay
                return stop
        return None

    def take(self, permit: Permit, now: float) -> None:
        """Count a call in all of its meters."""
        amounts = permit.amounts
        permit.uses = uses = []
        self.open += 1
        for _, meter, offset, place in self.steps:
            amount = amounts[place] if place < len(amounts) else 1.0
            uses.append(meter.take(amount, now + offset))

    def _park(self, permit: Permit, stop: Stop) -> None:
        self.stop, self.order = stop, permit.order
        if stop.place != self.parked_at:
            self.parked_at, self.parked_since = stop.place, self.asker.clock()
        parking = stop.meter
        parking.park(self)
        if parking.due < inf and parking.first() is self:
            self.asker.wake_at(stop, parking.due - stop.offset)
        if stop.max_wait is not None:
            heads = (calls[0] for calls in (self.retries, self.first_calls) if calls)
            waiting = (*self.retries, *self.first_calls) if self.is_mixed else heads
            oldest = min(each.since for each in waiting if each.is_waiting)
            self.asker.wake_at(stop, max(oldest, self.parked_since) + stop.max_wait)

    def _pop(self, permit: Permit) -> None:
        permit.is_waiting = False
        (self.first_calls if permit.order[0] else self.retries).popleft()

    def expire(self, now: float, answers: Answers) -> None:
        """Answer the calls that have waited for the parked meter for longer than its `max_wait`."""
        stop = self.stop
        assert stop is not None
        assert stop.max_wait is not None
        for calls in (self.retries, self.first_calls):
            for permit in calls:
                if max(permit.since, self.parked_since) + stop.max_wait > now:
                    if self.is_mixed:
                        continue
                    break
                if permit.is_waiting:
                    permit.is_waiting = False
                    limit = self.asker.limits[stop.place]
                    reason = f"no permit within {stop.max_wait:.10g} s: {limit} has no room"
                    answers.append((permit, PermitTimedOut(reason)))
        self.advance(answers)


class Watch(Line):
    """Line that waits behind all calls until a budget is spent; it takes no room.

    Args:
        asker: operator of the budget.
        stop: the meter of the budget.
        answer: called with the error of the spent budget.
    """

    __slots__ = ("_permit",)

    def __init__(
        self, asker: Asker, stop: Stop, answer: Callable[[Permit, AsyncWaitError | None], object]
    ) -> None:
        super().__init__(asker, None, [stop])
        self._permit = Permit(self, (), answer, _LAST)
        self.order, self.stop = _LAST, stop
        stop.meter.park(self)

    def go_on(self, answers: Answers) -> None:
        """Answer if the budget is spent and no running call may cost less than its estimate."""
        [stop] = self.stops
        budget = stop.meter.meter
        assert isinstance(budget, BudgetMeter)
        try:
            with self.asker.files():
                budget.delay(budget.least, self.asker.clock() + stop.offset)
        except AsyncWaitError as error:
            self.stop = None
            answers.append((self._permit, error))
            if isinstance(error, BudgetSpent):
                self.asker.stop_all(error, answers)


_LAST: Order = True, sys.maxsize


def pump(parking: Parking, answers: Answers) -> None:
    """Serve the parked lines of a meter in their order, until the first line lacks room."""
    parking.due = inf
    while (line := parking.first()) is not None:
        line.go_on(answers)
        if line.stop is not None and line.stop.meter is parking and parking.first() is line:
            return
