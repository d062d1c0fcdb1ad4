"""Permits from a ledger that counts the calls of several operators, in any process."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf, isfinite
from time import monotonic
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.limits import AnyLimit, BudgetSpent, LedgerLost, PermitTimedOut, require_limits
from asyncwait.spec.texts import one_line
from asyncwait.toolkit._limits._lines import LOCK, Answers, Asker, Permit, Stop, arrive

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
                with self._news:
                    self._ended, self._begun = told.ended + self._ended, told.begun + self._begun
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


class Limits:
    """A list of limits as one object.

    Operators of this process share each limit object, with or without this class. Its ledger serves
    operators of other processes.

    Args:
        limits: the limits.

    Raises:
        InvalidConfig: `limits` is not a list of limits.
    """

    def __init__(self, limits: Sequence[AnyLimit]) -> None:
        self.limits = require_limits(limits)

    def ledger(self) -> "ProcessLedger":
        """Return the ledger for one more operator."""
        return ProcessLedger(self.limits)


def _later(_: Permit, __: AsyncWaitError | None) -> None:
    """Do nothing: the client receives its permits with the next reply."""


class ProcessLedger(Asker):
    """The calls of one operator of another process, counted in this process; see `Ledger`.

    Its methods are called in one thread at a time.
    """

    def __init__(self, limits: Sequence[AnyLimit]) -> None:
        super().__init__(limits, 1, monotonic)
        self._permits: dict[int, Permit] = {}
        self._due = inf
        self._spent: dict[int, str] = {}
        self.on_room: Callable[[], object] = int

    def __str__(self) -> str:
        return "this process"

    def listen(self, on_room: Callable[[], object]) -> None:
        """Set a function to call, in any thread, when a request may have an answer."""
        self.on_room = on_room

    def exchange(self, told: Told) -> Reply:
        """Take a report of calls, and answer the requests."""
        self._due = inf
        permits = self._permits
        for number, has_begun, amounts in told.open or ():
            if number not in permits:  # a call with a permit of a former ledger
                self._take_over(number, amounts, has_begun=has_begun)
        for number in told.begun:
            if number in permits:
                self._hand_out(self.begin(permits[number], self.clock()))
        for number, _, costs in told.ended:
            if (ended := permits.pop(number, None)) is not None:
                ended.told = costs
                self._hand_out(self.withdraw(ended) if ended.is_waiting else self.end(ended))
        asked = {number for number, *_ in told.asked}
        for number in [n for n, each in permits.items() if each.is_waiting and n not in asked]:
            self._hand_out(self.withdraw(permits.pop(number)))
        for number, amounts, keys, is_retry in told.asked:
            if number not in permits and number not in self._spent:
                self._request(number, amounts, keys, is_retry=is_retry)
        return self._reply(told)

    def _take_over(self, number: int, amounts: list[float], *, has_begun: bool) -> None:
        """Count a call that runs already, with or without room for it."""
        permit = Permit(self.line(None), amounts, _later, (True, arrive()))
        permit.is_waiting = False
        with LOCK, self.files():
            permit.line.take(permit, self.clock())
        self._permits[number] = permit
        if has_begun:
            self._hand_out(self.begin(permit, self.clock()))

    def _request(self, number: int, amounts: list[float], keys: Any, *, is_retry: bool) -> None:
        line = self.line(tuple(keys) if keys else None)
        permit = Permit(line, amounts, _later, (not is_retry, arrive()))
        permit.number = number
        self._permits[number] = permit
        self._hand_out(self.enter(permit))

    def _hand_out(self, answers: Answers) -> None:
        for permit, error in answers:
            permit.line.asker.post(permit, error)

    def post(self, permit: Permit, error: AsyncWaitError | None) -> None:
        """Note an answer, in any thread."""
        if error is not None:
            self._spent[permit.number] = f"{type(error).__name__}: {error}"
            if isinstance(error, BudgetSpent):
                self._spent[permit.number] = str(error)
            self._permits.pop(permit.number, None)
        self.on_room()

    def wake_at(self, stop: Stop, when: float) -> None:
        del stop
        self._due = min(self._due, when)

    def _reply(self, told: Told) -> Reply:
        waits = any(n in self._permits and self._permits[n].is_waiting for n, *_ in told.asked)
        if self._due <= self.clock() or (waits and self._due == inf):
            for line in [*self.lines.values()]:
                if line.stop is not None:
                    self._hand_out(self.look(line.stop, self.clock()))
        granted = [
            n for n, *_ in told.asked if n in self._permits and not self._permits[n].is_waiting
        ]
        wait = self._due - self.clock() if isfinite(self._due) else -1.0
        spent = {n: self._spent.pop(n) for n, *_ in told.asked if n in self._spent}
        return Reply(granted, wait, spent)

    def close(self) -> None:
        """End all calls and withdraw all requests."""
        for permit in self._permits.values():
            self._hand_out(self.withdraw(permit) if permit.is_waiting else self.end(permit))
        self._permits.clear()
