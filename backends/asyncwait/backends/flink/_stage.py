"""Threads that take turns with each other and with the event loop: only one of them runs at a time.

A thread runs until it waits; then the next thread with work runs, in the order in which the
threads were started. While all threads wait, the loop runs. So the order of all events is fixed,
and the loop's clock may be virtual.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any

from asyncwait.reference import TimerService
from asyncwait.toolkit import reraise_fatal


class Ended(BaseException):
    """The operator closes, and its threads must end."""


def always() -> bool:
    return True


class Actor:
    """A thread, and the condition for which it waits.

    Attributes:
        poll: time at which its wait began, and seconds after which it looks again; None for never.
    """

    def __init__(
        self, work: Callable[[], object], context: Context, ended: Callable[[], object]
    ) -> None:
        self._work, self._context, self._ended = work, context, ended
        self.turn = threading.Semaphore(0)
        self.goes_on: Callable[[], bool] = always
        """Whether the condition holds for which the thread waits."""
        self.poll: tuple[float, float] | None = None
        self.began = 0
        """The turn in which its wait began."""
        self.alarm: Alarm | None = None
        self.is_over = False
        self._thread = threading.Thread(target=self._live, name="asyncwait-flink", daemon=True)

    @property
    def has_begun(self) -> bool:
        """Whether the thread has had a turn."""
        return self._thread.ident is not None

    def end_wait(self) -> None:
        """End the thread's wait, or start the thread; called on the loop."""
        self.goes_on, self.poll = always, None
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None
        if not self.has_begun:
            self._thread.start()

    def _live(self) -> None:
        self.turn.acquire()
        # Python reports an error that ends a thread only on standard error, too.
        with suppress(BaseException):
            self._context.run(self._work)
        self.is_over = True
        del self._work, self._context
        self._ended()


class Alarm:
    """A call at a given time, unless it is cancelled; used on the loop."""

    def __init__(self, when: float, ring: Callable[[], object]) -> None:
        self._when, self._ring = when, ring
        self._is_cancelled = False
        self._drop: Callable[[], object] = lambda: None

    def set(self, timers: TimerService) -> None:
        """Set the alarm."""
        if not self._is_cancelled:
            self._drop = partial(timers.cancel, timers.register(self._when, self._ring))

    def cancel(self) -> None:
        """Cancel the alarm."""
        self._is_cancelled = True
        self._drop()


class _Here(threading.local):
    stage: "Stage"


_here = _Here()


def here() -> "Stage":
    """Return the stage of the calling thread."""
    return _here.stage


class Stage:
    """Lets threads take turns.

    Args:
        now: returns the time of the loop.
        timers: of the loop, on which they are used.
        look: makes the loop call `run` soon.
    """

    def __init__(
        self, now: Callable[[], float], timers: TimerService, look: Callable[[], object]
    ) -> None:
        self.now, self._timers, self._look = now, timers, look
        self._loops = threading.Semaphore(0)
        self.is_over = False
        self._actors: list[Actor] = []
        self._errands: deque[Callable[[], object]] = deque()
        self._current: Actor | None = None
        self._turns = 0
        self._question: Callable[[], Any] | None = None
        self._answer: tuple[Any, BaseException | None] = (None, None)

    def start(self, work: Callable[[], object], context: Context | None = None) -> Actor:
        """Start a thread, which begins at its turn, in an empty context unless `context` is set."""

        def begin() -> None:
            _here.stage = self
            if not self.is_over:
                work()

        actor = Actor(begin, Context() if context is None else context, self._loops.release)
        self._actors.append(actor)
        return actor

    # On the loop

    def run(self) -> bool:
        """Let threads run until all of them wait; return whether a thread ran.

        Raises:
            BaseException: an error for the whole program, raised by a question of a thread.
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
        """End all threads, wherever they wait."""
        self.is_over = True
        while self._actors:
            self._let(self._actors[0])

    def _next(self) -> Actor | None:
        """Return the next thread to run: new threads go first.

        New threads are mostly timers that were due while the loop was busy; answers that came
        meanwhile are delivered only after them.
        """
        ready = (actor for actor in self._actors if actor.goes_on())
        first = next(ready, None)
        if first is None or not first.has_begun:
            return first
        return next((actor for actor in ready if not actor.has_begun), first)

    def _let(self, actor: Actor) -> BaseException | None:
        """Let a thread run until it waits, and answer its questions; see `run`."""
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
                interruption = interruption or _for_the_program(error)
                self.is_over = self.is_over or interruption is not None
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
        """Set alarms for threads that poll.

        While no other thread runs, a polling thread would find nothing new, so it need not look.
        """
        now = self.now()
        for actor in self._actors:
            if actor.poll is None or actor.alarm is not None or actor.began == self._turns:
                continue
            since, seconds = actor.poll
            when = since + ((now - since) // seconds + 1) * seconds
            actor.alarm = Alarm(when, partial(self._wake, actor))
            actor.alarm.set(self._timers)

    def _wake(self, actor: Actor) -> None:
        actor.goes_on = always
        self._look()

    # In a thread

    def wait(self, until: Callable[[], bool], poll: float | None = None) -> bool:
        """Wait for a condition; return whether it holds.

        Args:
            until: returns whether the condition holds.
            poll: seconds after which the thread wakes to look, and waits again.
        """
        self.require_going()
        if until():
            return True
        actor = self._current
        assert actor is not None
        actor.poll = None if poll is None else (self.now(), poll)
        actor.goes_on, actor.began = until, self._turns
        self._give_turn(actor)
        return until()

    def wait_at_most(self, until: Callable[[], bool], seconds: float) -> None:
        """Wait for a condition, at most `seconds`."""
        rings: list[None] = []
        alarm = self.ring(seconds, lambda: rings.append(None))
        self.wait(lambda: bool(rings) or until())
        self.errand(alarm.cancel)

    def ring(self, seconds: float, rung: Callable[[], object]) -> Alarm:
        """Call `rung` on the loop after so many seconds."""

        def ring() -> None:
            rung()
            self._look()

        alarm = Alarm(self.now() + seconds, ring)
        self.errand(partial(alarm.set, self._timers))
        return alarm

    def errand(self, errand: Callable[[], object]) -> None:
        """Let the loop call `errand` as soon as this thread waits."""
        self._errands.append(errand)

    def ask(self, question: Callable[[], Any]) -> Any:
        """Let the loop call `question`; return its result, or raise its error."""
        self.require_going()
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
        self.require_going()

    def require_going(self) -> None:
        """End the thread if all threads must end.

        Raises:
            Ended: they must.
        """
        if self.is_over:
            raise Ended


def _for_the_program(error: BaseException) -> BaseException | None:
    """Return the part of an error that is for the whole program; None for none."""
    try:
        reraise_fatal(error)
    except BaseException as urgent:
        return urgent
    return None
