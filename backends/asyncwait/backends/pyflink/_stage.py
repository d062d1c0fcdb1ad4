"""Threads that take turns with each other and with the event loop: one of them all runs at a time.

A thread runs until it waits for something, and then the next one does that has something to do, in
the order in which they were started. While all wait, the loop runs. So the order of all that
happens is settled, and the loop's clock may be a virtual one.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any, Protocol

from asyncwait.backends.flink._turns import for_the_program


class Ended(BaseException):
    """The operator is being left, and its threads are to come to their ends."""


def always() -> bool:
    """Say that there is nothing to wait for."""
    return True


class Actor:
    """A thread, and what it waits for.

    Attributes:
        poll: since when it waits, and after how many seconds it looks again; None for never.
    """

    def __init__(
        self, work: Callable[[], object], context: Context, ended: Callable[[], object]
    ) -> None:
        self._work, self._context, self._ended = work, context, ended
        self.turn = threading.Semaphore(0)
        self.goes_on: Callable[[], bool] = always
        self.poll: tuple[float, float] | None = None
        self.began = 0
        self.alarm: Alarm | None = None
        self.is_over = False
        self._thread = threading.Thread(target=self._live, name="asyncwait-pyflink", daemon=True)

    @property
    def has_begun(self) -> bool:
        """Whether it has had a turn."""
        return self._thread.ident is not None

    def wait_until(
        self, until: Callable[[], bool], poll: tuple[float, float] | None, turn: int
    ) -> None:
        """Note what it waits for; in the thread."""
        self.goes_on, self.poll, self.began = until, poll, turn

    def ring(self, look: Callable[[], object]) -> Callable[[], object]:
        """Return what lets it look again."""

        def ring() -> None:
            self.goes_on = always
            look()

        return ring

    def end_wait(self) -> None:
        """Note that it goes on, be it for the first time; on the loop."""
        self.goes_on, self.poll = always, None
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None
        if not self.has_begun:
            self._thread.start()

    def _live(self) -> None:
        self.turn.acquire()
        # What ends a thread, nobody is told in Python either, but on standard error.
        with suppress(BaseException):
            self._context.run(self._work)
        self.is_over = True
        del self._work, self._context
        self._ended()


class Clock(Protocol):
    """The time of the loop, and its timers; these are for the loop alone."""

    def time(self) -> float:
        """Return the time in seconds."""
        ...

    def register(self, when: float, callback: Callable[[], object]) -> Callable[[], object]:
        """Call back at a time; return what cancels that."""
        ...


class Alarm:
    """Something that is called at a time, unless it is cancelled."""

    def __init__(self, when: float, ring: Callable[[], object]) -> None:
        self._when, self._ring = when, ring
        self._is_cancelled = False
        self._drop: Callable[[], object] = lambda: None

    def set(self, clock: Clock) -> None:
        """Set it; on the loop."""
        if not self._is_cancelled:
            self._drop = clock.register(self._when, self._ring)

    def cancel(self) -> None:
        """Have it call nobody; on the loop."""
        self._is_cancelled = True
        self._drop()


class _Here(threading.local):
    stage: "Stage"


_here = _Here()


def here() -> "Stage":
    """Return the stage of the thread that asks."""
    return _here.stage


class Stage:
    """Where threads take turns."""

    def __init__(self, clock: Clock, look: Callable[[], object]) -> None:
        self.clock, self._look = clock, look
        self._loops = threading.Semaphore(0)
        self.is_over = False
        self._actors: list[Actor] = []
        self._errands: deque[Callable[[], object]] = deque()
        self._current: Actor | None = None
        self._turns = 0
        self._question: Callable[[], Any] | None = None
        self._answer: tuple[Any, BaseException | None] = (None, None)

    def start(self, work: Callable[[], object], context: Context | None = None) -> Actor:
        """Start a thread; it begins at its turn, in an empty context unless one is given."""

        def begin() -> None:
            _here.stage = self
            if not self.is_over:
                work()

        actor = Actor(begin, Context() if context is None else context, self._loops.release)
        self._actors.append(actor)
        return actor

    # On the loop

    def run(self) -> bool:
        """Let threads run until all of them wait; return whether one did.

        Raises:
            BaseException: what is for the whole program, and was raised by what they have asked.
        """
        has_run = False
        while (actor := self._next()) is not None:
            has_run = True
            if (interruption := self._let(actor)) is not None:
                raise interruption
        if has_run:
            self._set_polls()
        return has_run

    def end(self) -> None:
        """Have all threads come to their ends, wherever they wait."""
        self.is_over = True
        while self._actors:
            self._let(self._actors[0])

    def _next(self) -> Actor | None:
        """Return who is next: threads that begin go first.

        They are timers, mostly, whose time came while the loop was busy; what was answered
        meanwhile is there only now.
        """
        ready = (actor for actor in self._actors if actor.goes_on())
        first = next(ready, None)
        if first is None or not first.has_begun:
            return first
        return next((actor for actor in ready if not actor.has_begun), first)

    def _let(self, actor: Actor) -> BaseException | None:
        """Let a thread run until it waits, and answer what it asks; see `run`."""
        interruption = None
        self._turns += 1
        self._current = actor
        actor.end_wait()
        while True:
            actor.turn.release()
            self._loops.acquire()
            if self._question is None:
                break
            question, self._question = self._question, None
            try:
                self._answer = (question(), None)
            except BaseException as error:
                self._answer = (None, error)
                interruption = interruption or for_the_program(error)
        self._current = None
        if actor.is_over:
            self._actors.remove(actor)
        self._run_errands()
        return interruption

    def _run_errands(self) -> None:
        while self._errands:
            errand = self._errands.popleft()
            if not self.is_over:
                errand()

    def _set_polls(self) -> None:
        """Have those look again in time that wait for no longer than so.

        As long as no other thread runs, one that looked would find all as it was: it need not.
        """
        now = self.clock.time()
        for actor in self._actors:
            if actor.poll is None or actor.alarm is not None or actor.began == self._turns:
                continue
            since, seconds = actor.poll
            actor.alarm = Alarm(
                since + ((now - since) // seconds + 1) * seconds, actor.ring(self._look)
            )
            actor.alarm.set(self.clock)

    # In a thread

    def wait(self, until: Callable[[], bool], poll: float | None = None) -> bool:
        """Wait until something is so; return whether it is.

        Args:
            until: tells.
            poll: seconds after which whoever waits looks what else there may be, and waits again.
        """
        if self.is_over:
            raise Ended
        if until():
            return True
        actor = self._current
        assert actor is not None
        actor.wait_until(until, None if poll is None else (self.clock.time(), poll), self._turns)
        self._give_turn(actor)
        return until()

    def wait_at_most(self, until: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so, for so long at most."""
        rings: list[None] = []
        alarm = self.ring(seconds, lambda: rings.append(None))
        self.wait(lambda: bool(rings) or until())
        self.errand(alarm.cancel)

    def ring(self, seconds: float, rung: Callable[[], object]) -> Alarm:
        """Have something called on the loop after so many seconds."""

        def ring() -> None:
            rung()
            self._look()

        alarm = Alarm(self.clock.time() + seconds, ring)
        self.errand(partial(alarm.set, self.clock))
        return alarm

    def errand(self, errand: Callable[[], object]) -> None:
        """Have the loop call something, as soon as this thread waits."""
        self._errands.append(errand)

    def ask(self, question: Callable[[], Any]) -> Any:
        """Have the loop call `question`; return what it gave, or raise what it raised."""
        if self.is_over:
            raise Ended
        assert self._current is not None
        self._question = question
        self._give_turn(self._current)
        (value, error), self._answer = self._answer, (None, None)
        if error is not None:
            raise error
        return value

    def _give_turn(self, actor: Actor) -> None:
        self._loops.release()
        actor.turn.acquire()
        if self.is_over:
            raise Ended
