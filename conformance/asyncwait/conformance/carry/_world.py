"""Hosts, their calls, and a clock that jumps."""

import heapq
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from asyncwait.conformance.carry._history import (
    Answered,
    Began,
    Called,
    Cancelled,
    Ended,
    History,
    Holds,
    HostLost,
)
from asyncwait.conformance.carry._plan import Calls
from asyncwait.spec.carry import Failed, Identity, InFlight, Outcome, Visit
from asyncwait.toolkit import CallTable

CANCELLED = b"nothing"
"""Outcome of a cancelled call."""


class AttemptLost(Exception):
    """The task that visits a lane dies, or does not get its answer."""


class Stuck(Exception):
    """A host waits, and nothing can happen any more."""


class World:
    """Two hosts at a time, and the calls of all hosts so far.

    Args:
        calls: the calls of each record.
        table_class: holds the calls of a host.
        history: records the events.
    """

    def __init__(
        self, calls: Mapping[bytes, Calls], table_class: type[CallTable], history: History
    ) -> None:
        self.now = 0.0
        self.history = history
        self._calls = calls
        self._table_class = table_class
        self._made = Counter[bytes]()
        self._under_way: dict[int, tuple[CallTable, Called, Outcome]] = {}
        self._ends: list[tuple[float, int]] = []
        self._lives = 0
        self._hosts = [self._host(), self._host()]

    def _host(self) -> tuple[int, CallTable]:
        self._lives += 1
        table = self._table_class(partial(self._start, self._lives), self._cancel)
        return self._lives, table

    def lose(self, place: int) -> None:
        """Kill a host; another host takes its place at once."""
        host, table = self._hosts[place]
        self._under_way = {n: call for n, call in self._under_way.items() if call[0] is not table}
        self.history.add(HostLost(host))
        self._hosts[place] = self._host()

    def _start(self, host: int, lane: str, version: str, item: InFlight) -> Called:
        number = len(self.history.calls)
        called = Called(number, host, lane, version, item)
        does, made = self._calls[item.record], self._made[item.record]
        self._made[item.record] += 1
        table = next(table for life, table in self._hosts if life == host)
        outcome = Failed(str(number)) if made < does.fails else b"%d" % number
        self._under_way[number] = table, called, outcome
        heapq.heappush(self._ends, (self.now + does.takes[made % len(does.takes)], number))
        self.history.add(called)
        return called

    def _cancel(self, called: Called) -> None:
        """Cancel a call, which still ends at its time, without a result."""
        table, *_ = self._under_way[called.number]
        self._under_way[called.number] = table, called, CANCELLED
        self.history.add(Cancelled(called.number))

    def visit(
        self, place: int, number: int, visit: Visit, amid: Callable[[], object]
    ) -> dict[Identity, Outcome]:
        """Have a host serve a visit.

        Args:
            place: of the host.
            number: of the visit.
            visit: the request to the host.
            amid: called while the host serves the visit; it may raise `AttemptLost`.

        Raises:
            AttemptLost: no task waits for the answer.
            Stuck: the host waits for ever.
        """
        host, table = self._hosts[place]
        self.history.add(Began(number, host, visit, self.now))
        served = table.begin(visit)
        self.history.add(Holds(number, table.held(visit.lane)))
        end = self.now + visit.terms.budget
        try:
            amid()
        except AttemptLost:
            table.abandon(served)
            self.history.add(Answered(number, None, self.now))
            raise
        while not served.is_over(is_late=self.now >= end):
            self._pass(end)
        answer = table.answer(served)
        self.history.add(Answered(number, answer, self.now))
        return answer

    def _pass(self, until: float) -> None:
        while self._ends and self._ends[0][1] not in self._under_way:
            heapq.heappop(self._ends)
        late = self.now >= until
        if late and not self._ends:
            raise Stuck
        if self._ends and (late or self._ends[0][0] <= until):
            self._end(*heapq.heappop(self._ends))
        else:
            self.now = until

    def _end(self, at: float, number: int) -> None:
        self.now = max(self.now, at)
        table, called, outcome = self._under_way.pop(number)
        if outcome is not CANCELLED:
            self.history.add(Ended(number, isinstance(outcome, Failed), self.now))
        table.completed(called.lane, called.version, called.item.identity, called, outcome)

    def rest(self, pause: float) -> None:
        """Let time pass between two attempts; hosts go on."""
        until = self.now + pause
        while self.now < until:
            self._pass(until)
