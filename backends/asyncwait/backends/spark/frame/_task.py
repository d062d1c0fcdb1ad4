"""The work of a task of Spark: the operator on one partition of a DataFrame."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from math import isnan, nan
from traceback import format_exception
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from asyncwait.backends import pool, threads
from asyncwait.backends.journal import Attempt, KeptFailure
from asyncwait.backends.services._causes import most_frequent
from asyncwait.backends.spark._partition import Partition, PartitionSource, ThreadedSource
from asyncwait.backends.spark._rows import RowCodec
from asyncwait.backends.spark.frame._cache import (
    SharedRows,
    Sharing,
    keyed_by_rows,
    record_of,
    shared,
)
from asyncwait.backends.spark.frame._calls import (
    Results,
    RowFunction,
    failure_handler,
    repeating,
)
from asyncwait.backends.spark.frame._columns import ERROR_TYPE
from asyncwait.backends.spark.frame._errors import FailedRows, Failures, Share, TooManyFailed
from asyncwait.backends.spark.frame._journal import Keys, Payloads
from asyncwait.backends.spark.frame._limits import limits_of_rows, needs_no_permit
from asyncwait.backends.spark.frame._rows import FrameRows, InputRow, RowRecord, Shape
from asyncwait.backends.spark.frame._twice import Evaluations
from asyncwait.backends.spark.frame._work import Work
from asyncwait.backends.spark.progress import TaskFigures, TaskName, reporting
from asyncwait.backends.spark.progress._figures import NAMED
from asyncwait.spec import AsyncWaitError, OperatorError, Statistics
from asyncwait.spec.checks import kind_of
from asyncwait.spec.texts import joined, one_line, shown
from asyncwait.toolkit import (
    FunctionParts,
    KeeperLost,
    PlainFunction,
    PlainOne,
    PlainSource,
    part_of,
)

_LONGEST = 2_000
"""Characters of an error in the first line of the text for Spark."""


class Enrichment(Work, frozen=True):
    """The work of one task on a partition.

    Args:
        names: of the columns, if the names that come with the rows are made up; None if they are
            the true ones.
        identity: digest of everything on which cached results depend.
        evaluations: count the tasks that have ended; None if the driver does not listen.
    """

    names: tuple[str, ...] | None = None
    identity: bytes = b""
    evaluations: Evaluations | None = None

    @property
    def written(self) -> Shape:
        """The shape with the output columns of results, which may have an error instead."""
        if self.options.error_column is None:
            return self.shape
        error = pa.field(self.options.error_column, ERROR_TYPE)
        results = [each.with_nullable(True) for each in self.shape.results]
        return replace(self.shape, results=pa.schema([*results, error]))

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the rows of a partition, enriched; in a task of Spark."""
        return telling(self._run(batches))

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        name, counts, flush = TaskName.here(), Counts(self.options.fail_after), find_flush()
        with (
            reporting(self.options.endpoint, name, counts.figures),  # opening and closing, too
            self._attempt(name) as counts.attempt,
            shared(self.options.cache, self.identity) as counts.sharing,
            self.partition(
                batches, name.partition, counts, reader=counts.reader, watch=counts.watch
            ) as opened,
        ):
            for batch in opened:
                counts.rows_out += batch.num_rows
                yield batch
                flush()
            counts.failed.judge()
        if self.evaluations is not None:
            self.evaluations.ended()

    def _attempt(self, name: TaskName) -> AbstractContextManager[Attempt | None]:
        if self.options.journal is None:
            return nullcontext()
        return self.options.journal.attempt(f"part-{name.partition}")

    def partition(
        self,
        batches: Iterator[pa.RecordBatch],
        number: int,
        counts: "Counts | None" = None,
        **options: Any,
    ) -> Partition:
        """Return the operator on a partition, which must be closed."""
        counts = Counts() if counts is None else counts
        attempt, sharing = counts.attempt, counts.sharing
        if (names := self.names) is not None:
            batches = (batch.rename_columns(names) for batch in batches)
        opening = Opening(self, attempt, sharing)
        opening.failed, opening.spent = counts.failed, counts.spent
        codec = FrameRows if sharing is None else SharedRows
        shape = replace(self.written, partition=number)
        rows = codec(shape, None if attempt is None else Keys(attempt, self, micro_batch()).look)
        return Partition(batches, opening.on, rows, **options)


class Opening:
    """Opens the operator of one task."""

    def __init__(self, work: Work, attempt: Attempt | None, sharing: Sharing | None = None) -> None:
        fn, options = work.fn, work.options
        self._parts = FunctionParts.of(fn() if isinstance(fn, type) else fn)
        self._work = work
        self._attempt = attempt
        self._sharing = sharing
        self.failed: FailedRows | None = None
        """Counts the failed rows."""
        self.spent: Counter[str] | None = None
        """Counts the costs of the calls, by unit."""
        self._blocks = kind_of(self._parts.call) in ("plain", "generator")
        self._retry = repeating(options.retry, many=options.many)
        self.limits = limits_of_rows(options.kept)
        self._results = Results(work)

    def on(self, source: PartitionSource) -> AbstractAsyncContextManager[Any]:
        """Return the operator on the rows of a partition; called on the loop."""
        options = self._work.options
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
        batched, limited = self._work.options.batch is not None, self.limits is not None
        function = kind(of_rows, batched=batched, limited=limited)
        function.spent = self.spent
        function.makes_several = part_of(self._parts.call, "makes_several", False)
        if self._attempt is not None:
            function.is_free = needs_no_permit
        return function

    def failure_handler(self) -> Callable[[InputRow, OperatorError], Any]:
        """Return the failure handler of rows, behind the journal."""
        options, steps = self._work.options, list[Callable[..., None]]()
        if self._attempt is not None:
            steps.append(Failures(self._attempt, self._retry, keeps_all=options.once).keep)
        if self.failed is not None:
            steps.append(self.failed.count)
        return failure_handler(options.on_error, self._parts, self._results, steps)

    def row_function(self) -> RowFunction:
        work, end, payloads = self._work, self._results.end, None
        if self._attempt is not None:
            payloads = Payloads(self._attempt, work, end, self._retry)
        return RowFunction(self._parts, self._results, work.options, payloads, self._sharing)

    def _keyed(self, row: InputRow) -> RowRecord:
        return RowRecord(row, key=self._key_of(row))

    def _shared(self, row: InputRow) -> RowRecord:
        return record_of(row, self._key_of(row) if self._work.options.mode == "key-ordered" else ())

    def _key_of(self, row: InputRow) -> tuple[Any, ...]:
        return tuple(map(_as_key, row.cells(self._work.shape.key)))


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


class Counts:
    """The figures of one task, and what it opens before its operator."""

    def __init__(self, allowed: Share | None = None) -> None:
        self.rows_out = 0
        self._statistics: Callable[[], Statistics] = Statistics
        self.attempt: Attempt | None = None
        self.sharing: Sharing | None = None
        self.failed = FailedRows(allowed, lambda: self.figures().rows_done)
        self.spent: Counter[str] = Counter()
        """The cost of the calls, by unit."""
        self._source: ThreadedSource | None = None

    def watch(self, figures: Callable[[], Statistics]) -> None:
        self._statistics = figures

    def reader(self, batches: Iterator[pa.RecordBatch], rows: RowCodec) -> ThreadedSource:
        self._source = ThreadedSource(batches, rows)
        return self._source

    def figures(self) -> TaskFigures:
        """Return the present figures; for any thread.

        Rows from the journal or the cache are not calls.
        """
        statistics = self._statistics()
        found = 0 if self.attempt is None else self.attempt.found
        sharing, calls = self.sharing, max(0, statistics.calls - found)
        causes = self.failed.causes
        return TaskFigures.of(
            replace(statistics, calls=calls if sharing is None else sharing.calls),
            rows_in=0 if self._source is None else self._source.given,
            rows_out=self.rows_out,
            errors=sum(causes.values()),
            causes=most_frequent(causes, NAMED),
            costs=dict(self.spent),
            found=found,
        )


def micro_batch() -> str:
    """Return the query and micro-batch of the present task; empty outside of streams."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None or (number := context.getLocalProperty("streaming.sql.batchId")) is None:
        return ""
    return f"{context.getLocalProperty('sql.streaming.queryId')} {number}"


def telling(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, and raise only errors that PySpark can print; see `require_text`.

    An error of a row is raised without this package's frames, which Spark would print twice, and
    its last line is the line that users look for. If too many rows have failed, or a budget is
    spent, no single row is at fault.
    """
    try:
        yield from rows
    except TooManyFailed as error:
        raise error.with_traceback(None) from None
    except OperatorError as error:
        reason = error.__cause__
        if isinstance(reason, TooManyFailed | KeeperLost):
            raise reason.with_traceback(None) from None
        if isinstance(error.record, RowRecord):
            error.add_note(last_line(error, error.record))
        require_text(error)
        raise error.with_traceback(None)  # noqa: B904 - it is the same one
    except Exception as error:
        require_text(error)
        raise


def last_line(error: OperatorError, record: RowRecord) -> str:
    """Return a line with a row, its value, the error, and the number of calls."""
    attempts = "1 attempt" if error.attempts == 1 else f"{error.attempts} attempts"
    line = f"{record}, {shown(record.value.value)}: {error.reason}, after {attempts}"
    is_kept = isinstance(error.__cause__, KeptFailure)
    kept = "in an earlier run or action: see `once`, or `asyncwait journal show`"
    return f"{line}, {kept}" if is_kept else line


def require_text(error: Exception) -> None:
    """Replace an error if an error in its chain has a text that is not one printable line.

    Texts of services may contain line ends and control characters, which Spark prints unchanged, on
    the driver and into logs. If a text can't be encoded as UTF-8, as with half a pair of
    surrogates, PySpark would fail to report it and wait forever.

    Raises:
        AsyncWaitError: the same text, with the same traceback behind the mark of foreign text.
    """
    if not all(map(str.isprintable, _said(error, set()))):
        told = f"{type(error).__name__}: {one_line(error, _LONGEST)}"
        raise AsyncWaitError(joined([f"{told}\n{''.join(format_exception(error))}"])) from None


def _said(error: BaseException | None, seen: set[int]) -> Iterator[str]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    try:
        yield str(error)
    except Exception:  # raised by the user's class
        return
    behind = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for each in (error.__cause__, error.__context__, *behind):
        yield from _said(each, seen)


def find_flush() -> Callable[[], object]:
    """Return a function that sends PySpark's buffered output; elsewhere it does nothing.

    PySpark gathers 64 kB before it sends any of it, and has no setting for less. So the first rows
    of slow calls would come late; and a task of which Spark wants no more rows, as behind `limit`,
    would go on to call for as long as 64 kB of results take. The writer is found among the
    callers, by name: no other way leads to it.
    """
    frame = sys._getframe()  # noqa: SLF001 - see above
    while frame is not None:
        stream = frame.f_locals.get("stream") if frame.f_code.co_name == "dump_stream" else None
        if callable(flush := getattr(stream, "flush", None)):
            return flush  # type: ignore[no-any-return]
        frame = frame.f_back  # type: ignore[assignment]
    return lambda: None
