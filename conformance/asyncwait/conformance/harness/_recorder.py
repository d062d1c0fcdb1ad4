"""Writes the events of a leg; every observation goes through here.

Listeners, which search for the fault of an operator, hear of events when they happen. They are for
a process in which one scenario is played at a time, for its author.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeAlias

import anyio

from asyncwait.conformance.harness._cancelling import clean_up_unshielded, outlast
from asyncwait.conformance.harness._contexts import Contexts
from asyncwait.conformance.harness._loads import Ask, as_calls, key_of
from asyncwait.conformance.harness._telling import describe_failure, portable, seconds, whole_number
from asyncwait.conformance.harness._tracking import Tracker
from asyncwait.spec import OperatorError
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    EndingKind,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    Misuse,
    MisuseKind,
    Scenario,
    Step,
    identity,
)


class Listener(Protocol):
    """Hears of each event at the moment at which it is recorded, on any thread."""

    def begins(self, scenario: Scenario) -> None:
        """Note that a leg of `scenario` begins."""
        ...

    def hears(self, event: Event) -> None:
        """Note an event that has just happened."""
        ...

    def overdue(self, how: EndingKind) -> None:
        """Note that the harness is about to end the leg: the operator is still in its state."""
        ...


_listeners: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Generator[None]:
    """Have `listener` hear of every event that this process records meanwhile."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _Heard(list[Event]):
    def append(self, event: Event) -> None:
        super().append(event)
        for listener in _listeners:
            listener.hears(event)


def events_of(scenario: Scenario) -> list[Event]:
    """Return the list for the events of a leg that begins now."""
    for listener in _listeners:
        listener.begins(scenario)
    return _Heard() if _listeners else []


def is_heard() -> bool:
    """Whether there are listeners."""
    return bool(_listeners)


def tell_overdue(how: EndingKind) -> None:
    """Tell all listeners that the harness is about to end the leg."""
    for listener in _listeners:
        listener.overdue(how)


_NO_NUMBERS = {"at", "oldest", "waiting_for_permits"}
_FIGURES = tuple(name for name in FiguresRead.__struct_fields__ if name not in _NO_NUMBERS)

CallEnd: TypeAlias = Literal["returned", "raised", "misreturned", "cancelled"]

EARLY = 5  # ms
"""Bound on how early a punctual event of another process seems if the first event came late."""

_BEAT = 5  # ms

IDLE_WAKES = 64
"""Instants in which the loop may run idle, besides one for each event."""


def _is_for_all(errors: Iterable[BaseException]) -> bool:
    return any(isinstance(error, KeyboardInterrupt | SystemExit) for error in errors)


_RAISED = 4
"""Errors kept for each record in flight: of its call, its handlers and their results."""


class Recorder:
    """The events of one leg so far.

    Args:
        scenario: gives each call its step.
        clock: returns the seconds since some fixed moment, on any thread; the leg begins now.
        grid: ms between two instants, for a real clock, which is always late; None for a virtual
            clock. Each time is rounded to the nearest instant; `late_by` is the greatest lateness.
        blocker: blocks the loop for a number of seconds; see `loop_blocker`.
        shares_objects: the function and the consumer get the very objects of the source.

    Attributes:
        late_by: the greatest lateness so far, in ms. If it is too great, events may have been
            taken for events of a later instant; see `in_real_time`.
        cuts: first and last ms at which leaving may cut short what the consumer awaits.
    """

    def __init__(
        self,
        scenario: Scenario,
        clock: Callable[[], float],
        *,
        grid: int | None = None,
        blocker: Callable[[float], object] = time.sleep,
        shares_objects: bool = True,
    ) -> None:
        self.events = events_of(scenario)
        self.late_by: float = 0
        self.refused = ""
        self.raised: list[BaseException] = []
        self.passing: list[BaseException] = []
        self.cuts = math.inf, -math.inf
        """First and last ms at which a cancellation may cut closing short: see `unblocked`."""
        needed = scenario.tracked or scenario.tells_apart or scenario.copies
        copies = shares_objects and scenario.copies
        # Objects in a cache are no leak.
        looks = scenario.tracked and scenario.cache is None
        self.tracker = Tracker(
            self.misused, is_on=shares_objects and needed, looks=looks, copies=copies
        )
        # A mapping can't have one answer for each of two equal values.
        is_listed = scenario.batch is not None and scenario.batch.answers == "list"
        self.tracker.has_equal_values = is_listed and not (scenario.tracked or scenario.copies)
        self.contexts = Contexts(self.misused) if scenario.contexts else None
        self._is_unshielded = scenario.unshielded and scenario.form == "coroutine"
        self._scenario = scenario
        self._clock = clock
        self._grid = grid
        self._blocker = blocker
        self._began = clock()
        self._calls = self._batches = 0
        self._asks: list[Ask] = []
        self._values: dict[int, Any] = {}
        self._blocked = 0
        self._ordinals: Counter[str] = Counter()

    @property
    def is_cut(self) -> bool:
        """Whether consumer or loop cancel what is now cancelled while it closes.

        A loop that an error of the plan ends cancels all its tasks. On a blocked loop no task sees
        a cancellation before the loop goes on.
        """
        return _is_for_all(self.raised) or self.cuts[0] <= self.unblocked() <= self.cuts[1]

    @property
    def is_on_grid(self) -> bool:
        """Whether the clock is a real clock."""
        return self._grid is not None

    def now(self) -> float:
        """Return the ms since the leg began; rounded, so that equal instants are equal."""
        return self.passes(self.passed())

    def passes(self, ms: float) -> float:
        """Note the lateness of an event at `ms`; return the instant it belongs to."""
        if self._grid is None:
            return round(ms, 3)
        if (late := ms % self._grid) < self._grid - EARLY:
            self.late_by = max(self.late_by, late)
        return float(round(ms / self._grid) * self._grid)

    def was_due(self, at: float) -> None:
        """Note how far from its due time, in ms, an event is.

        `now` alone would see only the part below a step.
        """
        self.late_by = max(self.late_by, abs(self.passed() - at))

    def block(self, ms: int) -> None:
        """Block the loop for `ms`, and note it; do nothing for 0."""
        if ms:
            began = self.now()
            self._blocked += ms
            self._blocker(ms / 1000)  # Events of other threads as it begins come first.
            self.events.append(Blocked(began, round(began + ms, 3)))

    def unblocked(self) -> float:
        """Return the ms since the leg began in which the loop was not blocked.

        Rounded: back-offs are no whole ms, and two readings of one instant must not differ.
        """
        return round(self.now() - self._blocked, 6)

    def planned(self, error: BaseException, *, passes: bool = False) -> BaseException:
        """Remember a planned error, and return it."""
        (self.passing if passes else self.raised).append(error)
        if self._scenario.tracked:  # Frames of errors hold values, which must be released.
            for past in self.raised[: -self._scenario.capacity]:
                past.__traceback__ = None
            del self.raised[: -_RAISED * self._scenario.capacity]
        return error

    def is_planned(self, error: BaseException) -> bool:
        """Whether `error` is the end of the stream, a planned error, or reports a failed record."""
        if isinstance(error, StopIteration | StopAsyncIteration | OperatorError):
            return True
        return any(error is each for each in (*self.raised, *self.passing))

    def misused(self, what: MisuseKind, detail: str) -> None:
        """Note that the operator does something that the contract rules out."""
        self.events.append(Misuse(self.now(), what, detail))

    def note_wakes(self, wakes: int) -> None:
        """Note a loop that woke in `wakes` instants, if events were far fewer."""
        idle = wakes - len({event.at for event in self.events})
        if idle > IDLE_WAKES + len(self.events):
            self.misused("restless", f"the loop woke {idle} times while nothing happened")

    async def measure_lateness(self) -> None:
        """Measure the lateness of the loop, without end: no stall may hide between two events."""
        at = 0
        try:
            while True:
                self.was_due(at)
                at += _BEAT
                await anyio.sleep(max(0.0, self.until(at)) / 1000)
        finally:
            if self.passed() > at:  # The task that ends this may be the first to run after a stall.
                self.was_due(at)

    def passed(self) -> float:
        """Return the ms since the leg began, as the clock says."""
        return (self._clock() - self._began) * 1000

    def until(self, at: float) -> float:
        """Return the ms from now until `at`; negative if `at` is past."""
        return at - (self.now() if self._grid is None else self.passed())

    def call_started(self, value: Any) -> tuple[int, Step]:
        """Note a call of `value`; return its number and its step."""
        return self._call(*self.tracker.called(value))

    def batch_started(self, values: Sequence[Any]) -> list[tuple[int, Step]]:
        """Note a call of the function with several values; return a call and a step for each."""
        if not values:
            self.misused("batch-empty", "the function is called with an empty batch")
        batch, self._batches = self._batches, self._batches + 1
        calls = [self._noted(*self.tracker.called(value), batch) for value in values]
        for call, _ in calls[:1]:  # They share task and context.
            self._looks(call)
        return calls

    def key_asked(self, value: Any) -> Any:
        """Note that the operator asks for the key of a value; return the key."""
        known, record = self.tracker.called(value)
        self._asks.append(Ask(len(self._asks), len(self.events), self.now(), known, record))
        if self.contexts is not None:
            self.contexts.is_asked("key function")
        return key_of(known)

    def told(self, ended_at: float) -> tuple[Event, ...]:
        """Return the events of a leg that ended at `ended_at` ms."""
        if self._scenario.cache is None:
            return tuple(self.events)
        return as_calls(self._scenario, self.events, self._asks, ended_at)

    def _call(self, value: Any, record: int | None) -> tuple[int, Step]:
        call, step = self._noted(value, record)
        self._looks(call)
        return call, step

    def _noted(self, value: Any, record: int | None, batch: int | None = None) -> tuple[int, Step]:
        call = self._calls
        self._calls += 1
        key = identity(value)
        step = self._scenario.step(value, self._ordinals[key])
        if self._scenario.limits:
            self._values[call] = value
        self._ordinals[key] += 1
        told = self._told(record)
        self.events.append(CallStarted(self.now(), call, portable(value), told, batch))
        return call, step

    def _looks(self, call: int) -> None:
        if self.contexts is not None:
            self.contexts.call_begins(call)

    def call_goes_on(self, call: int) -> None:
        """Check the context that a call sees after it has waited."""
        if self.contexts is not None:
            self.contexts.call_goes_on(call)

    async def clean_up(self, call: int, seconds: float) -> None:
        """Clean up for `seconds` in a cancelled call."""
        if not self._is_unshielded:
            await outlast(seconds)
            return
        wrong = await clean_up_unshielded(seconds, in_a_group=call % 2 == 1)
        if wrong and not _is_for_all(self.raised + self.passing):
            self.misused("cancelled-otherwise", f"call {call} {wrong}")

    def cost(self, value: Any) -> float:
        """Return the cost of a call for a value; the operator calls this."""
        return self._scenario.cost(self.tracker.number(value)[0])

    def group(self, value: Any) -> str:
        """Return the limit key of a value; the operator calls this."""
        return self._scenario.group(self.tracker.number(value)[0])

    def used(self, call: int, step: Step) -> int | None:
        """Return the cost that a call reports; None for no cost."""
        return self._scenario.used(self._values[call], step) if self._scenario.limits else None

    def handler_asked(self, value: Any) -> Any:
        """Note a call of the timeout handler; return the value as the scenario has it."""
        value, record = self.tracker.called(value, "handler-shares")
        self.events.append(HandlerAsked(self.now(), portable(value), self._told(record)))
        if self.contexts is not None:
            self.contexts.is_asked("timeout handler")
        return value

    def failure_asked(self, value: Any, error: BaseException) -> Any:
        """Note a call of the failure handler; return the value as the scenario has it."""
        value, record = self.tracker.called(value, "handler-shares")
        seen = describe_failure(error, 0, self.raised, named=self.tracker.named)
        attempts = max(1, seen.attempts)
        asked = FailureAsked(
            self.now(), portable(value), seen.error, seen.cause, attempts, self._told(record)
        )
        self.events.append(asked)
        if self._scenario.tracked:
            for past in self.raised:  # It may still end the leg; its frames hold values.
                if past is error.__cause__:
                    past.__traceback__ = None
        if self.contexts is not None:
            self.contexts.is_asked("failure handler")
        return value

    def _told(self, record: int | None) -> int | None:
        return record if self._scenario.tells_apart else None

    def figures_read(self, figures: Any) -> None:
        """Note the statistics of the operator.

        Raises:
            TypeError: a figure is no number; the message names it.
        """
        now = self.now()
        read = {
            name: whole_number(getattr(figures, name), f"statistics().{name}") for name in _FIGURES
        }
        oldest = seconds(figures.oldest, "statistics().oldest") * 1000
        if self._grid is not None:
            oldest = round(oldest / self._grid) * self._grid
        name = "statistics().waiting_for_permits"
        waiting = [whole_number(each, name) for each in getattr(figures, name[13:], ())]
        self.events.append(
            FiguresRead(now, **read, oldest=round(oldest, 3), waiting_for_permits=tuple(waiting))
        )

    def call_cancelled(self, call: int) -> None:
        """Note that a cancellation reached the call."""
        self.events.append(CallCancelled(self.now(), call))

    def call_ended(self, call: int, how: CallEnd, results: tuple[Any, ...] = ()) -> None:
        """Note how a call ended, and its results, or the results completed before it raised."""
        given = tuple(map(portable, results))
        self.events.append(CallEnded(self.now(), call, how, given))
