"""A leg in a call host: it is played by visits, on a virtual clock that stands still between them.

The suite judges the host's work for a lane: when a record gets its place, when it is called, and
when it is finished and the next to go out. From then on its output is fixed, and the micro-batch
only decides the time: so the record counts as emitted then.
"""

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from pyspark import cloudpickle

from asyncwait.backends.spark.carry._client import HostFolder, end_host
from asyncwait.backends.spark.carry._host import CallHost, CarryWork
from asyncwait.backends.spark.carry._opening import Done
from asyncwait.backends.spark.conformance._jobs import file_leg
from asyncwait.backends.spark.conformance._player import FramePath
from asyncwait.backends.streams import LaneCalls
from asyncwait.conformance.harness import Consumer, Recorder, VirtualLoop, planned_function
from asyncwait.spec import Barrier, Element, Record, Snapshot
from asyncwait.spec.carry import Failed, Identity, InFlight, Outcome, Visit
from asyncwait.spec.scenario import (
    GRID,
    Closed,
    EndingKind,
    Leg,
    LegStart,
    SourceAsked,
    SourceClosed,
    SourceEnded,
    Taken,
)

_OVER = Failed("the leg is over")


class HostedLeg:
    """One leg, from the first visit of its lane until a visit finds no record left."""

    def __init__(self, work: CarryWork, start: LegStart) -> None:
        self._loop = VirtualLoop()
        self.recorder = Recorder(
            start.scenario, self._loop.time, blocker=self._loop.jump, shares_objects=False
        )
        self.consumer = Consumer(start, self.recorder)
        self._start = start
        self._path = FramePath(work.task)
        fn = planned_function(start.scenario, self.recorder, self._spawn)
        self._work = replace(work, task=replace(work.task, fn=self._path.of_rows(fn)))
        self._host: _WatchedHost | None = None
        self._serving: asyncio.Task[Any] | None = None
        self._visits = 0
        self._came: dict[Identity, int] = {}
        self._taken: set[Identity] = set()
        self._records = [each for part in parts_of(start) for each in part]
        self._barriers = barriers_of(start)
        self._alarms: list[asyncio.TimerHandle] = []
        self._emitted: set[Identity] = set()
        self.leg: Leg | None = None
        """The recorded leg, once it is over."""

    def visit(self, visit: Visit) -> dict[Identity, Outcome]:
        """Serve a visit; on any thread, on one at a time."""
        if self.leg is not None:
            return self._refusals(visit)
        answer = self._loop.run_until_complete(self._visit(visit))
        if self.leg is not None:
            self._loop.close()
        return answer

    def _refusals(self, visit: Visit) -> dict[Identity, Outcome]:
        return {item.identity: _OVER for item in visit.wanted}

    def end(self, how: EndingKind) -> None:
        """End the leg by a bound; later requests fail."""
        self.consumer.overdue(how)
        if self._serving is not None:
            self._serving.cancel()

    async def _visit(self, visit: Visit) -> dict[Identity, Outcome]:
        host = self._host or self._open(visit)
        if self.consumer.ending is not None:  # by a crash, once the last visit was over
            await self._close(host)
            return self._refusals(visit)
        for item in visit.wanted:
            self._came.setdefault(item.identity, len(self._came))
        self._loop.spin.restart(partial(self.end, "livelock"))
        terms = replace(visit.terms, budget=self._budget())
        self._serving = asyncio.create_task(host.visit(replace(visit, terms=terms)))
        answer: dict[Identity, Outcome] = {}
        try:
            answer = dict(await self._serving)
        except (Exception, asyncio.CancelledError) as error:
            if self.consumer.ending is None:
                self.consumer.failed(error)
        if self.consumer.ending is not None:
            await self._close(host)
            answer = {**self._refusals(visit), **answer}
        return answer

    def _open(self, visit: Visit) -> "_WatchedHost":
        later = self._loop.call_later
        self._alarms = [later(self.consumer.limit / 1000, self.end, "hung")]
        for at, how in self.consumer.planned_ends:
            self._alarms.append(later(at / 1000, self._crash, how))
        self._host = _WatchedHost(self._work, visit.lane, self)
        return self._host

    def begin(self) -> None:
        """Note that the operator is open: from now on it reads, and is read."""
        self.recorder.events.append(SourceAsked(self.recorder.now()))
        self.consumer.waits()

    def _budget(self) -> float:
        """Return the seconds of a visit: 0 while more rows come, which are available already."""
        if len(self._came) < len(self._records) or self._barriers:
            return 0
        self._visits += 1
        return GRID / 1000 * (1 << 2 * self._visits)  # A micro-batch costs half a second.

    def answered(
        self, visit: Visit, answer: dict[Identity, Outcome], errors: dict[Identity, Exception]
    ) -> None:
        """Note the end of a visit: a failure, a barrier, or no record left."""
        for item in visit.wanted:
            if isinstance(answer.get(item.identity), Failed):
                self.consumer.read_raised(self._path.with_record(errors[item.identity]))
                return
        left = [self._came[each.identity] for each in visit.wanted if each.identity not in answer]
        while self._barriers and self._barriers[0].behind <= len(self._came):
            self._stand(self._barriers.pop(0), left)
        if not left and not self._barriers and len(self._came) == len(self._records):
            self.consumer.read_raised(StopAsyncIteration())

    def _stand(self, barrier: "PlannedBarrier", left: Sequence[int]) -> None:
        """Note the state after the micro-batch that a barrier ends: it is a snapshot."""
        recorder, at = self.recorder, self._start.first_index + barrier.number
        recorder.events += [Taken(recorder.now(), at), SourceAsked(recorder.now())]
        held = tuple(self._records[place].record for place in left)
        element = barrier.element
        upstream = element if isinstance(element, Snapshot) else None
        self.consumer.took(Snapshot(element.checkpoint_id, held, upstream=upstream))
        self.consumer.waits()

    def _crash(self, how: EndingKind) -> None:
        if self.consumer.end(how) and self._serving is not None:
            self._serving.cancel()

    async def _close(self, host: "_WatchedHost") -> None:
        for alarm in self._alarms:
            alarm.cancel()
        events, now = self.recorder.events, self.recorder.now()
        if self.consumer.ending is not None and self.consumer.ending.how == "finished":
            events.append(SourceEnded(now))
        try:
            await host.aclose()
        except Exception as error:
            self.consumer.failed(error)
        now = self.recorder.now()
        events += [SourceClosed(now), Closed(now)]
        self.leg = self.consumer.leg(
            tasks_left=len(asyncio.all_tasks(self._loop)) - 1,
            timers_left=self._loop.pending_timers(),
            abandoned=host.statistics().abandoned,
        )

    def _spawn(self, answer: Any) -> None:
        raise NotImplementedError  # Functions in callback form are not played.

    def take(self, identity: Identity) -> None:
        """Note that a record gets a place: it counts as read now, and not before."""
        if identity not in self._taken:
            now, index = self.recorder.now(), self._records[len(self._taken)].number
            self._taken.add(identity)
            if index >= 0:
                at = self._start.first_index + index
                self.recorder.events += [Taken(now, at), SourceAsked(now)]

    def emit(self, identity: Identity, outcome: Outcome) -> None:
        """Note that a record is finished and the next to go out."""
        if identity not in self._emitted and isinstance(outcome, bytes):
            self._emitted.add(identity)
            for element in self._elements(outcome):
                self.consumer.took(element)
                self.consumer.waits()

    def _elements(self, outcome: bytes) -> Sequence[Element]:
        return [
            element
            for batch in self._work.outcomes.batches([outcome])
            for element in self._path.elements(batch)
        ]


class PlannedRecord(NamedTuple):
    """A record of a leg.

    Args:
        number: among the leg's inputs; negative for restored records.
    """

    number: int
    record: Record


class PlannedBarrier(NamedTuple):
    """The end of a micro-batch."""

    number: int
    behind: int
    element: Barrier | Snapshot


def parts_of(start: LegStart) -> list[list[PlannedRecord]]:
    """Return the restored records of a leg, and its records before and behind each barrier."""
    held = () if start.restored is None else start.restored.in_flight
    kept = [each for each in held if isinstance(each, Record)]
    parts = [[PlannedRecord(place - len(kept), each) for place, each in enumerate(kept)], []]
    for index, timed in enumerate(start.inputs):
        if isinstance(timed.element, Record):
            parts[-1].append(PlannedRecord(index, timed.element))
        elif isinstance(timed.element, Barrier | Snapshot):
            parts.append([])
    return parts


def barriers_of(start: LegStart) -> list[PlannedBarrier]:
    """Return the barriers of a leg: each ends a part, the first of them the second part."""
    behind = [*accumulate(map(len, parts_of(start)))][1:-1]
    inputs = enumerate(timed.element for timed in start.inputs)
    found = [(at, each) for at, each in inputs if isinstance(each, Barrier | Snapshot)]
    return [
        PlannedBarrier(at, before, each) for (at, each), before in zip(found, behind, strict=True)
    ]


class WatchedCalls(LaneCalls):
    """The calls of a lane, reported to a leg."""

    leg: HostedLeg

    def admit(self, item: InFlight) -> None:
        self.leg.take(item.identity)
        super().admit(item)

    def pass_on(self, identity: Identity) -> None:
        self.leg.emit(identity, self.done[identity])
        super().pass_on(identity)


class _WatchedHost(CallHost):
    """A call host of one leg, which remembers errors as they were raised."""

    def __init__(self, work: CarryWork, name: str, leg: HostedLeg) -> None:
        super().__init__(work, name)
        made: Any = type("_CallsOfALeg", (WatchedCalls,), {"leg": leg})
        self._table.calls_class = made
        self.errors: dict[Identity, Exception] = {}
        self._leg = leg
        self._has_begun = False

    async def visit(self, visit: Visit) -> Sequence[tuple[Identity, Outcome]]:
        while not self.is_open and self._broken is None:
            await self._wait(None)
        if self._broken is not None:
            raise self._broken
        if not self._has_begun:
            self._has_begun = True
            self._leg.begin()
        answer = await super().visit(visit)
        self._leg.answered(visit, dict(answer), self.errors)  # Before anything else is completed.
        return answer

    def _complete(self, done: Done) -> None:
        if done.error is not None and done.row.item is not None:
            self.errors[done.row.item.identity] = done.error
        super()._complete(done)


LANES = 1_000_000
"""Largest number of lanes in a query: the millions of a lane's number identify its query."""

HOSTED = "legs"
"""The part of the name of a host that otherwise identifies the settings."""

_HOSTS = 2
"""Hosts of all legs: each plays them in one interpreter."""


class LegsWork(Struct, frozen=True, dict=True):
    """The work of visits and of the call hosts of all legs; it travels.

    Args:
        folder: of all queries. At most 1 MiB travels to a stateful operator, so the legs are in a
            file of this folder for each query.
        lease: seconds that a host goes on without a visit.
    """

    folder: str
    lease: float = 60.0

    def legs_of(self, query: int) -> Path:
        """Return the pickle of a query's legs, each with the plan of the public function."""
        return Path(self.folder, f"{query}-legs")

    def reports_of(self, query: int) -> Path:
        return Path(self.folder, f"{query}-reports")

    def host_of(self, lane: int) -> str:
        return self._hosts[lane % _HOSTS]

    def end_hosts(self) -> None:
        """End all hosts that were started."""
        for name in self._hosts:
            end_host(HostFolder.named(f"{name}-{HOSTED}"))

    @property
    def _hosts(self) -> list[str]:
        return [f"{Path(self.folder).name}.{number}" for number in range(_HOSTS)]

    @cached_property
    def _legs(self) -> dict[int, list[tuple[LegStart, CarryWork]]]:
        return {}

    def leg(self, lane: str) -> tuple[LegStart, CarryWork]:
        query, number = divmod(int(lane), LANES)
        if query not in self._legs:
            self._legs[query] = cloudpickle.loads(self.legs_of(query).read_bytes())
        return self._legs[query][number]

    def host(self, name: str) -> "LegsHost":  # noqa: ARG002 - as `CarryWork.host`
        return LegsHost(self)


class LegsHost:
    """Serves visits of lanes, each by its leg; see `CallHost`."""

    def __init__(self, work: LegsWork) -> None:
        self._work = work
        self._legs: dict[str, HostedLeg] = {}

    async def visit(self, visit: Visit) -> Sequence[tuple[Identity, Outcome]]:
        return [*(await asyncio.to_thread(self._served, visit)).items()]

    def _served(self, visit: Visit) -> dict[Identity, Outcome]:
        lane = visit.lane
        if lane not in self._legs:
            start, work = self._work.leg(lane)
            self._legs[lane] = HostedLeg(work, start)
        leg = self._legs[lane]
        was_over, answer = leg.leg is not None, leg.visit(visit)
        if leg.leg is not None and not was_over:
            query, number = divmod(int(lane), LANES)
            file_leg(leg.leg, self._work.reports_of(query), f"{number}.0")
        return answer

    is_broken = False

    def figures(self) -> Sequence[float]:
        """Return none: each leg has an operator of its own."""
        return ()

    async def aclose(self) -> None:
        """Do nothing: each leg has an end of its own."""
