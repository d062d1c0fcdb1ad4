"""Limits that several operators keep to together."""

from collections.abc import Callable, Sequence
from math import isfinite
from threading import Lock
from time import monotonic
from typing import Any, Protocol
from weakref import WeakSet

from asyncwait.toolkit._limits._book import Book
from asyncwait.toolkit._limits._exchange import Ledger, Reply, Told
from asyncwait.toolkit._limits._meters import Turn
from asyncwait.toolkit._limits._vocabulary import Adaptive, AnyLimit, BudgetSpent, require_limits


class LimitsTogether(Protocol):
    """What stands in the place of a list of limits where others keep to them, too.

    Attributes:
        limits: what they are.
    """

    limits: Sequence[AnyLimit]

    def ledger(self) -> Ledger:
        """Return where one more operator tells its calls."""
        ...


class Limits:
    """Limits to which several operators of this process keep together, on any loops and threads.

    `limits=` of each is given the same object. `Adaptive` is for each operator by itself.

    Args:
        limits: what they are.
        clock: gives the time, in seconds.

    Raises:
        InvalidConfig: they are none.
    """

    def __init__(self, limits: Sequence[AnyLimit], clock: Callable[[], float] = monotonic) -> None:
        self.limits = require_limits(limits)
        own = [None if isinstance(each, Adaptive) else each for each in self.limits]
        self._book = Book(own, 1, clock)
        self._lock = Lock()
        self._ledgers: WeakSet[_OfBook] = WeakSet()

    def ledger(self) -> Ledger:
        """Return where one more operator tells its calls."""
        with self._lock:
            ledger = _OfBook(self._book, self._lock, self._ledgers)
            self._ledgers.add(ledger)
        return ledger

    def close(self) -> None:
        """Let go of the files of budgets."""
        self._book.close()


class _OfBook:
    """The calls of one operator in the book of several."""

    def __init__(self, book: Book, lock: Lock, all_of_them: "WeakSet[_OfBook]") -> None:
        self._book, self._lock = book, lock
        self._all = all_of_them
        self._turns: dict[int, Turn] = {}
        self.on_room: Callable[[], object] = int

    def __str__(self) -> str:
        return "this process"

    def listen(self, on_room: Callable[[], object]) -> None:
        """Have a function called, in any thread, when others have left room."""
        self.on_room = on_room

    def exchange(self, told: Told) -> Reply:
        """Hear of calls, and answer."""
        with self._lock:
            for number, has_begun, amounts in told.open or ():
                if number not in self._turns:  # of which another ledger knew, that is no more
                    self._turns[number] = turn = self._book.count(amounts)
                    if has_begun:
                        self._book.begin(turn)
            for number in self._turns.keys() & {*told.begun}:
                self._book.begin(self._turns[number])
            for number, _, costs in told.ended:
                if (ended := self._turns.pop(number, None)) is not None:
                    ended.told = costs
                    self._book.end(ended)
            reply = self._answer(told)
            others = [*self._all] if told.ended else []
        for other in others:
            if other is not self:
                other.on_room()
        return reply

    def _answer(self, told: Told) -> Reply:
        for place, (number, amounts) in enumerate(told.asked):
            try:
                got: Any = self._book.take(amounts)
            except BudgetSpent as error:
                return Reply(place, spent=str(error))
            if not isinstance(got, Turn):
                return Reply(place, wait=got if isfinite(got) else -1)
            self._turns[number] = got
        return Reply(len(told.asked))

    def close(self) -> None:
        """End what has not ended."""
        with self._lock:
            for turn in self._turns.values():
                self._book.end(turn)
            self._turns.clear()
            others = [*self._all]
        for other in others:
            if other is not self:
                other.on_room()
