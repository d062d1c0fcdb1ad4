"""The operator of a call host: one for all lanes, whose outputs identify their rows."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeAlias

import anyio
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends import pool, threads
from asyncwait.backends.lookup._loads import Load, Loads
from asyncwait.backends.lookup._table import Figures, table_closed
from asyncwait.backends.spark._partition import PartitionSource
from asyncwait.backends.spark.carry._records import OutcomeCodec
from asyncwait.backends.spark.frame._cache import NO_ROW, keyed_by_rows
from asyncwait.backends.spark.frame._calls import Steps, await_call, run_call
from asyncwait.backends.spark.frame._rows import Around, InputRow, OutputRow, RowRecord
from asyncwait.backends.spark.frame._task import Opening
from asyncwait.spec import (
    Cache,
    CallFailed,
    CallTimedOut,
    InvalidResult,
    OperatorError,
    RetryAfter,
)
from asyncwait.spec.carry import InFlight
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import (
    NULL_KEY,
    Gate,
    JoinableTasks,
    PlainOne,
    PlainSource,
    Store,
    call_failed,
    cause_or_self,
    collect_results,
    reraise_fatal,
    results_despite,
    run_hook,
    running_loop,
    stand_in,
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
        options = self._work.options
        of_rows: Any = self.row_function()
        limits = self.limits
        if (cache := options.cache) is not None:
            gate = None if limits is None else Gate(limits, options.capacity, self.spent)
            of_rows, limits = SharedCalls(of_rows, cache, many=options.many, gate=gate), None
        fails = _grouped(self.failure_handler())
        batched = options.batch is not None
        calls = _LaneFunction(of_rows, fails, blocks=self._blocks, batched=batched)
        function = self.plain(PlainOne, calls)
        function.is_free = _needs_no_call
        function.failure = fails
        rows = PlainSource(source)
        rows.record = RowRecord
        kept = {"max_held": None, "cache": None, "limits": limits}
        config = replace(options, mode="unordered", retry=self._grouped_retry(), **kept)
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
    """Return the error that describes the fault of a result, instead of the raised error.

    At a deadline, the cause is the error of an earlier attempt, and not the fault of a result.
    """
    found = error.__cause__
    if (
        isinstance(error, CallTimedOut)
        or not isinstance(found, OperatorError)
        or getattr(found.record, "value", None) is not row
    ):
        return error
    own = found.after(error.attempts)
    own.__cause__ = found.__cause__
    return own


class SharedCalls(Around):
    """The function of rows, called once for all rows with one key at the same time.

    It is a table with the keys of the cache, so that rows share calls as lookups share
    requests. Each row waits in a call of its own, and may leave at its deadline, or when no visit
    wants it; the last row that leaves cancels the shared call. The rules of the area CACHE say how
    long results are cached.

    Args:
        of_rows: the function; it never gets one of the rows, which a cached result would hold.
        many: whether a call returns any number of results, made while they are read.
        gate: the limits of the calls: each call waits for its permit, and no row; None for none.
    """

    def __init__(self, of_rows: Any, cache: Cache, *, many: bool, gate: Gate | None) -> None:
        super().__init__(of_rows)
        self._call = of_rows if gate is None else partial(gate.further, of_rows)
        self._gate = gate
        self._key: Any = keyed_by_rows(cache).key
        self._store = Store(cache)
        self._many = many
        self._values: dict[Any, Any] = {}
        """The arguments of the calls, by stand-in of their keys."""
        self._hooks = [getattr(of_rows, name, None) for name in ("open", "close")]
        self.open, self.close = self._begin, self._end

    async def __call__(self, row: InputRow) -> Any:
        place = stand_in(key := self._key(row))
        if place is NULL_KEY:
            return await self._call(row)
        kept, now = self._store.entries.get(place), self._clock()
        if kept is None or now >= kept.good_until:
            return await self._shared(place, key, row)
        if now >= kept.refresh_from:
            self._store.refreshing(place)
            self._load(place, key, row, background=True)
        return self._as_returned(kept.results)

    async def _shared(self, place: Any, key: Any, row: InputRow) -> Any:
        load = self._load(place, key, row)
        await self._loads.wait_for({load})
        if load.answers is None:
            raise table_closed()
        found: Any = load.answers[place]
        if isinstance(found, Exception):
            stale = self._store.stale(place, self._clock())
            if stale is None:
                raise found
            found = stale
        return self._as_returned(found)

    def _load(self, place: Any, key: Any, row: InputRow, *, background: bool = False) -> Load:
        """Return the load of a key; begin it unless it runs."""
        if place not in self._loads.by_key:
            self._values[place] = row.value
            self._loads.begin({place: key}, background=background)
        return self._loads.by_key[place]

    async def get_many(self, keys: Sequence[Any]) -> dict[Any, Sequence[Any]]:
        """Call the function for the one key of a load; see `asyncwait.backends.lookup.Table`."""
        (key,) = keys
        row = InputRow(self._values.pop(stand_in(key)), NO_ROW.batch, 0, str)
        returned = await self._call(row)
        return {key: collect_results(RowRecord(row), returned) if self._many else (returned,)}

    def _as_returned(self, results: tuple[Any, ...]) -> Any:
        return results if self._many else results[0]

    async def _begin(self) -> None:
        await run_hook(self._hooks[0])
        loop = running_loop()
        self._clock = loop.time
        self._group = JoinableTasks(await anyio.create_task_group().__aenter__())
        keep, figures = self._store.put, Figures()
        tasks: Any = (self, loop, self._group, figures, keep)
        self._loads = Loads(*tasks, batch=None, is_last=lambda: False)
        if self._gate is not None:
            self._time = asyncio.create_task(self._gate.keep_time())

    async def _end(self) -> None:
        self._loads.close()
        reason = await self._group.join()
        if self._gate is not None:
            self._gate.close()
            await self._time
            self._gate.forget()
        await run_hook(self._hooks[1])
        if reason is not None:
            raise reason
