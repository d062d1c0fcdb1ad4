"""Rows that were completed before: finding them in a journal, and storing results there."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pyarrow as pa

from asyncwait.backends.journal import (
    Attempt,
    EntryTooLarge,
    Failure,
    Journal,
    JournalError,
    KeptFailure,
    key_of,
    keys_after,
    version_of,
)
from asyncwait.backends.spark.frame._columns import columns_text
from asyncwait.backends.spark.frame._rows import InputRow, OutputRow
from asyncwait.backends.spark.frame._values import python_type
from asyncwait.backends.spark.frame._work import Work
from asyncwait.spec import InvalidConfig, Retry


def journal_of(asked: Any, fn: Any, retry: Retry | None = None) -> Journal | None:
    """Return the journal of the option `journal`; a path means a journal of the present function.

    Args:
        asked: a Journal, a path, or None for none.
        fn: the user's function; names the job of a journal at a path; see `version_of`.
        retry: its `on_result`, like the function, decides which results are stored.

    Raises:
        InvalidConfig: `asked` has another type, or `fn` has no determinable version.
    """
    if asked is None or isinstance(asked, Journal):
        return asked
    if not isinstance(asked, str):
        raise InvalidConfig.of("journal", asked, "a path, a Journal, or None")
    again = None if retry is None else retry.on_result
    settings = () if again is None else (("on_result", version_of(again)),)
    return Journal(asked, _name_of(fn)[:200], version_of(fn), settings=settings)


def _name_of(fn: Any) -> str:
    while isinstance(fn, partial):
        fn = fn.func
    named = fn if hasattr(fn, "__qualname__") else type(fn)
    return f"{named.__module__}.{named.__qualname__}"


class Keys:
    """Makes the key of each row of a partition, and finds its stored result.

    Equal rows are distinguished by the number of equal rows before, so that each is called once.

    A key covers the call (values and their types on arrival, with the time zone of instants) and
    the use of its result (schema, `many`, and all settings).

    Args:
        attempt: the open journal.
        batch: names the query and micro-batch; empty outside of streams.
    """

    def __init__(self, attempt: Attempt, work: Work, batch: str = "") -> None:
        given, journal = work.shape.given, work.options.journal
        self._attempt = attempt
        self._names = (given,) if isinstance(given, str) else given
        results = columns_text(work.shape.results, nulls=True)
        settings = () if journal is None else journal.settings
        self._first = (_RULE, results, repr(sorted(settings)), str(work.options.many), batch)
        self._schema: pa.Schema | None = None
        self._seen: dict[bytes, int] = {}

    def look(self, rows: Sequence[InputRow]) -> None:
        """Set the key of each row of a batch, and its stored outcome, if any."""
        if not rows:
            return
        if (schema := rows[0].batch.schema) != self._schema:
            given = columns_text([schema.field(name) for name in self._names], nulls=False)
            # Settings become a digest, so the data of each row fits into one block of the hash.
            self._schema, self._key = schema, keys_after(key_of(*self._first, given))
        keys = list(map(self._key_of, rows))
        for row, key, found in zip(rows, keys, self._attempt.outcomes(keys), strict=True):
            row.key, row.found = key, found

    def _key_of(self, row: InputRow) -> bytes:
        value = row.value
        given = ENCODER.encode(tuple(value) if isinstance(value, tuple) else value)
        key = self._key(given)
        before = self._seen.get(key, 0)
        self._seen[key] = before + 1
        return key if before == 0 else key_of(key, before)


_RULE = "row 2"
"""Version of the keys of rows; a new number whenever they change."""


def _plain(value: Any) -> Any:
    """Convert a value of a derived class (from bs4, pandas, pendulum) to its base class."""
    match value:
        case str():
            return str.__str__(value)
        case datetime():
            parts = (value.year, value.month, value.day, value.hour, value.minute, value.second)
            zone = value.tzinfo
            return datetime(*parts, value.microsecond, tzinfo=zone, fold=value.fold)
        case date():
            return date(value.year, value.month, value.day)
        case timedelta():
            return timedelta(value.days, value.seconds, value.microseconds)
    raise TypeError(f"{type(value).__name__} can't be kept")


ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)
"""Encodes different values of a type as different bytes, even maps that differ only in order.
Fields of structs come in the order of their type.
"""


class Payloads:
    """Entries of a journal: the rows that the call of each row returned."""

    def __init__(
        self, attempt: Attempt, work: Work, end: tuple[None, ...], retry: Retry | None
    ) -> None:
        self._attempt = attempt
        self._end = end
        self._many = work.options.many
        self._again: Callable[[Any], Any] | None = None if retry is None else retry.on_result
        fields: Any = tuple[tuple(python_type(field.type) | None for field in work.shape.results)]  # type: ignore[misc]
        self._decoder: Any = msgspec.msgpack.Decoder(list[fields] | int)

    def read(self, row: InputRow) -> Any:
        """Return the stored result of a row.

        Raises:
            EntryTooLarge: the call was completed, and its result is too long to be stored.
            KeptFailure: the call has finally failed.
        """
        if isinstance(row.found, Failure):
            raise KeptFailure(row.found)
        payload = self._decoder.decode(row.found)
        if isinstance(payload, int):
            raise EntryTooLarge.of_size(payload)
        rows = [OutputRow(row, (*fields, *self._end)) for fields in payload]
        return rows if self._many else rows[0]

    def keep(self, row: InputRow, given: Any) -> Any:
        """Return the result of a call once it is in the journal."""
        if type(given) is OutputRow and self._again is None and not self._end:  # nearly all results
            self._add(row.key, ENCODER.encode((given.fields,)))
            return given
        if self._many and not isinstance(given, OutputRow) and hasattr(given, "__iter__"):
            if isinstance(given, dict | str | bytes):
                return given  # The operator reports its fault.
            given = tuple(given)
        rows = given if isinstance(given, tuple) else (given,)
        if all(isinstance(each, OutputRow) for each in rows) and not (
            self._again is not None and self._again(rows)
        ):
            length = len(self._end)
            fields = [each.fields[: len(each.fields) - length] for each in rows]
            self._add(row.key, ENCODER.encode(fields))
        return given

    def _add(self, key: bytes, payload: bytes) -> None:
        """Store the result of a call, or its size if it is too long, so that no task calls again.

        Raises:
            JournalError: the result can't be stored; no attempt is to call again.
        """
        try:
            self._attempt.add(key, payload)
        except EntryTooLarge:
            self._attempt.add(key, ENCODER.encode(len(payload)))
            raise
        except OSError as error:
            raise JournalError(f"the journal can't be written: {error}") from error
