"""Plays one leg on the partition operator, in the worker, and records its events.

A path converts between rows and elements: the rows of a leg are elements of every kind, or the
plain rows of a DataFrame.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from asyncwait.backends.spark._partition import BATCH_SIZE, Partition, exhaust, on_elements
from asyncwait.backends.spark._rows import ElementRows, RowCodec, element_of
from asyncwait.backends.spark.frame._rows import RowRecord
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.conformance.harness import (
    FURTHER_READS,
    Consumer,
    OutsideVirtualLoop,
    Recorder,
    WatchedSource,
    planned_function,
)
from asyncwait.spec import Element, OperatorError
from asyncwait.spec.scenario import Closed, EndingKind, Leg, LegStart, SinkStep
from asyncwait.toolkit import FunctionParts, answers_of, is_collection


class ElementPath:
    """The path of elements: the rows of a leg are elements all the way."""

    def open(
        self, batches: Iterator[pa.RecordBatch], plan: LegStart, fn: Any, **options: Any
    ) -> Partition:
        opens = on_elements(plan.config, fn, plan.restored)
        return Partition(batches, opens, ElementRows(), **options)

    def elements(self, batch: pa.RecordBatch) -> list[Element]:
        """Return the elements that came out in a batch."""
        return list(ElementRows().decode(batch))

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def with_record(self, error: Exception) -> Exception:
        """Return an error that names the record of the scenario."""
        return error


RESULT = "result"
"""The column of the function's result."""


class FramePath(ElementPath):
    """Rows of a DataFrame: the value is the argument of the function, other columns are carried.

    Args:
        work: the plan of `ordered_wait`, for a function that is replaced here.
    """

    def __init__(self, work: Enrichment) -> None:
        self._work = work

    def open(
        self, batches: Iterator[pa.RecordBatch], plan: LegStart, fn: Any, **options: Any
    ) -> Partition:
        assert plan.restored is None
        return replace(self._work, fn=self.of_rows(fn)).partition(batches, 0, **options)

    def of_rows(self, fn: Any) -> "_OfRows":
        return (_OfRows if self._work.options.batch is None else _OfBatches)(fn)

    def elements(self, batch: pa.RecordBatch) -> list[Element]:
        """Return a record for each row: the result, and the carried columns."""
        results = batch.column(RESULT)
        index = batch.schema.get_field_index("value")
        kept = batch.set_column(index, "value", results).drop_columns([RESULT])
        return list(ElementRows().decode(kept))

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return ElementRows().encode(self.elements(batch))

    def with_record(self, error: Exception) -> Exception:
        return _with_record(error)


def _with_record(error: Exception) -> Exception:
    if isinstance(error, OperatorError) and isinstance(error.record, RowRecord):
        row = error.record.value
        error.record = element_of(row.value, *row.cells(("element",)))  # type: ignore[assignment]
    return error


class _OfRows:
    """The planned function, with texts for values and results."""

    def __init__(self, fn: Any) -> None:
        self._parts = parts = FunctionParts.of(fn)
        for hook in ("open", "close"):
            if (part := getattr(parts, hook)) is not None:
                setattr(self, hook, part)
        for name in ("timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, self._handler(part))

    async def __call__(self, text: Any) -> Any:
        assert self._parts.call is not None
        return _as_rows(await self._parts.call(json.loads(text)))

    def _handler(self, part: Any) -> Any:
        return lambda text, *errors: _as_rows(part(json.loads(text), *map(_with_record, errors)))


class _OfBatches(_OfRows):
    async def __call__(self, text: Any) -> Any:
        assert self._parts.call is not None
        values = [json.loads(each) for each in text]
        answers: Any = await self._parts.call(values)
        if isinstance(answers, Mapping) and answers.keys() <= _hashable(values):
            there = zip(text, values, strict=True)
            return {
                each: _answer_as_rows(answers[value]) for each, value in there if value in answers
            }
        if not isinstance(answers, Mapping) and not is_collection(answers):
            return answers  # The operator reports its fault.
        return [*map(_answer_as_rows, answers_of(values, answers))]


def _hashable(values: list[Any]) -> set[Any]:
    """Return the values as a set; an empty one if some can't be hashed."""
    try:
        return set(values)
    except TypeError:
        return set()


def _answer_as_rows(answer: Any) -> Any:
    return answer if isinstance(answer, BaseException) else _as_rows(answer)


def _as_rows(given: Any) -> Any:
    if not is_collection(given):
        return given
    return ((json.dumps(result),) for result in given)


class PartitionPlayer:
    """The consumer of one leg: it pulls batches by the scenario's script, then to the end.

    Each row of a batch is an element taken. The operator runs on a virtual loop in a thread of its
    own. The consumer gives up, leaves and crashes by cancelling its wait, and by closing the
    operator's iterator.
    """

    def __init__(self, plan: LegStart, path: ElementPath) -> None:
        self._plan = plan
        self._path = path
        self._loop = loop = OutsideVirtualLoop(self._count_left)
        self._began = loop.time()
        self._recorder = Recorder(plan.scenario, loop.time, blocker=loop.jump, shares_objects=False)
        self._consumer = Consumer(plan, self._recorder)
        self._closing = False
        self._tasks_left = self._timers_left = 0
        self._alarms: list[asyncio.TimerHandle] = []
        self._patience: asyncio.TimerHandle
        self._answers: set[asyncio.Task[Any]] = set()
        self.leg: Leg | None = None

    def play(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of output; `leg` is set at the end."""
        before = set(threading.enumerate())
        try:
            partition = self._open(batches)
        except Exception as error:
            self._consumer.failed(self._path.with_record(error))
            self._recorder.events.append(Closed(self._recorder.now()))
            self.leg = self._consumer.leg()
            return
        try:
            yield from self._consume(partition)
        finally:
            self._close(partition)
        if self._consumer.reads_after:
            self._read_again(partition, left=True)
        threads = len(set(threading.enumerate()) - before)
        self.leg = self._consumer.leg(
            tasks_left=self._tasks_left + threads,
            timers_left=self._timers_left,
            abandoned=partition.statistics().abandoned,
        )

    def _open(self, batches: Iterator[pa.RecordBatch]) -> Partition:
        fn = planned_function(self._plan.scenario, self._recorder, self._spawn)
        partition = self._path.open(
            batches,
            self._plan,
            fn,
            loop_factory=lambda: self._loop,
            reader=self._watched,
            # By single elements a script of reads and pauses is followed to the letter.
            batch_size=1 if self._consumer.is_scripted else BATCH_SIZE,
        )
        self._ask(self._set_alarms(partition))
        return partition

    def _watched(self, batches: Iterator[pa.RecordBatch], rows: RowCodec) -> "_WatchedPartition":
        source, error = _InMemory(batches, rows), self._consumer.source_error
        return _WatchedPartition(source, self._plan, self._recorder, error)

    def _spawn(self, answer: Callable[[], Any]) -> None:
        """Start a coroutine function beside the operator, for answers in callback form."""
        task = self._loop.create_task(answer())
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    def _ask(self, coroutine: Any) -> None:
        """Run a coroutine on the loop; its time passes for the consumer."""
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _set_alarms(self, partition: Partition) -> None:
        """Set the planned end of the leg, and the bounds that end a hang or a spin.

        An end at 0 has come when this returns: it needs no waiting consumer.
        """
        for at in self._plan.scenario.figures_at:
            self._alarm(at, self._read_figures, partition)
        self._alarm(self._consumer.limit, self._end, "hung")
        for at, how in self._consumer.planned_ends:
            self._alarm(at, self._end, how)
        self._loop.spin.restart(lambda: self._end("livelock"))

    def _alarm(self, at: int, act: Callable[[Any], None], what: Any) -> None:
        self._alarms.append(self._loop.call_at(self._began + at / 1000, act, what))

    def _read_figures(self, partition: Partition) -> None:
        if self._consumer.ending is None:
            self._recorder.figures_read(partition.statistics())

    def _end(self, how: EndingKind) -> None:
        self._consumer.end(how)
        self._withdraw()

    def _withdraw(self) -> None:
        """Cancel the consumer's wait."""
        for task in self._loop.awaited:
            task.cancel()

    def _consume(self, partition: Partition) -> Iterator[pa.RecordBatch]:
        for step in self._consumer.steps():
            if step.does in {"pause", "block"}:
                self._pause(step.n)  # Its thread is not the loop's, so nothing else is blocked.
            elif step.does == "leave":
                self._consumer.end("left")
            elif (batch := self._pull(partition, step)) is not None:
                yield batch
        if self._consumer.reads_again:
            self._read_again(partition, left=False)

    def _pause(self, ms: int) -> None:
        try:
            self._ask(asyncio.sleep(ms / 1000))
        except CancelledError:
            assert self._consumer.ending is not None

    def _pull(self, partition: Partition, step: SinkStep) -> pa.RecordBatch | None:
        consumer, call = self._consumer, self._loop.call_soon_threadsafe
        gives_up = step.does == "give_up"
        consumer.waits()
        if gives_up:
            call(self._set_patience, step.n)
        try:
            batch = next(partition)
        except CancelledError:
            if consumer.ending is None:
                consumer.gave_up()
        except Exception as error:
            consumer.read_raised(self._path.with_record(error))
        else:
            if consumer.ending is None:
                consumer.took(*self._path.elements(batch))
                return self._path.rows(batch)
        finally:
            if gives_up:
                call(self._patience.cancel)
        return None

    def _set_patience(self, ms: int) -> None:
        self._patience = self._loop.call_later(ms / 1000, self._withdraw)

    def _close(self, partition: Partition) -> None:
        self._loop.call_soon_threadsafe(self._begin_closing)
        try:
            partition.close()
        except Exception as error:
            self._consumer.failed(self._path.with_record(error))
        self._recorder.events.append(Closed(self._recorder.now()))
        if self._plan.scenario.figures_at:
            self._recorder.figures_read(partition.statistics())

    def _begin_closing(self) -> None:
        """Drop the alarms: the leg is over, and only the operator's timers must count."""
        self._closing = True
        for alarm in self._alarms:
            alarm.cancel()
        self._loop.spin.restart(lambda: None)

    def _count_left(self) -> None:
        """Count tasks and timers; the last request of a leg comes when the operator is gone."""
        if self._closing:
            answers = len(self._answers)  # each has a timer
            self._tasks_left = max(0, len(asyncio.all_tasks(self._loop)) - answers)
            self._timers_left = max(0, self._loop.pending_timers() - answers)

    def _read_again(self, partition: Partition, *, left: bool) -> None:
        for _ in range(FURTHER_READS):
            outcome: Element | Exception
            try:
                outcome = self._path.elements(next(partition))[0]
            except Exception as error:
                outcome = error
            if not self._consumer.read_again(outcome=outcome, left=left):
                return


class _InMemory:
    """Reads all batches before the first element is requested: reading takes no virtual time."""

    def __init__(self, batches: Iterator[pa.RecordBatch], rows: RowCodec) -> None:
        self._elements: deque[Element] = deque()
        self._error: BaseException = StopAsyncIteration()
        try:
            for batch in batches:
                self._elements.extend(rows.decode(batch))
        except Exception as error:
            self._error = error
        exhaust(batches)

    def __aiter__(self) -> "_InMemory":
        return self

    async def __anext__(self) -> Element:
        if self._elements:
            return self._elements.popleft()
        raise self._error


class _WatchedPartition(WatchedSource):
    def join(self) -> None:
        """Return at once: everything was read at the beginning."""
