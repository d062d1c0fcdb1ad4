"""Plays a scenario on an operator, leg by leg, and returns the trace."""

import gc
import math
import warnings
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from asyncwait.conformance.harness._cancelling import (
    interruption,
    is_for_the_harness,
    way_to_cancel,
)
from asyncwait.conformance.harness._company import ERRAND, errand, passing_on
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
from asyncwait.conformance.harness._telling import require_context, text_of, whole_number
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

_ERRAND_ENDS = 10.0
"""Seconds after which another operator counts as hanging; it needs a fraction of a second."""

_TURNS = 20
"""Turns of the loop after which any read without a result is waiting."""

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
        self._alone = anyio.Event()
        self._alone.set()
        self._bound = self._cancelled_at = math.inf
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
            self._bound = anyio.current_time() + limit
            host = Host(self._loop, spin, limit, self._overdue)
            is_over = await host.run(self._live)
            self._recorder.note_wakes(spin.wakes)
            with anyio.move_on_after(_ERRAND_ENDS):
                await self._alone.wait()
                await self._forgive_company()
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
        async with self._before() as elements:
            source = WatchedSource(
                elements, self._plan, self._recorder, self._consumer.source_error
            )
            await self._use_with(given_as(self._plan.scenario.source, source))

    def _before(self) -> AbstractAsyncContextManager[Any]:
        """Return the elements of the source, which may come from another operator."""
        elements = TimedElements(self._plan, self._recorder)
        if self._plan.scenario.company == "before":
            return passing_on(self._open_operator, self._plan.config, elements)
        return nullcontext(elements)

    async def _use_with(self, source: Any) -> None:
        plan, consumer = self._plan, self._consumer
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
            if self._recorder.tasks is not None:
                self._recorder.tasks.is_entered()
            async with require_context(opened) as self._results:
                self._recorder.tracker.operator = self._results
                if contexts is not None:
                    contexts.consumer_begins()
                self._keep_company()
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
            case "intrude":
                await self._read_in_company()
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
            if self._consumer.ending is None:  # A shielded consumer may have left meanwhile.
                self._consumer.took(element)

    @property
    def _is_cancelled_openly(self) -> bool:
        """Whether a scope round the consumer is cancelled, and the consumer is not shielded."""
        is_cancelled = self._cancelled_at <= self._recorder.now()
        return is_cancelled and self._cancelling.repeats and not self._plan.scenario.shields

    async def _take(self) -> Any:
        # The bound of its leg ends a shielded consumer as well.
        with anyio.CancelScope(shield=self._plan.scenario.shields, deadline=self._bound):
            return await self._loop_over_results().__anext__()
        await anyio.sleep_forever()
        return None

    def _loop_over_results(self) -> Any:
        """Return what an `async for` reads: one loop to the end, or one loop per element."""
        if self._iterator is None or self._consumer.is_scripted:
            self._iterator = aiter(self._results)
        return self._iterator

    async def _read_in_company(self) -> None:
        task = anyio.CancelScope()
        self._helpers.start_soon(self._intrude, task)
        await self._read()
        task.cancel()

    async def _intrude(self, task: anyio.CancelScope) -> None:
        """Read, and once more if the operator refuses: the consumer still waits."""
        began = self._recorder.unblocked()
        with task:
            for _ in range(_TURNS):
                await anyio.lowlevel.checkpoint()
            for _ in range(2):
                began = self._recorder.unblocked()
                got = await self._asked_for_one()
                self._consumer.intruded(got)
                if not got.startswith("raised "):
                    break
        if task.cancelled_caught and self._recorder.unblocked() > began:
            self._consumer.intruded("waits")

    async def _asked_for_one(self) -> str:
        try:
            return f"gave {text_of(await self._results.__anext__())}"
        except StopAsyncIteration:
            return "stop"
        except Exception as error:
            return f"raised {type(error).__name__}"

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

    def _keep_company(self) -> None:
        async def go(takes: float) -> None:
            kind, self._alone = self._plan.config, anyio.Event()
            self._recorder.company = await errand(self._open_operator, kind, takes=takes)
            self._alone.set()

        match self._plan.scenario.company:
            case "beside":
                self._helpers.start_soon(go, ERRAND)
            case "inside":
                self._recorder.visit = lambda: go(0)

    async def _forgive_company(self) -> None:
        """Drop a finding of the other operator that it has alone too: other rules judge it."""
        found = self._recorder.company
        if found and found == await errand(self._open_operator, self._plan.config, takes=ERRAND):
            self._recorder.company = ""

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
