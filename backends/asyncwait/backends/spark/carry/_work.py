"""The work of call hosts and visits; it travels to the workers."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.journal import Attempt
from asyncwait.backends.spark.carry._host import CallHost
from asyncwait.backends.spark.carry._opening import CalledRow, HostOpening
from asyncwait.backends.spark.carry._records import OutcomeCodec, RowCodec
from asyncwait.backends.spark.frame._rows import FrameRows, Shape
from asyncwait.backends.spark.frame._task import Enrichment, zone_named
from asyncwait.spec.carry import InFlight, Terms, Visit


class CarryWork(Struct, frozen=True, dict=True):
    """The work of a job whose calls stay in flight.

    Args:
        task: the function and its options.
        order_by: places of the columns by which rows of a micro-batch are ordered.
        pause: milliseconds after which a lane in flight is visited again.
        lease: seconds that a host goes on without a visit.
        columns: of rows and of results, in words.
        operator: distinguishes it from other operators of its query.
        about: all settings that change the call or its result, by name; digests of long ones.
        lanes: the number of lanes; None for as many as the checkpoint has partitions.
        patience: seconds that a visit waits while the event loop of its host stands still.
    """

    task: Enrichment
    travelling: pa.Schema
    order_by: Sequence[int]
    terms: Terms
    pause: int
    lease: float
    columns: str
    operator: str
    about: Mapping[str, str]
    lanes: int | None = None
    patience: float = 30.0

    @cached_property
    def records(self) -> RowCodec:
        return RowCodec(self.travelling)

    @cached_property
    def outcomes(self) -> OutcomeCodec:
        names = self.travelling.names
        kept = [names.index(name) for name in self.task.shape.carried]
        return OutcomeCodec(self.records, kept, self.task.written.results)

    @cached_property
    def _named(self) -> Shape:
        """The shape, with errors that name rows by their values, because they have no place."""
        shape = self.task.shape
        given = (shape.given,) if isinstance(shape.given, str) else shape.given
        return replace(shape, key=shape.key or given)

    def rows(self, visit: Visit, items: Sequence[InFlight]) -> list[CalledRow]:
        """Return the records that a visit wants called as arguments of the function."""
        batch = self.records.batch(self.records.decode(item.record for item in items))
        decoded = FrameRows(self._named).decode(batch)
        lane, version = visit.lane, visit.terms.version
        return [
            CalledRow(
                row.value, row.batch, row.index, row.name, lane=lane, version=version, item=item
            )
            for row, item in zip(decoded, items, strict=True)
        ]

    def opening(self, attempt: Attempt | None) -> HostOpening:
        task = self.task
        return HostOpening(task.fn, task.shape, zone_named(task.zone), task.options, attempt)

    def host(self, name: str) -> CallHost:
        """Return the host of this work, on the running loop; its folder has the same name."""
        return CallHost(self, name)

    def attempt(self, host: str) -> AbstractContextManager[Any]:
        journal = self.task.options.journal
        return nullcontext() if journal is None else journal.attempt(f"host-{host}")
