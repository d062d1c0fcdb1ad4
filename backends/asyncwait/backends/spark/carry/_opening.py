"""The operator of a call host: one for all lanes, whose outputs identify their rows."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends import pool, threads
from asyncwait.backends.spark._partition import PartitionSource
from asyncwait.backends.spark.carry._records import OutcomeCodec
from asyncwait.backends.spark.carry._sharing import SharedCalls
from asyncwait.backends.spark.frame._calls import Steps, await_call, run_call
from asyncwait.backends.spark.frame._opening import Opening
from asyncwait.backends.spark.frame._rows import Around, InputRow, OutputRow, RowRecord
from asyncwait.spec import (
    CallFailed,
    InvalidResult,
    OperatorConfig,
    OperatorError,
    RetryAfter,
)
from asyncwait.spec.carry import InFlight
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import (
    Gate,
    PlainOne,
    PlainSource,
    call_failed,
    cause_or_self,
    collect_results,
    reraise_fatal,
    results_despite,
)


class CalledRow(InputRow):
    """A row whose call a lane wants."""

    lane: str = ""
    version: str = ""
    item: InFlight | None = None
    is_wanted: bool = True
    calls: int = 0
    task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """End the call; its outcome is dropped."""
        self.is_wanted = False
        if self.task is not None:
            self.task.cancel()


class Done(Struct, frozen=True):
    """The outcome of a row.

    Args:
        error: fails the visit of the row; None for none.
    """

    row: CalledRow
    rows: tuple[OutputRow, ...] = ()
    outcome: bytes = b""
    error: OperatorError | None = None

    @classmethod
    def of(cls, row: CalledRow, rows: tuple[OutputRow, ...]) -> "Done":
        """Return the outcome of a row; a result that can't be encoded is an error of its call."""
        assert row.item is not None
        outcome = OutcomeCodec.encode(row.item.record, [each.fields for each in rows])
        return cls(row, rows, outcome)


Fails: TypeAlias = Callable[[CalledRow, OperatorError], tuple[Done]]
"""Decides a row that has failed."""


class HostOpening(Opening):
    """Opens the operator of a call host, on the rows that lanes want called."""

    def on(self, source: PartitionSource) -> AbstractAsyncContextManager[Any]:
        """Return the operator, whose results are `Done`; called on the loop."""
        options = self._options
        of_rows: Any = self.row_function()
        limits = self.limits
        if (cache := options.cache) is not None:
            gate = None if limits is None else Gate(limits, options.capacity, self._spent)
            of_rows, limits = SharedCalls(of_rows, cache, many=options.many, gate=gate), None
        fails = _grouped(self.failure_handler())
        batched = options.batch is not None
        calls = _LaneFunction(of_rows, fails, blocks=self._blocks, batched=batched)
        function = self.plain(PlainOne, calls)
        function.is_free = _needs_no_call
        function.failure = fails
        rows = PlainSource(source)
        rows.record = RowRecord
        config = OperatorConfig(
            "unordered",
            options.capacity,
            options.timeout,
            self._grouped_retry(),
            batch=options.batch,
            limits=limits,
        )
        opens = threads.open_plain if self._blocks else pool.open_plain
        return opens(config, function, rows)

    def _grouped_retry(self) -> Any:
        retry = self._retry
        if retry is None:
            return retry
        wanted, asks = retry.on_error, retry.on_result

        def is_reason(error: BaseException) -> bool:
            if isinstance(error, InvalidResult) and isinstance(error.record, RowRecord):
                return False
            if isinstance(error, OperatorError) and isinstance(error.record, RowRecord):
                error = cause_or_self(error)
            return isinstance(error, wanted) if isinstance(wanted, type | tuple) else wanted(error)

        def is_asked_for(given: Any) -> bool:
            return given[0].row.is_wanted and bool(asks(given[0].rows))

        return replace(retry, on_error=is_reason, on_result=asks and is_asked_for)


def _needs_no_call(row: CalledRow) -> bool:
    return not row.is_wanted or row.found is not None


def _answered(row: CalledRow, given: Any) -> Any:
    """Return the result of a call; a `RetryAfter` raised by reading it counts as the call's own."""
    if type(given) is Cost:
        return Cost(_answered(row, given.result), given.used)
    try:
        return _done(row, given)
    except CallFailed as error:
        if isinstance(error.__cause__, RetryAfter):
            raise error.__cause__ from None
        raise


def _done(row: Any, given: Any) -> Done:
    if isinstance(given, OutputRow):
        return Done.of(row, (given,))
    return Done.of(row, collect_results(RowRecord(row), given))


class _LaneFunction(Around):
    """The function of rows of lanes, each of which its lane may stop wanting at any time.

    The call of a single row ends then; a batch goes on, and so does a call that blocks.
    """

    def __init__(self, of_rows: Any, fails: Fails, *, blocks: bool, batched: bool) -> None:
        super().__init__(of_rows)
        self._blocks, self._batched = blocks, batched
        on_time = getattr(of_rows, "timeout", None)
        if on_time is not None:
            self.timeout = lambda row: _despite(row, on_time(row), fails)

    def __call__(self, rows: Any) -> Any:
        """Return the `Done` of a row, or of each row of a batch; an awaitable unless it blocks."""
        steps = _batch(rows) if self._batched else _row(rows)
        if self._blocks:
            return run_call(self._of_rows, steps)
        calling = await_call(self._of_rows, steps)
        return calling if self._batched else _while_wanted(rows, calling)


def _row(row: CalledRow) -> Steps:
    if not row.is_wanted:
        return Done(row)
    row.calls += 1
    return _answered(row, (yield row))


def _batch(rows: Sequence[CalledRow]) -> Steps:
    wanted = [row for row in rows if row.is_wanted]
    for row in wanted:
        row.calls += 1
    return _each(rows, wanted, (yield wanted) if wanted else ())


async def _while_wanted(row: CalledRow, calling: Coroutine[Any, Any, Any]) -> Any:
    """Await the call of a row, which `CalledRow.cancel` ends."""
    if not row.is_wanted:
        return await calling
    # A scope of anyio would do the same, and take as long as all other steps.
    task = row.task = asyncio.current_task()
    assert task is not None
    try:
        done = await calling
        if not row.is_wanted:
            await asyncio.sleep(0)  # A cancellation that came too late for the call ends here.
    except BaseException as error:
        if row.is_wanted:
            raise
        if not isinstance(error, asyncio.CancelledError):
            reraise_fatal(error)
        done = Done(row)  # The lane does not want the row, which needs no other call.
    finally:
        row.task = None
    if not row.is_wanted:
        task.uncancel()
    return done


def _each(rows: Sequence[CalledRow], wanted: Sequence[CalledRow], given: Any) -> Any:
    """Return the outcome of each of several rows, some of which were not called."""
    if type(given) is Cost:
        return Cost(_each(rows, wanted, given.result), given.used)
    answers = {id(row): each for row, each in zip(wanted, given, strict=True)}
    return [
        _done_or_error(row, answers[id(row)]) if id(row) in answers else Done(row) for row in rows
    ]


def _done_or_error(row: CalledRow, given: Any) -> Any:
    """Return the outcome of one row of a batch; a result that does not fit fails only this row."""
    if isinstance(given, BaseException):
        return given
    try:
        return _answered(row, given)
    except BaseException as error:
        reraise_fatal(error)
        return error


def _despite(row: CalledRow, given: Any, fails: Fails) -> Done | None:
    """Return the timeout handler's result; if it is invalid, the failure handler's."""
    if given is None:
        return None
    try:
        return _done(row, given)
    except OperatorError as error:
        return fails(row, error.after(row.calls))[0]


def _grouped(handle: Callable[[Any, OperatorError], Any]) -> Fails:
    """Return a handler whose errors are results, too: they fail visits, and not the operator."""

    def grouped(row: CalledRow, error: OperatorError) -> tuple[Done]:
        if not row.is_wanted:
            return (Done(row),)
        try:
            return (Done.of(row, results_despite(_own(row, error), handle)),)
        except OperatorError as raised:
            return (Done(row, error=raised),)
        except Exception as raised:
            return (Done(row, error=call_failed(RowRecord(row), raised)),)

    return grouped


def _own(row: CalledRow, error: OperatorError) -> OperatorError:
    """Return the error that describes the fault of a result, instead of the raised error."""
    found = error.__cause__
    if not isinstance(found, OperatorError) or getattr(found.record, "value", None) is not row:
        return error
    own = found.after(error.attempts)
    own.__cause__ = found.__cause__
    return own
