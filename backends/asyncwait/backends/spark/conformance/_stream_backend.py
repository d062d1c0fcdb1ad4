"""The backend of streams: legs in lanes, whose calls stay in flight between micro-batches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA
from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.carry._carry import Carry
from asyncwait.backends.spark.conformance._backend import NamedRun
from asyncwait.backends.spark.conformance._frame_backend import FrameBackend, planned
from asyncwait.backends.spark.conformance._jobs import JobResult, frame_of
from asyncwait.backends.spark.conformance._streams import Stage
from asyncwait.spec.scenario import Capability, LegStart, Scenario, Trace

KEPT = ("scenario", "index", "place", *ELEMENT_SCHEMA.names)
_NOT_BETWEEN_BATCHES = frozenset(
    {Capability.MAX_HELD, Capability.STATISTICS, Capability.PLANNED_ENDS}
)
"""A lane has one bound for all its records, a host is asked for no figures, and source and sink are
Spark's."""

_OF_STATE = frozenset({Capability.SNAPSHOTS, Capability.IN_FLIGHT_SNAPSHOT, Capability.RESTORE})
"""A barrier ends a micro-batch, whose state is the snapshot; each leg is a query that begins with
one."""


class StreamBackend(FrameBackend):
    """Plays scenarios through what `ordered_wait(..., carry=...)` plans for a stream."""

    capabilities = (FrameBackend.capabilities | _OF_STATE) - _NOT_BETWEEN_BATCHES
    expected_failures: Mapping[str, str] = {
        "BAT-3": "a call host can't know that no other lane brings more, and waits for `max_wait`",
    }

    _stage: Stage

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`, each leg of them in a query whose call hosts outlive it."""
        with Stage(embedded_spark().session) as self._stage:
            yield from super().run(scenarios)

    def further_runs(self, scenarios: Mapping[str, Scenario]) -> Iterator[NamedRun]:  # noqa: ARG002
        """Play nothing: the clock of a leg is in its host."""
        return iter(())

    def _play(self, legs: Sequence[LegStart], **options: Any) -> JobResult:
        del options
        frame = frame_of(self._stage.session, KEPT, streams=True)
        carry = Carry(lanes=1, order_by="index", pause=0.001, version="of the suite")
        plans = [planned(leg, frame, keep=KEPT, carry=carry) for leg in legs]
        works = [plan.job for plan in plans]
        return JobResult(tuple(self._stage.play(legs, works, plans[0].output)))
