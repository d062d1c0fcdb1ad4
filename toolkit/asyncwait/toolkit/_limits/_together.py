"""Limits that several operators keep to together."""

from collections.abc import Callable, Sequence
from math import isfinite
from threading import Lock
from time import monotonic
from typing import Any, Protocol

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

    def ledger(self) -> Ledger:
        """Return where one more operator tells its calls."""
        return _OfBook(self._book, self._lock)

    def close(self) -> None:
        """Let go of the files of budgets."""
        self._book.close()


class _OfBook:
    """The calls of one operator in the book of several."""

    def __init__(self, book: Book, lock: Lock) -> None:
        self._book, self._lock = book, lock
        self._turns: dict[int, Turn] = {}

    def __str__(self) -> str:
        return "this process"

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
            return self._answer(told)

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
