"""State of one operator: elements in flight, figures, and the end. Nothing here awaits."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from asyncwait.backends.pool._order import Entry, Lines, Unordered
from asyncwait.spec import (
    Element,
    FailureHandler,
    OperatorConfig,
    OperatorError,
    Record,
    Snapshot,
    Statistics,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.spec.texts import shown
from asyncwait.toolkit import Bell, LeftEarly

_MOST_NAMED = 3
"""Values and failures that a note names."""


class CacheFigures(Struct):
    """Counts of an operator with a cache; see `Statistics`."""

    hits: int = 0
    shared: int = 0
    loads: int = 0
    stale: int = 0
    null_keys: int = 0
    refreshes: int = 0
    evictions: int = 0

    @property
    def calls(self) -> int:
        """All calls, without the record whose key is being computed."""
        return self.hits + self.shared + self.loads + self.stale + self.null_keys

    def given_stale(self, *, begun: bool) -> None:
        """Count a call that began or shares a load as a call that gets stale results."""
        self.stale += 1
        if begun:
            self.loads -= 1
        else:
            self.shared -= 1


class State:
    """Elements in flight by their queues, and the end of the operator.

    An element goes through the backlog (no room yet) to the line of elements with a slot, and to
    `pending` (its call has not started; before that, in key-ordered mode, it may wait for its key).
    When it is decided and the next to go out, it is the first of the ready entries, from which the
    consumer takes it. Markers and snapshots overtake in a separate queue.

    Args:
        config: of the operator.
        restore: snapshot whose elements go first.
        record_of: makes the record of a plain value; None if input and output are elements.
        single: whether the return value of a call is its one result, and no collection.
    """

    # More than thirty attributes, and in an instance without slots each access would cost more.
    __slots__ = (
        "_backlog", "_called_in_order", "_capacity", "_decided", "_empty", "_ended", "_express",
        "_fences", "_final", "_gives_values", "_inside", "_interrupted", "_is_cached", "_is_simple",
        "_line", "_lines", "_max_held", "_most_held", "_most_in_flight", "_read", "_ready",
        "_record_of", "_requested", "_restoring", "_source_error", "_traceback", "_unordered",
        "abandoned", "arrive", "batches", "cached", "called", "calls", "clock", "closed",
        "due", "failure_handler", "failures_handled", "finishing", "gathers", "is_cut", "kept_for",
        "last_called", "notes", "numbers", "on_close", "on_pending", "output", "pending", "reads",
        "retries", "room", "single", "timeouts", "waiting_for_permits",
    )  # fmt: skip

    def __init__(  # noqa: PLR0915 - a line for each
        self,
        config: OperatorConfig,
        restore: Snapshot | None,
        record_of: Callable[[Any], Record] | None = None,
        *,
        single: bool = False,
    ) -> None:
        self._gives_values, self.single = record_of is not None, single
        self._record_of = record_of or Record
        self.failure_handler: FailureHandler | None = None
        """The function's failure handler, if it has one."""
        self._capacity = config.capacity
        self._max_held = config.max_held or 0
        self._line: deque[Entry] = deque()
        """Entries with a slot, in input order, and some that have left (see `let_go`)."""
        self.called: deque[Entry] = deque()
        """The records of the line that were called, in the order of their first calls."""
        self._inside = self._fences = self._decided = self._empty = 0
        """Numbers of entries with a slot, and of fences, decided and empty entries among them."""
        self.pending: deque[Entry] = deque()
        """Admitted records whose calls have not started, or are to be repeated now."""
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        self._restoring = bool(self._backlog)
        ordered = config.mode == "ordered"
        self._ready: deque[Entry] = self._line if ordered else deque()
        """Entries whose first goes out next, as soon as it is decided."""
        self._unordered = None if ordered else Unordered(self._ready)
        self._called_in_order = ordered and config.limits is None
        """Whether first calls begin in the order of the line."""
        self._is_simple = ordered and not (config.batch and config.max_held)
        """Whether the first entry leaves first, without effects on others."""
        self._lines = Lines() if config.mode == "key-ordered" else None
        self._express: deque[Element] = deque()
        self._requested = 0  # requested snapshots, which come first in it
        self._read = 0
        self._ended = False
        self._source_error: BaseException | None = None
        self.closed = False
        """Nothing will be emitted any more."""
        self.finishing: OperatorError | None = None
        """The failure after which no call begins, and results of running calls come out first."""
        self.reads = True
        """Whether the source is read, as far as there is room."""
        self._interrupted = False
        self._final: BaseException | None = None
        self.calls = self.batches = self.retries = self.timeouts = self.failures_handled = 0
        self.abandoned = self._most_in_flight = self._most_held = 0
        self.cached = CacheFigures()
        self._is_cached = config.cache is not None
        self.output = Bell()
        """Rings when the consumer should look again."""
        self.room = Bell()
        """Rings when the feeder should look again."""
        self.on_pending: Callable[[], None] = lambda: None
        """Called when a record waits for its call."""
        self.clock: Callable[[], float] = float
        """Returns the loop's time in seconds."""
        self.gathers = False
        """Whether records wait for shared calls."""
        self.arrive: Callable[[], int | None] = lambda: None
        """Numbers a record that waits for its key, so that it keeps its place at the gate."""
        self.notes: list[str] = []
        """Texts about errors that cancelled calls have raised."""
        self.numbers: Iterator[int] | None = None if config.limits is None else count(1)
        """Numbers the records, so that a budget omits only the end of the input."""
        self.is_cut = False
        """Whether a budget has omitted a record, so that nothing behind it comes out."""
        self.last_called = 0
        """The largest number of a record that was called, or is about to be."""
        self.waiting_for_permits: Callable[[], tuple[int, ...]] = tuple
        """Returns the number of waiting calls, for each limit."""
        self.kept_for: Callable[[Sequence[Any]], Sequence[Any]] | None = None
        """Returns the results of the first of some values, as far as they need no call."""
        self.due = inf
        """No undecided record has an earlier deadline; the sweep maintains it."""
        self.on_close: Callable[[], None] = lambda: None
        """Called once, on closing."""

    def record(self, entry: Entry) -> Record:
        """Return the record of an entry; make it first for a plain value."""
        if entry.element is None:
            entry.element = self._record_of(entry.value)
        record: Record = entry.element
        return record

    # Snapshots and figures.

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a snapshot of all elements in flight, waiting ones included."""
        if not self.closed:
            held = (*self._in_flight(), *self._backlog)
            self._express.insert(self._requested, Snapshot(checkpoint_id, held, self._read))
            self._requested += 1
            self.output.ring()

    def _in_flight(self) -> tuple[Stored, ...]:
        """Admitted elements; a partly emitted record is over before the snapshot comes out."""
        line = self._line
        return tuple(each.element for each in line if not each.given)

    def statistics(self) -> Statistics:
        """Return the present figures; for any thread."""
        try:
            oldest = self.called[0].started
        except IndexError:
            oldest = None
        return Statistics(
            in_flight=self._inside - self._fences,
            waiting=0 if self._restoring else len(self._backlog),
            held=self._decided - self._fences,
            calls=self.cached.calls if self._is_cached else self.calls,
            batches=self.batches,
            retries=self.retries,
            timeouts=self.timeouts,
            failures_handled=self.failures_handled,
            abandoned=self.abandoned,
            max_in_flight=self._most_in_flight,
            max_held=self._most_held,
            oldest=0.0 if oldest is None else self.clock() - oldest,
            waiting_for_permits=self.waiting_for_permits(),
            **asdict(self.cached),
        )

    # The end.

    @property
    def is_interrupted(self) -> bool:
        """Whether a consumer that reads on gets the error of an interrupted operator."""
        return self._interrupted and self._final is not None

    def raise_if_over(self) -> None:
        """Raise the end or the error if no more will come; return otherwise."""
        if not self.closed and self._ended and not self._inside and not self._backlog:
            if self.finishing is not None:
                _tell_what_is_missing(self.finishing)
            self._close(self._source_error)
        if self.closed and self._final is None:
            raise StopAsyncIteration
        if self.closed:
            assert self._final is not None
            # Without this each further read would add its frames to the error.
            raise self._final.with_traceback(self._traceback)

    def fail(self, error: BaseException) -> None:
        """Emit nothing more; the consumer gets `error`. The first failure counts."""
        if not self.closed:
            if isinstance(error, OperatorError) and (dropped := self._finished()):
                error.dropped = dropped
                hint = "with on_failure='finish' such results come out first"
                error.add_note(f"{dropped} finished result(s) are dropped; {hint}")
            self._close(error)

    def _finished(self) -> int:
        if self._decided == self._fences:
            return 0
        decided = (each for each in self._line if each.results and each.given >= 0)
        fences = Watermark | WatermarkStatus
        return sum(
            len(each.results or ()) - each.given
            for each in decided
            if not isinstance(each.element, fences)
        )

    def interrupt(self) -> None:
        """Note that the tasks of the operator are cancelled from outside, or the program ends.

        Usually the consumer is cancelled, too; a shielded consumer must not wait forever.
        """
        if not self.closed:
            self._interrupted = True
            text = "the operator was cancelled from outside, and its consumer reads on"
            self._close(RuntimeError(text))

    def stop(self, error: BaseException | None = None) -> None:
        """Emit nothing more.

        The consumer gets the end, or `error` if there is one, or again the error it got before.
        The consumer of plain values gets an error in place of an end that it has not read.
        """
        error = LeftEarly() if error is None and self._gives_values else error
        if not self.closed:
            self._close(error)
        elif self._interrupted:
            self._final = error

    def _close(self, final: BaseException | None) -> None:
        self.closed = True
        self.reads = False
        self._final = final
        # An operator's own error about a record needs no note: its cause follows it.
        is_told = isinstance(final, OperatorError)
        self._traceback = None if is_told or final is None else final.__traceback__
        for held in (self._line, self.called, self.pending, self._backlog, self._ready):
            held.clear()
        self._express.clear()
        if self._lines is not None:
            self._lines.clear()
        self._inside = self._fences = self._decided = self._empty = self._requested = 0
        self.on_close()
        self.output.ring()
        self.room.ring()


def _tell_what_is_missing(error: OperatorError) -> None:
    for what, missing, texts in (
        ("value(s) were read and have no results", error.uncalled, map(shown, error.uncalled)),
        ("other record(s) failed, too", error.others, map(str, error.others)),
    ):
        if missing:
            more = ["..."] if len(missing) > _MOST_NAMED else []
            named = "; ".join([*islice(texts, _MOST_NAMED), *more])
            error.add_note(f"{len(missing)} {what}: {named}")
