"""The operator of a task: the pool or the threads, with the user's function of rows."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import tzinfo
from math import isnan, nan
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends import pool, threads
from asyncwait.backends.journal import Attempt, Journal
from asyncwait.backends.spark._partition import PartitionSource
from asyncwait.backends.spark.frame._cache import Sharing, keyed_by_rows, record_of
from asyncwait.backends.spark.frame._calls import (
    Results,
    RowFunction,
    as_it_is,
    failure_handler,
    repeating,
)
from asyncwait.backends.spark.frame._errors import FailedRows, Failures, Share
from asyncwait.backends.spark.frame._journal import Payloads
from asyncwait.backends.spark.frame._limits import Kept, limits_of_rows, needs_no_permit
from asyncwait.backends.spark.frame._rows import InputRow, RowRecord, Shape
from asyncwait.backends.spark.progress import Endpoint
from asyncwait.spec import OperatorConfig, OperatorError
from asyncwait.spec.checks import kind_of
from asyncwait.toolkit import (
    FunctionParts,
    PlainFunction,
    PlainOne,
    PlainSource,
    StandIns,
)


class Options(OperatorConfig, frozen=True):
    """Options of a task; see `asyncwait.backends.spark.ordered_wait`.

    The task reports its progress to `endpoint`. With `once` a failed row is decided, too.
    """

    on_error: Any = None
    many: bool = False
    error_column: str | None = None
    kept: Kept = Kept()
    endpoint: Endpoint | None = None
    journal: Journal | None = None
    fail_after: Share | None = None
    once: bool = False


class Work(Struct, frozen=True):
    """The work of one task; it travels to the workers.

    Args:
        fn: the user's function, or its class.
        zone: name of the time zone for timestamps without a zone.
    """

    fn: Any
    shape: Shape
    zone: str
    options: Options


class Opening:
    """Opens the operator of one task."""

    def __init__(self, work: Work, attempt: Attempt | None, sharing: Sharing | None = None) -> None:
        fn, shape, options = work.fn, work.shape, work.options
        self._parts = FunctionParts.of(fn() if isinstance(fn, type) else fn)
        self._shape = shape
        self._options = options
        self._attempt = attempt
        self._sharing = sharing
        self.failed: FailedRows | None = None
        """Counts the failed rows."""
        self.spent: Counter[str] | None = None
        """Counts the costs of the calls, by unit."""
        self._blocks = kind_of(self._parts.call) in ("plain", "generator")
        self._retry = repeating(options.retry, many=options.many)
        self.limits = limits_of_rows(options.kept)
        if attempt is None:
            self._failures = None
        else:
            self._failures = Failures(attempt, self._retry, keeps_all=options.once)
        self._results = Results(
            shape.results,
            zone_named(work.zone),
            many=options.many,
            fold=shape.fold,
            tells_errors=options.error_column is not None,
            keeps=options.retry is not None and options.retry.on_result is not None,
        )

    def on(self, source: PartitionSource) -> AbstractAsyncContextManager[Any]:
        """Return the operator on the rows of a partition; called on the loop."""
        options = self._options
        function = self.plain(PlainFunction if options.many else PlainOne, self.row_function())
        function.failure = self.failure_handler()
        rows = PlainSource(source)
        config = replace(options, retry=self._retry, limits=self.limits)
        if (sharing := self._sharing) is not None and options.cache is not None:
            rows.record = self._shared
            config = replace(config, cache=keyed_by_rows(options.cache))
            return pool.open_operator(config, function, rows, store=sharing.store)
        rows.record = self._keyed if options.mode == "key-ordered" else RowRecord
        opens = threads.open_plain if self._blocks else pool.open_plain
        return opens(config, function, rows)

    def plain(self, kind: type[PlainFunction], of_rows: Any) -> PlainFunction:
        batched, limited = self._options.batch is not None, self.limits is not None
        function = kind(of_rows, batched=batched, limited=limited)
        function.spent = self.spent
        function.makes_several = isinstance(self._parts.call, StandIns)
        if self._attempt is not None:
            function.is_free = needs_no_permit
        return function

    def failure_handler(self) -> Callable[[InputRow, OperatorError], Any]:
        """Return the failure handler of rows, behind the journal."""
        keep = as_it_is if self._failures is None else self._failures.keep
        if self.failed is not None:
            keep = self.failed.behind(keep)
        return failure_handler(self._options.on_error, self._parts, self._results, keep)

    def row_function(self) -> RowFunction:
        options, results, payloads = self._options, self._results, None
        if self._attempt is not None:
            schema, end, many = self._shape.results, results.end, options.many
            payloads = Payloads(self._attempt, schema, end, self._retry, many=many)
        return RowFunction(
            self._parts,
            results,
            blocks=self._blocks,
            batched=options.batch is not None,
            payloads=payloads,
            sharing=self._sharing,
            limited=self.limits is not None,
        )

    def _keyed(self, row: InputRow) -> RowRecord:
        return RowRecord(row, key=self._key_of(row))

    def _shared(self, row: InputRow) -> RowRecord:
        return record_of(row, self._key_of(row) if self._options.mode == "key-ordered" else ())

    def _key_of(self, row: InputRow) -> tuple[Any, ...]:
        return tuple(map(_as_key, row.cells(self._shape.key)))


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone of a session; None if Python does not know this name."""
    try:
        return ZoneInfo(name)
    except Exception:  # an offset such as +02:00, or a machine without the names of time zones
        return None


def _as_key(cell: Any) -> Any:
    """Return a key that is equal where Spark treats cells as equal, such as all NaN."""
    match cell:
        case float() if isnan(cell):
            return nan  # one shared object, which equals itself in a lookup
        case list():
            return [_as_key(each) for each in cell]
        case dict():
            return {name: _as_key(each) for name, each in cell.items()}
    return cell
