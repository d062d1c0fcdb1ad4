"""Writes the events of a leg; everything that is observed goes through here."""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio

from asyncwait.conformance.harness._telling import portable
from asyncwait.conformance.harness._tracking import Tracker
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Event,
    HandlerAsked,
    Misuse,
    MisuseKind,
    Scenario,
    Step,
    identity,
)

_EARLY = 5.0  # ms
_BEAT = 5  # ms


class Recorder:
    """The events of one leg so far.

    Args:
        scenario: gives each call its step.
        clock: returns the seconds since some fixed moment, on any thread; the leg begins now.
        grid: ms between two instants, for a real clock, which is always late; None for a virtual
            one. Each time is rounded to the nearest instant, and the greatest lateness is kept.
        blocker: blocks the loop for so many seconds; see `loop_blocker`.
        shares_objects: the very objects that the source gives come to the function and out again.

    Attributes:
        events: so far, in the order in which they were written.
        late_by: the greatest lateness so far, in ms. From half a step on, events may have been
            taken for those of a later instant.
        refused: what a completion in callback form raised at the user.
        company: what went wrong with another operator on the loop.
        visit: what the first call does before anything else, if there is something.
        raised: every planned error of calls that was raised, each the very object.
        passing: those of the source and of hooks, which pass as they are.
        tracker: knows the objects that stand for values.
        cuts: from when until when what the consumer awaits may be cut short while it leaves, in
            ms.
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
        self.events: list[Event] = []
        self.late_by: float = 0
        self.refused = ""
        self.company = ""
        self.visit: Callable[[], Awaitable[None]] | None = None
        self.raised: list[BaseException] = []
        self.passing: list[BaseException] = []
        self.cuts = math.inf, -math.inf
        is_on = shares_objects and (scenario.tracked or scenario.tells_apart)
        on_copy = partial(self.misused, "copied")
        self.tracker = Tracker(on_copy, is_on=is_on, looks=scenario.tracked)
        self._scenario = scenario
        self._clock = clock
        self._grid = grid
        self._blocker = blocker
        self._began = clock()
        self._calls = 0
        self._blocked = 0
        self._ordinals: Counter[str] = Counter()

    @property
    def is_cut(self) -> bool:
        """Whether what is cancelled now, while it closes something, is so by consumer or loop.

        A loop that an error of the plan ends cancels all tasks that there are.
        """
        ended = any(isinstance(error, KeyboardInterrupt | SystemExit) for error in self.raised)
        return ended or self.cuts[0] <= self.now() <= self.cuts[1]

    @property
    def is_on_grid(self) -> bool:
        """Whether the clock is a real one."""
        return self._grid is not None

    def now(self) -> float:
        """Return the ms since the leg began; rounded, so that equal instants are equal."""
        passed = self.passed()
        if self._grid is None:
            return round(passed, 3)
        late = passed % self._grid
        # What another process sends in time comes early where the first of it came late.
        if late < self._grid - _EARLY:
            self.late_by = max(self.late_by, late)
        return float(round(passed / self._grid) * self._grid)

    def was_due(self, at: float) -> None:
        """Note how far from its time something is that was due at `at` ms.

        Of that `now` sees less than a step.
        """
        self.late_by = max(self.late_by, abs(self.passed() - at))

    def block(self, ms: int) -> None:
        """Block the loop for `ms`, and note it; 0 is not at all."""
        if ms:
            began = self.now()
            self.events.append(Blocked(began, round(began + ms, 3)))
            self._blocker(ms / 1000)
            self._blocked += ms

    def unblocked(self) -> float:
        """Return the ms since the leg began in which the loop was not blocked."""
        return self.now() - self._blocked

    def planned(self, error: BaseException, *, passes: bool = False) -> BaseException:
        """Remember an error that is raised by plan, and return it.

        Args:
            error: the very object.
            passes: it has to come out as it is, as those of the source and of hooks do.
        """
        (self.passing if passes else self.raised).append(error)
        return error

    def misused(self, what: MisuseKind, detail: str) -> None:
        """Note that the operator does what the contract rules out."""
        self.events.append(Misuse(self.now(), what, detail))

    async def measure_lateness(self) -> None:
        """Measure, without end, how late the loop is: no stall may hide between two events."""
        at = 0
        while True:
            self.was_due(at)
            at += _BEAT
            await anyio.sleep(max(0.0, self.until(at)) / 1000)

    def passed(self) -> float:
        """Return the ms since the leg began, as the clock says."""
        return (self._clock() - self._began) * 1000

    def until(self, at: float) -> float:
        """Return the ms from now until `at`, which may be over."""
        return at - (self.now() if self._grid is None else self.passed())

    def call_started(self, value: Any) -> tuple[int, Step]:
        """Note a call of `value`; return its number and what it has to do."""
        value, record = self.tracker.called(value)
        call = self._calls
        self._calls += 1
        key = identity(value)
        step = self._scenario.step(value, self._ordinals[key])
        self._ordinals[key] += 1
        self.events.append(CallStarted(self.now(), call, portable(value), self._told(record)))
        return call, step

    def handler_asked(self, value: Any) -> Any:
        """Note that the handler is asked for `value`; return it as the scenario has it."""
        value, record = self.tracker.called(value)
        self.events.append(HandlerAsked(self.now(), portable(value), self._told(record)))
        return value

    def _told(self, record: int | None) -> int | None:
        """Return the number of a record where a trace has to tell it."""
        return record if self._scenario.tells_apart else None

    def call_cancelled(self, call: int) -> None:
        """Note that a cancellation reached the call."""
        self.events.append(CallCancelled(self.now(), call))

    def call_returned(self, call: int, results: tuple[Any, ...]) -> None:
        """Note that the call gave `results`."""
        self.events.append(CallEnded(self.now(), call, "returned", tuple(map(portable, results))))

    def call_raised(self, call: int, results: tuple[Any, ...] = ()) -> None:
        """Note that the call raised, having been completed with `results` before."""
        self.events.append(CallEnded(self.now(), call, "raised", results))

    def call_misreturned(self, call: int) -> None:
        """Note that the call gave something that is not a collection of results."""
        self.events.append(CallEnded(self.now(), call, "misreturned"))

    def call_ended_cancelled(self, call: int) -> None:
        """Note that the call ended by its cancellation."""
        self.events.append(CallEnded(self.now(), call, "cancelled"))
