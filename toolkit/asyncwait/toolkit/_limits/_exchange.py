"""Turns of several operators that keep to the same limits together, wherever they run."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Protocol, TypeAlias

from msgspec import Struct

from asyncwait.spec.texts import one_line
from asyncwait.toolkit._limits._meters import Turn
from asyncwait.toolkit._limits._vocabulary import BudgetSpent, LedgerLost

_AGAIN = 0.005
"""Seconds until a ledger is asked again that waits for the end of others' calls; twice as many with
each time it has said no."""

_SELDOM = 0.1
"""The most of them."""

_AT_LAST = 0.25
"""Seconds after which it is asked again at the latest: costs may turn out less than was thought."""

_FAREWELL = 1.0
"""Seconds for the last that is told."""

_LONGEST = 1_000
"""Characters of what a ledger says."""

_IDLE = 0.05
"""Seconds after which a turn is given back whose call has not begun, for want of room mostly."""

_LOST = 0.1
"""Seconds until a ledger is asked again that could not be reached."""

_ALIVE = 5.0
"""Seconds after which a ledger hears, at the latest, of the calls that run."""


class Told(Struct, array_like=True):
    """What a ledger hears of the calls of one operator.

    Args:
        ended: of calls their number, whether they had begun, and their costs as they tell them, by
            limit; empty if they don't.
        begun: numbers of calls.
        open: of all calls that have their turns and have not ended, their number, whether they have
            begun, and their costs; None if it need not hear of them.
        asked: who waits for a turn, in that order: number, and costs by limit.
    """

    ended: list[tuple[int, bool, list[float | None]]]
    begun: list[int]
    open: list[tuple[int, bool, list[float]]] | None
    asked: list[tuple[int, list[float]]]


class Reply(Struct, array_like=True):
    """What a ledger says.

    Args:
        granted: how many of those who wait have their turns: the first.
        wait: seconds after which the next may have its own; negative if that depends on others.
        spent: why the next will never have one; empty if it may.
    """

    granted: int
    wait: float = 0
    spent: str = ""


class Ledger(Protocol):
    """Where the calls of several operators are counted."""

    def exchange(self, told: Told, /) -> Reply:
        """Hear of calls, and answer; may block.

        Raises:
            OSError: it can't be reached; nothing begins meanwhile.
        """
        ...

    def close(self) -> None:
        """Say that no call runs any more; what has reached the service counts on."""
        ...


Answered: TypeAlias = Callable[[BaseException | None], None]
"""Called in the thread of the exchange: with None when the turn is there."""


class Exchange:
    """Talks to a ledger in a thread of its own, for one operator.

    Args:
        ledger: of that operator alone.
        patience: seconds for which it may be out of reach before who waits is told.
        at_first: the same before it has ever answered.
    """

    def __init__(self, ledger: Ledger, patience: float = 60, at_first: float = 10) -> None:
        self._ledger, self._later, self._patience = ledger, patience, at_first
        self._news = threading.Condition()
        self._numbers = 0
        self._waiting: deque[tuple[Turn, Answered]] = deque()
        self._open: dict[int, Turn] = {}
        self._idle: dict[int, float] = {}
        """When those are given back whose calls have not begun."""
        self.on_idle: Callable[[Turn], object] = lambda _: None
        """Called in the thread with one of those, to give it back."""
        self._begun: list[int] = []
        self._ended: list[tuple[int, bool, list[float | None]]] = []
        self._is_closed = self._has_news = False
        self._thread: threading.Thread | None = None
        listen = getattr(ledger, "listen", None)
        if listen is not None:
            listen(self.wake)

    def wake(self) -> None:
        """Ask again: others may have left room."""
        if self._waiting:
            with self._news:
                self._tell()

    def ask(self, turn: Turn, answered: Answered) -> None:
        """Wait for the turn of a call, behind those who wait."""
        with self._news:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._live, name="asyncwait-limits", daemon=True
                )
                self._thread.start()
            self._numbers += 1
            turn.number = self._numbers
            self._waiting.append((turn, answered))
            self._tell()

    def begin(self, turn: Turn) -> None:
        """Note that a call begins."""
        with self._news:
            self._begun.append(turn.number)
            self._idle.pop(turn.number, None)
            self._tell()

    def end(self, turn: Turn) -> None:
        """Note that it has ended, or does not begin; or that nobody waits for its turn any more."""
        with self._news:
            self._idle.pop(turn.number, None)
            if self._open.pop(turn.number, None) is not None:
                self._ended.append((turn.number, turn.began < inf, [*turn.told]))
                self._tell()
                return
            with suppress(StopIteration):
                self._waiting.remove(next(each for each in self._waiting if each[0] is turn))

    def close(self) -> None:
        """Tell the rest, and end the thread; wait a second at most for a ledger that is silent."""
        with self._news:
            for turn in [each for each in self._open.values() if each.began == inf]:
                self._ended.append((turn.number, False, []))  # Its call will not begin.
                del self._open[turn.number]
            self._is_closed = True
            self._tell()
        if self._thread is None:
            self._ledger.close()
        else:
            self._thread.join(_FAREWELL)

    def _tell(self) -> None:
        self._has_news = True
        self._news.notify()

    def _live(self) -> None:
        try:
            self._run()
        finally:
            self._ledger.close()

    def _run(self) -> None:
        wait, again = inf, _AGAIN
        lost_since, heard = inf, monotonic()
        while True:
            idle = self._give_idle_back()
            with self._news:
                wait = min(wait, idle, _ALIVE)
                self._news.wait_for(lambda: self._has_news or self._is_closed, wait)
                is_alive = monotonic() - heard >= _ALIVE or lost_since < inf
                told, asked = self._told(is_alive=is_alive)
                if self._is_closed and not told.ended:
                    return
            try:
                reply = self._ledger.exchange(told)
            except Exception as error:
                lost_since = min(lost_since, monotonic())
                lost_for = monotonic() - lost_since
                self._put_back(told)
                if lost_for >= self._patience or not isinstance(error, OSError):
                    self._give_up(error, lost_for)
                if self._is_closed:
                    return
                wait = _LOST
                continue
            if is_alive:
                heard = monotonic()
            lost_since, self._patience = inf, self._later
            self._heard(reply, asked)
            again = _AGAIN if reply.granted else min(2 * again, _SELDOM)
            wait = inf
            if self._waiting:
                wait = again if reply.wait < 0 else min(reply.wait, _AT_LAST)

    def _give_idle_back(self) -> float:
        """Give turns back that nobody begins to use; return seconds until there may be others."""
        with self._news:
            now = monotonic()
            found = [number for number, at in self._idle.items() if at <= now]
            for number in found:
                self._idle[number] = now + _IDLE  # if it can't be given back yet
            turns = [self._open[number] for number in found]
        for turn in turns:
            self.on_idle(turn)
        with self._news:
            return min(self._idle.values(), default=inf) - now

    def _told(self, *, is_alive: bool) -> tuple[Told, list[tuple[Turn, Answered]]]:
        asked = [*self._waiting]
        told = Told(self._ended, self._begun, None, [(t.number, t.amounts) for t, _ in asked])
        if is_alive:
            told.open = [(n, t.began < inf, t.amounts) for n, t in self._open.items()]
        self._ended, self._begun, self._has_news = [], [], False
        return told, asked

    def _put_back(self, told: Told) -> None:
        with self._news:
            self._ended, self._begun = told.ended + self._ended, told.begun + self._begun

    def _heard(self, reply: Reply, asked: Sequence[tuple[Turn, Answered]]) -> None:
        """Hand turns out; give those back for which nobody waits any more."""
        with self._news:
            answers = asked[: reply.granted]
            for turn, _ in answers:
                if any(turn is each for each, _ in self._waiting):
                    self._open[turn.number] = turn
                    self._idle[turn.number] = monotonic() + _IDLE
                else:
                    self._ended.append((turn.number, False, []))
                    self._has_news = True
            granted = [each for each in answers if each[0].number in self._open]
            for each in granted:
                self._waiting.remove(each)
            spent = [*self._waiting] if reply.spent else []
            if spent:
                self._waiting.clear()
        for _, answered in granted:
            answered(None)
        for _, answered in spent:
            answered(BudgetSpent(reply.spent))

    def _give_up(self, error: Exception, seconds: float) -> None:
        with self._news:
            waiting = [*self._waiting]
            self._waiting.clear()
        for _, answered in waiting:
            how = (
                f"has not answered for {seconds:.0f} s" if isinstance(error, OSError) else "refuses"
            )
            lost = LedgerLost(
                f"{self._ledger} keeps the limits, and {how}, so nothing is called: "
                f"{one_line(error, _LONGEST)}"
            )
            lost.__cause__ = error
            answered(lost)
