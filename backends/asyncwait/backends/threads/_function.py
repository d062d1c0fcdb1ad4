"""A plain function that runs in threads: in callback form for a value, awaited for a batch."""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import anyio

from asyncwait.backends.pool import PoolResultFuture
from asyncwait.backends.threads._thread_pool import Call, ThreadPool, Told
from asyncwait.spec import OperatorConfig
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import (
    Bell,
    FunctionParts,
    answers_of,
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


class _Answer(Future[Any]):
    """Outcome of a call in a thread; wakes the loop when the call has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.bell = Bell()
        self._door = running_loop().call_from_thread

    def run(self, function: Callable[[Any], Any], values: Any) -> Any:
        """Call the function with a list that it may change; the pool holds the permit."""
        return function([*values])

    def complete(self, returned: Any) -> None:
        self.set_result(returned)
        self._door(self.bell.ring)

    def complete_exceptionally(self, error: BaseException) -> None:
        self.set_exception(error)
        self._door(self.bell.ring)

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Store an error for the whole program, unless another call has raised it already."""
        self.complete_exceptionally(take() or RuntimeError("the program is interrupted"))

    def when_ended(self, function: Callable[[], object]) -> None:
        """Call a function once the call has ended, in its thread or at once."""
        self.add_done_callback(lambda _: function())


class BatchesInThreads(Threaded):
    """Calls the user's function with a list of values in a thread each time.

    The operator awaits the call. A cancelled call runs on and counts as abandoned until its thread
    has ended; when the operator is left, `__call__` does not wait for the thread.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._left: set[_Answer] = set()
        """Cancelled calls whose threads run on."""
        self._is_left = False

    async def __call__(self, values: list[Any]) -> Any:
        """Let a thread call the function, and wait for its outcome."""
        answer: Any = _Answer()
        call = self.ask(values, answer)
        try:
            while not answer.done():
                await answer.bell.wait()
        except anyio.get_cancelled_exc_class() as cancelled:
            call.cancel()
            if not (self._is_left and self.withdraw_one(call)):
                await self._outlast_thread(answer)
                marked: Any = cancelled
                marked.when_ended = answer.when_ended  # for the gate: the permit is held as long
            raise
        error = answer.exception()
        try:
            if error is not None:
                raise error  # `result` takes a false exception for none
            return answer.result()
        finally:
            del answer, error  # A traceback would keep them alive.

    call = __call__
    """The pool calls this for plain values with one result each."""

    async def _outlast_thread(self, answer: _Answer) -> None:
        self._left.add(answer)
        with anyio.CancelScope(shield=True):
            while not (answer.done() or self._is_left):
                await answer.bell.wait()
        self._left.discard(answer)
        interruption = self.take_interruption()
        if interruption is not None:
            raise interruption

    def leave(self) -> None:
        """Stop waiting for cancelled calls, because the operator closes."""
        self._is_left = True
        for answer in self._left:
            answer.bell.ring()

    def read(self, value: Any, returned: Any) -> Any:
        """Read the answer for each of the values; an unreadable answer fails its value alone."""
        if isinstance(returned, Cost):  # The pool removes the cost.
            return Cost(self.read(value, returned.result), returned.used)
        return [*map(self._read_one, answers_of(value, returned, single=self.single))]

    def _read_one(self, answer: Any) -> Any:
        if isinstance(answer, BaseException):
            return answer
        try:
            return self.read_results(answer)
        except BaseException as error:
            reraise_fatal(error)
            return error
