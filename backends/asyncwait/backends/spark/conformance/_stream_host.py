"""The call hosts of the suite: each lane is a leg with a host of its own."""

import asyncio
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec import Struct
from pyspark import cloudpickle

from asyncwait.backends.spark.carry._client import end_host
from asyncwait.backends.spark.carry._folder import HostFolder
from asyncwait.backends.spark.carry._work import CarryWork
from asyncwait.backends.spark.conformance._stream_leg import HostedLeg
from asyncwait.backends.spark.conformance._task import LegReport, file_report
from asyncwait.spec.carry import Identity, Outcome, Visit
from asyncwait.spec.scenario import LegStart

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
        """Return the file of a query's legs.

        For each it has a `LegStart` as MessagePack, and the plan of the public function, pickled.
        """
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
    def _legs(self) -> dict[str, tuple[bytes, bytes]]:
        return {}

    def _leg(self, lane: str) -> tuple[bytes, bytes]:
        if lane not in self._legs:
            query = int(lane) // LANES
            read = self.legs_of(query).read_bytes()
            legs = msgspec.msgpack.decode(read, type=list[tuple[bytes, bytes]])
            self._legs.update((str(query * LANES + n), leg) for n, leg in enumerate(legs))
        return self._legs[lane]

    @cached_property
    def _loaded(self) -> dict[str, CarryWork]:
        return {}

    def start(self, lane: str) -> LegStart:
        return msgspec.msgpack.decode(self._leg(lane)[0], type=LegStart)

    def work(self, lane: str) -> CarryWork:
        if lane not in self._loaded:
            self._loaded[lane] = cloudpickle.loads(self._leg(lane)[1])
        return self._loaded[lane]

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
            self._legs[lane] = HostedLeg(self._work.work(lane), self._work.start(lane))
        leg = self._legs[lane]
        was_over, answer = leg.leg is not None, leg.visit(visit)
        if leg.leg is not None and not was_over:
            report = msgspec.msgpack.encode(LegReport(leg.leg, os.getpid()))
            query, number = divmod(int(lane), LANES)
            file_report(report, self._work.reports_of(query), f"{number}.0")
        return answer

    is_broken = False

    def figures(self) -> Sequence[float]:
        """Return none: each leg has an operator of its own."""
        return ()

    async def aclose(self) -> None:
        """Do nothing: each leg has an end of its own."""
