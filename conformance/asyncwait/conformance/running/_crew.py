"""Several child processes that play scenarios, and are replaced when they block or die."""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from select import poll
from typing import Self

import msgspec
from msgspec.structs import replace

from asyncwait.conformance.running._speech import Speech, told_from
from asyncwait.conformance.running._talk import Asked, Hello, Told
from asyncwait.conformance.running._worker_slot import Order, Said, WorkerSlot
from asyncwait.spec.scenario import Scenario, Trace

TURN = 16
"""So many scenarios in a row are for one child, the next ones for the next child."""

WINDOW = 4
"""So many turns for each child are begun before the first of their traces is given."""

PULLED = 4
"""Scenarios that are taken at once: where they are made meanwhile, nobody waits for long."""

_LOOK_EVERY = 0.5  # seconds
_MOST_AT_ONCE = 1.0  # seconds of waiting; more has passed only where this process was stopped


class Crew:
    """Child processes that serve one backend.

    Which of them plays a scenario depends on its number alone.

    Args:
        patience: seconds of the real clock that a scenario may take.
        size: how many there are at most; a batch is played by one.
    """

    def __init__(self, speech: Speech, patience: float, size: int) -> None:
        memory = _physical_memory() // (size + 1)
        self._speech = speech
        self._slots = [WorkerSlot(speech, patience, memory) for _ in range(size)]
        self._hello: Hello | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._slots:
            if slot.child is not None:
                slot.child.doom()
        for slot in self._slots:
            slot.drop()

    @property
    def hello(self) -> Hello:
        """What the backend says of itself; the first child is started for it.

        Raises:
            UnknownBackend: it can't be had, or it is none.
            MissingExtra: it needs a package that is not installed.
        """
        if self._hello is None:
            first = self._slots[0]
            first.start()
            while first.hello is None:
                self._attend(_LOOK_EVERY)
            self._hello = first.hello
            for slot in self._slots:
                slot.hello = self._hello
        return self._hello

    def play(self, scenarios: Iterable[Scenario]) -> Iterator[Trace]:
        """Play `scenarios`; give one trace for each, in order, as they come.

        Raises:
            AsyncWaitError: the backend needs what is not there, and says so only now.
        """
        slots = self._slots[:1] if self.hello.batch else self._slots
        source = iter(scenarios)
        ready: dict[int, Trace] = {}
        asked = given = 0
        is_complete = False
        try:
            while not is_complete or given < asked:
                room = min(PULLED, self._room(len(slots)) - (asked - given))
                if room > 0 and not is_complete:
                    pulled = self._order(slots, asked, islice(source, room))
                    asked += pulled
                    is_complete = slots[0].is_complete = pulled < room
                waits = is_complete or room <= 0
                ready |= self._traces(self._attend(_LOOK_EVERY if waits else 0))
                while given in ready:
                    yield ready.pop(given)
                    given += 1
        finally:
            self._forget()

    def _room(self, size: int) -> int:
        return sys.maxsize if self.hello.batch else WINDOW * TURN * size

    def _order(self, slots: list[WorkerSlot], first: int, scenarios: Iterable[Scenario]) -> int:
        """Spread `scenarios`, which are numbered from `first` on; return how many there are."""
        number, protocol = first, self.hello.protocol
        for scenario in scenarios:
            slot = slots[number // TURN % len(slots)]
            line = self._speech.request(scenario, number, protocol)
            slot.orders.append(Order(number, line))
            number += 1
        return number - first

    def _traces(self, said: list[Said]) -> dict[int, Trace]:
        """Return what was said as traces, by the numbers of their scenarios."""
        traces = {}
        for each in said:
            trace = each.lost or self._speech.reply(each.line)
            if each.output:
                trace = replace(trace, output=each.output)
            traces[each.number] = trace
        return traces

    def further(self, scenarios: Mapping[str, Scenario]) -> Iterator[Told]:
        """Have the backend play what it chooses of `scenarios`, and give what it tells of that."""
        asked = Asked(further=dict(scenarios))
        self._slots[0].orders.append(Order(0, msgspec.json.encode(asked), open_ended=True))
        self._slots[0].is_complete = True
        try:
            while self._slots[0].orders:
                for said in self._attend(_LOOK_EVERY):
                    if said.lost is not None:
                        yield Told(error=said.lost.legs[0].ending.detail)
                    elif said.line:
                        yield told_from(said.line)
        finally:
            self._forget()

    def _forget(self) -> None:
        """Want nothing any more: a child that still owes something is ended."""
        for slot in self._slots:
            slot.forget()

    def _attend(self, seconds: float) -> list[Said]:
        """Listen to all for so long, or until one says something."""
        began = time.monotonic()
        by = poll()
        left = seconds
        for slot in self._slots:
            slot.send()
            if slot.child is not None:
                slot.child.watch(by)
                left = min(left, slot.seconds_left if slot.is_owed else left)
        by.poll(left * 1000)
        there = [slot for slot in self._slots if slot.child is not None]
        for slot in there:
            slot.exchange()
        # The time that it takes to read what they print is theirs, too.
        passed = min(time.monotonic() - began, _MOST_AT_ONCE)
        return [said for slot in there for said in slot.hear(passed)]


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cores() -> int:
    """Return how many processes can run at once here."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
