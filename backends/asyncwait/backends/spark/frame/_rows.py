"""Rows of a partition: as arguments of the function, and with its results as further columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import count, groupby, repeat
from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import Row

from asyncwait.backends.journal import Failure
from asyncwait.backends.spark.frame._columns import Fold
from asyncwait.backends.spark.frame._errors import UnreadableRow
from asyncwait.spec import Record
from asyncwait.spec.texts import shown


class InputRow(Struct, eq=False, gc=False):
    """One input row: the argument of the function, and the place of its other columns.

    Args:
        name: returns the name of the row in errors, from the index.
        key: in the journal, if there is one.
        found: the entry of the journal for this row; None without an entry.
    """

    value: Any
    batch: pa.RecordBatch
    index: int
    name: Callable[[int], str]
    key: bytes = b""
    found: bytes | Failure | None = None

    def cells(self, columns: Iterable[str]) -> Iterator[Any]:
        return (self.batch.column(name)[self.index].as_py() for name in columns)

    def __repr__(self) -> str:
        return self.name(self.index)


class RowRecord(Record, frozen=True):
    """A row as a record; errors call it a row, as users do."""

    def __str__(self) -> str:
        return f"row {self.value!r}"


class OutputRow(Struct, frozen=True, gc=False):
    """An output row.

    Args:
        fields: of the result, one for each column of the schema.
        given: the result as the function returned it, for `retry.on_result`.
    """

    source: InputRow
    fields: tuple[Any, ...]
    given: Any = None

    def __repr__(self) -> str:
        return repr(self.fields if self.given is None else self.given)


class Around:
    """A function of rows around another function, with that function's hooks and handlers."""

    def __init__(self, of_rows: Any) -> None:
        self._of_rows = of_rows
        for name in ("open", "close", "timeout", "failure"):
            if (part := getattr(of_rows, name, None)) is not None:
                setattr(self, name, part)


class Shape(Struct, frozen=True):
    """The columns of input and output, by name.

    Args:
        given: the columns of the argument: several as a Row, or the value of a single column.
        spelled: names of these columns in a Row, as the user spells them; None for the same.
        fold: how names of fields of results are compared.
        carried: columns that go out unchanged, without conversion to Python.
        key: identifies rows in errors; None for their places.
        partition: number of the partition, for these places.
    """

    given: tuple[str, ...] | str
    carried: tuple[str, ...]
    results: pa.Schema
    key: tuple[str, ...] = ()
    partition: int = 0
    spelled: tuple[str, ...] | None = None
    fold: Fold = str.lower


class FrameRows:
    """The codec of a partition: input rows from batches, batches from output rows.

    Args:
        look: receives the decoded rows, in order; None without a journal.
    """

    def __init__(
        self, shape: Shape, look: Callable[[Sequence[InputRow]], None] | None = None
    ) -> None:
        self._shape = shape
        self._look = look
        self._seen = 0

    def decode(self, batch: pa.RecordBatch) -> Iterable[InputRow]:
        name = self._namer(batch, self._seen)
        self._seen += batch.num_rows
        rows = [*map(InputRow, self._values(batch), repeat(batch), count(), repeat(name))]
        if self._look is not None:
            self._look(rows)
        return rows

    def _values(self, batch: pa.RecordBatch) -> Iterator[Any]:
        given = self._shape.given
        if isinstance(given, str):
            return iter(self._python_values(batch, given))
        if not given:
            return repeat(Row(), batch.num_rows)
        columns = [self._python_values(batch, name) for name in given]
        return map(
            tuple.__new__,
            repeat(row_class(self._shape.spelled or given)),
            zip(*columns, strict=True),
        )

    def _python_values(self, batch: pa.RecordBatch, name: str) -> list[Any]:
        """Return the values of a column.

        Raises:
            UnreadableRow: a text is not UTF-8, as after Spark's casts from binary.
        """
        column = batch.column(name)
        try:
            return python_values(column)
        except UnicodeDecodeError:
            for index in range(batch.num_rows):
                try:
                    python_values(column.slice(index, 1))
                except UnicodeDecodeError as error:
                    # `_seen` counts this batch already.
                    row = self._namer(batch, self._seen - batch.num_rows)(index)
                    raise UnreadableRow(
                        f"row {row}, column {name}: expected text in UTF-8, got {shown(error)}; "
                        "use make_valid_utf8, or give it as binary"
                    ) from None
            raise

    def _namer(self, batch: pa.RecordBatch, before: int) -> Callable[[int], str]:
        shape = self._shape
        columns = [(name, batch.column(name)) for name in shape.key]

        def name(index: int) -> str:
            if not columns:
                return f"{before + index} of partition {shape.partition}"
            return ", ".join(f"{name}={_shown_cell(cells[index])}" for name, cells in columns)

        return name

    def encode(self, rows: Sequence[OutputRow]) -> pa.RecordBatch:
        """Return `rows` as a batch: the carried columns, and the results behind them."""
        results = self._results(rows)
        if not self._shape.carried:
            return results
        carried = self._carried([row.source for row in rows])
        fields = [*carried.schema, *self._shape.results]
        return pa.RecordBatch.from_arrays(
            [*carried.columns, *results.columns], schema=pa.schema(fields)
        )

    def _results(self, rows: Sequence[OutputRow]) -> pa.RecordBatch:
        schema = self._shape.results
        of_rows = [row.fields for row in rows]  # `zip(*of_rows)` takes twice as long
        arrays = [
            pa.array([fields[place] for fields in of_rows], field.type)
            for place, field in enumerate(schema)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _carried(self, rows: Sequence[InputRow]) -> pa.RecordBatch:
        """Return the carried columns; rows in input order are not copied."""
        names = list(self._shape.carried)
        pieces = []
        for _, group in groupby(rows, key=lambda row: id(row.batch)):
            run = list(group)
            batch, indices = run[0].batch.select(names), [row.index for row in run]
            first, length = indices[0], len(indices)
            if indices == list(range(first, first + length)):
                pieces.append(batch.slice(first, length))
            else:
                pieces.append(batch.take(pa.array(indices)))
        return pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces)


@cache
def row_class(names: tuple[str, ...]) -> type[Row]:
    """Return a class of Rows with these columns.

    pyspark sets the columns of each Row in Python, and looks them up in a list: that took a
    third of the time of a row whose call returns at once.
    """
    fields: dict[str, Any] = {"__fields__": names, "__doc__": Row.__doc__}
    for index, name in reversed([*enumerate(names)]):  # of equal names the first counts
        if not hasattr(Row, name):
            fields[name] = property(partial(_cell, index))
    return type("Row", (Row,), fields)


def _cell(index: int, row: Row) -> Any:
    return tuple.__getitem__(row, index)


def _shown_cell(cell: pa.Scalar) -> str:
    try:
        return shown(cell.as_py())
    except UnicodeDecodeError:
        return shown(cell.as_buffer().to_pybytes())


def python_values(column: pa.Array) -> list[Any]:
    """Return the values of a column: timestamps have their zone, structs and maps are dicts."""
    return column.to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]
