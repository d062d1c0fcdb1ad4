"""The user's function, as the operator calls it: input rows in, output rows out."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from msgspec.structs import replace

from asyncwait.backends.journal import EntryTooLarge, JournalError, KeptFailure
from asyncwait.backends.services import Cost
from asyncwait.backends.spark.frame._cache import Sharing
from asyncwait.backends.spark.frame._errors import SchemaMismatch, told_of
from asyncwait.backends.spark.frame._journal import Payloads
from asyncwait.backends.spark.frame._rows import InputRow, OutputRow
from asyncwait.backends.spark.frame._values import Column, fields_of
from asyncwait.backends.spark.frame._work import Options, Work, zone_named
from asyncwait.spec import OperatorError, Retry
from asyncwait.spec.checks import kind_of
from asyncwait.spec.texts import one_line, shown
from asyncwait.toolkit import (
    FunctionParts,
    WholeDict,
    WrongFunction,
    answers_of,
    awaited,
    collected,
    is_collection,
    reraise_fatal,
    settled,
)


class Results:
    """Makes output rows of the results of the function: one result, or with `many` a collection.

    Args:
        work: of the task, whose schema the results fit.
    """

    def __init__(self, work: Work) -> None:
        shape, options, retry = work.shape, work.options, work.options.retry
        zone = zone_named(work.zone)
        self._names = tuple(shape.results.names)
        self._fold = shape.fold
        self.many = options.many
        """Whether the function returns a collection for each row."""
        self._keeps = retry is not None and retry.on_result is not None
        """Whether output rows keep the result of the function, for `on_result`."""
        self.end = () if options.error_column is None else (None,)
        """The fields behind the fields of a result: the error column is null for results."""
        self._taken = _taking([Column(each, zone, shape.fold) for each in shape.results], self.end)

    def of(self, row: InputRow, given: Any) -> Any:
        """Return the output row of `row`, for which the function, or a handler, returned `given`.

        With `many` it returns several, made while they are read, because the operator reports
        errors of reading. The operator also reports a result that is no collection.

        Raises:
            SchemaMismatch: the result does not fit the schema, or is no result.
        """
        if not self.many:
            return self._one(row, given)
        if isinstance(given, dict):
            return WholeDict(given)  # The keys of a mapping are no results.
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
        return self.of(row, given) if self.many else (self._one(row, given),)

    def in_place_of(self, row: InputRow, error: OperatorError) -> tuple[OutputRow]:
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


Steps: TypeAlias = Generator[Any, Any, Any]
"""The stages of one call: yields the argument of the call, at most once; is sent what the call
returned, or thrown what it raised; and returns the result."""


def run_call(fn: Callable[[Any], Any], steps: Steps) -> Any:
    """Run the stages of a call of a function that blocks."""
    try:
        argument = next(steps)
    except StopIteration as end:
        return end.value
    try:
        returned = fn(argument)
    except Exception as error:
        return _finish(steps.throw, error)
    return _finish(steps.send, returned)


async def await_call(fn: Callable[[Any], Awaitable[Any]], steps: Steps) -> Any:
    """Run the stages of a call of a coroutine function."""
    try:
        argument = next(steps)
    except StopIteration as end:
        return end.value
    try:
        returned = await fn(argument)
    except Exception as error:
        return _finish(steps.throw, error)
    return _finish(steps.send, returned)


def _finish(resume: Callable[[Any], object], outcome: Any) -> Any:
    try:
        resume(outcome)
    except StopIteration as end:
        return end.value
    raise AssertionError("a pipeline calls the function once")


class RowFunction:
    """The user's function as a function of input rows: the common pipeline of all jobs on Spark.

    Its stages, each of which a job may lack: rows whose results are in the journal need no call; a
    batch has one call; results become output rows; the journal stores them before any other step.

    Args:
        parts: the parts of the user's function.
        results: makes output rows of the function's results.
        payloads: the entries of the journal; None without a journal.
        sharing: the cache of the task, whose results belong to no row; None without a cache.
    """

    def __init__(
        self,
        parts: FunctionParts,
        results: Results,
        options: Options,
        payloads: Payloads | None,
        sharing: Sharing | None,
    ) -> None:
        blocks = kind_of(parts.call) in ("plain", "generator")
        batched = options.batch is not None
        self._call: Any = parts.call
        self._results = results
        self._payloads = payloads
        self._keep = as_it_is if payloads is None else payloads.keep
        self._sharing = sharing
        self._limited = bool(options.kept.limits)
        """Whether the limits of the job read the costs of calls."""
        self._fn = self._call if blocks else self._await
        self._run: Any = run_call if blocks else await_call
        self._steps = self._batch if batched else self._row
        self._is_direct = not (blocks or batched)
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        self._on_time = parts.timeout
        if parts.timeout is not None or (batched and payloads is not None):
            self.timeout = self._timed_out

    def __call__(self, rows: Any) -> Any:
        """Return the output of a row, or of each row of a batch; an awaitable unless it blocks."""
        if self._is_direct and rows.found is None:
            return self._await_row(rows)
        return self._run(self._fn, self._steps(rows))

    async def _await_row(self, row: InputRow) -> Any:
        """Do the stages of `_row`, which would cost each row of a coroutine function 6 %."""
        source = row if self._sharing is None else self._sharing.count_call()
        returned = await self._await(row.value)
        if type(returned) is Cost:
            return self._priced(self._output, source, returned)
        return self._keep(source, self._results.of(source, returned))

    async def _await(self, argument: Any) -> Any:
        returned = self._call(argument)
        if inspect.isasyncgen(returned) and self._results.many:
            return await collected(returned)
        return await awaited(returned)

    def _row(self, row: InputRow) -> Steps:
        if row.found is not None:
            return self._read(row)
        source = row if self._sharing is None else self._sharing.count_call()
        return self._priced(self._output, source, (yield row.value))

    def _priced(self, read: Callable[[Any, Any], Any], rows: Any, returned: Any) -> Any:
        """Return the output; in a `Cost` if the call returned a `Cost` and limits read it."""
        if type(returned) is Cost:
            output = self._priced(read, rows, returned.result)
            return Cost(output, returned.used) if self._limited else output
        return read(rows, returned)

    def _output(self, row: InputRow, returned: Any) -> Any:
        return self._keep(row, self._results.of(row, returned))

    def _batch(self, rows: Sequence[InputRow]) -> Steps:
        """Call for the rows that the journal lacks; an error of the call fails only these rows."""
        called = [row for row in rows if row.found is None]
        if len(called) == len(rows):
            return self._priced(self._outputs, rows, (yield [row.value for row in rows]))
        outputs: Any = ()
        try:
            if called:
                values = [row.value for row in called]
                outputs = self._priced(self._outputs, called, (yield values))
        except Exception as error:
            outputs = repeat(error)
        return self._merged(rows, outputs)

    def _merged(self, rows: Sequence[InputRow], outputs: Any) -> Any:
        if type(outputs) is Cost:
            return Cost(self._merged(rows, outputs.result), outputs.used)
        called = iter(outputs)
        return [next(called) if row.found is None else _or_error(self._read, row) for row in rows]

    def _outputs(self, rows: Sequence[InputRow], returned: Any) -> Any:
        values = [row.value for row in rows]
        answers = answers_of(values, returned, single=not self._results.many)
        return [
            answer if isinstance(answer, BaseException) else _or_error(self._output, row, answer)
            for row, answer in zip(rows, answers, strict=True)
        ]

    def _read(self, row: InputRow) -> Any:
        assert self._payloads is not None
        return self._payloads.read(row)

    def _timed_out(self, row: InputRow) -> Any:
        """Return the handler's results, or the journal's result; None for none."""
        if row.found is not None:
            return self._read(row)
        given = None if self._on_time is None else self._on_time(row.value)
        return None if given is None else self._results.of(row, given)


def _or_error(output: Callable[..., Any], *args: Any) -> Any:
    """Return the output of one row of a batch, or the error that fails this row alone."""
    try:
        return output(*args)
    except BaseException as error:
        reraise_fatal(error)
        return error


def as_it_is(_: InputRow, given: Any) -> Any:
    """Return the result unchanged: no journal stores it."""
    return given


def failure_handler(
    on_error: Any, parts: FunctionParts, results: Results, steps: Sequence[Callable[..., None]]
) -> Callable[[InputRow, OperatorError], Any]:
    """Return the failure handler of rows; see `asyncwait.spec.FailureHandler`.

    Args:
        on_error: "fail", "skip", "column", a function of the value and the error, or None for
            the function's own handler.
        parts: of the user's function.
        results: makes output rows of the handler's results.
        steps: receive each failure first.

    A journal that can't be written fails the task: dropping such rows would call for them again
    and again. The journal notes a result that is too long for it.
    """
    asked = parts.failure if on_error is None else on_error

    def handle(row: InputRow, error: OperatorError) -> Any:
        for step in steps:
            step(row, error)
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
    """Return `retry` for functions of rows; its predicates take the results of the user's function.

    A result that does not fit, or can't be stored, causes no further call; and a
    completed result is not judged twice.
    """
    if retry is None:
        return None
    again, on_retry = retry.on_result, retry.on_retry

    def is_reason(error: BaseException) -> Any:
        is_final = isinstance(error, SchemaMismatch | JournalError | KeptFailure)
        return not is_final and retry.wants(error)

    def is_asked_for(rows: tuple[OutputRow, ...]) -> Any:
        if rows and rows[0].source.found is not None:
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
