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
from asyncwait.conformance.harness._source import PlannedSourceError, ScriptedSource
from asyncwait.spec import (
    Mode,
    OpenOperator,
    OperatorConfig,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
)
from asyncwait.spec.scenario import (
    Crash,
    Ending,
    Left,
    Leg,
    Scenario,
    SinkLeft,
    SinkTook,
    SnapshotAsked,
    SnapshotRequest,
    Timed,
    Trace,
)

PATIENCE = 10
"""A leg may last this many times the longest legal duration of its scenario."""


class LegPlan(Struct, frozen=True):
    """What is known of a leg before it begins.

    Args:
        scenario: whose leg it is.
        number: 0-based.
        first_index: of the scenario's inputs.
        began_at: ms of the scenario's time at which this leg begins; 0 for the first.
        restored: what the operator is given.
    """

    scenario: Scenario
    number: int = 0
    first_index: int = 0
    began_at: int = 0
    restored: Snapshot | None = None

    @classmethod
    def first(cls, scenario: Scenario) -> "LegPlan":
        """Return the plan of the first leg of `scenario`."""
        return cls(scenario, restored=scenario.restore)

    @property
    def crash(self) -> Crash | None:
        """How the leg ends, unless it finishes before."""
        crashes = self.scenario.crashes
        return crashes[self.number] if self.number < len(crashes) else None

    @property
    def config(self) -> OperatorConfig:
        """The configuration, as the last crash before this leg has left it."""
        crashes = self.scenario.crashes[: self.number]
        modes: list[Mode] = [crash.mode for crash in crashes if crash.mode is not None]
        capacities = [crash.capacity for crash in crashes if crash.capacity is not None]
        last = Crash(0, capacities[-1] if capacities else None, modes[-1] if modes else None)
        return self.scenario.config(last)

    @property
    def inputs(self) -> tuple[Timed, ...]:
        """What the source gives in this leg, with times since the leg began."""
        rest = self.scenario.inputs[self.first_index :]
        if not self.began_at:
            return rest
        return tuple(Timed(max(0, timed.at - self.began_at), timed.element) for timed in rest)

    @property
    def requests(self) -> tuple[SnapshotRequest, ...]:
        """The snapshots on demand of this leg; only the first leg has some."""
        return self.scenario.requests if self.number == 0 else ()


def next_leg(plan: LegPlan, leg: Leg) -> LegPlan | None:
    """Return the leg after `leg`, which was played by `plan`; None if there is none.

    Output after the last snapshot is dropped: the next leg starts from that snapshot, which
    travels as bytes, and the source is read again from where it was taken.
    """
    if leg.ending.how != "crashed" or plan.crash is None:
        return None
    restored, first_index = last_snapshot(plan, leg)
    return LegPlan(
        plan.scenario,
        plan.number + 1,
        first_index,
        plan.began_at + plan.crash.at,
        None if restored is None else decode_snapshot(encode_snapshot(restored)),
    )


def last_snapshot(plan: LegPlan, leg: Leg) -> tuple[Snapshot | None, int]:
    """Return the last snapshot that was emitted in `leg`, and the input index after it."""
    taken = [event.element for event in leg.events if isinstance(event, SinkTook)]
    snapshots = [element for element in taken if isinstance(element, Snapshot)]
    if not snapshots:
        return plan.restored, plan.first_index
    last = snapshots[-1]
    for index, timed in enumerate(plan.scenario.inputs):
        if getattr(timed.element, "checkpoint_id", None) == last.checkpoint_id:
            return last, index + 1
    return last, plan.first_index + (last.read or 0)


def play(open_operator: OpenOperator, scenario: Scenario, loop: LoopName = "asyncio") -> Trace:
    """Play all legs of `scenario` on a virtual clock.

    Args:
        open_operator: the operator under test.
        scenario: the plan.
        loop: "asyncio" or "trio".
    """
    legs: list[Leg] = []
    plan: LegPlan | None = LegPlan.first(scenario)
    while plan is not None:
        leg = play_leg(open_operator, plan, loop)
        legs.append(leg)
        plan = next_leg(plan, leg)
    return Trace(tuple(legs))


def play_leg(open_operator: OpenOperator, plan: LegPlan, loop: LoopName = "asyncio") -> Leg:
    """Play one leg in an event loop of its own."""

    async def main(spin: SpinWatch) -> Leg:
        return await _LegPlayer(open_operator, plan, spin).play()

    return run_virtual(main, loop)


class _LegPlayer:
    """One leg while it is played."""

    def __init__(self, open_operator: OpenOperator, plan: LegPlan, spin: SpinWatch) -> None:
        scenario = plan.scenario
        self._open_operator = open_operator
        self._plan = plan
        self._spin = spin
        self._recorder = Recorder(scenario, loop_clock())
        error = PlannedSourceError("planned") if scenario.source_error else None
        ends_at = max(0, scenario.source_ends_at - plan.began_at)
        self._source = ScriptedSource(plan.inputs, ends_at, error, self._recorder, plan.first_index)
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
                recorder.events.append(Left(recorder.now()))
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
