"""A player of plans, on a clock that jumps, and the history that it records."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, TypeAlias

import anyio
from msgspec import Struct

from asyncwait.conformance.harness import LoopName, SpinWatch, run_virtual
from asyncwait.conformance.hedge._plan import Attempt, HedgePlan
from asyncwait.toolkit import Hedge, StandIns

Kind: TypeAlias = Literal["begins", "gives", "fails", "ends cancelled", "outcome", "is cancelled"]


class Event(Struct, frozen=True):
    """An event of a run.

    Args:
        at: milliseconds.
        attempt: its number, from 0.
        kind: of a call, or "outcome" and "is cancelled" of the attempt.
        function: number of the function, from 0.
        call: 0 for its first call for the attempt, 1 for the hedge.
        said: text of a result or an error, which names its call.
    """

    at: int
    attempt: int
    kind: Kind
    function: int = -1
    call: int = -1
    said: str = ""


class HedgeHistory(Struct, frozen=True):
    """The history of a played plan."""

    plan: HedgePlan
    events: tuple[Event, ...]

    def of(self, kind: Kind) -> Iterator[tuple[int, Event]]:
        """Yield the events of a kind, each behind its number."""
        return ((at, event) for at, event in enumerate(self.events) if event.kind == kind)

    def among(self, attempt: int) -> list[tuple[int, Event]]:
        """Return the events of an attempt, each behind its number."""
        return [(at, event) for at, event in enumerate(self.events) if event.attempt == attempt]


class Failed(Exception):
    """The error of a call."""


def play_hedges(
    plan: HedgePlan, kind: type[StandIns[Any, Any]] = StandIns, loop: LoopName = "asyncio"
) -> HedgeHistory:
    """Call a function with fallbacks and hedges as a plan says; return the history."""
    return run_virtual(partial(_Player(plan).play, kind), loop)


class _Player:
    def __init__(self, plan: HedgePlan) -> None:
        self._plan = plan
        self._events: list[Event] = []
        self._begun: dict[tuple[int, int], int] = {}

    async def play(self, kind: type[StandIns[Any, Any]], _: SpinWatch) -> HedgeHistory:
        after = self._plan.after
        seconds = after / 1000 if isinstance(after, int) else after
        hedge = None if seconds is None else Hedge(seconds, self._plan.at_most)
        functions = range(max(len(each.steps) for each in self._plan.attempts))
        called = kind(*(partial(self._call, each) for each in functions), hedge=hedge)
        async with anyio.create_task_group() as group:
            for number, attempt in enumerate(self._plan.attempts):
                group.start_soon(self._attempt, called, number, attempt)
        return HedgeHistory(self._plan, tuple(self._events))

    def _note(self, *args: Any) -> None:
        at = round(1000 * (anyio.current_time() - self._started))
        self._events.append(Event(at, *args))

    async def _attempt(self, called: StandIns[Any, Any], number: int, attempt: Attempt) -> None:
        await anyio.sleep_until(self._started + attempt.at / 1000)
        ends = attempt.at + attempt.cancelled if attempt.cancelled is not None else None
        deadline = float("inf") if ends is None else self._started + ends / 1000
        with anyio.CancelScope(deadline=deadline) as scope:
            try:
                said = await called(number)
            except Failed as error:
                said = str(error)
            self._note(number, "outcome", -1, -1, said)
        if scope.cancelled_caught:
            self._note(number, "is cancelled")

    @property
    def _started(self) -> float:
        return 0.0

    async def _call(self, function: int, number: int) -> str:
        call = self._begun.get((number, function), 0)
        self._begun[number, function] = call + 1
        step = self._plan.attempts[number].steps[function][min(call, 1)]
        said = f"{number}.{function}.{call}"
        self._note(number, "begins", function, call)
        try:
            await anyio.sleep(step.after / 1000)
        except BaseException:
            self._note(number, "ends cancelled", function, call)
            raise
        self._note(number, "fails" if step.fails else "gives", function, call, said)
        if step.fails:
            raise Failed(said)
        return said
