"""Limits that this process counts for operators of other processes, through a connection."""

from collections.abc import Callable, Sequence
from math import inf, isfinite
from time import monotonic
from typing import Any

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.limits import AnyLimit, BudgetSpent, require_limits
from asyncwait.toolkit._limits._exchange import Reply, Told
from asyncwait.toolkit._limits._lines import LOCK, Answers, Asker, Permit, Stop, arrive


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
        if self._due <= self.clock():
            for line in [*self.lines.values()]:
                if line.stop is not None:
                    self._hand_out(self.look(line.stop, self.clock()))
        waits = [n for n, *_ in told.asked if n in self._permits and self._permits[n].is_waiting]
        if waits and self._due == inf:
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
