"""Calls that wait for limits: which of them starts next, among all operators of the process.

Each limit object has one `Shared` in the process, with a meter for each of its keys. Calls of one
operator that need the same meters stand in one *line*: further attempts first, then first calls,
each in the order of their arrival. A line whose first call lacks room in a meter is *parked* at
that meter. A meter serves its parked lines in the order of their first calls, so a call that waits
longest reserves the meter that it lacks, and nothing else: calls that do not need this meter pass
it, and small calls never delay a large one forever.

One lock of the process covers all of it, because a call takes all of its limits in one step. It is
held for microseconds. Callers hand the answers out after they have released it.
"""

import sys
import weakref
from bisect import insort
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from heapq import heappop, heappush
from itertools import count, pairwise
from math import inf
from threading import RLock
from time import monotonic
from typing import Any, TypeAlias

from msgspec import Struct

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.limits import (
    Adaptive,
    AnyLimit,
    Breaker,
    Budget,
    BudgetSpent,
    InFlight,
    LedgerLost,
    Limit,
    PermitTimedOut,
)
from asyncwait.toolkit._limits._meters import (
    Circuit,
    Meter,
    Purse,
    Room,
    Search,
    Use,
    windows_of,
)

LOCK = RLock()
"""Reentrant: a finalizer may close an operator while the lock is held in its thread."""
_ARRIVALS = count()
Order: TypeAlias = tuple[bool, int]
"""Whether it is a first call, and the number of its arrival."""


def arrive() -> int:
    """Return the number of an arrival, for a record that is to wait for its key first."""
    return next(_ARRIVALS)


class Permit(Struct, eq=False):
    """One call, from its request for a permit to its end.

    Args:
        line: where it waits.
        amounts: estimated amounts, for each limit.
        answer: called with the permit, and with None when the call may start, or with the reason
            why it never may. Not called if the permit is there when `enter` returns.
        order: its place among the calls that wait; see `order_of`.
        subject: the record, or whatever the call is for.
        is_free: whether the call needs no room: it only keeps its place behind earlier calls.
        is_waiting: whether the call may not start yet.
        is_withdrawn: whether the call does not start.
        since: time of the request.
        began: time of the start, by the clock of the operator; infinity before.
        uses: what the call uses of each meter of its line.
        told: actual amounts as the call tells them, for each limit.
        given: the result of the call, if that is a `Cost`.
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
    uses: list[Use] = []
    told: Sequence[float | None] = ()
    given: Any = None
    number: int = 0


def order_of(*, is_retry: bool, arrival: int | None = None) -> Order:
    """Return the order of a call: further attempts first, then the order of arrivals."""
    return not is_retry, arrive() if arrival is None else arrival


class Stop(Struct, eq=False, frozen=True):
    """One meter among those that the calls of a line need.

    Args:
        meter: with its parked lines.
        offset: seconds to add to the operator's clock for the clock of the meter.
        place: position of its limit among the limits of the operator.
        max_wait: longest wait for it in seconds; None for no bound.
    """

    meter: "Parking"
    offset: float
    place: int
    max_wait: float | None = None


class Parking:
    """A meter, and the lines that are parked at it."""

    __slots__ = ("due", "last", "lines", "meter", "users")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.lines: list[tuple[Order, int, Line]] = []
        """A heap of the lines that are parked here, and of places that they have left."""
        self.due = inf
        """When its first line may go on; infinity if that depends on the end of a call."""
        self.users = 0
        """Lines whose calls need it."""
        self.last = -inf
        """The latest time that it has seen; a timer may come a rounding error early."""

    def park(self, line: "Line") -> None:
        """Add a line, with the order of its first call."""
        line.stamp = next(_ARRIVALS)
        heappush(self.lines, (line.order, line.stamp, line))

    def first(self) -> "Line | None":
        """Return the line whose turn it is."""
        lines = self.lines
        while lines:
            _, stamp, line = lines[0]
            if line.stop is not None and line.stamp == stamp:
                return line
            heappop(lines)
        return None

    def is_reserved(self, order: Order) -> bool:
        """Return whether an earlier call waits for this meter."""
        return bool(self.lines) and (first := self.first()) is not None and first.order < order


Answers: TypeAlias = list[tuple[Permit, AsyncWaitError | None]]
_NONE: Answers = []
"""What nothing is ever added to."""


class Asker:
    """An operator, or a client of a ledger, with its lines; a subclass knows its clock.

    Args:
        limits: the limits; a ledger outside of the process counts those that `is_local` excludes.
        capacity: largest number of calls at a time that `Adaptive` may find.
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
        """Why no further call starts; None while calls go on."""
        now = clock()
        with LOCK:
            self._shared = [
                (place, *shared_of(limit, capacity, clock, now))
                for place, limit in enumerate(limits)
                if is_local(limit)
            ]
        files = [purse.file for _, shared, _ in self._shared for purse in shared.purses]
        self._files = sorted(filter(None, files), key=lambda file: file.identity)
        """Files of budgets, in one order for all operators: two never wait for each other."""
        for one, other in pairwise(self._files):
            if one.identity == other.identity:
                expected = f"another file than {one.path!r}, which is of another Budget here"
                raise InvalidConfig.of("Budget.path", other.path, expected)
        self._is_plain = not self._files
        """Whether a call that finds room in all meters may start: nothing else is to be done."""
        shared = (meters for _, each, _ in self._shared for meters in each.meters(None, -inf))
        self._notes_starts = any(not isinstance(each.meter, Room) for each in shared)
        """Whether a meter has to hear of the starts of calls."""

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
        """Have a call wait, or take its limits at once; return the answers to hand out.

        A permit that is there at once is no answer: see `Permit`.
        """
        line = permit.line
        permit.since = now = self.clock()
        if self.spent is not None:
            permit.is_waiting = False
            return [(permit, self.spent)]
        with LOCK:
            if line.keys is not None:  # Another thread may have removed it.
                permit.line = line = self.line(line.keys)
            if line.stop is None and self._is_plain and line.takes(permit, now):
                permit.is_waiting = False
                return _NONE
            answers: Answers = []
            calls = line.first_calls if permit.order[0] else line.retries
            was_first = line.first()
            if calls and permit.order < calls[-1].order:
                insort(calls, permit, key=lambda each: each.order)
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
            stop = permit.line.stop
            permit.line.advance(answers)
            if stop is not None:
                pump(stop.meter, answers)
        return [*answers, *self.end(permit)]

    def begin(self, permit: Permit, now: float) -> Answers:
        """Note the start of a call: from then on windows know when it leaves them."""
        permit.began = now
        if not self._notes_starts:
            return _NONE
        answers: Answers = []
        with LOCK:
            for use, stop in zip(permit.uses, permit.line.stops, strict=False):
                stop.meter.meter.begin(use, now + stop.offset)
                if stop.meter.meter.counts_starts and stop.meter.lines:
                    pump(stop.meter, answers)
        return answers

    def end(self, permit: Permit, error: BaseException | None = None) -> Answers:
        """Note the end of a call, or that it does not start."""
        with LOCK:
            if self._files:
                try:
                    with self.files():
                        self.release(permit, error)
                except LedgerLost as lost:
                    return [(permit, lost)]
            else:
                self.release(permit, error)
            answers: Answers | None = None
            for stop in permit.line.stops:
                if stop.meter.lines:
                    answers = [] if answers is None else answers
                    self.left_room(stop.meter, answers)
        return _NONE if answers is None else answers

    def left_room(self, parking: Parking, answers: Answers) -> None:
        """Give the room that a call has left to the calls that wait for it."""
        pump(parking, answers)

    def release(self, permit: Permit, error: BaseException | None = None) -> None:
        """Note in each meter that a call has ended; the caller holds the lock."""
        now, told = self.clock() if self._notes_starts else 0.0, permit.told
        uses = permit.uses
        for use, stop in zip(uses, permit.line.stops, strict=False):
            amount = told[stop.place] if told and stop.place < len(told) else None
            stop.meter.meter.end(use, now + stop.offset, amount, error)
        if uses:
            permit.line.open -= 1
            permit.line.forget_if_idle()
        uses.clear()

    def watch_budgets(self, answer: Callable[[Permit, AsyncWaitError | None], object]) -> Answers:
        """Have `answer` called when a budget is spent, also if no call asks for it."""
        answers: Answers = []
        with LOCK:
            if not self._watches:
                self._watches = [
                    Watch(self, Stop(meter, offset, place), answer)
                    for place, shared, offset in self._shared
                    for meter in shared.meters(None, -inf)
                    if isinstance(meter.meter, Purse)
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
        """Return what locks the files of budgets, so that no other process spends meanwhile."""
        return _locked(self._files) if self._files else nullcontext()

    def wake_at(self, stop: Stop, when: float) -> None:
        """Have `look` called at a time of the operator's clock."""

    def post(self, permit: Permit, error: AsyncWaitError | None) -> None:
        """Take an answer for one of its calls, in any thread."""

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
        """Return how many calls wait, for each limit; for any thread."""
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
        "asker", "first_calls", "keys", "open", "order", "parked_at", "parked_since", "retries",
        "stamp", "stop", "stops",
    )  # fmt: skip

    def __init__(self, asker: Asker, keys: Any, stops: Sequence[Stop]) -> None:
        self.asker = asker
        self.keys = keys
        self.stops = stops
        self.retries: deque[Permit] = deque()
        self.first_calls: deque[Permit] = deque()
        self.stop: Stop | None = None
        """Where it is parked; None while no call waits."""
        self.order: Order = (False, 0)
        """That of its first call when it was parked."""
        self.open = 0
        """Calls with permits."""
        self.parked_at, self.parked_since = -1, 0.0
        """For which limit it waits, and since when, if it does."""
        for stop in stops:
            stop.meter.users += 1
        self.stamp = 0
        """Number of its place among the parked lines."""

    def first(self) -> Permit | None:
        """Return the call that goes next; None if no call waits."""
        for calls in (self.retries, self.first_calls):
            while calls and not calls[0].is_waiting:
                calls.popleft()
            if calls:
                return calls[0]
        return None

    def advance(self, answers: Answers) -> None:
        """Grant permits to the first calls until one lacks room, and park the line there."""
        now = self.asker.clock()
        while (permit := self.first()) is not None:
            self.stop = None  # It reserves nothing from itself.
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
                with suppress(LedgerLost):  # of another file than the one that is lost
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
        """Leave the operator if no call waits or runs: there may be as many lines as keys."""
        is_idle = self.keys is not None and not self.open and self.first() is None
        if is_idle and self.asker.lines.get(self.keys) is self:
            del self.asker.lines[self.keys]
            for stop in self.stops:
                stop.meter.users -= 1

    def takes(self, permit: Permit, now: float) -> bool:
        """Take the limits of a call that finds room in all of them, without a wait."""
        if permit.is_free:
            return True
        amounts, stops = permit.amounts, self.stops
        try:
            for stop in stops:
                parking = stop.meter
                if parking.lines:
                    return False
                at = now + stop.offset
                parking.last = max(parking.last, at)
                if parking.meter.delay(amounts[stop.place], at) > 0:
                    return False
        except AsyncWaitError:  # as `advance` answers
            return False
        uses = permit.uses
        for stop in stops:
            uses.append(stop.meter.meter.take(amounts[stop.place], now + stop.offset))
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
        amounts, uses = permit.amounts, permit.uses
        self.open += 1
        for stop in self.stops:
            amount = amounts[stop.place] if stop.place < len(amounts) else 1.0
            uses.append(stop.meter.meter.take(amount, now + stop.offset))

    def _park(self, permit: Permit, stop: Stop) -> None:
        self.stop, self.order = stop, permit.order
        if stop.place != self.parked_at:
            self.parked_at, self.parked_since = stop.place, self.asker.clock()
        parking = stop.meter
        parking.park(self)
        if parking.due < inf and parking.first() is self:
            self.asker.wake_at(stop, parking.due - stop.offset)
        if stop.max_wait is not None:
            oldest = min(calls[0].since for calls in (self.retries, self.first_calls) if calls)
            self.asker.wake_at(stop, max(oldest, self.parked_since) + stop.max_wait)

    def _pop(self, permit: Permit) -> None:
        permit.is_waiting = False
        (self.first_calls if permit.order[0] else self.retries).popleft()

    def expire(self, now: float, answers: Answers) -> None:
        """Answer the calls that have waited for the parked meter for longer than its `max_wait`."""
        stop = self.stop
        assert stop is not None
        assert stop.max_wait is not None
        last = now - stop.max_wait if self.parked_since <= now - stop.max_wait else -inf
        for calls in (self.retries, self.first_calls):
            while calls and (not calls[0].is_waiting or calls[0].since <= last):
                permit = calls.popleft()
                if permit.is_waiting:
                    permit.is_waiting = False
                    limit = self.asker.limits[stop.place]
                    reason = f"no permit within {stop.max_wait:.10g} s: {limit} has no room"
                    answers.append((permit, PermitTimedOut(reason)))
        self.advance(answers)


class Watch(Line):
    """Waits until a budget is spent, behind all calls; it takes nothing.

    Args:
        asker: whose records back off.
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

    def advance(self, answers: Answers) -> None:
        """Answer if the budget is spent and no running call may cost less than its estimate."""
        [stop] = self.stops
        purse = stop.meter.meter
        assert isinstance(purse, Purse)
        try:
            with self.asker.files():
                purse.delay(purse.least, self.asker.clock() + stop.offset)
        except AsyncWaitError as error:
            self.stop = None
            answers.append((self._permit, error))
            if isinstance(error, BudgetSpent):
                self.asker.stop_all(error, answers)


_LAST: Order = True, sys.maxsize


def pump(parking: Parking, answers: Answers) -> None:
    """Let the parked lines of a meter go on, in their order, until the first one lacks room."""
    parking.due = inf
    while (line := parking.first()) is not None:
        line.advance(answers)
        if line.stop is not None and line.stop.meter is parking and parking.first() is line:
            return


class Shared:
    """A limit with its meters, in the process.

    Args:
        make: returns new meters, for one key.
        now: the present time of the first loop that uses the limit.
    """

    def __init__(self, make: Callable[[], Sequence[Meter]], now: float) -> None:
        self._make = make
        self._by_key: dict[Any, tuple[Parking, ...]] = {}
        self._most = 64
        self._began = monotonic(), now
        self._offsets: list[tuple[Callable[[], Any], float]] = []
        self._is_new = True

    @property
    def purses(self) -> Sequence[Purse]:
        """The meters of a budget."""
        meters = (each.meter for each in self.meters(None, -inf))
        return [meter for meter in meters if isinstance(meter, Purse)]

    def meters(self, key: Any, now: float) -> tuple[Parking, ...]:
        """Return the meters for a key.

        Args:
            key: the key; None without keys.
            now: the present time, by the clock of the limit.
        """
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= self._most:  # Keys of which no call counts need no meter.
                kept = self._by_key.items()
                self._by_key = {k: meters for k, meters in kept if not _are_idle(meters, now)}
                self._most = max(64, 2 * len(self._by_key))
            found = self._by_key[key] = tuple(map(Parking, self._make()))
        return found

    def offset(self, clock: Callable[[], float], now: float) -> float:
        """Return the seconds to add to the clock of a loop for the clock of this limit.

        The limit has the clock of the loop that used it first. The clock of another loop may have
        begun elsewhere, or be virtual: it goes on from the present time of the limit.
        """
        loop = getattr(clock, "__self__", clock)
        for known, offset in self._offsets:
            if known() is loop:
                return offset
        real, began = self._began
        last = max((m.last for meters in self._by_key.values() for m in meters), default=-inf)
        offset = 0.0 if self._is_new else max(began + monotonic() - real, last) - now
        self._is_new = False
        self._offsets = [each for each in self._offsets if each[0]() is not None]
        try:
            self._offsets.append((weakref.ref(loop), offset))
        except TypeError:  # The clock of trio has no weak references.
            self._offsets.append((lambda: loop, offset))
        return offset


def _are_idle(meters: tuple[Parking, ...], now: float) -> bool:
    return all(not each.users and each.meter.is_idle(now) for each in meters)


def _maker(limit: AnyLimit, capacity: int, now: float) -> Callable[[], Sequence[Meter]]:
    """Return a function that makes the meters of a limit, and holds no reference to the limit."""
    match limit:
        case Limit():
            parts = limit.most, limit.per, limit.arrives_in, limit.burst
            return lambda: windows_of(*parts)
        case InFlight():
            calls = limit.calls
            return lambda: [Room(calls)]
        case Adaptive():
            most = min(capacity, limit.most or capacity)
            return lambda: [Search(most, now)]
        case Breaker():
            trips = limit.failures, limit.over, limit.rest, limit.longest
            return lambda: [Circuit(*trips)]
        case Budget():
            purse = Purse(limit)
            return lambda: [purse]


_SHARED: dict[int, tuple["weakref.ref[Any]", Shared]] = {}
"""By identity: two equal limits are two limits."""


def shared_of(
    limit: AnyLimit, capacity: int, clock: Callable[[], float], now: float
) -> tuple[Shared, float]:
    """Return the meters of a limit object, and the offset of a clock; see `Shared.offset`."""
    if isinstance(limit, Adaptive):
        return Shared(_maker(limit, capacity, now), now), 0.0
    number = id(limit)
    found = _SHARED.get(number)
    if found is None or found[0]() is not limit:
        shared = Shared(_maker(limit, capacity, now), now)
        files = [purse.file for purse in shared.purses if purse.file is not None]

        def forget(reference: Any) -> None:
            if (held := _SHARED.get(number)) is not None and held[0] is reference:
                del _SHARED[number]
            for file in files:
                file.close()

        found = _SHARED[number] = weakref.ref(limit, forget), shared
    return found[1], found[1].offset(clock, now)
