"""What the contract asks of every operator in the same words; no mechanism is in here.

An *answer* of a call, in either form, is a function that gives what the call gave, or raises what
it raised.
"""

import math
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NoReturn, TypeAlias

from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Snapshot,
    TooManyAbandonedCalls,
)
from asyncwait.spec.snapshots import Stored
from asyncwait.toolkit import (
    FunctionParts,
    call_failed,
    close_source,
    collect_results,
    join_errors,
    reraise_fatal,
    results_at_deadline,
)

Answer: TypeAlias = Callable[[], Any]


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
    reply: Reply = field(default_factory=Reply)
    deadline: float = math.inf
    outputs: deque[Element] | None = None
    is_begun: bool = False


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


def outputs_of(record: Record, answer: Answer) -> tuple[Record, ...]:
    """Return what comes out of `record`."""
    try:
        results = collect_results(record, answer())
    except BaseException as error:
        reraise_fatal(error)
        failure = call_failed(record, error)
        raise failure from failure.__cause__
    return _outputs(record, results)


def outputs_at_deadline(
    record: Record, parts: FunctionParts, config: OperatorConfig
) -> tuple[Record, ...]:
    """Return what comes out of `record` in place of a late answer."""
    return _outputs(record, results_at_deadline(record, parts.timeout, config.timeout or 0))


def _outputs(record: Record, results: tuple[Any, ...]) -> tuple[Record, ...]:
    return tuple(Record(result, record.timestamp, record.key) for result in results)


def too_many_abandoned(running: int, capacity: int) -> TooManyAbandonedCalls:
    """Build the error of `running` abandoned calls."""
    reason = f"{running} calls run on although they were cancelled, the capacity is {capacity}"
    return TooManyAbandonedCalls(None, reason)


def passed_on(
    element: LatencyMarker | Barrier | Snapshot, in_flight: tuple[Stored, ...]
) -> LatencyMarker | Snapshot:
    """Return what comes out for an element that takes no slot."""
    if isinstance(element, LatencyMarker):
        return element
    upstream = element if isinstance(element, Snapshot) else None
    return Snapshot(element.checkpoint_id, in_flight, upstream=upstream)


def put_first(ahead: deque[Element], snapshot: Snapshot) -> None:
    """Put a snapshot on request ahead of all but the snapshots before it."""
    others = (place for place, e in enumerate(ahead) if not isinstance(e, Snapshot))
    ahead.insert(next(others, len(ahead)), snapshot)


class Source:
    """The input, read and closed in one task."""

    def __init__(self, elements: AsyncIterable[Element], is_over: Callable[[], bool]) -> None:
        self._elements = elements
        self._is_over = is_over
        self._iterator: Any = None
        self._is_closed = False
        self.taken = 0
        """Elements taken so far."""
        self.trouble: BaseException | None = None
        """What closing it raised."""

    async def read(
        self,
        take_in: Callable[[Element], Awaitable[None]],
        is_cancelled: Callable[[BaseException], bool],
    ) -> BaseException | None:
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
                if is_cancelled(error):
                    raise
                if not self._is_over():
                    return error
                self.trouble = error
                return None
            self.taken += 1
            await take_in(element)

    async def close(self) -> None:
        """Close it, and what it was iterated over with; once."""
        if not self._is_closed:
            self._is_closed = True
            trouble = await close_source(self._iterator, self._elements)
            self.trouble = join_errors(self.trouble, trouble)
