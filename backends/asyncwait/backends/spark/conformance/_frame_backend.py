"""The backend of `ordered_wait` on DataFrames: what it does in each task, with plain rows."""

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from asyncwait.backends.spark._rows import ELEMENT_SCHEMA
from asyncwait.backends.spark._session import embedded_spark
from asyncwait.backends.spark.conformance._backend import LACKS, SparkBackend
from asyncwait.backends.spark.conformance._jobs import JobResult, frame_of
from asyncwait.backends.spark.conformance._ways import RESULT
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.spark.frame._wait import (
    FrameWait,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.spec import Mode, Record
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability, LegStart, Scenario, needs

_OF_STREAMS = frozenset(
    {
        Capability.EVENT_TIME,
        Capability.SNAPSHOTS,
        Capability.IN_FLIGHT_SNAPSHOT,
        Capability.RESTORE,
        Capability.CALLBACKS,
    }
)
"""What rows of a DataFrame have none of: they are records alone, and a function of rows gives what
it returns."""

WAITS: dict[Mode, FrameWait[...]] = {
    "ordered": ordered_wait,
    "unordered": unordered_wait,
    "key-ordered": key_ordered_wait,
}
"""The public functions."""

_SCHEMA = StructType([StructField(RESULT, StringType())])


class FrameBackend(SparkBackend):
    """Plays scenarios through what `ordered_wait` plans for a DataFrame of their records."""

    capabilities = ALL_CAPABILITIES - LACKS - _OF_STREAMS

    def _play(self, legs: Sequence[LegStart], **options: Any) -> JobResult:
        session, names = embedded_spark().session, ELEMENT_SCHEMA.names
        frames = [frame_of(session, names), frame_of(session, ["place", *names])]
        works = [_work(leg, frames[leg.config.mode == "key-ordered"]) for leg in legs]
        return super()._play(legs, works=works, **options)

    def _of_the_data_path(self) -> dict[str, Scenario]:
        found = super()._of_the_data_path()
        return {
            name: each for name, each in found.items() if Capability.EVENT_TIME not in needs(each)
        }

    def _name(self, scenario: Scenario, record: Record) -> str:
        key = "place=0" if scenario.mode == "key-ordered" else f"value={json.dumps(record.value)!r}"
        return f"row {key}"


async def _put_in_its_place(_value: str) -> list[tuple[str]]:
    raise NotImplementedError  # Whoever calls it has not put the planned one in its place.


def planned(leg: LegStart, frame: DataFrame, **options: Any) -> Any:
    """Return what the public function plans for the records of a leg."""
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
