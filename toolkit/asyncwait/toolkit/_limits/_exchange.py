"""Permits from a ledger that counts the calls of several operators, in any process."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.limits import BudgetSpent, LedgerLost, PermitTimedOut
from asyncwait.spec.texts import one_line
from asyncwait.toolkit._limits._lines import Permit

_AGAIN = 0.005
"""Seconds until the next request to a ledger whose answer depends on calls of other operators;
each further answer without a permit doubles them."""

_SELDOM = 0.1
"""Upper bound of these seconds."""

_AT_LAST = 0.25
"""Longest time between two requests: costs may turn out lower than their estimates."""

_FAREWELL = 1.0
"""Seconds for the last report."""

_LONGEST = 1_000
"""Longest part of an error of a ledger in our messages, in characters."""

_LOST = 0.1
"""Seconds until the next request to an unreachable ledger."""

_ALIVE = 5.0
"""Longest time between two reports of the running calls."""


class Told(Struct, array_like=True):
    """A report of the calls of one operator to a ledger.

    Args:
        ended: calls that ended: number, whether the call had started, and its reported costs, for
            each limit; empty without a report.
        begun: numbers of calls that started.
        open: all calls that have permits and have not ended: number, whether the call has started,
            and its costs; None in most reports.
        asked: calls that wait, in their order: number, costs for each limit, keys for each limit
            (None without keys), and whether the call precedes first calls.
    """

    ended: list[tuple[int, bool, list[float | None]]]
    begun: list[int]
    open: list[tuple[int, bool, list[float]]] | None
    asked: list[tuple[int, list[float], list[str] | None, bool]]


class Reply(Struct, array_like=True):
    """The answer of a ledger.

    Args:
        granted: numbers of the calls that have permits now.
        wait: seconds until the next request; negative if the answer depends on calls of other
            operators.
        refused: reason why a call never gets a permit, by its number.
    """

    granted: list[int]
    wait: float = 0
    refused: dict[int, str] = {}


class Ledger(Protocol):
    """Counts the calls of several operators."""

    def exchange(self, told: Told, /) -> Reply:
        """Take a report of calls, and answer the requests; may block.

        Raises:
            OSError: the ledger is unreachable; no call starts meanwhile.
        """
        ...

    def close(self) -> None:
        """Note that no call runs any more; calls that reached the service still count."""
        ...


Answered: TypeAlias = Callable[[Permit, AsyncWaitError | None], None]
"""Called in the thread of the exchange, with None when the permit is granted."""


class Exchange:
    """Thread that exchanges reports and permits with a ledger, for one operator.

    Args:
        ledger: the ledger, for this operator alone.
        patience: seconds for which the ledger may be unreachable before waiting calls fail.
        at_first: the same before its first answer.
    """

    def __init__(self, ledger: Ledger, patience: float = 60, at_first: float = 10) -> None:
        self._ledger, self._later, self._patience = ledger, patience, at_first
        self._news = threading.Condition()
        self._numbers = 0
        self._waiting: deque[tuple[Permit, Answered]] = deque()
        self._open: dict[int, Permit] = {}
        self._begun: list[int] = []
        self._ended: list[tuple[int, bool, list[float | None]]] = []
        self._is_closed = self._has_news = False
        self._thread: threading.Thread | None = None
        listen = getattr(ledger, "listen", None)
        if listen is not None:
            listen(self.wake)

    def wake(self) -> None:
        """Send the next request at once: other operators may have left room."""
        if self._waiting:
            with self._news:
                self._tell()

    def ask(self, permit: Permit, answered: Answered) -> None:
        """Request a permit, behind the requests that wait."""
        with self._news:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._live, name="asyncwait-limits", daemon=True
                )
                self._thread.start()
            self._numbers += 1
            permit.number = self._numbers
            self._waiting.append((permit, answered))
            self._tell()

    def begin(self, permit: Permit) -> None:
        """Note that a call starts."""
        with self._news:
            self._begun.append(permit.number)
            self._tell()

    def end(self, permit: Permit) -> None:
        """Note that a call has ended or does not start, or take a request back."""
        with self._news:
            if self._open.pop(permit.number, None) is not None:
                self._ended.append((permit.number, permit.began < inf, [*permit.told]))
                self._tell()
                return
            with suppress(StopIteration):
                self._waiting.remove(next(each for each in self._waiting if each[0] is permit))

    def close(self) -> None:
        """Report the rest, and end the thread; wait a second at most for a silent ledger."""
        with self._news:
            for permit in [each for each in self._open.values() if each.began == inf]:
                self._ended.append((permit.number, False, []))  # Its call does not start.
                del self._open[permit.number]
            self._waiting.clear()  # A permit that is on its way goes back at once.
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
            with self._news:
                timeout = min(wait, _ALIVE)
                self._news.wait_for(lambda: self._has_news or self._is_closed, timeout)
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

    def _told(self, *, is_alive: bool) -> tuple[Told, list[tuple[Permit, Answered]]]:
        asked = sorted(self._waiting, key=lambda each: each[0].order)
        requests = [
            (each.number, [*each.amounts], _as_texts(each.line.keys), not each.order[0])
            for each, _ in asked
        ]
        told = Told(self._ended, self._begun, None, requests)
        if is_alive:
            told.open = [(n, t.began < inf, [*t.amounts]) for n, t in self._open.items()]
        self._ended, self._begun, self._has_news = [], [], False
        return told, asked

    def _put_back(self, told: Told) -> None:
        with self._news:
            self._ended, self._begun = told.ended + self._ended, told.begun + self._begun

    def _heard(self, reply: Reply, asked: Sequence[tuple[Permit, Answered]]) -> None:
        """Deliver permits, and return permits for which no call waits any more."""
        granted, refused = [], []
        answers = {*reply.granted}
        with self._news:
            waiting = {each.number for each, _ in self._waiting}
            for permit, answered in asked:
                if permit.number in reply.refused and permit.number in waiting:
                    refused.append((permit, answered))
                elif permit.number not in answers:
                    continue
                elif permit.number in waiting:
                    self._open[permit.number] = permit
                    granted.append((permit, answered))
                else:
                    self._ended.append((permit.number, False, []))
                    self._has_news = True
            for each in (*granted, *refused):
                self._waiting.remove(each)
        for permit, answered in granted:
            answered(permit, None)
        for permit, answered in refused:
            kind, _, reason = reply.refused[permit.number].partition("PermitTimedOut: ")
            answered(permit, PermitTimedOut(reason) if reason else BudgetSpent(kind))

    def _give_up(self, error: Exception, seconds: float) -> None:
        with self._news:
            waiting = [*self._waiting]
            self._waiting.clear()
        for permit, answered in waiting:
            how = (
                f"has not answered for {seconds:.0f} s" if isinstance(error, OSError) else "refuses"
            )
            lost = LedgerLost(
                f"{self._ledger} keeps the limits, and {how}, so nothing is called: "
                f"{one_line(error, _LONGEST)}"
            )
            lost.__cause__ = error
            answered(permit, lost)


def _as_texts(keys: Any) -> list[str] | None:
    return None if keys is None else ["" if key is None else repr(key) for key in keys]
