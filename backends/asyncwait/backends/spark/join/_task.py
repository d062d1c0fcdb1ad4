"""The work of a task of Spark: the lookup join of one partition of a DataFrame."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import Any

import pyarrow as pa
from msgspec import Struct

from asyncwait.backends import pool
from asyncwait.backends.lookup import Full, Table, WholeTable
from asyncwait.backends.lookup._cached import Policy
from asyncwait.backends.lookup._lookup import kept_by, tabled
from asyncwait.backends.lookup._table import Figures
from asyncwait.backends.services._causes import most_frequent
from asyncwait.backends.spark._partition import Partition, ThreadedSource
from asyncwait.backends.spark.frame._cache import lent
from asyncwait.backends.spark.frame._columns import Fold
from asyncwait.backends.spark.frame._errors import SchemaMismatch
from asyncwait.backends.spark.frame._plan import names_of
from asyncwait.backends.spark.frame._task import find_flush, telling
from asyncwait.backends.spark.frame._values import Column, fields_of
from asyncwait.backends.spark.frame._work import zone_named
from asyncwait.backends.spark.join._lookup import LARGEST, ChunkLookup, ChunkRows, Chunks, Shape
from asyncwait.backends.spark.progress import Endpoint, TaskFigures, TaskName, reporting
from asyncwait.backends.spark.progress._figures import LOOKED_UP, NAMED
from asyncwait.spec import Cache, InvalidResult, OperatorConfig
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import PlainFunction, PlainSource, close_source


class RowFitter:
    """Converts rows of tables to tuples, without changing the type of any value."""

    def __init__(self, schema: pa.Schema, zone: tzinfo | None, fold: Fold = str.lower) -> None:
        columns = [Column(field, zone, fold) for field in schema]
        self._columns = [(column.fits, column.take) for column in columns]
        self._names = tuple(schema.names)
        self._fold = fold
        self._told: Any = None
        self._places: list[int] = []

    def named(self, columns: Any) -> None:
        """Read tuples by the names of the table's columns, if the table has them."""
        if columns != self._told and isinstance(columns, list | tuple):
            names = names_of("columns", self._names, columns, "the table", fold=self._fold)
            self._told, self._places = columns, [columns.index(name) for name in names]

    def fit(self, row: Any) -> tuple[Any, ...]:
        """Return the cells of a row.

        Raises:
            SchemaMismatch: the row does not fit; the error names the column and the value.
        """
        return tuple(
            [
                cell if fits(cell) else take(cell)
                for cell, (fits, take) in zip(self._cells(row), self._columns, strict=True)
            ]
        )

    def _cells(self, row: Any) -> Sequence[Any]:
        names = self._names
        if not names:
            return ()
        if isinstance(row, Mapping):  # A row may have further columns.
            row = row if all(name in row for name in names) else self._by_name(row)
            return [row.get(name) for name in names]
        if self._places and type(row) is tuple and len(row) == len(self._told):
            return [row[place] for place in self._places]
        if len(names) == 1 and not isinstance(row, tuple):
            return (row,)
        try:
            return fields_of(row, names, self._fold)
        except (TypeError, ValueError) as error:
            text = f"the row {shown(row)} ({type(row).__name__}) does not fit: {one_line(error)}"
            raise SchemaMismatch(text) from None

    def _by_name(self, row: Mapping[Any, Any]) -> Mapping[Any, Any]:
        folded = {self._fold(name): row[name] for name in row if isinstance(name, str)}
        found = {name: folded[each] for name in self._names if (each := self._fold(name)) in folded}
        if not found:
            names = one_line(", ".join(self._names))
            raise SchemaMismatch(f"the row {shown(row)} has none of the columns {names}")
        return {**found, **row}

    def fit_all(self, rows: Any) -> Any:
        """Convert a key's rows. Return non-rows unchanged, and rows that do not fit as an error.

        The lookup adds the key to the error, and makes no further attempt.
        """
        if isinstance(rows, str | bytes | bytearray) or not isinstance(rows, Sequence):
            return rows
        try:
            return tuple(map(self.fit, rows))
        except SchemaMismatch as error:
            failure = InvalidResult(None, str(error))
            failure.__cause__ = error
            return failure


class FittedTable:
    """A table with converted rows."""

    def __init__(self, table: Table, rows: RowFitter) -> None:
        self._table = table
        self._rows = rows
        self.open = table.open
        self.close = table.close

    async def get_many(self, keys: Sequence[Any]) -> Any:
        answers = await self._table.get_many(keys)
        if not isinstance(answers, Mapping):
            return answers
        self._rows.named(getattr(self._table, "columns", None))
        return {key: self._rows.fit_all(rows) for key, rows in answers.items()}


class FittedWholeTable(FittedTable):
    """A table with converted rows that can be read whole."""

    def __init__(self, table: WholeTable, rows: RowFitter, keys: pa.Schema) -> None:
        super().__init__(table, rows)
        self._whole = table
        one = len(keys) == 1
        self._fit_key = Column(keys.field(0), None).take if one else RowFitter(keys, None).fit

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        """Read the table.

        Raises:
            SchemaMismatch: a key or a row does not fit; the error names both.
        """
        rows = self._whole.load_all()
        try:
            async for key, row in rows:
                self._rows.named(getattr(self._whole, "columns", None))
                try:
                    fitted = self._fit_key(key), self._rows.fit(row)
                except SchemaMismatch as error:
                    raise SchemaMismatch(f"key {shown(key)}: {error}") from None
                yield fitted
        finally:
            await close_source(rows)


CHUNKS = 4
"""Number of concurrent lookups of chunks in a task."""


class Options(Struct, frozen=True):
    """Options of the lookups of a task; see `asyncwait.backends.spark.lookup_join`.

    The task reports its progress to `endpoint`.
    """

    cache: Cache | Full | None = None
    policy: Policy = Policy()
    on_error: Any = "fail"
    endpoint: Endpoint | None = None


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
        opened = tabled(table, self.options.cache, self.options.policy, store)
        counts.lookup = opened.figures
        looking = ChunkLookup(opened, self.shape, self.options.on_error, fitter.fit, CHUNKS)
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
