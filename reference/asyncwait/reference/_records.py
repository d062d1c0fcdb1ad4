"""What becomes of a record: it is admitted, called, decided, and taken."""

from collections import deque
from collections.abc import Callable
from typing import Any

from asyncwait.reference._outcomes import Outcome, Raised, Returned
from asyncwait.reference._parts import OperatorParts
from asyncwait.reference._queues import Entry, FenceEntry, RecordEntry
from asyncwait.spec import (
    Record,
    Watermark,
    WatermarkStatus,
    call_failed,
    collect_results,
    let_pass,
    results_at_deadline,
)


class RecordHandling(OperatorParts):
    """The chapter about single records.

    What is raised in here is the failure of the operator: it leaves the mail, and with it
    whatever the operator was waiting for, and nothing happens after it (FAIL-2, FAIL-4).
    """

    # Admission

    async def _process_record(self, record: Record) -> None:
        """Admit a record as soon as there is room, and call the function for it."""
        await self._wait_for_room()
        entry = RecordEntry(record)
        self._admit(entry)
        await self._calls.start(entry)

    async def _process_fence(self, fence: Watermark | WatermarkStatus) -> None:
        """Admit a watermark or status as soon as there is room: it takes a slot too (CAP-5)."""
        await self._wait_for_room()
        self._admit(FenceEntry(fence, deque([fence])))
        self._output.tell()

    async def _wait_for_room(self) -> None:
        """Run one mail after the other until one has made room (Flink's BP-1)."""
        while not self._has_room():
            await self._own.run_one()

    def _has_room(self) -> bool:
        """Count everything that is not gone: finished or not, all or a part of it (CAP-1)."""
        return len(self._queue) + self._output.slots < self._config.capacity

    def _admit(self, entry: Entry) -> None:
        """Move the first element of the backlog into the queue."""
        self._leave_backlog()
        self._queue.put(entry)
        if isinstance(entry, RecordEntry):
            self._undecided += 1
            self._in_flight += 1
            self._max_in_flight = max(self._in_flight, self._max_in_flight)

    def _leave_backlog(self) -> None:
        """Take the first element off the backlog, and let the next be taken (CAP-4)."""
        self._backlog.popleft()
        self._source.proceed()

    # Decision

    def _on_outcome(self, entry: RecordEntry, outcome: Outcome) -> None:
        """Decide a record by what its call came to, if nothing else has decided it (RES-4).

        Whatever was due before comes first, and it may be this record's deadline (TIME-6, FAIL-4).
        """
        self._timers.run_before(outcome.at)
        if entry.outputs is None or self._is_raised_besides(entry, outcome):
            self._decide(entry, self._results_of(entry.element, outcome))

    def _is_raised_besides(self, entry: RecordEntry, outcome: Outcome) -> bool:
        """Say whether a call in callback form has completed its record and raised (FAIL-1)."""
        by_callback = isinstance(outcome, Raised) and outcome.by_callback
        return by_callback and not self._is_late(entry, outcome)

    def _is_late(self, entry: RecordEntry, outcome: Outcome) -> bool:
        """Say whether an outcome came after the deadline of its record."""
        return entry.deadline is not None and outcome.at > entry.deadline.when

    def _results_of(self, record: Record, outcome: Outcome) -> tuple[Any, ...]:
        """Return the results that a call came to.

        Raises:
            CallFailed: it came to an error, or collecting the results raised one (FAIL-1, RES-6).
            InvalidResult: it came to something that is no collection of results (RES-3).
        """
        match outcome:
            case Raised(error):
                raise call_failed(record, error)
            case Returned(supply):
                return self._collect(record, supply)

    def _collect(self, record: Record, supply: Callable[[], Any]) -> tuple[Any, ...]:
        """Read the results whole before the first comes out (RES-6)."""
        try:
            return collect_results(record, supply())
        except BaseException as error:
            let_pass(error)
            failure = call_failed(record, error)
            raise failure from failure.__cause__

    def _decide(self, entry: RecordEntry, results: tuple[Any, ...]) -> None:
        """Settle what comes out of a record; the consumer may take it from now on."""
        self._undecided -= 1
        self._cancel_deadline(entry)
        entry.outputs = deque(self._output_of(entry.element, result) for result in results)
        self._queue.completed(entry)
        self._release_empty()
        self._output.tell()

    def _output_of(self, record: Record, result: Any) -> Record:
        """Give a result the timestamp and the key of its record (ELEM-1, ELEM-2)."""
        return Record(result, record.timestamp, record.key)

    # Deadline

    def _on_call(self, entry: RecordEntry) -> None:
        """Start the timeout of a record in the step in which it is called."""
        self._start_deadline(entry)

    def _start_deadline(self, entry: RecordEntry) -> None:
        """Start the timeout of a record, which is being called now (TIME-7, REST-2)."""
        if self._config.timeout is not None:
            when = self._deadline_after(self._config.timeout)
            entry.deadline = self._timers.register(when, lambda: self._on_deadline(entry))

    def _deadline_after(self, timeout: float) -> float:
        """Return when `timeout` is over; infinity adds up to never (unlike Flink's TO-3)."""
        return self._timers.now() + timeout

    def _cancel_deadline(self, entry: RecordEntry) -> None:
        """Leave no timer behind for a decided record (TIME-1)."""
        if entry.deadline is not None:
            self._timers.cancel(entry.deadline)

    def _on_deadline(self, entry: RecordEntry) -> None:
        """Decide a record at its deadline, if nothing has decided it before (TIME-1, TIME-2)."""
        if entry.outputs is None:
            self._timeouts += 1
            self._calls.cancel(entry)
            self._decide(entry, self._results_at_deadline(entry.element))

    def _results_at_deadline(self, record: Record) -> tuple[Any, ...]:
        """Return what the timeout handler gives in place of the call (TIME-3).

        Raises:
            CallTimedOut: there is no handler, it gave None, or it raised (TIME-4).
            InvalidResult: it gave something that is no collection of results (RES-3).
            CallFailed: its results raised when they were collected (RES-6).
        """
        assert self._config.timeout is not None
        return results_at_deadline(record, self._parts.timeout, self._config.timeout)

    # Emission

    def _release_empty(self) -> None:
        """Free the slots of records without results, which nobody takes (RES-2).

        Behind a record that was taken in part it is not their turn: that one is not gone (CAP-1).
        """
        if self._output.slots > 0:
            return
        while (entry := self._queue.peek_ready()) is not None and not entry.outputs:
            self._queue.pop_ready()
            self._free_slot(entry)

    def _on_taken(self, entry: Entry) -> None:
        """Free the slot of an entry that is gone; a mail looks what that allows."""
        self._free_slot(entry)
        self._post(self._release_empty)

    def _free_slot(self, entry: Entry) -> None:
        if isinstance(entry, RecordEntry):
            self._in_flight -= 1
            entry.deadline = None  # it knows its entry, and the two would live until they are found
