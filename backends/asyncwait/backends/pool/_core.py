"""The state of one operator: admission, decision, emission, snapshots. Nothing here awaits."""

from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from asyncwait.backends.pool._bell import Bell
from asyncwait.backends.pool._order import Entry, Ordered, Unordered
from asyncwait.spec import (
    Barrier,
    Element,
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
)


class Core:
    """What is in flight, and what may happen next.

    An element goes through the backlog (no room yet) to `admitted` (holds a slot) and `pending`
    (its call has not started), and when it is decided and in its turn to the ready ones, from
    where the consumer takes it. Markers and snapshots overtake by a way of their own.

    Args:
        config: of the operator.
        restore: what goes first.
    """

    def __init__(self, config: OperatorConfig, restore: Snapshot | None) -> None:
        self._capacity = config.capacity
        self.admitted: dict[Entry, None] = {}
        """Whatever holds a slot, in input order; with a dict, each can go without a search."""
        self.pending: deque[Entry] = deque()
        """Admitted records whose calls have not started, or are to be repeated now."""
        self._backlog: deque[Stored] = deque(restore.in_flight if restore else ())
        self._restoring = bool(self._backlog)
        order = Ordered if config.mode == "ordered" else Unordered
        self._order = order(self._promote)
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
        self.calls = self.retries = self.timeouts = self.abandoned = self._max_in_flight = 0
        self.output = Bell()
        """Rings when the consumer should look again."""
        self.room = Bell()
        """Rings when the feeder should look again."""
        self.on_pending: Callable[[], None] = _nothing
        """Called when a record waits for its call."""
        self.on_close: Callable[[], None] = _nothing
        """Called once, on closing."""
        self.on_results: Callable[[Entry, tuple[Any, ...]], None] = self.decide
        """Called with the results of a call."""
        self.on_failure: Callable[[Entry, OperatorError], None] = self._fail_for
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
        while backlog and len(self.admitted) < self._capacity:
            self._admit(backlog.popleft())
        if not backlog:
            self._restoring = False
            self.room.ring()

    def _admit(self, element: Stored) -> None:
        entry = Entry(element, self._order.segment)
        self.admitted[entry] = None
        if isinstance(element, Record):
            self._order.add(entry)
            in_flight = len(self.admitted) - self._fences
            self._max_in_flight = max(in_flight, self._max_in_flight)
            self.pending.append(entry)
            self.on_pending()
        else:
            self._fences += 1
            entry.results = (element,)
            self._order.add(entry)

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

    def _fail_for(self, _entry: Entry, failure: OperatorError) -> None:
        self.fail(failure)

    def decide(self, entry: Entry, results: tuple[Any, ...]) -> None:
        """Decide `entry`, which is undecided, with `results`."""
        entry.results = results
        self._order.decided(entry)
        if self._backlog:
            self._refill()

    def _promote(self, entry: Entry) -> None:
        """Let `entry` go out: it is decided and in its turn.

        A record without results goes by itself, but not before what is in front of it.
        """
        if entry.results or self._ready:
            self._ready.append(entry)
        else:
            del self.admitted[entry]
        self.output.ring()

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
        del self.admitted[entry]
        if not isinstance(entry.element, Record):
            self._fences -= 1
        while ready and not ready[0].results:
            del self.admitted[ready.popleft()]
        if self._backlog:
            self._refill()

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
        decided = sum(entry.results is not None for entry in self.admitted)
        return Statistics(
            in_flight=len(self.admitted) - self._fences,
            waiting=0 if self._restoring else len(self._backlog),
            held=decided - self._fences,
            calls=self.calls,
            retries=self.retries,
            timeouts=self.timeouts,
            abandoned=self.abandoned,
            max_in_flight=self._max_in_flight,
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
        for held in (self.admitted, self.pending, self._backlog, self._ready, self._express):
            held.clear()
        self._fences = self._requested = 0
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
