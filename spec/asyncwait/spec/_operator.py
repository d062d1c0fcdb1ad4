"""The contract: an operator is a function from a stream of elements to a stream of elements."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from asyncwait.spec._config import OperatorConfig
from asyncwait.spec._elements import Element, Snapshot


class Statistics(Struct, frozen=True, kw_only=True):
    """Figures of an operator: its present state, and its counts since it was opened.

    A record is in flight from its admission, which is its first call unless it waits for its key,
    until the consumer has taken its last result; it is undecided or held.
    Watermarks and statuses count only in `waiting`. After a failure and after leaving, no element
    is in flight, waits or is held; the counts remain.

    Reading the figures takes as long with thousands of records in flight as with one.
    """

    in_flight: int = 0
    """Records admitted and not yet emitted."""
    waiting: int = 0
    """Elements taken from the source that wait for room."""
    held: int = 0
    """Records in flight that are decided and wait for their place in the order or the consumer."""
    calls: int = 0
    """Calls started; a batch counts as many calls as it has records."""
    batches: int = 0
    """Batches called, where the function is called in batches."""
    hits: int = 0
    """Calls that took cached results. With a cache, `calls` is the sum of `hits`, `shared`,
    `loads`, `stale` and `null_keys`."""
    shared: int = 0
    """Calls that wait, or waited, for a load that another call began."""
    loads: int = 0
    """Calls that have begun a load."""
    stale: int = 0
    """Calls that took cached results that were no longer fresh, instead of waiting or failing."""
    null_keys: int = 0
    """Calls whose key was null, or could not be determined."""
    refreshes: int = 0
    """Loads in the background, for which no record waits; `calls` does not include them."""
    evictions: int = 0
    """Keys whose results were evicted to make room for other keys."""
    retries: int = 0
    """Calls that were not the first of their record."""
    timeouts: int = 0
    """Records decided by their deadline, wherever their results came from."""
    failures_handled: int = 0
    """Records for which the failure handler gave results."""
    abandoned: int = 0
    """Cancelled calls that still ran after the loop had let them end."""
    max_in_flight: int = 0
    """Highest `in_flight` so far."""
    max_held: int = 0
    """Highest `held` so far."""
    oldest: float = 0.0
    """Seconds since the first call of the oldest record in flight; 0 if none is in flight."""
    waiting_for_permits: tuple[int, ...] = ()
    """For each of `limits`, the number of records that wait because it has no room for them."""

    @property
    def undecided(self) -> int:
        """Records in flight that are not decided: they are called, or wait to be called."""
        return self.in_flight - self.held


@runtime_checkable
class OperatorResults(Protocol):
    """The output of an open operator.

    `__anext__` returns the next element; raises StopAsyncIteration at the end and after the
    context was left; raises the operator's plain error after a failure, the same error each time,
    also after the context was left. Cancelling a waiting `__anext__` loses no output.

    One task at a time may wait in `__anext__`: a second task gets a RuntimeError at once, and the
    first loses nothing. A consumer that shields itself from a cancellation of the operator from
    outside, and reads on, gets a RuntimeError too until the context is left: the operator's task
    has ended.
    """

    def __aiter__(self) -> AsyncIterator[Element]:
        """Return this object."""
        ...

    async def __anext__(self) -> Element:
        """Return the next element of the output."""
        ...

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


@runtime_checkable
class SnapshotOnDemand(Protocol):
    """An optional part of `OperatorResults` (capability `on-demand-snapshot`)."""

    def request_snapshot(self, checkpoint_id: int) -> None:
        """Emit a Snapshot as the next output, with or without room.

        It follows the remaining results of a record whose first result the consumer has taken, and
        earlier requested snapshots; it precedes everything else. It holds every input admitted or
        waiting for room, and `read`. After the end, a failure or leaving, the request has no
        effect.
        """
        ...


class OpenOperator(Protocol):
    """Function that opens an operator.

    Leaving the context before the end cancels the operator: it emits nothing more, cancels its
    calls and waits for them, and closes `elements`. Leaving takes only the time that the calls and
    the input need to clean up, even if the input is silent; a cancellation from outside, before or
    meanwhile, interrupts only what the cancelled task itself awaits on asyncio, possibly a hook,
    and passes on. KeyboardInterrupt and SystemExit of user code pass on as well.

    An error of closing `elements`, or of the function's `close()`, is raised plainly on leaving. If
    the body or the other of the two raised before, that error is raised, and the error of closing
    is a note on it. If `open()` raises, the context is not entered, and `close()` is not called;
    again, an error of closing `elements` is then a note. `open()` and `close()` run in the task
    that enters and leaves, and may hold a scope open between them.

    One task reads and closes the input, and no read is cancelled before the operator is over; so a
    generator may hold a scope open across its `yield`. An error of the input, of any class, is
    raised unchanged after the output of everything that was read before it.

    The context is entered once, and left once: to do so again, or to leave it without entering it,
    raises RuntimeError and changes nothing. An operator for another stream is opened anew.
    If a task that did not enter the context leaves it, as the loop does for a dropped generator,
    everything is closed as usual, and RuntimeError is raised then, and by each read afterwards.

    A call is cancelled in the way of its loop: on asyncio once, and its clean-up may await to its
    end; on trio by a scope. It has its task to itself while it runs, and sees no time limit of the
    operator.

    Each call begins with the context variables that the entering task has after `open()`. Handlers
    and the predicates of a `Retry` see the same variables, and no other code sees a change that a
    call, a handler or a predicate makes. The input is read and closed in one context.

    Several operators are independent, in a row or one within a call of another.

    Args:
        config: mode, capacity, timeout and the other options.
        fn: the user's function; see `AsyncFunction`.
        elements: the input; its end is the end of input. The operator closes it once on every way
            out, if it has `aclose()`: first the iterator that it makes, then the input itself. An
            operator that is never entered does not touch the input.
        restore: snapshot of an earlier operator; its records are called anew before new input.

    Raises:
        InvalidConfig: `config`, `fn`, `elements` or `restore` is invalid.
    """

    def __call__(
        self,
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        restore: Snapshot | None = None,
    ) -> AbstractAsyncContextManager[OperatorResults]:
        """Open an operator."""
        ...
