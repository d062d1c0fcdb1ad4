"""Plays a scenario on an operator, leg by leg, and returns the trace."""

import gc
import math
import warnings
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from asyncwait.conformance.harness._cancelling import (
    interruption,
    is_for_the_harness,
    way_to_cancel,
)
from asyncwait.conformance.harness._contexts import with_predicates
from asyncwait.conformance.harness._function import planned_function
from asyncwait.conformance.harness._recorder import Recorder, is_heard, tell_overdue
from asyncwait.conformance.harness._run import (
    Census,
    Host,
    LoopName,
    SpinWatch,
    loop_blocker,
    loop_clock,
    run_real,
    run_virtual,
)
from asyncwait.conformance.harness._script import FURTHER_READS, Consumer, ReadCutShort
from asyncwait.conformance.harness._source import TimedElements, WatchedSource, given_as
from asyncwait.conformance.harness._telling import require_context, whole_number
from asyncwait.spec import OpenOperator, SnapshotOnDemand
from asyncwait.spec.scenario import (
    GRID,
    Closed,
    EndingKind,
    Leg,
    LegStart,
    Scenario,
    SinkStep,
    SnapshotAsked,
    SnapshotRequest,
    Trace,
    next_leg,
)
from asyncwait.spec.texts import shown

_IN_TIME = 0.001
"""Seconds before the end of a leg at which listeners hear the state of the leg."""

_LEAVING = "while it is left"

_AFTER_THE_END = -1
"""Id of a snapshot that is requested when nothing is left to save."""


def play(
    open_operator: OpenOperator,
    scenario: Scenario,
    loop: LoopName = "asyncio",
    *,
    real: bool = False,
    loop_factory: Callable[[], Any] | None = None,
) -> Trace:
    """Play all legs of `scenario`.

    Args:
        open_operator: the operator under test.
        scenario: the plan.
        loop: "asyncio" or "trio".
        real: on the real clock, whose times are rounded to the grid; see `in_real_time`.
        loop_factory: makes the loop on asyncio; a `VirtualLoop` by default unless `real`.
    """
    legs: list[Leg] = []
    plan: LegStart | None = LegStart.first(scenario)
    while plan is not None:
        leg = play_leg(open_operator, plan, loop, real=real, loop_factory=loop_factory)
        legs.append(leg)
        plan = next_leg(plan, leg)
    return Trace(tuple(legs))


def play_leg(
    open_operator: OpenOperator,
    plan: LegStart,
    loop: LoopName = "asyncio",
    *,
    real: bool = False,
    loop_factory: Callable[[], Any] | None = None,
) -> Leg:
    """Play one leg in an event loop of its own; see `play`."""
    players: list[_LegPlayer] = []

    async def main(spin: SpinWatch) -> Leg:
        grid = GRID if real else None
        recorder = Recorder(plan.scenario, loop_clock(), grid=grid, blocker=loop_blocker())
        players.append(_LegPlayer(open_operator, plan, loop, recorder))
        return await players[0].play(spin)

    made: dict[str, Any] = {} if loop_factory is None else {"loop_factory": loop_factory}
    try:
        return (run_real if real else run_virtual)(main, loop, **made)
    except BaseException as error:
        planned = interruption(error)
        if planned is None:
            raise
        leg = players.pop().interrupted(planned)
    _forget(planned)
    return leg


def _forget(interruption: BaseException) -> None:
    """Drop what an ended loop has left, some of it not yet begun, without warnings.

    The plan ended the loop. Without this, Python would warn at some later time.
    """
    interruption.__traceback__ = interruption.__context__ = interruption.__cause__ = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        gc.collect()


class _LegPlayer:
    """One leg while it is played: carries out the steps of its consumer."""

    def __init__(
        self, open_operator: OpenOperator, plan: LegStart, loop: LoopName, recorder: Recorder
    ) -> None:
        self._open_operator = open_operator
        self._plan = plan
        self._loop: LoopName = loop
        self._recorder = recorder
        self._cancelling = way_to_cancel(plan.scenario, loop)
        self._consumer = Consumer(plan, recorder)
        self._results: Any = None
        self._iterator: Any = None
        self._helpers: Any = None
        self._cancelled_at = math.inf
        self._doing = ""
        """The step of the operator that the harness waits for; empty while it only consumes."""

    async def play(self, spin: SpinWatch) -> Leg:
        """Open, consume, leave; then count the tasks and timers left."""
        before, is_over = Census.take(), False
        async with anyio.create_task_group() as self._helpers:
            if self._recorder.is_on_grid:
                self._helpers.start_soon(self._recorder.measure_lateness)
            limit = self._consumer.limit / 1000
            if is_heard():
                self._helpers.start_soon(self._tell_in_time, limit)
            host = Host(self._loop, spin, limit, self._overdue)
            is_over = await host.run(self._live)
            self._recorder.note_wakes(spin.wakes)
            self._helpers.cancel_scope.cancel()
        # The harness's own tasks are gone now: the tasks left belong to the operator.
        left = Census.take().beyond(before) if is_over else Census()
        abandoned = self._abandoned()
        return self._consumer.leg(
            tasks_left=left.tasks, timers_left=left.timers, abandoned=abandoned
        )

    def interrupted(self, error: BaseException) -> Leg:
        self._consumer.interrupted(error)
        return self._consumer.leg()

    async def _tell_in_time(self, limit: float) -> None:
        """Report that the leg hangs; on trio this is impossible once the leg is cancelled."""
        await anyio.sleep(limit - _IN_TIME)
        tell_overdue("hung")

    def _overdue(self, how: EndingKind) -> None:
        tell_overdue(how)
        self._consumer.overdue(how, self._doing)

    async def _live(self) -> None:
        consumer = self._consumer
        try:
            with self._cancelling.around():
                await self._use()
            if consumer.ending is None or consumer.raises_on:
                consumer.failed(ReadCutShort("leaving the context hid what by"))
            if self._cancelling.swallowed and self._recorder.now() > self._cancelled_at:
                self._recorder.misused("swallowed", "leaving let it go on")
        except BaseException as error:
            if is_for_the_harness(error):
                raise
            # Opening or leaving the context raised: the operator's doing.
            consumer.failed(error)
        if consumer.reads_after and self._results is not None:
            self._doing = "while it is read after leaving"
            await self._read_again(left=True)

    async def _use(self) -> None:
        plan, consumer = self._plan, self._consumer
        elements = TimedElements(plan, self._recorder)
        watched = WatchedSource(elements, plan, self._recorder, consumer.source_error)
        source = given_as(plan.scenario.source, watched)
        fn = planned_function(plan.scenario, self._recorder, self._helpers.start_soon)
        restored = self._recorder.tracker.restored(plan.restored)
        contexts, config = self._recorder.contexts, plan.config
        if plan.scenario.copies:
            config = replace(config, copy=self._recorder.tracker.copy)
        if config.cache is not None:
            config = replace(config, cache=replace(config.cache, key=self._recorder.key_asked))
        if plan.scenario.limits:
            limits = [
                each.limit(self._recorder.cost, self._recorder.group)
                for each in plan.scenario.limits
            ]
            config = replace(config, limits=limits)
        if contexts is not None:
            config = with_predicates(config, contexts.is_asked)
            contexts.is_made()
        try:
            opened = self._open_operator(config, fn, source, restored)
            self._set_alarms()
            if contexts is not None:
                contexts.is_entered()
            async with require_context(opened) as self._results:
                self._recorder.tracker.operator = self._results
                if contexts is not None:
                    contexts.consumer_begins()
                for step in consumer.steps():
                    await self._do(step)
                if consumer.reads_again:
                    self._doing = "while it is read again"
                    await self._read_again(left=False)
                self._doing = _LEAVING
        finally:
            self._recorder.events.append(Closed(self._recorder.now()))
            if plan.scenario.figures_at and self._results is not None:
                self._read_figures()

    async def _do(self, step: SinkStep) -> None:
        match step.does:
            case "pause":
                await anyio.sleep(step.n / 1000)
            case "block":
                self._recorder.block(step.n)
            case "leave":
                self._consumer.end("left")
            case "raise" if self._consumer.is_handling:
                self._consumer.raises_on = True
                assert self._consumer.raised is not None
                raise self._consumer.raised
            case "raise":
                if self._consumer.end("left", raising=True):
                    raise self._recorder.planned(self._consumer.body_error, passes=True)
            case "give_up":
                if not await self._cancelling.within(step.n / 1000, self._read):
                    self._consumer.gave_up()
            case _:
                await self._read()

    async def _read(self) -> None:
        self._consumer.waits()
        try:
            element = await self._take()
        except BaseException as error:
            if is_for_the_harness(error):
                raise
            if self._is_cancelled_openly and not self._recorder.is_planned(error):
                self._recorder.misused("swallowed", f"a read raised {shown(error)}")
            self._consumer.read_raised(error)
        else:
            if self._consumer.ending is None:
                self._consumer.took(element)

    @property
    def _is_cancelled_openly(self) -> bool:
        """Whether a scope round the consumer is cancelled."""
        is_cancelled = self._cancelled_at <= self._recorder.now()
        return is_cancelled and self._cancelling.repeats

    async def _take(self) -> Any:
        return await self._loop_over_results().__anext__()

    def _loop_over_results(self) -> Any:
        """Return what an `async for` reads: one loop to the end, or one loop per element."""
        if self._iterator is None or self._consumer.is_scripted:
            self._iterator = aiter(self._results)
        return self._iterator

    async def _read_again(self, *, left: bool) -> None:
        self._consumer.reading = "after" if left else "again"
        for _ in range(FURTHER_READS):
            if not await self._reads_right(left=left):
                break
        self._consumer.reading = ""

    async def _reads_right(self, *, left: bool) -> bool:
        outcome: Any
        requests = True
        try:
            able: object = self._results
            if isinstance(able, SnapshotOnDemand):
                able.request_snapshot(_AFTER_THE_END)
            requests = False
            outcome = await self._results.__anext__()
        except BaseException as error:
            if is_for_the_harness(error):
                raise
            outcome = error
        return self._consumer.read_again(outcome=outcome, left=left, requests=requests)

    def _set_alarms(self) -> None:
        for at, how in self._consumer.planned_ends:
            self._helpers.start_soon(self._end_at, at, how)
        for request in self._plan.requests:
            self._helpers.start_soon(self._request, request)
        if self._plan.scenario.figures_at:
            self._helpers.start_soon(self._read_figures_now_and_then)

    async def _end_at(self, at: int, how: EndingKind) -> None:
        await anyio.sleep(at / 1000)
        is_first = self._consumer.end(how)
        if is_first or self._doing == _LEAVING:
            self._cancel(again=not is_first)

    def _cancel(self, *, again: bool) -> None:
        """Cancel the consumer, even while it leaves, and note what the cancellation may cut short.

        On asyncio only: no operator need shield there what its consumer's task awaits.
        """
        self._doing = _LEAVING
        self._cancelled_at = self._recorder.now()
        closes = again or self._plan.scenario.hook_error == "open"  # closing, or never opened
        if self._loop == "asyncio" and (self._cancelling.repeats or closes):
            now = self._recorder.unblocked()
            self._recorder.cuts = now, math.inf if self._cancelling.repeats else now
        self._cancelling.cancel()

    async def _request(self, request: SnapshotRequest) -> None:
        await anyio.sleep(request.at / 1000)
        recorder = self._recorder
        if self._consumer.ending is None and self._results is not None:
            recorder.events.append(SnapshotAsked(recorder.now(), request.checkpoint_id))
            try:
                self._results.request_snapshot(request.checkpoint_id)
            except Exception as error:
                self._consumer.failed(error)
                self._cancelling.cancel()

    async def _read_figures_now_and_then(self) -> None:
        for at in sorted(self._plan.scenario.figures_at):
            await anyio.sleep(max(0.0, self._recorder.until(at)) / 1000)
            if self._consumer.ending is not None or self._results is None:
                return
            if not self._read_figures():
                self._cancelling.cancel()
                return

    def _read_figures(self) -> bool:
        """Read the operator's statistics; return whether reading succeeded, which it must."""
        try:
            self._recorder.figures_read(self._results.statistics())
        except Exception as error:
            self._consumer.failed(error, later=True)
            return False
        return True

    def _abandoned(self) -> int:
        """Return the operator's own count; reading it must not raise either."""
        if self._results is None:
            return 0
        try:
            return whole_number(self._results.statistics().abandoned, "statistics().abandoned")
        except Exception as error:
            self._consumer.failed(error, later=True)
            return 0
