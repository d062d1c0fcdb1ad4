"""Running the user's function, in coroutine form and in callback form."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from asyncwait.reference._queues import Entry
from asyncwait.reference._timers import Timer
from asyncwait.spec import FunctionParts, Record, awaitable_of


def must_pass(error: BaseException) -> bool:
    """Say whether `error` is none of an operator's business, be it alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, SystemExit)) is not None
    return isinstance(error, KeyboardInterrupt | SystemExit)


def is_being_cancelled() -> bool:
    """Say whether the caller was cancelled through a scope, by the operator or from outside.

    It tells a cancellation that was asked for from one that user code made up.
    """
    return anyio.current_effective_deadline() == -math.inf


@dataclass(slots=True, eq=False)
class Call:
    """One call in coroutine form.

    Args:
        entry: whose call it is.
        begun: set once the function was called and ran to where it waited first.
        scope: cancels it.
        ended: whether it is over.
        outlives: fires if the call runs on although it was cancelled.
        abandoned: whether it did.
    """

    entry: Entry
    begun: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: bool = False
    outlives: Timer | None = None
    abandoned: bool = False


class Completion:
    """What a function in callback form completes: its `ResultFuture` for one record.

    Args:
        entry: the record's.
        post: sends a mail, from any thread; does nothing once the operator is closed (unlike
            CO-15, because a client's thread can do nothing about it).
        on_results: the mail for results, which the given function supplies.
        on_error: the mail for an error.
    """

    def __init__(
        self,
        entry: Entry,
        post: Callable[[Callable[[], object]], object],
        on_results: Callable[[Entry, Callable[[], Any]], object],
        on_error: Callable[[Entry, BaseException], object],
    ) -> None:
        self._entry = entry
        self._post = post
        self._on_results = on_results
        self._on_error = on_error

    def complete(self, results: Any) -> None:
        """Decide the record with `results`."""
        self.complete_with(lambda: results)

    def complete_with(self, supplier: Callable[[], Any]) -> None:
        """Decide the record with what `supplier` returns; it is called on the loop (CO-10)."""
        self._post(lambda: self._on_results(self._entry, supplier))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Decide the record with `error`."""
        self._post(lambda: self._on_error(self._entry, error))


class Calls:
    """Runs calls in coroutine form, each in a task of its own.

    Args:
        parts: the user's function.
        post: sends a mail.
        spawn: starts a task that ends with the operator.
        on_results: the mail of a call that returned.
        on_error: the mail of a call that raised.
        on_ended: the mail of a call that was cancelled.
    """

    def __init__(
        self,
        parts: FunctionParts,
        post: Callable[[Callable[[], object]], object],
        spawn: Callable[..., object],
        on_results: Callable[[Entry, Callable[[], Any]], object],
        on_error: Callable[[Entry, BaseException], object],
        on_ended: Callable[[Call], object],
    ) -> None:
        self._parts = parts
        self._post = post
        self._spawn = spawn
        self._on_results = on_results
        self._on_error = on_error
        self._on_ended = on_ended
