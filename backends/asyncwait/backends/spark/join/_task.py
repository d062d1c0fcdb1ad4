"""The work of a task of Spark: the lookup join of one partition of a DataFrame."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from msgspec import Struct

from asyncwait.backends import pool
from asyncwait.backends.lookup import Full, Table, WholeTable
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.backends.lookup._requests import Policy
from asyncwait.backends.lookup._table import Figures
from asyncwait.backends.services._causes import most_frequent
from asyncwait.backends.spark._partition import Partition, ThreadedSource
from asyncwait.backends.spark.frame._cache import lent
from asyncwait.backends.spark.frame._columns import Fold
from asyncwait.backends.spark.frame._task import find_flush, telling, zone_named
from asyncwait.backends.spark.join._chunks import LARGEST, ChunkRows, Shape
from asyncwait.backends.spark.join._lookup import ChunkLookup, Chunks
from asyncwait.backends.spark.join._table import FittedTable, FittedWholeTable, RowFitter
from asyncwait.backends.spark.progress import Endpoint, TaskFigures, TaskName, reporting
from asyncwait.backends.spark.progress._figures import LOOKED_UP, NAMED
from asyncwait.spec import Batch, Cache, OperatorConfig, Retry
from asyncwait.toolkit import PlainFunction, PlainSource

CHUNKS = 4
"""Number of concurrent lookups of chunks in a task."""


class Options(Struct, frozen=True):
    """Options of the lookups of a task; see `asyncwait.backends.spark.lookup_join`.

    The task reports its progress to `endpoint`.
    """

    cache: Cache | Full | None = None
    timeout: float | None = None
    retry: Retry | None = None
    retry_missing: Retry | None = None
    batch: Batch | None = None
    on_error: Any = "fail"
    endpoint: Endpoint | None = None

    def policy(self) -> Policy:
        """Return the deadline, retries and batches of requests.

        Raises:
            InvalidConfig: one of these is invalid.
        """
        return Policy(self.timeout, self.retry, self.retry_missing, self.batch)


class Join(Struct, frozen=True):
    """The work of one task; it travels to the workers.

    Args:
        keys: the columns of the table's key.
        rows: the columns of its rows, with their types; in the output, some may be null.
        zone: name of the time zone for timestamps without a zone.
        identity: digest of everything on which cached rows depend.
        names: of the columns on the left, if the names that come with the rows are made up; None if
            they are the true ones.
        fold: how names of columns are compared.
    """

    table: Table
    shape: Shape
    keys: pa.Schema
    rows: pa.Schema
    zone: str = "UTC"
    options: Options = Options()
    identity: bytes = b""
    names: tuple[str, ...] | None = None
    fold: Fold = str.lower

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts, flush = Counts(), find_flush()
        with (
            reporting(self.options.endpoint, TaskName.here(), counts.figures),
            lent(self.identity, lambda: kept_by(self.options.cache)) as store,
            self.partition(batches, counts, store) as opened,
        ):
            for batch in opened:
                counts.rows_out += batch.num_rows
                yield batch
                flush()

    def partition(
        self, batches: Iterator[pa.RecordBatch], counts: "Counts", store: Any = None
    ) -> Partition:
        """Return the join of a partition, which must be closed.

        Args:
            batches: the partition.
            counts: the figures to update.
            store: cached rows; None for none yet.
        """
        if (names := self.names) is not None:
            batches = (batch.rename_columns(names) for batch in batches)
        fitter, named = (RowFitter(self.rows, zone_named(self.zone), self.fold) for _ in range(2))
        table = FittedTable(self.table, named)
        if isinstance(self.table, WholeTable):
            table = FittedWholeTable(self.table, named, self.keys)
        opened = tabled(table, self.options.cache, self.options.policy(), store)
        counts.lookup = opened.figures
        looking = ChunkLookup(opened, self.shape, self.options.on_error, fitter, CHUNKS)
        counts.causes = looking.causes
        config, function = OperatorConfig("ordered", CHUNKS), PlainFunction(looking)
        return Partition(
            batches,
            lambda source: pool.open_plain(
                config, function, PlainSource(Chunks(source, looking.end))
            ),
            ChunkRows(),
            reader=partial(ThreadedSource, chunk=LARGEST),
            batch_size=1,
        )


class Counts:
    """The figures of a task."""

    def __init__(self) -> None:
        self.rows_out = 0
        self.lookup = Figures()
        self.causes = Counter[str]()

    def figures(self) -> TaskFigures:
        """Return the present figures; for any thread."""
        lookup = self.lookup
        kinds = {name: getattr(lookup, name) for name in LOOKED_UP}
        return TaskFigures(
            **kinds,
            rows_in=sum(kinds.values()),
            rows_out=self.rows_out,
            in_flight=lookup.in_flight,
            calls=lookup.requests,
            errors=lookup.failures_handled,
            causes=most_frequent(dict(self.causes), NAMED),
            failures_handled=lookup.failures_handled,
        )
