"""The backends: elements, DataFrames and streams; each plays scenarios in as few jobs as it can."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA
from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.carry._carry import Carry
from asyncwait.backends.spark.conformance._jobs import frame_of, play_legs
from asyncwait.backends.spark.conformance._player import RESULT, FramePath
from asyncwait.backends.spark.conformance._streams import Play, stage
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.spark.frame._wait import (
    FrameWait,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.spec import Mode
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Leg,
    LegStart,
    Scenario,
    Trace,
    next_leg,
)

LACKS = frozenset(
    {
        Capability.TIMED_INPUT,
        Capability.ONE_LOOP,
        Capability.ON_DEMAND_SNAPSHOT,
        Capability.CANCELLATION_SEEN,
        Capability.COPIES,
        Capability.CONTEXTS,
        Capability.CACHE,
        Capability.LIMITS,
    }
)
"""Capabilities that Spark's data path lacks: rows have no times, tasks take no snapshot on demand,
a cancelled task is killed, and rows are copies, made by another process, whose context variables
are its own. A lookup keeps results."""


class SparkBackend:
    """Plays scenarios on partitions of real DataFrames, on a virtual clock in the workers."""

    capabilities: frozenset[Capability] = ALL_CAPABILITIES - LACKS
    expected_failures: Mapping[str, str] = {}
    batch = True

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`: one job for all first legs, one for all second legs, and so on.

        It yields a trace as soon as this trace and all before it are complete.
        """
        legs: list[list[Leg]] = [[] for _ in scenarios]
        open_legs = {number: LegStart.first(s) for number, s in enumerate(scenarios)}
        given = 0
        while open_legs:
            played = self._play(list(open_legs.values()))
            following = {}
            for (number, plan), leg in zip(open_legs.items(), played, strict=True):
                legs[number].append(leg)
                if (after := next_leg(plan, leg)) is not None:
                    following[number] = after
            open_legs = following
            whole = min(open_legs, default=len(scenarios))
            yield from (Trace(tuple(done)) for done in legs[given:whole])
            given = whole

    def _play(self, legs: Sequence[LegStart]) -> Sequence[Leg]:
        return play_legs(embedded_spark(), legs)


_OF_STREAMS = frozenset(
    {
        Capability.EVENT_TIME,
        Capability.SNAPSHOTS,
        Capability.IN_FLIGHT_SNAPSHOT,
        Capability.RESTORE,
        Capability.CALLBACKS,
    }
)
"""Capabilities that rows of a DataFrame lack: all are records, and functions return results."""

WAITS: dict[Mode, FrameWait[...]] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""The public functions."""

_SCHEMA = StructType([StructField(RESULT, StringType())])


class FrameBackend(SparkBackend):
    """Plays scenarios through the plan of `ordered_wait` for a DataFrame of their records."""

    capabilities = ALL_CAPABILITIES - LACKS - _OF_STREAMS

    def _play(self, legs: Sequence[LegStart]) -> Sequence[Leg]:
        session, names = embedded_spark().session, ELEMENT_SCHEMA.names
        frames = [frame_of(session, names), frame_of(session, ["place", *names])]
        paths = [FramePath(_work(leg, frames[leg.config.mode == "key-ordered"])) for leg in legs]
        return play_legs(embedded_spark(), legs, paths=paths)


async def _put_in_its_place(_value: str) -> list[tuple[str]]:
    raise NotImplementedError  # The player puts the planned function in its place.


def planned(leg: LegStart, frame: DataFrame, **options: Any) -> Any:
    config = leg.config
    return WAITS[config.mode].plan(
        frame,
        _put_in_its_place,
        _SCHEMA,
        columns="value",
        key="place" if config.mode == "key-ordered" else "value",
        timeout=config.timeout,
        capacity=config.capacity,
        retry=config.retry,
        many=True,
        batch=config.batch,
        **options,
    )


def _work(leg: LegStart, frame: DataFrame) -> Enrichment:
    held = leg.config.max_held or 0
    return planned(leg, frame, keep=ELEMENT_SCHEMA.names, max_held=held).work  # type: ignore[no-any-return]


KEPT = ("scenario", "index", "place", *ELEMENT_SCHEMA.names)
_NOT_BETWEEN_BATCHES = frozenset(
    {Capability.MAX_HELD, Capability.STATISTICS, Capability.PLANNED_ENDS}
)
"""Missing between micro-batches: a lane has one bound for all its records, hosts report no figures,
and source and sink are Spark's.
"""

_OF_STATE = frozenset({Capability.SNAPSHOTS, Capability.IN_FLIGHT_SNAPSHOT, Capability.RESTORE})
"""A barrier ends a micro-batch, whose state is the snapshot; each leg is a query that begins with
a state.
"""


class StreamBackend(FrameBackend):
    """Plays scenarios through the plan of `ordered_wait(..., carry=...)` for a stream."""

    capabilities = (FrameBackend.capabilities | _OF_STATE) - _NOT_BETWEEN_BATCHES
    expected_failures: Mapping[str, str] = {
        "BAT-3": "a call host can't know that no other lane brings more, and waits for `max_wait`",
    }

    _play_all: Play

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`, each leg of them in a query whose call hosts outlive it."""
        with stage(embedded_spark().session) as self._play_all:
            yield from super().run(scenarios)

    def _play(self, legs: Sequence[LegStart]) -> Sequence[Leg]:
        frame = frame_of(embedded_spark().session, KEPT, streams=True)
        carry = Carry(lanes=1, order_by="index", pause=0.001, version="of the suite")
        plans = [planned(leg, frame, keep=KEPT, carry=carry) for leg in legs]
        works = [plan.job for plan in plans]
        return self._play_all(legs, works, plans[0].output)
