"""The operator."""

import math
from collections import deque
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar, Self

import anyio
import anyio.abc

from asyncwait.reference._calls import Call, Calls, Completion, is_being_cancelled, must_pass
from asyncwait.reference._loop import running_loop
from asyncwait.reference._mailbox import (
    MAIN,
    OPERATOR,
    MailboxClosedError,
    MailboxExecutor,
    TaskMailbox,
)
from asyncwait.reference._output import Output
from asyncwait.reference._queues import ElementQueue, Entry, OrderedQueue, UnorderedQueue
from asyncwait.reference._source import End, SourceReader, close_elements
from asyncwait.reference._timers import TimerService
from asyncwait.spec import (
    Barrier,
    CallTimedOut,
    Element,
    FunctionParts,
    InvalidConfig,
    InvalidResult,
    LatencyMarker,
    Mode,
    OperatorConfig,
    OperatorError,
    Record,
    Snapshot,
    Statistics,
    Stored,
    TooManyAbandonedCalls,
    Watermark,
    WatermarkStatus,
    awaitable_of,
    call_failed,
    collect_results,
    run_hook,
)

GRACE = 0.001


class Operator:
    queue_classes: ClassVar[Mapping[Mode, Callable[[], ElementQueue]]] = {
        "ordered": OrderedQueue,
        "unordered": UnorderedQueue,
    }

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        if not isinstance(config, OperatorConfig):
            raise InvalidConfig.of("config", config, "an OperatorConfig")
        config.require_only("reference")
        if restore is not None and not isinstance(restore, Snapshot):
            raise InvalidConfig.of("restore", restore, "a Snapshot or None")
        if not isinstance(elements, AsyncIterable):
            raise InvalidConfig.of("elements", elements, "an async iterable of elements")
        self._config = config
        self._parts = FunctionParts.of(fn)
        self._elements = elements
        self._backlog: deque[Element] = deque(() if restore is None else restore.in_flight)
        self._end: End | None = None
        self._reading = False
        self._read = 0
        self._records = 0
        self._max_records = 0
        self._calls = 0
        self._timeouts = 0
        self._abandoned = 0
        self._abandoned_running = 0

    # ---- life

    async def __aenter__(self) -> Self:
        try:
            await run_hook(self._parts.open)
        except BaseException:
            await close_elements(self._elements)
            raise
        self._loop = running_loop()
        self._mailbox = TaskMailbox(self._loop)
        self._main = MailboxExecutor(self._mailbox, MAIN)
        self._own = MailboxExecutor(self._mailbox, OPERATOR)
        self._queue = self.queue_classes[self._config.mode]()
        self._output = Output(self._queue, self._on_taken)
        self._source = SourceReader(self._elements, self._on_element, self._on_end)
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._run)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._output.end()
        self._group.cancel_scope.cancel()
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise _plain(group) from None
        finally:
            try:
                if not self._reading:
                    await close_elements(self._elements)
            finally:
                await run_hook(self._parts.close)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        return await self._output.take()

    async def _run(self) -> None:
        async with anyio.create_task_group() as self._tasks:
            self._timers = TimerService(self._loop, self._post, self._tasks.start_soon)
            try:
                await self._restore()
                await self._read_input()
                await self._drain()
                self._finish()
            except Exception as error:
                self._fail(error)
            finally:
                self._mailbox.close()
                self._tasks.cancel_scope.cancel()

    async def _restore(self) -> None:
        while self._backlog:
            await self._process(self._backlog[0])

    async def _read_input(self) -> None:
        self._reading = True
        self._tasks.start_soon(self._source.run)
        while True:
            while not self._backlog and self._end is None:
                await self._main.run_one()
            if not self._backlog:
                return
            await self._process(self._backlog[0])
            self._source.proceed()

    async def _drain(self) -> None:
        while len(self._queue) or self._output.current is not None or self._output._ahead:
            await self._main.run_one()

    def _finish(self) -> None:
        self._output.end(None if self._end is None else self._end.error)

    def _fail(self, error: BaseException) -> None:
        self._output.end(error)

    def _on_element(self, element: Element) -> None:
        self._read += 1
        self._backlog.append(element)
        self._post(self._look_again, self._main)

    def _on_end(self, end: End) -> None:
        self._end = end
        self._post(self._look_again, self._main)

    def _look_again(self) -> None:
        pass

    def _post(self, run: Callable[[], object], executor: MailboxExecutor | None = None) -> None:
        with suppress(MailboxClosedError):
            (executor or self._own).execute(run)

    # ---- processing

    async def _process(self, element: Element) -> None:
        match element:
            case Record():
                entry = await self._admit(element)
                self._start_deadline(entry)
                await self._invoke(entry)
            case Watermark() | WatermarkStatus():
                await self._admit(element)
                self._output.wake()
            case LatencyMarker():
                self._backlog.popleft()
                self._output.put_ahead(element)
            case Barrier():
                self._backlog.popleft()
                self._take_snapshot(element.checkpoint_id)
            case Snapshot():
                self._backlog.popleft()
                self._take_snapshot(element.checkpoint_id, upstream=element)

    async def _admit(self, element: Stored) -> Entry:
        while not self._has_room():
            await self._own.run_one()
        self._backlog.popleft()
        entry = Entry(element)
        if entry.is_record:
            self._records += 1
            self._max_records = max(self._records, self._max_records)
        else:
            entry.outputs = deque([element])
        self._queue.put(entry)
        return entry

    def _has_room(self) -> bool:
        used = len(self._queue) + (self._output.current is not None)
        return used < self._config.capacity

    def _start_deadline(self, entry: Entry) -> None:
        timeout = self._config.timeout
        if timeout is not None:
            try:
                when = self._timers.now() + timeout
            except OverflowError:
                when = math.inf
            entry.deadline = self._timers.register(when, lambda: self._on_deadline(entry))

    async def _invoke(self, entry: Entry) -> None:
        self._calls += 1
        if self._parts.invoke is not None:
            self._invoke_callback(entry, self._parts.invoke)
        else:
            entry.call = Call(entry)
            self._tasks.start_soon(self._run_call, entry.call)
            await entry.call.begun.wait()

    def _invoke_callback(self, entry: Entry, invoke: Any) -> None:
        completion = Completion(entry, self._post, self._on_results, self._on_error)
        try:
            invoke(entry.element.value, completion)
        except BaseException as error:
            if must_pass(error):
                raise
            completion.complete_exceptionally(error)

    async def _run_call(self, call: Call) -> None:
        entry = call.entry
        record = entry.element
        with call.scope:
            try:
                call.begun.set()
                returned = await awaitable_of(record, self._parts.call(record.value))
                self._post(lambda: self._on_results(entry, lambda: returned))
            except BaseException as error:
                if must_pass(error):
                    raise
                if not is_being_cancelled():
                    failure = error
                    self._post(lambda: self._on_error(entry, failure))
        self._post(lambda: self._on_call_ended(call))

    def _on_call_ended(self, call: Call) -> None:
        call.ended = True
        if call.outlives is not None:
            self._timers.cancel(call.outlives)
        if call.abandoned:
            self._abandoned_running -= 1

    def _on_results(self, entry: Entry, supply: Callable[[], Any]) -> None:
        if not entry.decided:
            self._decide(entry, self._collect(entry.element, supply))

    def _on_error(self, entry: Entry, error: BaseException) -> None:
        if not entry.decided:
            if isinstance(error, InvalidResult):
                raise error
            raise call_failed(entry.element, error) from error

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        try:
            return collect_results(record, supply())
        except OperatorError:
            raise
        except BaseException as error:
            if must_pass(error):
                raise
            raise call_failed(record, error) from error

    def _on_deadline(self, entry: Entry) -> None:
        if entry.decided:
            return
        self._timeouts += 1
        if entry.call is not None:
            self._cancel_call(entry.call)
        results = self._ask_handler(entry.element)
        self._decide(entry, self._collect(entry.element, lambda: results))

    def _ask_handler(self, record: Record) -> Any:
        handler = self._parts.timeout
        reason = f"no result within {self._config.timeout:g} s"
        if handler is None:
            raise CallTimedOut(record, reason)
        try:
            results = handler(record.value)
        except BaseException as error:
            if must_pass(error):
                raise
            raise CallTimedOut(record, f"{reason}, and the handler raised {error!r}") from error
        if results is None:
            raise CallTimedOut(record, f"{reason}, and the handler returned None")
        return results

    def _cancel_call(self, call: Call) -> None:
        call.scope.cancel()
        if not call.ended:
            when = self._timers.now() + GRACE
            call.outlives = self._timers.register(when, lambda: self._on_outlived(call))

    def _on_outlived(self, call: Call) -> None:
        if call.ended:
            return
        call.abandoned = True
        self._abandoned += 1
        self._abandoned_running += 1
        if self._abandoned_running > self._config.capacity:
            raise TooManyAbandonedCalls(
                None, f"{self._abandoned_running} calls run on after their record was decided"
            )

    def _decide(self, entry: Entry, results: tuple[Any, ...]) -> None:
        record = entry.element
        entry.outputs = deque(Record(r, record.timestamp, record.key) for r in results)
        if entry.deadline is not None:
            self._timers.cancel(entry.deadline)
        self._queue.completed(entry)
        self._release_empty()
        self._output.wake()

    def _release_empty(self) -> None:
        while (entry := self._queue.peek_ready()) is not None and not entry.outputs:
            self._queue.pop_ready()
            self._on_taken(entry)

    def _on_taken(self, entry: Entry) -> None:
        if entry.is_record:
            self._records -= 1
        self._post(self._release_empty)

    # ---- snapshots

    def request_snapshot(self, checkpoint_id: int) -> None:
        if not self._output._over:
            self._take_snapshot(checkpoint_id, read=self._read)

    def _take_snapshot(
        self, checkpoint_id: int, *, read: int | None = None, upstream: Snapshot | None = None
    ) -> None:
        in_flight = [*self._queue.elements()]
        in_flight += [e for e in self._backlog if isinstance(e, Record | Watermark | WatermarkStatus)]
        self._output.put_ahead(Snapshot(checkpoint_id, tuple(in_flight), read, upstream))

    def statistics(self) -> Statistics:
        return Statistics(
            in_flight=self._records,
            waiting=len(self._backlog) if self._reading else 0,
            calls=self._calls,
            timeouts=self._timeouts,
            abandoned=self._abandoned,
            max_in_flight=self._max_records,
        )


def _plain(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def open_operator(config, fn, elements, restore=None):
    return Operator(config, fn, elements, restore)
