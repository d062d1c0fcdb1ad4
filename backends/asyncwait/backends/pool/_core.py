"""Steps of one operator: admission, decision, emission. Nothing here awaits."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from asyncwait.backends.pool._order import RUN, Entry, Lines, let_go
from asyncwait.backends.pool._state import State
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    OperatorError,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    WrongFunction,
    call_failed,
    collect_results,
    invalid_key,
    results_despite,
    settled,
)

NOTHING = object()
"""Return value of `poll` without an element, because None may be a result."""


class Core(State):
    """The elements in flight, and the steps that change them.

    Steps that run for each record are inline where a call would cost as much as the step.
    """

    __slots__ = ("on_failure", "on_final", "on_results")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.on_results: Callable[[Entry, tuple[Any, ...]], None] = self.decide
        """Called with the results of a call."""
        self.on_failure: Callable[[Entry, OperatorError], None] = self.fail_for
        """Called with the operator's failure because of a call, if the call is not repeated."""
        self.on_final: Callable[[Entry, OperatorError], None] = lambda _, error: self.fail(error)
        """Called with the failure of a record that no handler decides."""

    # From the source.

    def begin(self) -> None:
        """Admit the elements of a restored snapshot, as far as there is room."""
        self._refill()

    def may_read(self) -> bool:
        """Return whether the next element of the source may be taken, and the operator is open.

        Markers and snapshots hold no slot: without the second bound, a source that yields nothing
        else would fill the memory while the consumer pauses. This bound never holds while the
        consumer waits.
        """
        if self._backlog or not self.reads:
            return False
        return not self._express or len(self._express) - self._requested <= self._capacity

    def read(self, element: Element) -> bool:
        """Take in the next element of the source; ignore it after the close.

        Returns:
            The result of `may_read` afterwards.

        Raises:
            TypeError: `element` is not an element.
        """
        if self.closed or self.finishing is not None:
            return self._leave_out([element.value] if isinstance(element, Record) else ())
        self._read += 1
        if isinstance(element, Record):
            if self._inside < self._capacity and not self._backlog:
                self._admit(element)
            else:
                self._backlog.append(element)
                self._refill()
        elif isinstance(element, Watermark | WatermarkStatus):
            self._backlog.append(element)
            self._refill()
        elif isinstance(element, LatencyMarker):
            self._overtake(element)
        elif isinstance(element, Barrier):
            self._overtake(Snapshot(element.checkpoint_id, self._in_flight()))
        elif isinstance(element, Snapshot):
            held = self._in_flight()
            self._overtake(Snapshot(element.checkpoint_id, held, upstream=element))
        else:
            self._read -= 1  # An operator restored from a snapshot reads it again.
            raise TypeError(_no_element(element))
        return self.may_read()

    def read_value(self, value: Any) -> bool:
        """Take in the next plain value of the source, as `read` does."""
        if self.closed or self.finishing is not None:
            return self._leave_out((value,))
        inside = self._inside + 1
        if self._backlog or (inside > self._capacity and not self._has_room()):
            self._backlog.append(self._record_of(value))
            self._refill()
            return self.may_read()
        # As in `_admit`, but plain values have no fences.
        entry = Entry(value) if self._lines is None else Entry(value, self._record_of(value))
        if self.numbers is not None:
            entry.number = next(self.numbers)
        self._inside = inside
        self._line.append(entry)
        if inside > self._most_in_flight:  # noqa: PLR1730 - in half the time of `max`
            self._most_in_flight = inside
        if self._unordered is not None:
            self._unordered.add(entry)
        if self._lines is None or self._is_first(entry, self._lines):
            self.pending.append(entry)
            if len(self.pending) == 1:
                self.on_pending()
        elif self.gathers:
            self.look_again()
        return self.reads

    @property
    def wanted(self) -> int:
        """Number of plain values to read at once: as many as have room, and one more."""
        return 1 if self._lines is not None else self._room() + 1

    def _room(self) -> int:
        """Return the number of records that may be admitted; some decided records need no room."""
        return max(0, self._capacity + min(self._decided, self._max_held) - self._inside)

    def read_values(self, values: Sequence[Any]) -> bool:
        """Take in the next plain values of the source, at most `wanted`; see `read_value`."""
        if len(values) < 2 or self._backlog or not self.reads:  # noqa: PLR2004 - no bulk
            return self._read_singly(values)
        if self.kept_for is not None and not self.pending:
            kept = self.kept_for(values[: self._room()])
            values = self._admit_kept(values, kept)
        entries = list(map(Entry, values[: self._room()]))
        if self.numbers is not None:
            for entry in entries:
                entry.number = next(self.numbers)
        self._line.extend(entries)
        self._inside += len(entries)
        self._most_in_flight = max(self._most_in_flight, self._inside)
        if self._unordered is not None:
            self._unordered.add_all(entries)
        was_idle = not self.pending
        self.pending.extend(entries)
        if was_idle:
            self.on_pending()
        return self._read_singly(values[len(entries) :])

    def _admit_kept(self, values: Sequence[Any], results: Sequence[Any]) -> Sequence[Any]:
        """Admit and decide the first values, one for each result; return the other values."""
        if count := len(results):
            run = Entry(None, results=tuple(results), started=self.clock(), room=RUN)
            self._inside += count
            self._decided += count
            self._most_in_flight = max(self._most_in_flight, self._inside)
            self._most_held = max(self._most_held, self._decided)
            self._line.append(run)
            self.called.append(run)
            if self._unordered is not None:
                self._unordered.add(run)
                self._unordered.decided(run)
            self.output.ring()
        return values[count:]

    def _read_singly(self, values: Iterable[Any]) -> bool:
        goes_on = True
        for value in values:
            goes_on = self.read_value(value)
        return goes_on and self.may_read()

    def _leave_out(self, values: Iterable[Any]) -> bool:
        if self.finishing is not None and not self.closed:
            self.finishing.uncalled += tuple(values)
        return False

    def end(self, error: BaseException | None) -> None:
        """Note that the source has ended, or has raised `error`."""
        if self._ended:  # a spent budget has ended it
            return
        self._ended = True
        self._source_error = error
        self.output.ring()
        if self.gathers:
            self.look_again()

    def halt(self, error: BaseException | None) -> None:
        """Read nothing more, as if the source had ended, or had raised `error`."""
        self.reads = False
        self._ended = True
        self._source_error = self._source_error if error is None else error.with_traceback(None)
        self.output.ring()

    def cut(self, entry: Entry) -> None:
        """Drop all fences behind `entry`, the first omitted record."""
        self.is_cut, is_behind = True, False
        for each in self._line:
            is_behind = is_behind or each is entry
            if is_behind and each.results and isinstance(each.element, Watermark | WatermarkStatus):
                each.results = ()
                self._empty += 1

    def calls_of(self, entry: Entry) -> None:
        """Note that a record is called, or is about to be."""
        self.last_called = max(self.last_called, entry.number)

    def uncalled(self, about: Collection[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Return the undecided, uncalled records that do not wait for their keys.

        Returns:
            The records behind the last call, and the others.

        Args:
            about: records whose calls are about to begin, which count as called.
        """
        behind: list[Entry] = []
        before: list[Entry] = []
        for entry in self._line:
            if entry.started is not None or entry.results is not None or entry in about:
                continue
            if self._lines is None or entry.line is not None:
                (behind if entry.number > self.last_called else before).append(entry)
        return behind, before

    def finish(self, entry: Entry, error: OperatorError) -> Iterator[Entry]:
        """Begin no further call, because `entry` failed; results of running calls come out first.

        Yields:
            The records without a running call; they are decided, without results.
        """
        waiting: list[Any] = []
        if self.finishing is None:
            self.finishing = error
            self.halt(error)
            waiting = [each.value for each in self._backlog if isinstance(each, Record)]
            self._backlog.clear()
            deque.clear(self.pending)  # a gate's own `clear` would drop its requests
        else:
            self.finishing.others += (error,)
        self.decide(entry, ())
        while idle := [each for each in self._line if each.is_without_call]:
            for each in idle:
                yield each
                self.finishing.uncalled += (self.record(each).value,)
                if each.started is None:
                    each.started = self.clock()
                    self.called.append(each)
                self.decide(each, ())
        self.finishing.uncalled += tuple(waiting)

    @property
    def is_full(self) -> bool:
        """Whether no further element has room."""
        return self._inside >= self._capacity and not self._has_room()

    def nothing_is_admitted(self, *, is_idle: bool) -> bool:
        """Return whether no record is admitted before the waiting records are called (BAT-3).

        Args:
            is_idle: whether no call runs.
        """
        if self._ended and not self._backlog:
            return True
        comes_out = self._ready and self._ready[0].results is not None
        return is_idle and not comes_out and self.is_full

    def _refill(self) -> None:
        backlog = self._backlog
        while backlog and self._has_room():
            element = backlog.popleft()
            if not backlog:
                self._restoring = False
                self.room.ring()  # before a worker wakes, which then finds more to do
            if isinstance(element, Record):
                self._admit(element)
            else:
                self._admit_fence(element)

    def decide_all(self, entries: Sequence[Entry], results: Iterable[Any]) -> None:
        """Decide undecided entries, each with its one result."""
        if self._lines is not None:
            for entry, result in zip(entries, results, strict=True):
                if entry.results is None and not self.closed:
                    self.decide(entry, (result,))
            return
        for entry, result in zip(entries, results, strict=True):
            entry.results = (result,)
        self.count_decided(entries)

    @property
    def decides_in_bulk(self) -> bool:
        """Whether no record waits for another record to be decided."""
        return self._lines is None

    def count_decided(self, entries: Sequence[Entry]) -> None:
        """Count entries decided with at least one result each; requires `decides_in_bulk`."""
        self._decided += len(entries)
        self._most_held = max(self._most_held, self._decided - self._fences)
        if self._unordered is not None:
            for entry in entries:
                self._unordered.decided(entry)
        if self._ready and self._ready[0].results is not None:
            self.output.ring()
            self.room.ring()
        if self._backlog and self._max_held:
            self._refill()

    def _has_room(self) -> bool:
        return self._inside < self._capacity or self._room() > 0

    def _admit(self, record: Record) -> None:
        entry = Entry(record.value, record)
        if self.numbers is not None:
            entry.number = next(self.numbers)
        self._line.append(entry)
        self._inside += 1
        in_flight = self._inside - self._fences
        if in_flight > self._most_in_flight:  # noqa: PLR1730 - in half the time of `max`
            self._most_in_flight = in_flight
        if self._unordered is not None:
            self._unordered.add(entry)
        if self._lines is None or self._is_first(entry, self._lines):
            self.pending.append(entry)
            if len(self.pending) == 1:  # else the worker that takes the first wakes another
                self.on_pending()
        elif self.gathers:
            self.look_again()

    def look_again(self) -> None:
        """Wake a worker, because no further record may have room to join the waiting records."""
        if self.pending:
            self.on_pending()

    def wait_for_call(self, entry: Entry) -> None:
        """Queue `entry` for its first or next call by a worker."""
        if self.finishing is None:
            self.pending.append(entry)
            self.on_pending()

    def _admit_fence(self, fence: Stored) -> None:
        if self.is_cut:
            return
        entry = Entry(None, fence, (fence,))
        self._line.append(entry)
        self._inside += 1
        self._fences += 1
        self._decided += 1
        if self._unordered is not None:
            self._unordered.add_fence(entry)
        self.output.ring()
        if self.gathers:
            self.look_again()

    def _is_first(self, entry: Entry, lines: Lines) -> bool:
        """Put `entry` into the line of its key; return whether it may be called at once."""
        try:
            if lines.enter(entry):
                return True
            entry.permit = self.arrive()
            return False
        except Exception as error:
            self.fail(invalid_key(entry.element, error))
            return False

    # From the calls.

    def settle(self, entry: Entry, returned: Any) -> None:
        """Decide `entry` with the results of its call; ignore them if the record is decided."""
        if entry.results is not None or self.closed:
            return
        try:
            if self.single:
                results: tuple[Any, ...] = (settled("fn", returned),)
            else:
                results = collect_results(self.record(entry), returned)
        except WrongFunction as error:
            self.call_raised(entry, error)
        except OperatorError as error:
            self.on_failure(entry, error)
        else:
            self.on_results(entry, results)

    def call_raised(self, entry: Entry, error: BaseException) -> None:
        """Fail because the call of `entry` raised; ignore the error if the record is decided."""
        if entry.results is None:
            self.on_failure(entry, call_failed(self.record(entry), error))

    def fail_for(self, entry: Entry, failure: OperatorError) -> None:
        """Fail because of `entry`, unless the failure handler has results for it.

        The handler is not called if `entry` is decided: then only the function has failed.
        """
        if self.closed:
            return
        handler = None if entry.results is not None else self.failure_handler
        try:
            results = results_despite(failure.after(entry.attempts), handler)
        except OperatorError as final:
            self.on_final(entry, final)
        else:
            self.failures_handled += 1
            self.decide(entry, results)

    def decide(self, entry: Entry, results: tuple[Any, ...]) -> None:
        """Decide `entry`, which is undecided, with `results`."""
        entry.results = results
        self._decided += 1
        held = self._decided - self._fences
        if held > self._most_held:  # noqa: PLR1730 - in half the time of `max`
            self._most_held = held
        if self._unordered is not None:
            self._unordered.decided(entry)
        if self._lines is not None and (following := self._lines.leave(entry)) is not None:
            self.wait_for_call(following)  # may decide `following`
        if not results:
            self._empty += 1
            self._drop_ready()
            self.output.ring()  # `entry` may have been the last one.
        elif self.output.sleeper is not None and self._ready and self._ready[0].results is not None:
            self.output.ring()
            self.room.ring()  # The consumer is about to make room, and the feeder runs after it.
        if self._backlog and (self._max_held or not results):
            self._refill()

    # To the consumer.

    def poll(self) -> Any:
        """Remove and return the next element; NOTHING if no element is ready."""
        ready = self._ready
        if self._express and not (ready and ready[0].given):
            self.room.ring()
            self._requested = max(self._requested - 1, 0)
            return self._express.popleft()
        if not ready:
            return NOTHING
        entry = ready[0]
        if (results := entry.results) is None:
            return NOTHING
        source = entry.element
        if len(results) == 1 or entry.given == len(results) - 1:
            result = results[-1]
            if self._is_simple and entry.started is not None:  # As in `_leave`.
                self._inside -= 1
                self._decided -= 1
                entry.value = entry.element = None
                entry.results, entry.given = (), -1
                if self._called_in_order:
                    self.called.popleft()
                else:
                    let_go(self.called, entry, self._inside)
                ready.popleft()
            else:
                self._leave(entry)
            if self._empty:
                self._drop_ready()
            if self._backlog:
                self._refill()
        else:
            result = results[entry.given]
            entry.given += 1
            if entry.room == RUN:
                self._inside -= 1
                self._decided -= 1
                if self._backlog:
                    self._refill()
        if self._gives_values:
            return result
        if isinstance(source, Record):
            return Record(result, source.timestamp, source.key)
        return source

    def _leave(self, entry: Entry) -> None:
        """Remove `entry`, the next to go out, whose results are all taken."""
        self._inside -= 1
        self._decided -= 1
        entry.value = entry.element = None
        entry.results, entry.given = (), -1
        if entry.started is None:
            self._fences -= 1
        elif self._called_in_order:
            self.called.popleft()
        else:
            let_go(self.called, entry, self._inside)
        self._ready.popleft()
        if self._unordered is not None:
            let_go(self._line, entry, self._inside)
        if self._max_held and self.gathers:
            self.look_again()  # Waiting records may have waited only for this entry.

    def _drop_ready(self) -> None:
        ready = self._ready
        while ready and (results := ready[0].results) is not None and not results:
            self._empty -= 1
            self._leave(ready[0])

    def _overtake(self, element: Element) -> None:
        self._express.append(element)
        self.output.ring()


def _no_element(thing: object) -> str:
    return (
        f"expected an element of the stream (Record, Watermark, ...), got {shown(thing)} "
        f"({type(thing).__name__}); wrap plain values in Record"
    )
