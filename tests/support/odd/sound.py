"""A sound operator that was written from the contract alone, in plain trio: a parking lot.

It shares the contract's own helpers; its mechanism is its own. No rule may convict it. An *answer*
of a call, in either form, is a function that returns what the call gave, or raises what it raised.
"""

import math
from collections import deque
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from threading import Lock
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias

import trio

from asyncwait.spec import (
    Element,
    LatencyMarker,
    OperatorConfig,
    OperatorError,
    Record,
    Snapshot,
    Statistics,
    TooManyAbandonedCalls,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import (
    awaitable_of,
    call_failed,
    check_arguments,
    close_source,
    collect_results,
    join_errors,
    plain_error,
    reraise_fatal,
    results_at_deadline,
    run_hook,
)

Answer: TypeAlias = Callable[[], Any]

_GRACE, _TURNS = 0.015, 8
"""A cancelled call has so many seconds to end in, and then so many turns of the loop."""

_INTERRUPTED = RuntimeError("the operator was cancelled from outside")


class Reply:
    """What a call gives, and when: known from that moment on, on whatever thread it is given."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.at = math.inf
        """When it was given, in seconds of the loop's clock; infinity before."""
        self.answer: Answer = tuple

    def give(self, at: float, answer: Answer) -> bool:
        """Take an answer, if it is the first; return whether it is."""
        with self._lock:
            if self.at != math.inf:
                return False
            self.answer = answer
            self.at = at
            return True

    def fail(self, at: float, error: BaseException) -> None:
        """Take what a call raised, even if it has given an answer before."""
        with self._lock:
            self.answer = raising(error)
            self.at = at

    def came_by(self, deadline: float) -> bool:
        """Whether there is an answer, and it came in time."""
        return self.at != math.inf and self.at <= deadline


@dataclass(slots=True, eq=False)
class Entry:
    """A record or a fence that was admitted."""

    element: Stored
    before: "Entry | None" = None  # the record that was admitted before
    reply: Reply = field(default_factory=Reply)
    deadline: float = math.inf
    outputs: deque[Element] | None = None
    is_called: bool = False
    is_over: bool = False  # its call
    is_begun: bool = False  # to come out


class Handle:
    """The `ResultFuture` of a call."""

    def __init__(self, put: Callable[[Answer], object]) -> None:
        self._put = put

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self._put(lambda: results)

    def complete_with(self, supplier: Answer) -> None:
        """Decide the record with what `supplier` returns; it is called on the operator's loop."""
        self._put(supplier)

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self._put(raising(error))


def raising(error: BaseException) -> Answer:
    """Return the answer of a call that raised `error`."""

    def answer() -> NoReturn:
        raise error

    return answer


class ParksEachRecord:
    """Has a task for each record, which parks with all others until it may take its next step.

    Its tasks live in a nursery inside a nursery: cancelling the inner one leaves the consumer be.
    """

    lacks: tuple[str, ...] = (
        *("retry", "failure-handler", "max-held", "key-ordered", "statistics", "contexts"),
        *("batches", "cache", "limits"),
    )

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        self._parts = check_arguments(config, fn, elements, restore, "this operator")
        self._config = config
        self._elements = elements
        self._iterator: Any = None
        self._is_closed = False
        self._taken = 0
        """Elements taken so far."""
        self._source_trouble: BaseException | None = None
        """What closing the source raised."""
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        """Restored, or taken from the source, and not admitted."""
        self._ahead: deque[Element] = deque()
        """What takes no room, and comes out next."""
        self._source_end: tuple[BaseException | None] | None = None
        """With what the input ended, once it has."""
        self._end: tuple[BaseException | None] | None = None
        """With what the output ends, once nothing comes out any more."""
        self._abandoned = 0
        self._is_awaited = False
        self._trouble: Exception | None = None

    # The door

    async def __aenter__(self) -> Self:
        try:
            await run_hook(self._parts.open)
        except BaseException as error:
            await self._undisturbed(self._close_source())
            join_errors(error, self._source_trouble)
            raise
        self._lot = trio.lowlevel.ParkingLot()
        self._inside: dict[Entry, None] = {}  # a set that keeps its order
        self._offered: deque[Entry] = deque()
        self._last: Entry | None = None
        self._abandoned_now = 0
        self._now = trio.lowlevel.current_clock().current_time
        self._door = trio.lowlevel.current_trio_token().run_sync_soon
        self._scope = trio.CancelScope()
        self._manager = trio.open_nursery()
        self._outer = await self._manager.__aenter__()
        self._outer.start_soon(self._run)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._finish(None)
        self._outer.cancel_scope.shield = True
        if self._end == (_INTERRUPTED,):
            self._end = (None,)  # reading on after leaving finds nothing, as ever
        try:
            await self._manager.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise plain_error(group) from None
        finally:
            await self._undisturbed(self._close())
        first = join_errors(error, self._source_trouble, self._trouble)
        if error is None and first is not None:
            raise first

    async def _close(self) -> None:
        """Close the source, unless its reader did, and the function."""
        await self._close_source()
        try:
            await run_hook(self._parts.close)
        except Exception as error:
            self._trouble = error

    async def _run(self) -> None:
        try:
            with self._scope:
                async with trio.open_nursery() as self._nursery:
                    self._nursery.start_soon(self._heed)
                    self._nursery.start_soon(self._read)
        except BaseException:
            # So that a consumer that shields itself does not wait for ever.
            self._finish(_INTERRUPTED)
            raise

    async def _heed(self) -> None:
        """Let nothing more out as soon as a task ends the others, which may clean up for long."""
        try:
            await trio.sleep_forever()
        finally:
            self._finish(_INTERRUPTED)

    def _finish(self, error: BaseException | None) -> None:
        self._end = self._end or (error,)
        self._scope.cancel()
        self._tell()

    def _tell(self) -> None:
        self._lot.unpark_all()

    async def _until(self, condition: Callable[[], object]) -> None:
        """Park until `condition` is true; whoever changes something has all look again."""
        while not condition():
            await self._lot.park()

    # From the source

    async def _read(self) -> None:
        # A scope of the source's own may be open when it is closed: the shield has to be outside.
        with trio.CancelScope() as guard:
            try:
                await self._admit_backlog()
                self._source_end = (await self._read_on(),)
                self._tell()
            finally:
                guard.shield = True
                await self._close_source()

    async def _read_on(self) -> BaseException | None:
        """Read to the end; return what the source raised, or None."""
        try:
            self._iterator = aiter(self._elements)
        except Exception as error:
            return error
        while True:
            try:
                element = await anext(self._iterator)
                if not isinstance(element, Element):
                    raise TypeError(f"expected an element, got {element!r}; try Record(...)")
            except StopAsyncIteration:
                return None
            except BaseException as error:
                reraise_fatal(error)
                if isinstance(error, trio.Cancelled):
                    raise
                if self._end is None:
                    return error
                self._source_trouble = error
                return None
            self._taken += 1
            await self._take_in(element)

    async def _close_source(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            trouble = await close_source(self._iterator, self._elements)
            self._source_trouble = join_errors(self._source_trouble, trouble)

    async def _take_in(self, element: Element) -> None:
        if isinstance(element, Stored):
            self._backlog.append(element)
            await self._admit_backlog()
            await self._until(self._has_room)  # nothing is read that would have to wait
        else:
            upstream = element if isinstance(element, Snapshot) else None
            self._ahead.append(
                element
                if isinstance(element, LatencyMarker)
                else Snapshot(element.checkpoint_id, self._held(), upstream=upstream)
            )
            self._tell()
            await self._until(lambda: len(self._ahead) <= self._config.capacity)

    async def _admit_backlog(self) -> None:
        while self._backlog:
            await self._until(self._has_room)
            element = self._backlog.popleft()
            entry = Entry(element, before=self._last)
            if isinstance(element, Record):
                self._last = entry
            self._inside[entry] = None
            self._nursery.start_soon(self._live, entry)

    def _has_room(self) -> bool:
        return len(self._inside) < self._config.capacity

    # A record or a fence

    async def _live(self, entry: Entry) -> None:
        try:
            entry.outputs = deque(await self._outputs(entry, entry.element))
        except OperatorError as error:
            self._finish(error)
            return
        await self._until(lambda: self._is_its_turn(entry))
        if entry.outputs:
            self._offered.append(entry)
            self._tell()
            await self._until(lambda: not entry.outputs)
        del self._inside[entry]
        self._tell()

    def _before(self, entry: Entry) -> Iterable[Entry]:
        return takewhile(lambda other: other is not entry, self._inside)

    def _is_its_turn(self, entry: Entry) -> bool:
        if self._config.mode == "ordered" or not isinstance(entry.element, Record):
            return next(iter(self._inside)) is entry
        return all(isinstance(other.element, Record) for other in self._before(entry))

    async def _outputs(self, entry: Entry, element: Stored) -> tuple[Element, ...]:
        if not isinstance(element, Record):
            return (element,)
        await self._until(lambda: entry.before is None or entry.before.is_called)
        entry.before = None
        scope = trio.CancelScope()
        self._nursery.start_soon(self._call, entry, element, scope)
        await self._until(lambda: entry.is_called)
        with trio.move_on_at(entry.deadline):
            await self._until(lambda: entry.reply.came_by(math.inf))
        if entry.reply.came_by(entry.deadline):
            try:
                results = collect_results(element, entry.reply.answer())
            except BaseException as error:
                reraise_fatal(error)
                failure = call_failed(element, error)
                raise failure from failure.__cause__
        else:
            scope.cancel()
            self._nursery.start_soon(self._judge, entry)
            results = results_at_deadline(element, self._parts.timeout, self._config.timeout or 0)
        return tuple(Record(result, element.timestamp, element.key) for result in results)

    async def _call(self, entry: Entry, record: Record, scope: trio.CancelScope) -> None:
        entry.is_called = True
        if self._config.timeout is not None:
            entry.deadline = self._now() + self._config.timeout
        self._tell()
        with scope:
            await self._answer(record, entry.reply)
        entry.is_over = True
        self._tell()

    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""
        try:
            if self._parts.call is None:
                await self._late_answer(record, reply)
                return
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            if isinstance(error, trio.Cancelled):
                raise
            reply.fail(self._now(), error)
        else:
            reply.give(self._now(), lambda: returned)

    async def _late_answer(self, record: Record, reply: Reply) -> None:
        assert self._parts.invoke is not None
        answered = trio.Event()

        def put(answer: Answer) -> None:
            if reply.give(self._now(), answer):
                with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                    self._door(answered.set)

        self._parts.invoke(record.value, Handle(put))
        await answered.wait()

    async def _judge(self, entry: Entry) -> None:
        """See whether a cancelled call ends; one that runs on is abandoned."""
        with trio.move_on_after(_GRACE):
            await self._until(lambda: entry.is_over)
        for _ in range(_TURNS):
            await trio.lowlevel.checkpoint()
        if entry.is_over:
            return
        self._abandoned += 1
        self._abandoned_now += 1
        if self._abandoned_now > self._config.capacity:
            running = f"{self._abandoned_now} calls run on although they were cancelled"
            reason = f"{running}, the capacity is {self._config.capacity}"
            self._finish(TooManyAbandonedCalls(None, reason))
        await self._until(lambda: entry.is_over)
        self._abandoned_now -= 1

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, however the present task is cancelled."""
        with trio.CancelScope(shield=True):
            await work

    # To the consumer

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        if self._is_awaited:
            raise RuntimeError("another task waits in __anext__(); there is one consumer")
        self._is_awaited = True
        try:
            return await self._take()
        except RuntimeError as error:
            if error is _INTERRUPTED:
                # The cancellation of the consumer comes first: mostly it has the same reason.
                await trio.lowlevel.checkpoint_if_cancelled()
            raise
        finally:
            self._is_awaited = False

    async def _take(self) -> Element:
        while self._end is None:
            if (element := self._next()) is not None:
                self._tell()
                return element
            if self._source_end is not None and not self._inside:
                self._finish(*self._source_end)
            else:
                await self._lot.park()
        raise StopAsyncIteration if self._end[0] is None else self._end[0]

    def _next(self) -> Element | None:
        if self._ahead and not (self._offered and self._offered[0].is_begun):
            return self._ahead.popleft()
        if not self._offered:
            return None
        entry = self._offered[0]
        assert entry.outputs
        entry.is_begun = True
        element = entry.outputs.popleft()
        if not entry.outputs:
            self._offered.popleft()
        return element

    def statistics(self) -> Statistics:
        """Return the only figure that the core asks for (TIME-8)."""
        return Statistics(abandoned=self._abandoned)

    # Snapshots

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output; nothing after the end."""
        if self._end is None:
            held = (*self._held(), *self._backlog)
            others = (n for n, each in enumerate(self._ahead) if not isinstance(each, Snapshot))
            place = next(others, len(self._ahead))
            self._ahead.insert(place, Snapshot(checkpoint_id, held, self._taken))
            self._tell()

    def _held(self) -> tuple[Stored, ...]:
        return tuple(entry.element for entry in self._inside if not entry.is_begun)
