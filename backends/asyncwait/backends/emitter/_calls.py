"""Calls of the user's function, their deadlines, and the decisions of their records."""

from collections import OrderedDict, deque
from collections.abc import Callable
from math import inf, nextafter
from typing import Any

import anyio
import anyio.lowlevel

from asyncwait.backends.emitter._queue import ElementQueue, Entry
from asyncwait.backends.emitter._tasks import Life, Tasks
from asyncwait.spec import OperatorError, Record, TooManyAbandonedCalls
from asyncwait.toolkit import (
    Bell,
    FunctionParts,
    call_failed,
    call_scope,
    collect_results,
    is_own_cancellation,
    outcome_of,
    reraise_fatal,
    results_at_deadline,
)

LOOK = 0.004
"""Seconds from a cancellation to the first look at the call, and from look to look."""

LATE = 0.001
"""Seconds after which a look is late: the loop stalled, which also delayed the call."""

ON_TIME, MOST = 2, 8
"""Looks on time in a row, and looks at all, after which a call that runs is abandoned."""


class Timers:
    """The deadlines of records, and the task that fires them.

    All deadlines are equally far from the calls, so they are due in the order of the calls.

    Args:
        timeout: seconds from the call to the deadline; None for no deadlines.
        clock: of the loop, in seconds.
        life: of the operator.
    """

    def __init__(self, timeout: float | None, clock: Callable[[], float], life: Life) -> None:
        self.timeout = inf if timeout is None else timeout
        self.now = clock
        self._life = life
        self._running: OrderedDict[Entry, float] = OrderedDict()
        self._news = Bell()
        self.on_time: Callable[[Entry], object] = lambda _: None
        """Called with an entry whose deadline has come."""
        life.when_over(self._running.clear)

    def start(self, entry: Entry) -> None:
        """Start the timer of an entry, whose call begins now (TIME-1, TIME-2)."""
        deadline = self.now() + self.timeout
        if deadline < inf:
            self._running[entry] = deadline
            if len(self._running) == 1:
                self._news.ring()

    def cancel(self, entry: Entry) -> None:
        """Stop the timer of an entry, and drop the entry (TIME-1, CAP-7)."""
        self._running.pop(entry, None)

    def fire_before(self, time: float) -> None:
        """Fire the timers that were due before a time, the earliest first.

        If the loop was blocked, it may process an answer before an earlier deadline (TIME-6,
        FAIL-4).
        """
        while self._first_due() < time and not self._life.is_over:
            self.on_time(self._running.popitem(last=False)[0])

    async def run(self) -> None:
        """Fire each timer on time."""
        while not self._life.is_over:
            due = self._first_due()
            with anyio.CancelScope(deadline=due):
                await self._news.wait()
                continue
            # A loop may wake a rounding error early; the deadline has come all the same.
            self.fire_before(nextafter(max(due, self.now()), inf))

    def _first_due(self) -> float:
        return next(iter(self._running.values()), inf)


class Records:
    """Decisions of called records: the answer, failure or deadline of each record, exactly once.

    Deadlines that were due before an answer are decided first; the answer's own record may be among
    them.

    Args:
        queue: the queue of the entries.
        timers: of their deadlines.
        handler: the function's `timeout`, if it has one.
        life: of the operator.
    """

    def __init__(
        self, queue: ElementQueue, timers: Timers, handler: Callable[[Any], Any] | None, life: Life
    ) -> None:
        self._queue = queue
        self._timers = timers
        self._handler = handler
        self._life = life
        self.cancel_call: Callable[[Entry], object] = lambda _: None
        """Called with an entry whose deadline has come."""
        timers.on_time = self.expire

    def answer(self, entry: Entry, returned: Any) -> None:
        """Complete an entry with the results of its call, unless its deadline came before."""
        if self._is_open(entry):
            self._complete_with(entry, lambda: self.collect(entry.element, returned))

    def fail(self, entry: Entry, error: BaseException) -> None:
        """Fail because a call has raised, at once and not in the entry's place (FAIL-2)."""
        record: Any = entry.element
        if self._is_open(entry):
            self._life.fail(call_failed(record, error))

    def expire(self, entry: Entry) -> None:
        """Complete an entry at its deadline with results of the handler (TIME-2, TIME-3)."""
        record: Any = entry.element
        self.cancel_call(entry)
        self._complete_with(
            entry, lambda: results_at_deadline(record, self._handler, self._timers.timeout)
        )

    def collect(self, record: Any, returned: Any) -> tuple[Any, ...]:
        """Read all results of a record (RES-6).

        Raises:
            InvalidResult: the call returned no collection of results (RES-3).
            CallFailed: the collection raised while it was read (FAIL-1).
        """
        return collect_results(record, returned)

    def _is_open(self, entry: Entry) -> bool:
        self._timers.fire_before(self._timers.now())
        return not (entry.is_completed or self._life.is_over)

    def _complete_with(self, entry: Entry, give: Callable[[], tuple[Any, ...]]) -> None:
        """Set the outputs of a record, with its timestamp and key (ELEM-1, ELEM-2)."""
        record: Any = entry.element
        try:
            results = give()
        except OperatorError as failure:
            self._life.fail(failure)
            return
        entry.outputs = tuple(Record(result, record.timestamp, record.key) for result in results)
        self._timers.cancel(entry)
        self._queue.completed(entry)


class Calls:
    """The calls of the function, each in a task of its own, begun in the order of their records.

    A task takes the first waiting record when the task begins to run, because trio begins tasks in
    any order (ORD-4).

    Args:
        function: the parts of the user's function.
        records: decides the record of each ended call.
        timers: started with each call.
        tasks: of the operator.
        life: of the operator.
        most_abandoned: number of calls that may run on after their cancellation.
    """

    def __init__(
        self,
        function: FunctionParts,
        records: Records,
        timers: Timers,
        tasks: Tasks,
        life: Life,
        *,
        most_abandoned: int,
    ) -> None:
        self._function: Any = function.call
        self._records = records
        self._timers = timers
        self._tasks = tasks
        self._life = life
        self._most_abandoned = most_abandoned
        self._waiting: deque[Entry] = deque()
        self._running: dict[Entry, bool] = {}
        """The entries whose calls run, and whether each call was abandoned."""
        self.abandoned = 0
        """Number of calls found to run on after their cancellation (TIME-8)."""
        records.cancel_call = self.cancel
        life.when_over(self._stop)

    def start(self, entry: Entry) -> None:
        """Call the function for a record soon, after the records before it."""
        if not self._life.is_over:
            self._waiting.append(entry)
            self._tasks.start(self._run)

    def cancel(self, entry: Entry) -> None:
        """Cancel the call of a record, if it runs, and watch its end (TIME-5)."""
        if entry.call is not None:
            entry.call.cancel()
            self._tasks.start(self._judge, entry)

    def _stop(self) -> None:
        """Cancel all running calls: no scope of the operator's tasks reaches into calls."""
        self._waiting.clear()
        for entry in self._running:
            if entry.call is not None:
                entry.call.cancel()

    async def _run(self) -> None:
        await anyio.lowlevel.checkpoint_if_cancelled()
        if not self._life.is_over:  # otherwise no call may begin (END-10)
            await self._call(self._waiting.popleft())

    async def _call(self, entry: Entry) -> None:
        record: Any = entry.element
        entry.call = scope = call_scope()
        self._running[entry] = False
        self._timers.start(entry)
        with scope:
            try:
                returned = await outcome_of(record, self._function(record.value), scope)
            except BaseException as error:
                reraise_fatal(error)
                if not scope.cancel_called:
                    if is_own_cancellation(error):
                        raise  # on trio, where the scope of the operator cancels its calls
                    self._records.fail(entry, error)
            else:
                self._records.answer(entry, returned)
        entry.call = None
        del self._running[entry]

    async def _judge(self, entry: Entry) -> None:
        """Look several times: only a look on time shows that the call had its turn to end."""
        on_time = looks = 0
        while on_time < ON_TIME and looks < MOST:
            due = self._timers.now() + LOOK
            await anyio.sleep(LOOK)
            if entry.call is None:
                return
            on_time = on_time + 1 if self._timers.now() < due + LATE else 0
            looks += 1
        self._abandon(entry)

    def _abandon(self, entry: Entry) -> None:
        """Count a call that runs on; more running ones than allowed fail the operator (TIME-9)."""
        self.abandoned += 1
        self._running[entry] = True
        running = sum(self._running.values())
        if running > self._most_abandoned:
            reason = (
                f"{running} cancelled calls run on, and at most {self._most_abandoned} may run at "
                "a time; does fn swallow its cancellation?"
            )
            self._life.fail(TooManyAbandonedCalls(None, reason))
