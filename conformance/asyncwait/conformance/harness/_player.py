"""Plays a scenario on an operator, leg by leg, and returns the trace."""

import asyncio
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from asyncwait.conformance.harness._clock import (
    LoopName,
    SpinWatch,
    VirtualLoop,
    loop_clock,
    run_virtual,
)
from asyncwait.conformance.harness._function import planned_function
from asyncwait.conformance.harness._recorder import Recorder
from asyncwait.conformance.harness._sink import ScriptedSink, describe_failure
from asyncwait.conformance.harness._source import ScriptedSource, given_as, planned_source_error
from asyncwait.spec import OpenOperator
from asyncwait.spec.scenario import (
    Closed,
    Ending,
    Leg,
    LegStart,
    Scenario,
    SinkLeft,
    SnapshotAsked,
    SnapshotRequest,
    Trace,
    next_leg,
)

PATIENCE = 10
"""A leg may last this many times the longest legal duration of its scenario."""


def play(open_operator: OpenOperator, scenario: Scenario, loop: LoopName = "asyncio") -> Trace:
    """Play all legs of `scenario` on a virtual clock.

    Args:
        open_operator: the operator under test.
        scenario: the plan.
        loop: "asyncio" or "trio".
    """
    legs: list[Leg] = []
    plan: LegStart | None = LegStart.first(scenario)
    while plan is not None:
        leg = play_leg(open_operator, plan, loop)
        legs.append(leg)
        plan = next_leg(plan, leg)
    return Trace(tuple(legs))


def play_leg(open_operator: OpenOperator, plan: LegStart, loop: LoopName = "asyncio") -> Leg:
    """Play one leg in an event loop of its own."""

    async def main(spin: SpinWatch) -> Leg:
        return await _LegPlayer(open_operator, plan, spin).play()

    return run_virtual(main, loop)


class _LegPlayer:
    """One leg while it is played."""

    def __init__(self, open_operator: OpenOperator, plan: LegStart, spin: SpinWatch) -> None:
        scenario = plan.scenario
        self._open_operator = open_operator
        self._plan = plan
        self._spin = spin
        self._recorder = Recorder(scenario, loop_clock())
        error = planned_source_error(scenario)
        ends_at = max(0, scenario.source_ends_at - plan.began_at)
        source = ScriptedSource(
            plan.inputs,
            ends_at,
            error,
            self._recorder,
            plan.first_index,
            close_takes=scenario.close_takes,
            close_error=scenario.close_error,
        )
        self._source = given_as(scenario.source, source)
        script = scenario.sink if plan.number == 0 else ()
        self._sink = ScriptedSink(script, self._recorder, error)
        self._results: Any = None
        self._ending: Ending | None = None
        self._doing = ""
        """What the harness waits for the operator to do; empty while it only consumes."""

    async def play(self) -> Leg:
        """Open, consume, leave; then count what is left."""
        limit = (PATIENCE * self._plan.scenario.horizon + 1_000) / 1000
        before = _Census.take()
        async with anyio.create_task_group() as helpers:
            with anyio.move_on_after(limit) as bound:
                self._spin.on_spin = lambda: self._stop(bound, "livelock")
                await self._operate(helpers)
            if bound.cancel_called and self._doing != "done":
                self._note_hang()
            helpers.cancel_scope.cancel()
        # The harness's own tasks are gone now: what is still there is the operator's.
        return self._leg(_Census.take().beyond(before))

    def _note_hang(self) -> None:
        if self._ending is None or self._ending.how != "livelock":
            self._ending = Ending("hung", self._recorder.now(), detail=self._doing)

    def _stop(self, scope: anyio.CancelScope, how: Any) -> None:
        self._ending = Ending(how, self._recorder.now())
        scope.cancel()

    async def _operate(self, helpers: Any) -> None:
        plan, recorder = self._plan, self._recorder
        fn = planned_function(plan.scenario, recorder, helpers.start_soon)
        with anyio.CancelScope() as life:
            try:
                operator = self._open_operator(plan.config, fn, self._source, plan.restored)
                async with operator as self._results:
                    self._set_alarms(helpers, life)
                    ending = await self._sink.consume(self._results)
                    # From here on no alarm changes how it ended, however long leaving takes.
                    self._ending = self._ending or ending
                    self._doing = "while it is read again"
                    again = "" if ending.how == "left" else await self._sink.again(self._results)
                    self._doing = "while it is left"
            except Exception as error:
                # Opening or leaving the context raised: the operator's doing.
                self._fail(error)
                self._doing = "done"
                return
            finally:
                recorder.events.append(Closed(recorder.now()))
            self._doing = "while it is read after leaving"
            after = await self._sink.again(self._results)
            if self._ending is ending:
                self._ending = msgspec.structs.replace(ending, again=again, after=after)
        self._doing = "done"

    def _fail(self, error: BaseException) -> None:
        self._ending = describe_failure(error, self._recorder.now())

    def _set_alarms(self, helpers: Any, life: anyio.CancelScope) -> None:
        scenario, crash = self._plan.scenario, self._plan.crash
        if crash is not None:
            helpers.start_soon(self._end_at, crash.at, life, "crashed")
        if scenario.cancel_at is not None and self._plan.number == 0:
            helpers.start_soon(self._end_at, scenario.cancel_at, life, "left")
        for request in self._plan.requests:
            helpers.start_soon(self._request, request, life)

    async def _end_at(self, at: int, life: anyio.CancelScope, how: Any) -> None:
        await anyio.sleep(at / 1000)
        if self._ending is None:
            self._ending = Ending(how, self._recorder.now())
            self._recorder.events.append(SinkLeft(self._recorder.now()))
            self._doing = "while it is left"
            life.cancel()

    async def _request(self, request: SnapshotRequest, life: anyio.CancelScope) -> None:
        await anyio.sleep(request.at / 1000)
        recorder = self._recorder
        if self._ending is None:
            recorder.events.append(SnapshotAsked(recorder.now(), request.checkpoint_id))
            try:
                self._results.request_snapshot(request.checkpoint_id)
            except Exception as error:
                self._fail(error)
                life.cancel()

    def _abandoned(self) -> int:
        """Return the operator's own count; asking for it must not raise either."""
        if self._results is None:
            return 0
        try:
            abandoned: int = self._results.statistics().abandoned
        except Exception as error:
            self._fail(error)
            return 0
        return abandoned

    def _leg(self, left: "_Census") -> Leg:
        abandoned = self._abandoned()
        return Leg(
            ending=self._ending or Ending("error", detail="the leg ended without an ending"),
            events=tuple(self._recorder.events),
            first_index=self._plan.first_index,
            restored=self._plan.restored,
            mode=self._plan.config.mode,
            capacity=self._plan.config.capacity,
            tasks_left=left.tasks,
            timers_left=left.timers,
            refused=self._recorder.refused,
            abandoned=abandoned,
        )


class _Census(Struct, frozen=True):
    """How many tasks and timers there are."""

    tasks: int
    timers: int

    @classmethod
    def take(cls) -> "_Census":
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            import trio  # an extra, and here it runs already

            return cls(trio.lowlevel.current_statistics().tasks_living, 0)
        timers = running.pending_timers() if isinstance(running, VirtualLoop) else 0
        return cls(len(asyncio.all_tasks(running)), timers)

    def beyond(self, before: "_Census") -> "_Census":
        return _Census(max(0, self.tasks - before.tasks), max(0, self.timers - before.timers))
