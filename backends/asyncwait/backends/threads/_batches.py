"""Batched calls in threads: a plain function of a list of values, in coroutine form."""

from collections.abc import Callable
from typing import Any

import anyio

from asyncwait.backends.threads._function import Threaded
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import Bell, answers_of, reraise_fatal, running_loop


class _Answer:
    """Outcome of a call in a thread; wakes the loop when the call has ended."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.is_there = False
        self._door = running_loop().call_from_thread
        self._take: Callable[[], Any] = lambda: None
        self._at_end: list[Callable[[], object]] = []

    def when_ended(self, function: Callable[[], object]) -> None:
        """Call a function once the call has ended, in its thread or at once."""
        self._at_end.append(function)
        if self.is_there:
            self._end()

    def _end(self) -> None:
        try:
            function = self._at_end.pop()  # one step: only one thread gets the function
        except IndexError:
            return
        function()

    def run(self, function: Callable[[Any], Any], values: Any) -> Any:
        """Call the function with a list that it may change; the pool holds the permit."""
        return function([*values])

    def complete(self, returned: Any) -> None:
        """Store the return value of the call, from any thread."""
        self._come(lambda: returned)

    def complete_exceptionally(self, error: BaseException) -> None:
        self._come(lambda: _raise(error))

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Store an error for the whole program, unless another call has raised it already."""
        self._come(lambda: _raise(take() or RuntimeError("the program is interrupted")))

    def _come(self, take: Callable[[], Any]) -> None:
        self._take = take
        self.is_there = True
        self._end()
        self._door(self.bell.ring)

    def take(self) -> Any:
        """Return the return value of the call, or raise its error."""
        take, self._take = self._take, lambda: None
        return take()


def _raise(error: BaseException) -> Any:
    try:
        raise error
    finally:
        del error


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
            while not answer.is_there:
                await answer.bell.wait()
        except anyio.get_cancelled_exc_class() as cancelled:
            call.cancel()
            if not (self._is_left and self.withdraw_one(call)):
                await self._outlast_thread(answer)
                marked: Any = cancelled
                marked.when_ended = answer.when_ended  # for the gate: the permit is held as long
            raise
        return answer.take()

    call = __call__
    """The pool calls this for plain values with one result each."""

    async def _outlast_thread(self, answer: _Answer) -> None:
        self._left.add(answer)
        with anyio.CancelScope(shield=True):
            while not (answer.is_there or self._is_left):
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
