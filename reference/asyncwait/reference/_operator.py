"""The life of an operator: opened, restored, fed, snapshotted, drained, left.

enter ── open() ──┬── restore ── process input ── drain ── finish ──┬── leave ── close()
                  ├── an error on the way ── fail ──────────────────┤
                  └── left early ───────────────────────────────────┘
"""

from collections.abc import AsyncIterable
from types import TracebackType
from typing import Any, Self

import anyio

from asyncwait.reference._calls import must_pass
from asyncwait.reference._records import RecordHandling
from asyncwait.reference._source import End
from asyncwait.spec import (
    Barrier,
    Element,
    FunctionParts,
    InvalidConfig,
    LatencyMarker,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Statistics,
    Stored,
    Watermark,
    WatermarkStatus,
    run_hook,
)


class Operator(RecordHandling):
    """The reference operator: the context manager to open it, and its results in one.

    One task, `_run`, runs the mailbox. Whatever happens elsewhere (a call ends, a timer fires,
    an element is read, a result is taken) reaches it as a mail. The consumer takes results in its
    own task, on the same loop, in one step; so no two steps ever overlap.

    It has the shape of Flink's operator since 1.10: input is processed one element at a time, and
    an element that waits for room, or the end of input that waits for the queue, keeps running
    mails.

    Args:
        config: mode, capacity, timeout.
        fn: the user's function.
        elements: the input.
        restore: what an earlier operator had in flight.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    def __init__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> None:
        if not isinstance(config, OperatorConfig):
            raise InvalidConfig.of("config", config, "an OperatorConfig")
        config.require_only("the reference operator")
        if not isinstance(elements, AsyncIterable):
            raise InvalidConfig.of("elements", elements, "an async iterable of elements")
        if not isinstance(restore, Snapshot | None):
            raise InvalidConfig.of("restore", restore, "a Snapshot or None")
        super().__init__(config, FunctionParts.of(fn), elements)
        self._stored = () if restore is None else restore.in_flight
        self._reading = False
        self._read = 0

    # The consumer's side

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Element:
        return await self._output.take()

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a Snapshot out as the next output, whether there is room or not.

        It is taken at once, in the caller's step. After a failure or the end nothing happens.
        """
        if not self._output.is_over:
            self._take_snapshot(checkpoint_id, read=self._read)

    def statistics(self) -> Statistics:
        """Return the present figures."""
        return Statistics(
            in_flight=self._in_flight,
            waiting=len(self._backlog) if self._reading else 0,
            held=self._in_flight - self._undecided,
            calls=self._calls.started,
            timeouts=self._timeouts,
            abandoned=self._calls.abandoned,
            max_in_flight=self._max_in_flight,
        )

    # Entering and leaving

    async def __aenter__(self) -> Self:
        self._set_up()
        try:
            await self._open()
        except BaseException:
            await self._source.close()
            raise
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
        """Cancel what still runs, and wait for what still cleans up.

        The task group is told of no error: it would put that of the body into a group. Its scope
        is shielded, so that a cancellation from outside can't come between.
        """
        self._output.cut(None)
        self._group.cancel_scope.cancel()
        self._group.cancel_scope.shield = True
        try:
            await self._group.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise _plain(group) from None
        finally:
            await self._close()

    async def _open(self) -> None:
        """Run the function's own `open`, before its first call (LC-1)."""
        await run_hook(self._parts.open)

    async def _close(self) -> None:
        """Close the source if nobody did, and run the function's own `close`, once.

        Both run to their ends even if the way out is a cancellation from outside.
        """
        with anyio.CancelScope(shield=True):
            try:
                await self._source.close()
            finally:
                await run_hook(self._parts.close)

    # The operator's task

    async def _run(self) -> None:
        """Live from the first stored element to the last that comes out, or to the failure."""
        async with anyio.create_task_group() as self._tasks:
            try:
                await self._restore()
                await self._process_input()
                await self._drain()
                self._finish()
                await self._settle()
            except Exception as error:
                self._fail(error)
            finally:
                self._stop()

    async def _restore(self) -> None:
        """Let in what was stored, before any new input, as if it had just been read (RS-2, RS-8).

        There may be more of it than there is room: then it waits like anything else (RS-4).
        """
        self._backlog.extend(self._stored)
        while self._backlog:
            await self._process(self._backlog[0])

    async def _process_input(self) -> None:
        """Process one element after the other, until the source has ended."""
        self._reading = True
        self._spawn(self._source.run)
        while await self._next_arrived():
            await self._process(self._backlog[0])

    async def _next_arrived(self) -> bool:
        """Run mails until there is an element to process; return False at the end of input."""
        while not self._backlog and self._end is None:
            await self._main.run_one()
        return bool(self._backlog)

    async def _process(self, element: Element) -> None:
        """Process the first element of the backlog by its kind."""
        match element:
            case Record():
                await self._process_record(element)
            case Watermark() | WatermarkStatus():
                await self._process_fence(element)
            case LatencyMarker():
                await self._process_marker(element)
            case Barrier() | Snapshot():
                await self._process_barrier(element)

    async def _process_marker(self, marker: LatencyMarker) -> None:
        """Pass a latency marker on at once: it overtakes what is queued (LM-1)."""
        self._leave_backlog()
        self._output.put_ahead(marker)

    async def _process_barrier(self, barrier: Barrier | Snapshot) -> None:
        """Take the snapshot that was asked for, without waiting for any call."""
        self._leave_backlog()
        upstream = barrier if isinstance(barrier, Snapshot) else None
        self._take_snapshot(barrier.checkpoint_id, upstream=upstream)

    async def _drain(self) -> None:
        """Go on until everything in flight is decided and taken (EI-1)."""
        while len(self._queue) + self._output.slots > 0:
            await self._main.run_one()

    def _finish(self) -> None:
        """End well, or with the error that the source ended with, unchanged."""
        self._output.finish(None if self._end is None else self._end.error)

    async def _settle(self) -> None:
        """See which of the cancelled calls end, and which are abandoned, though all is decided."""
        while self._calls.in_doubt > 0:
            await self._main.run_one()

    def _fail(self, error: BaseException) -> None:
        """End at once, whatever is finished and not taken; the consumer gets `error` (FA-7)."""
        self._output.cut(error)

    def _stop(self) -> None:
        """Leave nothing running: no mail, no timer, no call, no reader."""
        self._mailbox.close()
        self._timers.close()
        self._tasks.cancel_scope.cancel()

    # Snapshots

    def _take_snapshot(
        self, checkpoint_id: int, *, read: int | None = None, upstream: Snapshot | None = None
    ) -> None:
        """Store what is in flight, and let the snapshot overtake it (SN-4).

        What came out before is not in it, and what is in it comes out after; a record of which
        the consumer has taken some results but not all counts as out.
        """
        in_flight = tuple(self._elements_in_flight())
        self._output.put_ahead(Snapshot(checkpoint_id, in_flight, read, upstream))

    def _elements_in_flight(self) -> list[Stored]:
        """Return the inputs taken and not out, in input order: what is queued, what waits.

        In the backlog there is something only in a snapshot on demand, as barriers wait in line.
        """
        waiting = (element for element in self._backlog if isinstance(element, Stored))
        return [*self._queue.elements(), *waiting]

    # The source's side

    def _on_element(self, element: Element) -> None:
        """File an element in the step in which it was taken, so that no snapshot misses it."""
        self._read += 1
        self._backlog.append(element)
        self._post(_look_again, self._main)

    def _on_end(self, end: End) -> None:
        self._end = end
        self._post(_look_again, self._main)


def _look_again() -> None:
    """Do nothing; the mail alone makes a task look again that waits for something."""


def _plain(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return the error of a group that holds one, or one that is for the whole program."""
    leaves: list[BaseException] = []
    groups: list[BaseExceptionGroup[Any]] = [group]
    while groups:
        for error in groups.pop().exceptions:
            if isinstance(error, BaseExceptionGroup):
                groups.append(error)
            else:
                leaves.append(error)
    first = next(filter(must_pass, leaves), leaves[0])
    return first if len(leaves) == 1 or must_pass(first) else group


def open_with(operator_class: type[Operator]) -> OpenOperator:
    """Return the way to open operators of a class.

    Args:
        operator_class: the reference, or a variation of it.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> Operator:
        """Open an operator; see `asyncwait.spec.OpenOperator`."""
        return operator_class(config, fn, elements, restore)

    return open_operator
