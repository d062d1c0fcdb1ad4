"""A table whose rows are converted for Arrow once when they are read, and cached in that form."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import pyarrow as pa

from asyncwait.backends.lookup import Table, WholeTable
from asyncwait.backends.spark.frame._columns import Fold
from asyncwait.backends.spark.frame._errors import SchemaMismatch
from asyncwait.backends.spark.frame._plan import names_of
from asyncwait.backends.spark.frame._values import Column, fields_of
from asyncwait.spec import InvalidResult
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import close_source


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
