"""The contract: an operator is a function from a stream of elements to a stream of elements."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from asyncwait.spec._config import OperatorConfig
from asyncwait.spec._elements import Element, Snapshot


class Statistics(Struct, frozen=True, kw_only=True):
    """What an operator is doing at this moment, and has done since it was opened.

    A record is in flight from its admission, which is its first call unless it waits for its key,
    until its last result was taken; undecided, or held.
    Watermarks and statuses may wait for room, and count nowhere else. After a failure and after
    leaving, nothing is in flight, waits or is held any more; what was counted stays.

    To read the figures takes as long with thousands of records in flight as with one.
    """

    in_flight: int = 0
    """Records admitted and not yet emitted."""
    waiting: int = 0
    """Elements taken from the source that wait for room."""
    held: int = 0
    """Records among those in flight that are decided: they wait for their turn or the consumer."""
    calls: int = 0
    """Calls started; of a batch, as many as it has records."""
    batches: int = 0
    """Batches called, where the function is called in batches."""
    hits: int = 0
    """Calls among them that were given what a cache kept. With a cache, `hits`, `shared`, `loads`,
    `stale` and `null_keys` are `calls` together."""
    shared: int = 0
    """Calls that wait, or waited, for a load which another one had begun."""
    loads: int = 0
    """Calls that have begun a load."""
    stale: int = 0
    """Calls that were given results which were no longer good, instead of waiting on or failing."""
    null_keys: int = 0
    """Calls whose key was null, or could not be had."""
    refreshes: int = 0
    """Loads that were begun in the background; nobody waits for them, and they are no calls."""
    evictions: int = 0
    """Keys whose results had to go to make room for others."""
    retries: int = 0
    """Calls among them that were not the first of their record."""
    timeouts: int = 0
    """Records decided by their deadline, whoever had results for them then."""
    failures_handled: int = 0
    """Records for which the failure handler gave results."""
    abandoned: int = 0
    """Calls that ran on after they were cancelled and had their turn to end."""
    max_in_flight: int = 0
    """Highest `in_flight` so far."""
    max_held: int = 0
    """Highest `held` so far."""
    oldest: float = 0.0
    """Seconds since the first call of the record in flight that was called first; 0 for none."""
    waiting_for_permits: tuple[int, ...] = ()
    """Records that wait for a permit, for each of `limits` that has no room for their calls now."""

    @property
    def undecided(self) -> int:
        """Records among those in flight that are not decided: called, or waiting to be called."""
        return self.in_flight - self.held


@runtime_checkable
class OperatorResults(Protocol):
    """The output of an open operator.

    `__anext__` returns the next element; raises StopAsyncIteration at the end and after the
    context was left; raises the operator's plain error after a failure, the same one again each
    time, also after the context was left. Cancelling a waiting `__anext__` loses no output.

    One task at a time may wait in `__anext__`: a second one gets a RuntimeError at once, and the
    first loses nothing. A consumer that shields itself from a cancellation of the operator from
    outside, and reads on, gets a RuntimeError too until the context is left, as no task serves it.
    """

    def __aiter__(self) -> AsyncIterator[Element]:
        """Return itself."""
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
        """Put a Snapshot out as the next output, whether there is room or not.

        It comes after the remaining results of a record that is just being handed out and after
        the snapshots that were requested before, ahead of all else. It holds every input admitted
        or waiting for room, and `read`. After the end, a failure or leaving nothing happens.
        """
        ...


class OpenOperator(Protocol):
    """How every operator is opened.

    Leaving the context before the end is cancel: nothing more is emitted, running calls are
    cancelled and waited for, and `elements` is closed. That takes no longer than these need to
    clean up, however silent the input is; a cancellation from outside, before or meanwhile, cuts
    none of it short but what the cancelled task itself awaits on asyncio, be it a hook, and passes.
    So do KeyboardInterrupt and SystemExit of whatever user code.

    What closing `elements` raises, or `close()` of the function, is raised plainly on leaving. If
    something was raised before, by the body or by the other of the two, that comes out and the
    error of closing is a note on it. `open()` that raises keeps the context from being entered, and
    `close()` is not called; again, an error of closing `elements` is then a note. `open()` and
    `close()` run in the task that enters and leaves, and may hold a scope open between them.

    The input is read and closed by one task, and not cancelled in a read before the operator is
    over; so a generator may hold a scope open across its `yield`. An error of the input, of
    whatever class, comes out unchanged after everything that was read before it.

    The context is entered once, and left once: to do so again, or to leave it without entering it,
    raises RuntimeError and changes nothing. An operator for another stream is opened anew.
    Where another task leaves than entered, as the loop does that finds a dropped generator, all is
    closed as ever, and RuntimeError is raised then, and by each read afterwards.

    A call is cancelled as its loop does it: on asyncio once, and what it awaits in its clean-up
    runs to its end; on trio by a scope. It has its task to itself while it runs, and sees no time
    limit of the operator's.

    Each call begins with the context variables of the task that enters, as they stand when `open()`
    has run. Handlers and the predicates of a `Retry` see the same, and nobody sees what a call, a
    handler or a predicate sets. The input is read and closed in one context.

    What several operators do is independent, be they one behind the other or one within a call of
    the other.

    Args:
        config: mode, capacity, timeout and the rest.
        fn: the user's function; see `AsyncFunction`.
        elements: the input; its end is the end of input. Closed once on every way out, as far as
            it has `aclose()`: first the iterator that it makes, then itself. An operator that is
            never entered leaves it alone.
        restore: what an earlier operator had in flight; called afresh before new input.

    Raises:
        InvalidConfig: `config`, `fn`, `elements` or `restore` is not what it should be.
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
