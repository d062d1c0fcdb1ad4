"""A plain function of several values that runs in threads, in coroutine form."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

import anyio

from asyncwait.backends.threads._crew import Told
from asyncwait.backends.threads._function import Threaded
from asyncwait.spec.limits import Cost
from asyncwait.toolkit import Bell, is_collection, reraise_fatal, running_loop


class _Answer:
    """What a thread is to give; the loop is told when it is there."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.is_there = False
        self._door = running_loop().call_from_thread
        self._take: Callable[[], Any] = lambda: None
        self._at_end: list[Callable[[], object]] = []

    def when_ended(self, function: Callable[[], object]) -> None:
        """Have a function called once the call has ended, in its thread or at once."""
        self._at_end.append(function)
        if self.is_there:
            self._end()

    def _end(self) -> None:
        try:
            function = self._at_end.pop()  # one step: only one thread gets the function
        except IndexError:
            return
        function()

    def run(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call the function; the pool holds the permit of the batch."""
        return function(value)

    def complete(self, returned: Any) -> None:
        """Give what the call has returned; from any thread, like the others."""
        self._come(lambda: returned)

    def complete_exceptionally(self, error: BaseException) -> None:
        """Give an error that the call has raised."""
        self._come(lambda: _raise(error))

    def interrupt(self, take: Callable[[], BaseException | None]) -> None:
        """Give an error for the whole program, unless somebody has raised that already."""
        self._come(lambda: _raise(take() or RuntimeError("the program is interrupted")))

    def _come(self, take: Callable[[], Any]) -> None:
        self._take = take
        self.is_there = True
        self._end()
        with suppress(RuntimeError):  # The loop is gone.
            self._door(self.bell.ring)

    def take(self) -> Any:
        """Return what the call has returned, or raise what it has raised."""
        take, self._take = self._take, lambda: None
        return take()


def _raise(error: BaseException) -> Any:
    try:
        raise error
    finally:
        del error


class BatchesInThreads(Threaded):
    """Calls the user's function with several values in a thread each time.

    The operator awaits that. One that it cancels runs on: it has not ended until its thread has, so
    that it counts as abandoned; only when the operator is left, nobody waits for it here.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._left: set[_Answer] = set()
        """What is waited for still that was cancelled."""
        self._is_left = False

    async def __call__(self, values: list[Any]) -> Any:
        """Have a thread call the function, and wait for what that comes to."""
        answer: Any = _Answer()
        call = self.ask(values, answer)
        try:
            while not answer.is_there:
                await answer.bell.wait()
        except anyio.get_cancelled_exc_class() as cancelled:
            call.cancel()
            marked: Any = cancelled
            if self._is_left and self.withdraw_one(call):
                marked.is_unmade = True  # for the pool, which has counted it
                raise
            await self._outlast_thread(answer)
            marked.when_ended = answer.when_ended  # for the gate: the permit is held as long
            raise
        return answer.take()

    call = __call__
    """Called so for plain values, with one result for each."""

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
        """Wait here for no call any more that was cancelled: the operator is left."""
        self._is_left = True
        for answer in self._left:
            answer.bell.ring()

    def _run(self, value: Any, result: Any) -> Told:
        """Call the function with a list of its own, which it may change."""
        return super()._run([*value], result)

    def read(self, returned: Any) -> Any:
        """Read what there is for each value; what can't be read fails its value alone."""
        if isinstance(returned, Cost):  # The pool takes it off.
            return Cost(self.read(returned.result), returned.used)
        if isinstance(returned, Mapping):
            return {value: self._read_one(returned[value]) for value in returned}
        if isinstance(returned, AbstractSet) or not is_collection(returned):  # no answers
            return returned
        return [*map(self._read_one, returned)]

    def _read_one(self, answer: Any) -> Any:
        if isinstance(answer, BaseException):
            return answer
        try:
            return self.read_results(answer)
        except BaseException as error:
            reraise_fatal(error)
            return error
