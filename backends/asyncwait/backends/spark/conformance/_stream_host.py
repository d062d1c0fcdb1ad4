"""What the process of a call host does for the suite: each lane is a leg with its own host."""

import asyncio
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec import Struct
from pyspark import cloudpickle

from asyncwait.backends.spark.carry._work import CarryWork
from asyncwait.backends.spark.conformance._stream_leg import HostedLeg
from asyncwait.backends.spark.conformance._task import LegReport, file_report
from asyncwait.spec.carry import Identity, Outcome, Visit
from asyncwait.spec.scenario import LegStart


class LegsWork(Struct, frozen=True, dict=True):
    """What visits and the call host of all legs need to know; it travels.

    Args:
        file: in which the legs stand: by the name of its lane, a `LegStart` as MessagePack and what
            the public function plans, pickled. To a stateful operator no more than 1 MiB travels.
        reports: the folder where the reports go.
        lease: seconds that the host goes on without a visit.
    """

    file: str
    reports: str
    lease: float = 60.0

    @cached_property
    def _legs(self) -> dict[str, tuple[bytes, bytes]]:
        return msgspec.msgpack.decode(
            Path(self.file).read_bytes(), type=dict[str, tuple[bytes, bytes]]
        )

    @cached_property
    def _loaded(self) -> dict[str, CarryWork]:
        return {}

    def start(self, lane: str) -> LegStart:
        """Return what is known of the leg of a lane."""
        return msgspec.msgpack.decode(self._legs[lane][0], type=LegStart)

    def work(self, lane: str) -> CarryWork:
        """Return the work of a lane."""
        if lane not in self._loaded:
            self._loaded[lane] = cloudpickle.loads(self._legs[lane][1])
        return self._loaded[lane]

    def host(self, name: str) -> "LegsHost":  # noqa: ARG002 - as `CarryWork.host`
        """Return the host of all legs."""
        return LegsHost(self)


class LegsHost:
    """Serves visits of lanes, each by its leg; see `CallHost`."""

    def __init__(self, work: LegsWork) -> None:
        self._work = work
        self._legs: dict[str, HostedLeg] = {}

    async def visit(self, visit: Visit) -> Sequence[tuple[Identity, Outcome]]:
        """Return what has come of what a visit wants."""
        return [*(await asyncio.to_thread(self._served, visit)).items()]

    def _served(self, visit: Visit) -> dict[Identity, Outcome]:
        lane = visit.lane
        if lane not in self._legs:
            self._legs[lane] = HostedLeg(self._work.work(lane), self._work.start(lane))
        leg = self._legs[lane]
        was_over, answer = leg.leg is not None, leg.visit(visit)
        if leg.leg is not None and not was_over:
            report = msgspec.msgpack.encode(LegReport(leg.leg, os.getpid()))
            file_report(report, Path(self._work.reports), f"{lane}.0")
        return answer

    is_broken = False

    async def aclose(self) -> None:
        """Do nothing: each leg has an end of its own."""
