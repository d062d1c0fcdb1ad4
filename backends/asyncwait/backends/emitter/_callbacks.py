"""The callback form: answers arrive from any thread, and are looked at on the loop."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from asyncwait.backends.emitter._calls import Attempt, Calls
from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._signal import Signal
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import reraise_fatal

Answer: TypeAlias = Callable[[float], object]
"""Tells what a call came to, if it is called with the time of that."""


class AttemptFuture:
    """Where a function in callback form puts the outcome of a call; the first one counts."""

    def __init__(self, attempt: Attempt, post: Callable[[Answer], object]) -> None:
        self._attempt = attempt
        self._post = post

    def complete(self, results: Iterable[Any]) -> None:
        """Complete the call with `results`."""
        self.complete_with(lambda: results)

    def complete_with(self, supplier: Callable[[], Iterable[Any]]) -> None:
        """Complete the call with what `supplier` gives; it is called on the operator's loop."""
        self._post(lambda at: self._attempt.answer(supplier, at))

    def complete_exceptionally(self, error: BaseException) -> None:
        """Complete the call with `error`."""
        self._post(lambda at: self._attempt.fail(error, at))


class Letters:
    """Answers on their way from any thread to the loop."""

    def __init__(self, loop: Loop, life: Life) -> None:
        self._loop = loop
        self._life = life
        self._posted: deque[tuple[Answer, float]] = deque()
        self._arrived = Signal()
        life.when_over(self._posted.clear)

    def post(self, answer: Answer) -> None:
        """Send an answer, from any thread; it is as old as this."""
        if not self._life.is_over:
            self._posted.append((answer, self._loop.time()))
            self._loop.call_from_thread(self._arrived.give)

    def deliver(self) -> None:
        """Hand over what was sent, in its order."""
        while self._posted:
            answer, at = self._posted.popleft()
            answer(at)

    async def run(self) -> None:
        """Hand over whatever arrives."""
        while not self._life.is_over:
            self.deliver()
            await self._arrived.wait()


class CallbackCalls(Calls):
    """Calls functions in callback form. Such a call can't be cancelled."""

    def __init__(self, *wires: Any, letters: Letters, life: Life) -> None:
        super().__init__(*wires, life=life)
        self._letters = letters
        self._timers.before = letters.deliver

    async def call(self, attempt: Attempt) -> None:
        """Start the call of a record; what it raises fails, completed or not (FAIL-1)."""
        until = self._timers.now() + self._timers.limit
        try:
            self._function(attempt.value, AttemptFuture(attempt, self._letters.post))
        except BaseException as error:
            reraise_fatal(error)
            at = self._timers.now()
            self._letters.deliver()  # what came before goes first
            attempt.fail(error, at, besides=at <= until)
