"""The gate of one operator, between the admission of a record and its call."""

import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from math import inf
from threading import Lock, get_ident
from typing import Any
from warnings import warn

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.limits import (
    Adaptive,
    AnyLimit,
    Breaker,
    Cost,
    InFlight,
    NotCalled,
    require_limits,
)
from asyncwait.toolkit._limits._costs import Costs
from asyncwait.toolkit._limits._ledger import Exchange, Limits
from asyncwait.toolkit._limits._lines import LOCK, Answers, Asker, Line, Permit, Stop, arrive, pump
from asyncwait.toolkit._limits._meters import Meter, Use
from asyncwait.toolkit._limits._shared import Parking
from asyncwait.toolkit._loop import Bell, running_loop
from asyncwait.toolkit._transient import attribute_of

HELD_LIMITS: ContextVar[tuple[object, ...]] = ContextVar("HELD_LIMITS", default=())
"""The limits whose permits the running call holds, together with those of the calls around it."""

_ASKED_AT_ONCE = 32
"""Requests of one line that wait for the answer of a ledger at a time."""

_ASKED_OF_A_KEY = 4
"""The same where limits have keys, so that there are many lines."""


class Requests(Meter):
    """Requests that a ledger has not answered; a permit keeps its request until its call ends."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0

    def delay(self, amount: float, now: float) -> float:
        del amount, now
        return 0 if self._open < self._most else inf

    def take(self, amount: float, now: float) -> Use:
        self._open += 1
        return Use(amount, now)

    def end(
        self, use: Use, now: float, told: float | None = None, error: BaseException | None = None
    ) -> None:
        del told, error
        if use.ended == inf:
            use.ended = now
            self._open -= 1


class Gate(Asker):
    """Permits for the calls of one operator; made on its loop.

    enter ── the call may start ── begin ── the call runs ── end
      └───────────── withdraw ───────┘

    Args:
        limits: a list of limits, or an object with a ledger; see `OperatorConfig.limits`.
        capacity: capacity of the operator.
        spent: counter of the costs of calls, by unit.
        defers: whether the room that a call leaves is granted only in the next turn of the loop: at
            the end of the call, an earlier admitted record may become ready to be called.

    Raises:
        InvalidConfig: the running call holds a permit of the same `InFlight`, so that its own calls
            would wait for its end; or the file of a budget is unusable.
    """

    def __init__(
        self,
        limits: Any,
        capacity: int,
        spent: Counter[str] | None = None,
        *,
        defers: bool = False,
    ) -> None:
        asked = require_limits(limits)
        together = None if isinstance(limits, list | tuple | Limits) else limits
        _refuse_held(asked, together)
        self._loop = running_loop()
        self._exchange: Exchange | None = None
        super().__init__(
            asked,
            capacity,
            self._loop.time,
            lambda each: together is None or isinstance(each, Adaptive | Breaker),
        )
        self.costs = Costs(asked)
        self._is_plain = self._is_plain and together is None
        self.held: tuple[object, ...] = (limits,) if together is not None else asked
        self._spent: Counter[str] = Counter() if spent is None else spent
        self._spending = Lock()
        if together is not None:
            self._exchange = Exchange(together.ledger())
        self._thread = get_ident()
        self.loop = getattr(self.clock, "__self__", self.clock)
        """Identity of the operator's loop."""
        self._posted: deque[tuple[Permit, AsyncWaitError | None]] = deque()
        """Answers from other threads."""
        self._alarms: dict[Stop, float] = {}
        self._due = inf
        self._bell = Bell()
        self._is_closed = self._has_warned = False
        self.defers = defers
        self._left: dict[Parking, None] = {}
        """Meters with room that the gate has not granted to waiting calls yet."""
        self.on_lost: Callable[[AsyncWaitError], object] = lambda _: None
        """Called when a ledger or a file can't count calls any more."""

    # Calls.

    def ask(
        self,
        values: Sequence[Any],
        answer: Callable[[Permit, AsyncWaitError | None], object],
        *,
        is_retry: bool = False,
        is_free: bool = False,
        arrival: int | None = None,
        subject: Any = None,
    ) -> Permit:
        """Request a permit for a call.

        Args:
            values: the values of the call.
            answer: see `Permit`.
            is_retry: whether the call precedes first calls.
            arrival: see `Permit`.
            subject: the record, or another subject of the call.
            is_free: see `Permit`.

        Returns:
            The permit; `answer` is called later if it `is_waiting`.

        Raises:
            CostTooLarge: the call can never start.
            CostUnknown: the cost, weight or key of a value is unknown.
            NotCalled: a limit refuses the call for good.
        """
        costs = self.costs
        amounts = () if is_free else costs.constant or costs.of(values)
        keys = costs.keys(values[0]) if costs.has_keys else None
        line = self.lines.get(keys) or self.line(keys)
        order = (not is_retry, arrive() if arrival is None else arrival)
        permit = Permit(line, amounts, answer, order, subject, is_free)
        if keys is None and self._is_plain:
            permit.since = now = self.clock()
            with LOCK:
                if line.stop is None and self.spent is None and line.takes(permit, now):
                    permit.is_waiting = False
                    return permit
        if answers := self.enter(permit):
            mine = next((each for each in answers if each[0] is permit), None)
            self.hand_out([each for each in answers if each is not mine])
            if mine is not None and mine[1] is not None:
                raise mine[1]
        return permit

    def started(self, permit: Permit, now: float | None = None) -> None:
        """Note that a call starts, from any thread."""
        if not self._notes_starts:
            permit.began = permit.since
        elif answers := self.begin(permit, self.clock() if now is None else now):
            self.hand_out(answers)
        if self._exchange is not None:
            self._exchange.begin(permit)

    def ended(self, permit: Permit, error: BaseException | None = None) -> None:
        """Note that a call has failed, or was cancelled at its time limit, from any thread."""
        if error is not None:
            error = error if isinstance(error, Exception) else TimeoutError("it was cancelled")
            permit.told = self.costs.told_by(error)
        self._end(permit, error)

    def result(self, permit: Permit, given: Any, now: float | None = None) -> Any:
        """Note that a call has ended, from any thread; return its result without its cost.

        Raises:
            CostMistold: the call reports an invalid cost.
        """
        if type(given) is not Cost and not self.costs.has_units:
            if self._exchange is not None or not permit.uses:
                self._end(permit, None)
            elif answers := self.end(permit, None, now):
                self.hand_out(answers)
            return given
        try:
            permit.told = self.costs.told(given)
            permit.given = given
        except AsyncWaitError as error:
            self._end(permit, error)
            raise
        self._end(permit, None)
        return given.result if type(given) is Cost else given

    def watch(self, answer: Callable[[Permit, AsyncWaitError | None], object]) -> None:
        """Call `answer` once when a budget is spent, even if no call waits for it."""
        self.hand_out(self.watch_budgets(answer))

    def give_back(self, permit: Permit) -> None:
        """Take back a request, or a permit whose call does not start."""
        self.hand_out(self.withdraw(permit))
        if self._exchange is not None:
            self._exchange.end(permit)

    def _end(self, permit: Permit, error: BaseException | None) -> None:
        if not permit.uses and permit.line.stops:  # It has ended before.
            return
        if self.costs.has_units or permit.given is not None:
            spent = self.costs.spent(permit.amounts, permit.told, permit.given)
            with self._spending:
                self._spent.update(spent)
        if answers := self.end(permit, error):
            self.hand_out(answers)
        if self._exchange is not None:
            self._exchange.end(permit)

    def hold(self) -> None:
        """Let all calls in the present context count as calls with permits of this gate."""
        HELD_LIMITS.set((*HELD_LIMITS.get(), *self.held))

    async def call(self, permit: Permit, function: Callable[[Any], Any], value: Any) -> Any:
        """Call a coroutine function with a permit; return its result without its cost."""
        self.started(permit)
        token = HELD_LIMITS.set((*HELD_LIMITS.get(), *self.held))
        try:
            given = await function(value)
        except BaseException as error:
            # Only a cancellation can leave a thread running; then it has `when_ended` (threads).
            later = None if isinstance(error, Exception) else attribute_of(error, "when_ended")
            if later is None:
                self.ended(permit, error)
            else:
                later(partial(self.ended, permit, error))
            raise
        finally:
            HELD_LIMITS.reset(token)
        return self.result(permit, given)

    def call_in_thread(self, permit: Permit, function: Callable[[Any], Any], value: Any) -> Any:
        """Call a plain function with a permit, in any thread; see `call`."""
        self.started(permit)
        token = HELD_LIMITS.set((*HELD_LIMITS.get(), *self.held))
        try:
            given = function(value)
        except BaseException as error:
            self.ended(permit, error)
            raise
        finally:
            HELD_LIMITS.reset(token)
        return self.result(permit, given)

    async def further(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Wait for one more permit within a call, and make a call of its own with it.

        Raises:
            NotCalled: the call can not start.
        """
        bell = Bell()
        answers: list[AsyncWaitError | None] = []

        def answer(_: Permit, error: AsyncWaitError | None) -> None:
            answers.append(error)
            bell.ring()

        try:
            permit = self.ask([value], answer, is_retry=True)
        except AsyncWaitError as error:
            raise self._own(error) from None
        try:
            while permit.is_waiting and not answers:
                await bell.wait()
            await sys.modules["anyio"].lowlevel.checkpoint_if_cancelled()
        except BaseException:
            self.give_back(permit)
            raise
        if answers and answers[0] is not None:
            raise self._own(answers[0])
        return await self.call(permit, function, value)

    def _own(self, error: AsyncWaitError) -> AsyncWaitError:
        if isinstance(error, NotCalled):
            error.gate = self
        return error

    def note_abandoned(self, count: int) -> None:
        """Warn if calls wait for the end of other calls, and all of these are abandoned.

        Args:
            count: abandoned calls that still run.
        """
        with LOCK:
            lines = [*self.lines.values()]
            parked = [each.stop for each in lines if each.stop is not None]
            is_idle = any(stop.meter.due == inf for stop in parked)
            if self._has_warned or not is_idle or sum(each.open for each in lines) > count:
                return
        self._has_warned = True
        text = (
            f"calls wait for {self.limits[parked[0].place]}, and only {count} abandoned call(s) "
            "can make room: give the client a time limit of its own"
        )
        warn(text, RuntimeWarning, stacklevel=2)

    # Answers.

    def granted(self, permit: Permit, answers: Answers) -> None:
        if self._exchange is None or permit.is_free:
            answers.append((permit, None))
        else:
            permit.is_waiting = True
            self._exchange.ask(permit, self._ledger_answered)

    def further_stops(self) -> Sequence[Stop]:
        if self._exchange is None:
            return ()
        most = _ASKED_OF_A_KEY if self.costs.has_keys else _ASKED_AT_ONCE
        return [Stop(Parking(Requests(most)), 0.0, len(self.limits))]

    def _ledger_answered(self, permit: Permit, error: AsyncWaitError | None) -> None:
        answers: Answers = []
        with LOCK:
            stop = permit.line.stops[-1]
            if error is None:
                if permit.uses:
                    stop.meter.meter.end(permit.uses[-1], self.clock())
            else:
                self.release(permit)
            permit.is_waiting = False
            pump(stop.meter, answers)
        self.hand_out([(permit, error), *answers])

    def hand_out(self, answers: Answers) -> None:
        """Call the `answer` of each permit on the loop of its operator; without the lock."""
        for permit, error in answers:
            gate = permit.line.asker
            is_here = gate is self or (isinstance(gate, Gate) and gate.loop is self.loop)
            if isinstance(gate, Gate) and is_here and get_ident() == self._thread:
                gate.answer(permit, error)
            else:
                gate.post(permit, error)

    def post(self, permit: Permit, error: AsyncWaitError | None) -> None:
        """Deliver an answer from another operator, or from another thread."""
        self._posted.append((permit, error))
        try:
            self._loop.call_soon_threadsafe(self._bell.ring)
        except RuntimeError:  # The loop is closed: no call starts there.
            while self._posted:
                self.hand_out(self.withdraw(self._posted.popleft()[0]))

    def answer(self, permit: Permit, error: AsyncWaitError | None) -> None:
        """Call the `answer` of a permit, on the loop of its operator."""
        if permit.is_withdrawn:
            if self._exchange is not None:  # The ledger may have answered meanwhile.
                self._exchange.end(permit)
        elif self._is_closed:
            self.give_back(permit)
        elif permit.began < inf:
            self.on_lost(error or AsyncWaitError())
        else:
            permit.answer(permit, error)

    # Time.

    def wake_at(self, stop: Stop, when: float) -> None:
        if when < self._alarms.get(stop, inf):
            self._alarms[stop] = when
        if when < self._due:
            self._due = when
            self._ring()

    def _ring(self) -> None:
        with suppress(RuntimeError):  # The loop is closed: no call starts there.
            if get_ident() == self._thread:
                self._bell.ring()
            else:
                self._loop.call_from_thread(self._bell.ring)

    async def keep_time(self) -> None:
        """Check the meters when calls leave them, and deliver the answers of other threads.

        It runs in a task of the operator, because only such a task can start workers.
        """
        anyio: Any = sys.modules["anyio"]  # which runs this task
        while not self._is_closed:
            with anyio.CancelScope(deadline=self._due) as nap:
                if not (self._posted or self._left):
                    await self._bell.wait()
            while self._posted:
                self.answer(*self._posted.popleft())
            self._give_away()
            if nap.cancelled_caught:
                now = max(self.clock(), self._due)
                with LOCK:
                    due = [stop for stop, when in self._alarms.items() if when <= now]
                    for stop in due:
                        del self._alarms[stop]
                for stop in due:
                    self.hand_out(self.look(stop, now))
            with LOCK:
                self._due = min(self._alarms.values(), default=inf)

    def left_room(self, parking: Parking, answers: Answers) -> None:
        if not self.defers or self._is_closed:
            super().left_room(parking, answers)
            return
        self._left[parking] = None
        self._ring()

    def _give_away(self) -> None:
        answers: Answers = []
        with LOCK:
            while self._left:
                pump(self._left.popitem()[0], answers)
        self.hand_out(answers)

    # The end.

    def close(self) -> None:
        """Let no further call start."""
        if self._is_closed:
            return
        self._is_closed = True
        self._give_away()
        answers: Answers = []
        with LOCK:
            for watch in self._watches:
                watch.stop = None
            lines: list[Line] = [*self.lines.values()]
            for line in lines:
                for permit in (*line.retries, *line.first_calls):
                    permit.is_waiting = False
                line.advance(answers)
        self.hand_out(answers)
        while self._posted:
            self.give_back(self._posted.popleft()[0])
        self._ring()

    def forget(self) -> None:
        """Close the exchange with the ledger, when no call runs any more."""
        if self._exchange is not None:
            self._exchange.close()


class Hand:
    """The permit of a record whose function makes several calls, each with a permit of its own.

    Args:
        gate: the gate of the operator.
        permit: the permit for the first of these calls; None to request a new permit.
    """

    def __init__(self, gate: Gate, permit: Permit | None) -> None:
        self._gate = gate
        self._permit = permit

    async def call_all(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call the function, which makes its calls by `call`."""
        token = IN_HAND.set(self)
        try:
            return await function(value)
        finally:
            IN_HAND.reset(token)
            if self._permit is not None:
                self._gate.give_back(self._permit)

    async def call(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Make one call, the first with the permit of the record, others with further permits."""
        permit, self._permit = self._permit, None
        token = IN_HAND.set(None)
        try:
            if permit is None:
                return await self._gate.further(function, value)
            return await self._gate.call(permit, function, value)
        finally:
            IN_HAND.reset(token)


IN_HAND: ContextVar[Hand | None] = ContextVar("IN_HAND", default=None)
"""The permit of the running call, if the function makes several calls."""


def _refuse_held(asked: Sequence[AnyLimit], together: object) -> None:
    held = HELD_LIMITS.get()
    has_room = any(isinstance(each, InFlight) for each in asked)
    if together is not None and has_room and together in held:
        raise _held(together)
    for each in asked:
        if isinstance(each, InFlight) and any(each is other for other in held):
            raise _held(each)


def _held(limits: object) -> InvalidConfig:
    expected = "others than those whose permit the call that opens the operator holds"
    return InvalidConfig.of("limits", limits, expected)
