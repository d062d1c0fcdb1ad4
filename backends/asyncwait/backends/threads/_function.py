"""A plain function that runs in threads, in callback form if its argument is one value."""

import asyncio
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from asyncwait.backends.pool import PoolResultFuture
from asyncwait.backends.threads._thread_pool import Call, ThreadPool, Told
from asyncwait.spec import OperatorConfig
from asyncwait.toolkit import (
    Bell,
    FunctionParts,
    is_collection,
    join_errors,
    reraise_fatal,
    run_hook,
    running_loop,
    settled,
    uncosted,
)

_SCARCELY = 0.01
"""Seconds to wait for a call after its time: it may have ended without a report yet."""


class Threaded:
    """Calls the user's function in a thread each time; its results are read there, too.

    A thread cannot be ended from outside. The operator tracks each call while it runs, counts calls
    whose time is over as abandoned, and fails when too many are. When the operator closes,
    `close` waits for each call until its time is over, and without a timeout to its end.

    Args:
        parts: of the user's function; its `call` is a plain function.
        config: the time limits.
        single: whether the return value of a call is its one result, and no collection.
        wrap: converts a value and the return value of its call to what the operator reads.
        hire: makes the threads, when the first call comes.
    """

    def __init__(
        self,
        parts: FunctionParts,
        config: OperatorConfig,
        *,
        single: bool = False,
        wrap: Callable[[Any], Any] | None = None,
        hire: Callable[[], ThreadPool] = ThreadPool,
    ) -> None:
        self.single = single
        self._call: Any = parts.call
        self._wrap = wrap
        self._close = parts.close
        for name in ("open", "timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, part)
        retry = config.retry
        limits = config.timeout, None if retry is None else retry.attempt_timeout
        self._most = min((each for each in limits if each is not None), default=math.inf)
        self._hire = hire
        self._threads: ThreadPool | None = None
        self._clock: Callable[[], float] = float
        self._interruption: BaseException | None = None
        """Error for the whole program that a call has raised, until the loop raises it."""
        self._is_interrupted = False
        """Whether a call has raised such an error: the first one ends the program."""

    def ask(self, value: Any, result: PoolResultFuture) -> Call:
        """Let a thread call the function; return the call, which no cancellation ends."""
        if self._threads is None:
            self._threads = self._hire()
            self._clock = running_loop().time
        due = self._clock() + self._most
        give_back = getattr(result, "give_back", None)  # The permit of a batch is elsewhere.
        call = Call(value, lambda: self._run(value, result), due, give_back)
        self._threads.ask(call)
        return call

    def withdraw_one(self, call: Call) -> bool:
        """Withdraw a call that has not begun; return whether it was withdrawn."""
        return self._threads is not None and self._threads.withdraw_one(call)

    def _run(self, value: Any, result: PoolResultFuture) -> Told:
        """Call the function, in a thread; return a function that reports the outcome."""
        try:
            returned = self.read(value, result.run(self._call, value))
        except BaseException as error:
            return self._raised(error, result)
        return partial(result.complete, returned)

    def _raised(self, error: BaseException, result: PoolResultFuture) -> Told:
        try:
            reraise_fatal(error)
        except BaseException as interruption:
            if not self._is_interrupted:
                self._is_interrupted, self._interruption = True, interruption
            return partial(result.interrupt, self.take_interruption)
        return partial(result.complete_exceptionally, error)

    def take_interruption(self) -> BaseException | None:
        """Return the error for the whole program that a call has raised, once."""
        taken, self._interruption = self._interruption, None
        return taken

    def read(self, value: Any, returned: Any) -> Any:
        """Read the return value of a call for a value, in the thread of the call."""
        del value
        return self.read_results(uncosted(returned))

    def read_results(self, returned: Any) -> Any:
        """Read results whose reading may block, or that the next call may reuse."""
        if self.single:
            return settled("fn", returned)
        if self._wrap is not None:
            returned = self._wrap(returned)
        return tuple(returned) if is_collection(returned) else settled("fn", returned)

    def leave(self) -> None:
        """Note that the operator closes."""

    async def close(self) -> None:
        """Wait for the running calls while their time is not over; then run the function's `close`.

        On asyncio, a cancellation of this wait is raised when everything is closed.
        """
        cancelled: asyncio.CancelledError | None = None
        while self._threads is not None:
            self._threads.withdraw()
            try:
                await self._outlast(self._threads)
                break
            except asyncio.CancelledError as error:
                cancelled = error
        trouble: Exception | None = None
        try:
            await run_hook(self._close)
        except Exception as error:
            trouble = error
        first = join_errors(self.take_interruption() or cancelled, trouble)
        if first is not None:
            raise first

    async def _outlast(self, pool: ThreadPool) -> None:
        bell = Bell()
        pool.on_over = partial(running_loop().call_from_thread, bell.ring)
        while pool.present:
            until = max((each.due for each in list(pool.present)), default=0) + _SCARCELY
            if until <= self._clock():
                break
            with anyio.CancelScope(deadline=until):
                await bell.wait()

    def end(self) -> list[Any]:
        """End the threads; return the values of the calls that run on."""
        if self._threads is None:
            return []
        self._threads.close()
        return self._threads.running()


class InThreads(Threaded):
    """Calls the user's function with one value each time, and completes its record from there."""

    begins_later = True
    """Whether a call starts for the limits in its thread, not when the pool makes it."""

    def async_invoke(self, value: Any, result: PoolResultFuture) -> Call:
        """Let a thread call the function; return the call, which runs on after its deadline."""
        return self.ask(value, result)
