"""The operator of a call host: one for all lanes, whose outputs say which row they belong to."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends import pool, threads
from asyncwait.backends.spark._reader import PartitionSource
from asyncwait.backends.spark.carry._records import OutcomeCodec
from asyncwait.backends.spark.carry._sharing import LimitedLoads, SharedCalls
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
    """A row whose call a lane wants.

    Args:
        lane: its name.
        version: of the function.
        item: the record in the lane's state.
        is_wanted: not any more, if False.
        calls: that have begun for it.
        task: in which its call runs, if it does.
    """

    lane: str = ""
    version: str = ""
    item: InFlight | None = None
    is_wanted: bool = True
    calls: int = 0
    task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """End its call; whatever comes of it, nobody wants it."""
        self.is_wanted = False
        if self.task is not None:
            self.task.cancel()


class Done(Struct, frozen=True):
    """What has come of a row.

    Args:
        row: of the call.
        rows: that go out for it.
        outcome: both, as bytes.
        error: which fails its visit; None for none.
    """

    row: CalledRow
    rows: tuple[OutputRow, ...] = ()
    outcome: bytes = b""
    error: OperatorError | None = None

    @classmethod
    def of(cls, row: CalledRow, rows: tuple[OutputRow, ...]) -> "Done":
        """Return what goes out for a row; what can't be written is an error of its call."""
        assert row.item is not None
        outcome = OutcomeCodec.encode(row.item.record, [each.fields for each in rows])
        return cls(row, rows, outcome)


Fails: TypeAlias = Callable[[CalledRow, OperatorError], tuple[Done]]
"""Says what becomes of a row that has failed."""


class HostOpening(Opening):
    """Opens the operator of a call host, on the rows that lanes want called."""

    def on(self, source: PartitionSource) -> AbstractAsyncContextManager[Any]:
        """Return the operator, whose results are `Done`; called on the loop."""
        options = self._options
        of_rows = self.functions()
        limits = self.limits
        if options.cache is not None:
            if limits is not None:  # Each load waits for its permit, and no record.
                of_rows = LimitedLoads(of_rows, Gate(limits, options.capacity, self._spent))
                limits = None
            of_rows = SharedCalls(of_rows, options.cache, many=options.many)
        batched = options.batch is not None
        kind = (_GroupedBatch if batched else _Grouped, _BlockingGrouped)[self._blocks]
        if self._blocks and batched:
            kind = _BlockingGroupedBatch
        fails = _grouped(self.failure_handler())
        function = self.plain(PlainOne, kind(of_rows, fails))
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
    return not row.is_wanted or row.paid is not None


def _answered(row: CalledRow, given: Any) -> Any:
    """Return what a call gives; a `RetryAfter` of what it gives is as good as its own."""
    if type(given) is Cost:
        return Cost(_answered(row, given.result), given.used)
    try:
        return _done(row, given)
    except CallFailed as error:
        if isinstance(error.__cause__, RetryAfter):
            raise error.__cause__ from None
        raise


def _done(row: Any, given: Any) -> Done:
    """Return what a call or a handler gives, as one result."""
    if isinstance(given, OutputRow):
        return Done.of(row, (given,))
    return Done.of(row, collect_results(RowRecord(row), given))


class _Grouped(Around):
    """The function of a row, whose call can be ended by whoever does not want it any more."""

    def __init__(self, of_rows: Any, fails: Fails) -> None:
        super().__init__(of_rows)
        on_time = getattr(of_rows, "timeout", None)
        if on_time is not None:
            self.timeout = lambda row: _despite(row, on_time(row), fails)

    async def __call__(self, row: CalledRow) -> Any:
        if not row.is_wanted:
            return Done(row)
        row.calls += 1
        # A scope of anyio would do the same, and take as long as all the rest.
        task = row.task = asyncio.current_task()
        assert task is not None
        try:
            done = _answered(row, await self._of_rows(row))
            if not row.is_wanted:
                await asyncio.sleep(0)  # What was cancelled too late for the call ends here.
        except BaseException as error:
            if row.is_wanted:
                raise
            if not isinstance(error, asyncio.CancelledError):
                reraise_fatal(error)
            done = Done(row)  # Nobody wants it, and it need not be called again.
        finally:
            row.task = None
        if not row.is_wanted:
            task.uncancel()
        return done


class _BlockingGrouped(_Grouped):
    """The same for a function that blocks, whose call nobody can end."""

    def __call__(self, row: CalledRow) -> Any:
        """Call it, in a thread."""
        if not row.is_wanted:
            return Done(row)
        row.calls += 1
        return _answered(row, self._of_rows(row))


class _GroupedBatch(_Grouped):
    """The function of several rows, whose call goes on for those that are wanted."""

    async def __call__(self, rows: Any) -> Any:
        wanted = _wanted(rows)
        return _each(rows, wanted, await self._of_rows(wanted) if wanted else ())


class _BlockingGroupedBatch(_Grouped):
    """The same for a function that blocks."""

    def __call__(self, rows: Any) -> Any:
        """Call it, in a thread."""
        wanted = _wanted(rows)
        return _each(rows, wanted, self._of_rows(wanted) if wanted else ())


def _wanted(rows: Sequence[CalledRow]) -> list[CalledRow]:
    wanted = [row for row in rows if row.is_wanted]
    for row in wanted:
        row.calls += 1
    return wanted


def _each(rows: Sequence[CalledRow], wanted: Sequence[CalledRow], given: Any) -> Any:
    """Return what each of several rows comes to, some of which were not called for."""
    if type(given) is Cost:
        return Cost(_each(rows, wanted, given.result), given.used)
    answers = {id(row): each for row, each in zip(wanted, given, strict=True)}
    return [
        _done_or_error(row, answers[id(row)]) if id(row) in answers else Done(row) for row in rows
    ]


def _done_or_error(row: CalledRow, given: Any) -> Any:
    """Return what one row of a batch comes to; what does not fit fails it alone."""
    if isinstance(given, BaseException):
        return given
    try:
        return _answered(row, given)
    except BaseException as error:
        reraise_fatal(error)
        return error


def _despite(row: CalledRow, given: Any, fails: Fails) -> Done | None:
    """Return what a timeout handler gives; if that is no result, what the failure handler does."""
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
    """Return the error that tells what was wrong with what a call gave, and not that it raised."""
    found = error.__cause__
    if not isinstance(found, OperatorError) or getattr(found.record, "value", None) is not row:
        return error
    own = found.after(error.attempts)
    own.__cause__ = found.__cause__
    return own
