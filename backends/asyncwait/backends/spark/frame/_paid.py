"""Rows that were paid for before: how they are found in a journal, and how results get there."""

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, TypedDict

import msgspec
import pyarrow as pa
from pyarrow import types

from asyncwait.backends.journal import Attempt, Journal, key_of
from asyncwait.backends.spark.frame._rows import InputRow, OutputRow
from asyncwait.backends.spark.frame._version import version_of
from asyncwait.spec import InvalidConfig, Retry


def journal_of(asked: Any, fn: Any) -> Journal | None:
    """Return the journal that is asked for: one whole, or a path, for the function as it stands.

    Args:
        asked: a Journal, a path, or None for none.
        fn: the user's function; its name is the job then; see `version_of`.

    Raises:
        InvalidConfig: it is neither, or nobody can tell the version of `fn`.
    """
    if asked is None or isinstance(asked, Journal):
        return asked
    if not isinstance(asked, str):
        raise InvalidConfig.of("journal", asked, "a path, a Journal, or None")
    return Journal(asked, _name_of(fn)[:200], version_of(fn))


def _name_of(fn: Any) -> str:
    """Return the name of a function, of its class, or of what it is made of."""
    while isinstance(fn, partial):
        fn = fn.func
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return f"{named.__module__}.{named.__qualname__}"


class Keys:
    """Makes the key of each row of a partition, and looks whether it was paid for.

    Equal rows are told apart by how many of them came before, so that each is called once.

    Args:
        attempt: the journal, open.
        schema: of the results: those of another one are none.
        names: of the columns that the function is given.
        batch: which query and micro-batch this is; empty if it is none.
    """

    def __init__(
        self, attempt: Attempt, schema: pa.Schema, names: tuple[str, ...], batch: str = ""
    ) -> None:
        self._attempt = attempt
        self._common = f"{schema}\n{names}\n{batch}"
        self._seen: Counter[bytes] = Counter()

    def look(self, row: InputRow) -> None:
        """Write the key on `row`, and what was paid for, if that is there."""
        value = row.value
        given = _ENCODER.encode(tuple(value) if isinstance(value, tuple) else value)
        row_key = key_of(self._common, given)
        row.key = key_of(row_key, self._seen[row_key])
        self._seen[row_key] += 1
        row.paid = self._attempt.find(row.key)


_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


class PaidFunction:
    """A function of rows that are not paid for yet; for the others it gives what was.

    What a call gives is in the journal before anybody else sees it.

    Args:
        of_rows: the function, with its hooks and handlers.
        attempt: the journal, open.
        results: their schema.
        end: what stands behind the fields of each row.
        retry: what its `on_result` asks for again is not kept.
        many: the function gives several rows for each.
    """

    def __init__(
        self,
        of_rows: Any,
        attempt: Attempt,
        results: pa.Schema,
        end: tuple[None, ...],
        retry: Retry | None,
        *,
        many: bool,
    ) -> None:
        self._of_rows = of_rows
        self._attempt = attempt
        self._end = end
        self._many = many
        self._again: Callable[[Any], Any] | None = None if retry is None else retry.on_result
        fields: Any = tuple[tuple(_python_type(field.type) | None for field in results)]  # type: ignore[misc]
        self._decoder: Any = msgspec.msgpack.Decoder(list[fields])
        for name in ("open", "close", "timeout", "failure"):
            if (part := getattr(of_rows, name, None)) is not None:
                setattr(self, name, part)

    async def __call__(self, row: InputRow) -> Any:
        if row.paid is not None:
            return self._paid(row, row.paid)
        return self._kept(row, await self._of_rows(row))

    def _paid(self, row: InputRow, payload: bytes) -> Any:
        rows = [OutputRow(row, (*fields, *self._end)) for fields in self._decoder.decode(payload)]
        return rows if self._many else rows[0]

    def _kept(self, row: InputRow, given: Any) -> Any:
        """Return what a call gives, when it is in the journal."""
        if self._many and not isinstance(given, OutputRow) and hasattr(given, "__iter__"):
            if isinstance(given, dict | str | bytes):
                return given  # The operator says what is wrong with it.
            given = tuple(given)
        rows = given if isinstance(given, tuple) else (given,)
        if all(isinstance(each, OutputRow) for each in rows) and not self._is_asked_again(rows):
            length = len(self._end)
            fields = [each.fields[: len(each.fields) - length] for each in rows]
            self._attempt.add(row.key, _ENCODER.encode(fields))
        return given

    def _is_asked_again(self, rows: tuple[OutputRow, ...]) -> bool:
        return self._again is not None and bool(self._again(rows))


class PaidBlockingFunction(PaidFunction):
    """The same for a function that blocks."""

    def __call__(self, row: InputRow) -> Any:
        """Return what was paid for, or call the function, in a thread."""
        if row.paid is not None:
            return self._paid(row, row.paid)
        return self._kept(row, self._of_rows(row))


def _python_type(kind: pa.DataType) -> Any:
    """Return the type of the values that a column of that kind takes; see `Column.take`."""
    if types.is_list(kind) or types.is_large_list(kind):
        return list[_python_type(kind.value_type) | None]  # type: ignore[misc]
    if types.is_map(kind):
        return list[tuple[_python_type(kind.key_type), _python_type(kind.item_type) | None]]  # type: ignore[misc]
    if types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        named = {field.name: _python_type(field.type) | None for field in fields}
        return TypedDict("Fields", named)  # type: ignore[operator]
    return next(python for is_kind, python in _TYPES if is_kind(kind))


_TYPES: tuple[tuple[Callable[[Any], bool], Any], ...] = (
    (types.is_boolean, bool),
    (types.is_integer, int),
    (types.is_floating, float),
    (types.is_decimal, Decimal),
    (types.is_timestamp, datetime),
    (types.is_date, date),
    (types.is_time, time),
    (types.is_duration, timedelta),
    (lambda kind: types.is_string(kind) or types.is_large_string(kind), str),
    (lambda kind: types.is_binary(kind) or types.is_large_binary(kind), bytes),
    (types.is_null, type(None)),
)
