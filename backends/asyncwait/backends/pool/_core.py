"""The state of one operator: admission, decision, emission, snapshots. Nothing here awaits."""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NoReturn

from asyncwait.backends.pool._bell import Bell
from asyncwait.backends.pool._order import Entry, Lines, Ordered, Unordered
from asyncwait.spec import (
    Barrier,
    Element,
    FailureHandler,
    LatencyMarker,
    OperatorConfig,
    OperatorError,
    Record,
    Snapshot,
    Statistics,
    Stored,
    Watermark,
    WatermarkStatus,
    call_failed,
    collect_results,
    invalid_key,
    results_despite,
)


class Core:
    """What is in flight, and what may happen next.

    An element goes through the backlog (no room yet) to `admitted` (holds a slot) and `pending`
    (its call has not started; before that, in key-ordered mode, it may wait for its key), and
    when it is decided and in its turn to the ready ones, from
    where the consumer takes it. Markers and snapshots overtake by a way of their own.

    Args:
        config: of the operator.
        restore: what goes first.
    """

    def __init__(self, config: OperatorConfig, restore: Snapshot | None) -> None:
        self.failure_handler: FailureHandler | None = None
        """The function's, if it has one."""
        self._capacity = config.capacity
        self._max_held = config.max_held or 0
        self._decided = 0
        """How many of the admitted are decided."""
        self.admitted: dict[Entry, None] = {}
        """Whatever holds a slot, in input order; with a dict, each can go without a search."""
        # In a plain dict the first is found ever slower, as those before it go.
        self.called: OrderedDict[Entry, float] = OrderedDict()
        """When the first calls of the admitted records began, in that order."""
        self.pending: deque[Entry] = deque()
        """Admitted records whose calls have not started, or are to be repeated now."""
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        self._restoring = bool(self._backlog)
        order = Ordered if config.mode == "ordered" else Unordered
        self._order = order(self._promote)
        self._lines = Lines() if config.mode == "key-ordered" else None
        self._ready: deque[Entry] = deque()
        self._express: deque[Element] = deque()
        self._requested = 0  # snapshots on request, which stand first in there
        self._read = 0
        self._ended = False
        self._source_error: BaseException | None = None
        self.closed = False
        """Nothing will be emitted any more."""
        self._interrupted = False
        self._final: BaseException | None = None
        self._fences = 0
        self.calls = self.retries = self.timeouts = self.failures_handled = 0
        self.abandoned = self._most_in_flight = self._most_held = 0
        self.output = Bell()
        """Rings when the consumer should look again."""
        self.room = Bell()
        """Rings when the feeder should look again."""
        self.on_pending: Callable[[], None] = _nothing
        """Called when a record waits for its call."""
        self.clock: Callable[[], float] = float
        """Tells the seconds of the loop."""
        self.on_close: Callable[[], None] = _nothing
        """Called once, on closing."""
        self.on_results: Callable[[Entry, tuple[Any, ...]], None] = self.decide
        """Called with the results of a call."""
        self.on_failure: Callable[[Entry, OperatorError], None] = self.fail_for
        """Called with what the operator fails with because of a call, if that is not repeated."""

    # From the source.

    def begin(self) -> None:
        """Admit what a restored snapshot held, as far as there is room."""
        self._refill()

    def may_read(self) -> bool:
        """Tell whether the next element of the source may be taken.

        Markers and snapshots hold no slot, and a source of nothing else would fill the memory of
        a consumer that pauses; the second bound never holds while the consumer waits.
        """
        return not self._backlog and len(self._express) - self._requested <= self._capacity

    def read(self, element: Element) -> None:
        """Take in the next element of the source; ignore it after the close.

        Raises:
            TypeError: it is none.
        """
        if self.closed:
            return
        self._read += 1
        if isinstance(element, Record | Watermark | WatermarkStatus):
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
            raise TypeError(_no_element(element))

    def end(self, error: BaseException | None) -> None:
        """Note that the source has ended, or has raised `error`."""
        self._ended = True
        self._source_error = error
        self.output.ring()

    def _refill(self) -> None:
        """Admit as many waiting elements as there is room for."""
        backlog = self._backlog
        while backlog and self._has_room():
            self._admit(backlog.popleft())
        if not backlog:
            self._restoring = False
            self.room.ring()

    def _has_room(self) -> bool:
        """Tell whether one more may be admitted; a few that are decided need no room."""
        return len(self.admitted) - min(self._decided, self._max_held) < self._capacity

    def _admit(self, element: Stored) -> None:
        entry = Entry(element, self._order.segment)
        self.admitted[entry] = None
        if isinstance(element, Record):
            self._order.add(entry)
            in_flight = len(self.admitted) - self._fences
            self._most_in_flight = max(in_flight, self._most_in_flight)
            if self._lines is None or self._is_first(entry, self._lines):
                self.pending.append(entry)
                self.on_pending()
        else:
            self._fences += 1
            self._decided += 1
            entry.results = (element,)
            self._order.add(entry)

    def _is_first(self, entry: Entry, lines: Lines) -> bool:
        """Put `entry` into the line of its key; tell whether it may be called at once."""
        try:
            return lines.enter(entry)
        except Exception as error:
            self.fail(invalid_key(entry.element, error))
            return False

    # From the calls.

    def settle(self, entry: Entry, returned: Any) -> None:
        """Decide `entry` with what its call returned; ignore it if the record is decided."""
        if entry.results is not None or self.closed:
            return
        try:
            results = collect_results(entry.element, returned)
        except OperatorError as error:
            self.on_failure(entry, error)
        else:
            self.on_results(entry, results)

    def call_raised(self, entry: Entry, error: BaseException) -> None:
        """Fail because the call of `entry` raised; ignore it if the record is decided."""
        if entry.results is None:
            self.on_failure(entry, call_failed(entry.element, error))

    def fail_for(self, entry: Entry, failure: OperatorError) -> None:
        """Fail because of `entry`, unless the failure handler has results for it all the same.

        It is not asked if `entry` is decided: then what has failed is the function alone.
        """
        if self.closed:
            return
        handler = None if entry.results is not None else self.failure_handler
        try:
            results = results_despite(failure.after(entry.attempts), handler)
        except OperatorError as final:
            self.fail(final)
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
        self._order.decided(entry)
        if self._lines is not None and (following := self._lines.leave(entry)) is not None:
            self.pending.append(following)
            self.on_pending()
        if self._backlog:
            self._refill()

    def _promote(self, entry: Entry) -> None:
        """Let `entry` go out: it is decided and in its turn.

        A record without results goes by itself, but not before what is in front of it.
        """
        if entry.results or self._ready:
            self._ready.append(entry)
        else:
            self._leave(entry)
        self.output.ring()

    def _leave(self, entry: Entry) -> None:
        """Let go of `entry`, of which nothing is left to be taken."""
        del self.admitted[entry]
        self._decided -= 1
        if isinstance(entry.element, Record):
            del self.called[entry]
        else:
            self._fences -= 1

    # To the consumer.

    def poll(self) -> Element | None:
        """Take the next element out; None if there is none now."""
        ready = self._ready
        if self._express and not (ready and ready[0].given):
            self.room.ring()
            self._requested = max(self._requested - 1, 0)
            return self._express.popleft()
        return self._next_result(ready[0]) if ready else None

    def _next_result(self, entry: Entry) -> Element:
        results, given = entry.results or (), entry.given
        entry.given = given + 1
        if entry.given == len(results):
            self._emitted(entry)
        source: Stored = entry.element
        if isinstance(source, Record):
            return Record(results[given], source.timestamp, source.key)
        return source

    def _emitted(self, entry: Entry) -> None:
        """Free the slot of `entry`, the first that is ready, and of what goes by itself."""
        ready = self._ready
        ready.popleft()
        self._leave(entry)
        while ready and not ready[0].results:
            self._leave(ready.popleft())
        if self._backlog:
            self._refill()

    @property
    def is_interrupted(self) -> bool:
        """Whether a consumer that reads on learns that nobody works for it any more."""
        return self._interrupted and self._final is not None

    def raise_if_over(self) -> None:
        """Raise what the consumer gets when nothing more will come; return if something may."""
        if not self.closed and self._ended and not self.admitted and not self._backlog:
            self._close(self._source_error)
        if self.closed:
            self._raise_final()

    def _raise_final(self) -> NoReturn:
        if self._final is None:
            raise StopAsyncIteration
        # Without this each further read would add its frames to the one error.
        raise self._final.with_traceback(self._traceback)

    def _overtake(self, element: Element) -> None:
        self._express.append(element)
        self.output.ring()

    # Snapshots and figures.

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Put a snapshot of everything out, what waits for room included."""
        if not self.closed:
            held = (*self._in_flight(), *self._backlog)
            self._express.insert(self._requested, Snapshot(checkpoint_id, held, self._read))
            self._requested += 1
            self.output.ring()

    def _in_flight(self) -> tuple[Stored, ...]:
        """What is admitted; a record partly handed out is over before the snapshot comes."""
        return tuple(entry.element for entry in self.admitted if not entry.given)

    def statistics(self) -> Statistics:
        """Return the present figures."""
        oldest = next(iter(self.called.values()), None)
        return Statistics(
            in_flight=len(self.admitted) - self._fences,
            waiting=0 if self._restoring else len(self._backlog),
            held=self._decided - self._fences,
            calls=self.calls,
            retries=self.retries,
            timeouts=self.timeouts,
            failures_handled=self.failures_handled,
            abandoned=self.abandoned,
            max_in_flight=self._most_in_flight,
            max_held=self._most_held,
            oldest=0.0 if oldest is None else self.clock() - oldest,
        )

    # The end.

    def fail(self, error: BaseException) -> None:
        """Emit nothing more; the consumer gets `error`. The first failure counts."""
        if not self.closed:
            self._close(error)

    def interrupt(self) -> None:
        """Note that the tasks of the operator are cancelled from outside, or the program ends.

        Usually so is the consumer; one that shields itself must not wait for ever.
        """
        if not self.closed:
            self._interrupted = True
            text = "the operator was cancelled from outside, and its consumer reads on"
            self._close(RuntimeError(text))

    def stop(self) -> None:
        """Emit nothing more; the consumer gets the end, or again the error it got before."""
        if not self.closed:
            self._close(None)
        elif self._interrupted:
            self._final = None

    def _close(self, final: BaseException | None) -> None:
        self.closed = True
        self._final = final
        self._traceback = None if final is None else final.__traceback__
        self.admitted.clear()
        self.called.clear()
        for held in (self.pending, self._backlog, self._ready, self._express):
            held.clear()
        if self._lines is not None:
            self._lines.clear()
        self._fences = self._requested = self._decided = 0
        self.on_close()
        self.output.ring()
        self.room.ring()


def _no_element(thing: object) -> str:
    return (
        f"expected an element of the stream (Record, Watermark, ...), got {thing!r} "
        f"({type(thing).__name__}); wrap plain values in Record"
    )


def _nothing() -> None:
    pass
