"""The user's function, as the operator calls it: rows in, rows of the output out."""

import inspect
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from asyncwait.backends.journal import EntryTooLarge, JournalError, KeptFailure
from asyncwait.backends.services import Cost
from asyncwait.backends.spark.frame._errors import SchemaMismatch, told_of
from asyncwait.backends.spark.frame._rows import InputRow, OutputRow
from asyncwait.backends.spark.frame._schema import Fold
from asyncwait.backends.spark.frame._values import Column, fields_of
from asyncwait.spec import OperatorError, Retry
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import (
    FunctionParts,
    WholeDict,
    WrongFunction,
    awaited,
    collected,
    is_collection,
    settled,
)


class Results:
    """Makes output rows of what the function gives: one, or with `many` a collection of them.

    Args:
        schema: of the results.
        zone: of timestamps that say none.
        many: the function gives a collection for each row.
        fold: how names of fields are compared.
        tells_errors: there is one column more, which is null for results.
        keeps: the rows keep what was given, for `on_result`.
    """

    def __init__(
        self,
        schema: pa.Schema,
        zone: tzinfo | None,
        *,
        many: bool,
        fold: Fold = str.lower,
        tells_errors: bool = False,
        keeps: bool = False,
    ) -> None:
        columns = [Column(field, zone, fold) for field in schema]
        self._names = tuple(schema.names)
        self._fold = fold
        self.many = many
        """Whether the function gives a collection for each row."""
        self._keeps = keeps
        self.end = (None,) if tells_errors else ()
        """What stands behind the fields of a result."""
        self._taken = _taking(columns, self.end)

    def of(self, row: InputRow, given: Any) -> Any:
        """Return the output row of `row`, for which the function, or a handler, gives `given`.

        With `many` there are several. They are made while they are read, because what that raises
        is told by the operator. So is what is no collection; it is returned as it is.

        Raises:
            SchemaMismatch: the result does not fit the schema, or is none.
        """
        if not self.many:
            return self._one(row, given)
        if isinstance(given, dict):
            return WholeDict(given)  # Nobody takes its keys for results.
        if not is_collection(given):
            return settled("fn", given)
        return (self._one(row, each) for each in given)

    def _one(self, row: InputRow, result: Any) -> OutputRow:
        if result is None:
            text = "expected a result, got None; for rows without one, return [] with many=True"
            raise SchemaMismatch(text)
        if type(result) is tuple and len(result) == len(self._names):
            fields = result
        else:
            fields = self._fields(result)
        return OutputRow(row, self._taken(fields), result if self._keeps else None)

    def _fields(self, result: Any) -> tuple[Any, ...]:
        try:
            return fields_of(settled("fn", result), self._names, self._fold)
        except WrongFunction:
            raise
        except (TypeError, ValueError) as error:
            got = f"{shown(result)} ({type(result).__name__})"
            raise SchemaMismatch(f"the result {got} does not fit: {one_line(error)}") from None

    def of_handler(self, row: InputRow, given: Any) -> Any:
        """Return the collection of output rows that a handler gives."""
        return self.of(row, given) if self.many else (self._one(row, given),)

    def in_place_of(self, row: InputRow, error: OperatorError) -> tuple[OutputRow]:
        """Return a row of nulls that tells of an error."""
        return (OutputRow(row, (*[None] * len(self._names), told_of(error))),)


def _taking(columns: Sequence[Column], end: tuple[None, ...]) -> Callable[[Any], tuple[Any, ...]]:
    ways = [(column.fits, column.take) for column in columns]

    def several(fields: Any) -> tuple[Any, ...]:
        cells = zip(fields, ways, strict=True)
        return (*[value if fits(value) else take(value) for value, (fits, take) in cells], *end)

    if len(ways) != 1:
        return several
    ((fits, take),) = ways

    def one(fields: Any) -> tuple[Any, ...]:
        """Do the same in a quarter of the time."""
        (value,) = fields
        return (value if fits(value) else take(value), *end)

    return one


class RowFunction:
    """The user's function as one of input rows, with its hooks and its handler of deadlines.

    Args:
        parts: of the user's function.
        results: what is made of what it gives.
        keep: sees the rows of each call before anybody else, and gives them back; None for nobody.
    """

    def __init__(
        self, parts: FunctionParts, results: Results, keep: Callable[[InputRow, Any], Any] | None
    ) -> None:
        self._call: Any = parts.call
        self._results = results
        self._keep = as_it_is if keep is None else keep
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        if (on_time := parts.timeout) is not None:
            self.timeout = lambda row: self._instead(row, on_time(row.value))

    tells_costs = False
    """Whether somebody is told what calls cost."""

    async def __call__(self, row: InputRow) -> Any:
        return self._kept(row, await self._given(row.value))

    async def _given(self, value: Any) -> Any:
        """Call the user's function; return what it gives, of an async generator a list."""
        returned = self._call(value)
        if inspect.isasyncgen(returned) and self._results.many:
            return await collected(returned)
        return await awaited(returned)

    def _kept(self, row: InputRow, given: Any) -> Any:
        """Return the rows of what a call gives; of a `Cost`, one of these rows."""
        if type(given) is Cost:
            made = self._kept(row, given.result)
            return Cost(made, given.used) if self.tells_costs else made
        return self._keep(row, self._results.of(row, given))

    def _instead(self, row: InputRow, given: Any) -> Any:
        """Return what a handler gives; its None is nothing."""
        return None if given is None else self._results.of(row, given)


class BlockingRowFunction(RowFunction):
    """The same for a function that blocks: it is plain, too, and called in threads."""

    def __call__(self, row: InputRow) -> Any:
        """Call the function; what it gives is read in the thread, too."""
        return self._kept(row, self._call(row.value))


def as_it_is(_: InputRow, given: Any) -> Any:
    """Return what is given, where nobody keeps it."""
    return given


def failure_handler(
    on_error: Any, parts: FunctionParts, results: Results, keep: Callable[[InputRow, Any], object]
) -> Callable[[InputRow, OperatorError], Any]:
    """Return what is asked for rows in place of a failure; see `asyncwait.spec.FailureHandler`.

    Args:
        on_error: "fail", "skip", "column", a function of the value and the error, or None for what
            the function's own handler says.
        parts: of the user's function.
        results: what is made of what a handler gives.
        keep: is shown each failure before anybody else.

    Of a journal that can't be written nobody is asked: who left such rows out would call for them
    again and again. A result that is too long for it is known to be.
    """
    asked = parts.failure if on_error is None else on_error

    def handle(row: InputRow, error: OperatorError) -> Any:
        keep(row, error)
        cause = error.__cause__
        is_lost = isinstance(cause, JournalError) and not isinstance(cause, EntryTooLarge)
        if asked is None or asked == "fail" or is_lost:
            raise error
        if asked == "skip":
            return ()
        if asked == "column":
            return results.in_place_of(row, error)
        given = asked(row.value, error)
        return None if given is None and on_error is None else results.of_handler(row, given)

    return handle


def repeating(retry: Retry | None, *, many: bool) -> Retry | None:
    """Return `retry` for functions of rows; its predicates are asked of what the user's own gives.

    A result that does not fit is no reason to call again, nor is one that can't be kept; and what
    was completed is not judged twice.
    """
    if retry is None:
        return None
    wanted, again, on_retry = retry.on_error, retry.on_result, retry.on_retry

    def is_reason(error: BaseException) -> bool:
        if isinstance(error, SchemaMismatch | JournalError | KeptFailure):
            return False
        return isinstance(error, wanted) if isinstance(wanted, type | tuple) else wanted(error)

    def is_asked_for(rows: tuple[OutputRow, ...]) -> Any:
        if rows and rows[0].source.paid is not None:
            return False
        given = tuple(row.given for row in rows)
        return again(given if many else given[0])

    def tell(row: InputRow, *further: Any) -> None:
        on_retry(row.value, *further)

    return replace(
        retry.of_values(),
        on_error=is_reason,
        on_result=again and is_asked_for,
        on_retry=on_retry and tell,
    )
