"""Several child processes that play scenarios, and are replaced when they block or die.

Each child has a slot of the pool, and the slot holds the orders for it.
"""

import os
import select
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import islice
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance.running._names import UnknownBackend
from asyncwait.conformance.running._process import ChildProcess, LineTooLong
from asyncwait.conformance.running._speech import (
    START_PATIENCE,
    Greeting,
    Hello,
    Program,
    Speech,
)
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.scenario import EndingKind, Trace

AHEAD = 8
"""Scenarios sent to a child before the first answer: it plays while the parent judges."""

BATCH_PATIENCE = 60
"""Longest wait for the next trace of a batch, as a multiple of `patience`."""


STARVED = 10
"""Longest wait on a busy machine, as a multiple of its bound."""

_NOT_READY = {
    "blocked": "a longer --patience might help: ",
    "died": "its process ended: ",
    "error": "",
}


class Order(Struct, frozen=True):
    """A request to a child."""

    number: int
    line: bytes


class Said(Struct, frozen=True):
    """The outcome of an order: a line, or the loss of the child; and its output meanwhile."""

    number: int
    line: bytes
    output: str
    lost: Trace | None = None


class Wait:
    """A wait for a line, by the clock of this process.

    Time during which the child got no processor does not count against it. Only the second half of
    the bound measures that time, because few waits get there.

    Args:
        bound: seconds.
    """

    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.passed = 0.0
        self._half: tuple[float, float] | None = None

    @property
    def left(self) -> float:
        """Seconds until the next check of the bound."""
        return max(0.0, self.bound * (0.5 if self._half is None else 1) - self.passed) or 0.1

    def is_over(self, child: ChildProcess) -> bool:
        """Whether the child has used up its time."""
        if self._half is None and self.passed > self.bound / 2:
            self._half = self.passed, child.starved
        if self._half is None or self.passed <= self.bound:
            return False
        passed, starved = self._half
        had = self.passed - passed - (child.starved - starved)
        return had >= self.bound - passed or self.passed > STARVED * self.bound


class WorkerSlot:
    """A slot of a pool: its orders, and its present child.

    Args:
        patience: seconds that a scenario may take.
    """

    def __init__(self, speech: Speech, patience: float, memory: int) -> None:
        self.orders: deque[Order] = deque()
        self.is_complete = False
        """Whether no more scenarios follow; a batch is requested only then."""
        self.hello: Hello | None = None
        """The greeting of the first child; every later child has to send the same."""
        self.child: ChildProcess | None = None
        self._speech = speech
        self._patience = patience
        self._memory = memory
        self._greeting: Greeting | None = None
        self._owes_first = False
        """Whether the child has sent its greeting, but not the answer to the opening."""
        self._sent = 0
        self._wait = Wait(0)
        self._printed = ""
        """Output with a program's last reply: it may contain the program's last words."""

    @property
    def is_owed(self) -> bool:
        """Whether the child has to send the next line."""
        return self.child is not None and (not self._is_ready or self._sent > 0)

    @property
    def _is_ready(self) -> bool:
        return self._greeting is None and not self._owes_first

    @property
    def seconds_left(self) -> float:
        """Seconds that the child may still take, as far as known."""
        return self._wait.left

    def start(self) -> None:
        """Start a child process."""
        self.child = ChildProcess(self._speech.command, self._memory)
        self._greeting = self._speech.greeting(self._patience)
        self._wait = Wait(next(self._greeting))
        self.child.send(self._speech.opening)

    def send(self) -> None:
        """Send the orders that may be sent now."""
        if self.orders and self.child is None:
            self.start()
        if self.child is None or not self._is_ready or self.hello is None:
            return
        batch = self.hello.batch
        if batch and not self.is_complete:
            return
        ahead = len(self.orders) if batch else min(AHEAD, len(self.orders))
        if ahead > self._sent:
            lines = [self.orders[number].line for number in range(self._sent, ahead)]
            self._sent = ahead
            self.child.send(b"\n".join(lines) + (b"\n\n" if batch else b"\n"))

    def hear(self, seconds: float) -> Iterator[Said]:
        """Yield what the child has sent after `seconds` more; drop it if it can't send more.

        Raises:
            AsyncWaitError: the very first child can't load the backend.
        """
        assert self.child is not None
        child = self.child
        if self.is_owed:
            self._wait.passed += seconds
        try:
            while self.is_owed and (line := child.line()) is not None:
                self._wait = Wait(self._wait.bound)
                yield from self._hear(line)
        except LineTooLong as error:
            yield from self._lose("error", str(error))
        if self.child is not child:
            return
        if child.is_mute:
            yield from self._lose("died", child.obituary())
        elif self.is_owed and self._wait.is_over(child):
            yield from self._lose("blocked", f"no answer for {self._wait.bound:g} s")

    def _hear(self, line: bytes) -> Iterator[Said]:
        if self._greeting is not None:
            yield from self._greet(self._greeting, line)
            return
        assert self.child is not None
        assert self.hello is not None
        if self._owes_first:  # The answer to the opening is not judged.
            self._become_ready(self.hello)
            return
        order = self.orders[0]
        if astray := self._speech.astray(line, order.number, self.hello.protocol):
            yield from self._lose("error", astray)
            return
        self.orders.popleft()
        self._sent -= 1
        words = self.child.words.take()
        self._printed = words if isinstance(self._speech, Program) else ""
        yield Said(order.number, line, words)

    def _greet(self, greeting: Greeting, line: bytes) -> Iterator[Said]:
        try:
            self._wait = Wait(greeting.send(line))
            return
        except StopIteration as end:
            hello: Hello = end.value
        except AsyncWaitError as error:
            if self.hello is None:
                raise
            yield from self._lose("error", str(error))
            return
        if self.hello is not None and self.hello != hello:
            yield from self._lose("error", f"the backend was {self.hello}, and now it is {hello}")
            return
        self.hello, self._greeting = hello, None
        if hello.owes:
            self._owes_first, self._wait = True, Wait(START_PATIENCE * self._patience)
        else:
            self._become_ready(hello)

    def _become_ready(self, hello: Hello) -> None:
        self._owes_first = False
        self._wait = Wait(self._patience * (BATCH_PATIENCE if hello.batch else 1))
        assert self.child is not None
        self.child.words.take()

    def _lose(self, how: EndingKind, detail: str) -> Iterator[Said]:
        assert self.child is not None
        output = self.child.words.take() or self._printed
        greeting, owed = self._greeting is not None, self.is_owed
        if self._owes_first:
            detail = self._speech.lost_at_first(how, detail, self._patience)
        self.drop()
        if greeting:
            how, detail = "error", f"it did not become ready to play: {_NOT_READY[how]}{detail}"
            if self.hello is None:
                raise UnknownBackend(f"backend {self._speech.name!r}: {detail}")
        if owed and self.orders:
            order = self.orders.popleft()
            yield Said(order.number, b"", output, self._speech.lost(how, detail))

    def forget(self) -> None:
        """Drop all orders, and the child if it still owes an answer."""
        if self.is_owed:
            self.drop()
        self.orders.clear()
        self.is_complete = False

    def drop(self) -> None:
        """End the child."""
        if self.child is not None:
            self.child.kill()
        self.child, self._greeting, self._owes_first, self._sent = None, None, False, 0
        self._printed = ""


TURN = 16
"""Scenarios in a row for one child, before the next ones go to the next child."""

WINDOW = 4
"""Turns for each child that begin before the first of their traces is yielded."""

PULLED = 4
"""Scenarios taken at once: while they are generated, no child waits for long."""

_LOOK_EVERY = 0.5  # seconds
_MOST_AT_ONCE = 1.0  # seconds of waiting; more has passed only if this process was stopped


class Crew:
    """Child processes that serve one backend.

    The number of a scenario alone decides which child plays it.

    Args:
        patience: seconds of the real clock that a scenario may take.
        size: most children at once; one child plays a batch.
    """

    def __init__(self, speech: Speech, patience: float, size: int) -> None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (size + 1)
        self._speech = speech
        self._slots = [WorkerSlot(speech, patience, memory) for _ in range(size)]
        self._hello: Hello | None = None
        self.is_abandoned = False
        """Whether the owner has given up the pool."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    def dismiss(self) -> None:
        """End the children; a later `play` starts new ones."""
        for slot in self._slots:
            if slot.child is not None:
                slot.child.doom()
        for slot in self._slots:
            slot.drop()

    @property
    def hello(self) -> Hello:
        """The backend's description of itself; starts the first child for it.

        Raises:
            UnknownBackend: the backend can't be loaded, or it is no backend.
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

    def play(self, scenarios: Iterable[Any]) -> Iterator[Any]:
        """Play `scenarios`; yield one trace for each, in order, as they are ready.

        Raises:
            AsyncWaitError: the backend lacks something, and reports it only now.
        """
        slots = self._slots[:1] if self.hello.batch else self._slots
        most = sys.maxsize if self.hello.batch else WINDOW * TURN * len(slots)
        source = iter(scenarios)
        ready: dict[int, Any] = {}
        asked = given = 0
        is_complete = False
        try:
            while not is_complete or given < asked:
                room = min(PULLED, most - (asked - given))
                if room > 0 and not is_complete:
                    pulled = self._order(slots, asked, islice(source, room))
                    asked += pulled
                    is_complete = slots[0].is_complete = pulled < room
                if is_complete and given == asked:
                    return
                waits = is_complete or room <= 0
                ready |= self._traces(self._attend(_LOOK_EVERY if waits else 0))
                while given in ready:
                    yield ready.pop(given)
                    given += 1
        finally:
            self._forget()

    def _order(self, slots: list[WorkerSlot], first: int, scenarios: Iterable[Any]) -> int:
        """Spread `scenarios`, numbered from `first` on, over the slots; return their number."""
        number, protocol = first, self.hello.protocol
        for scenario in scenarios:
            slot = slots[number // TURN % len(slots)]
            line = self._speech.request(scenario, number, protocol)
            slot.orders.append(Order(number, line))
            number += 1
        return number - first

    def _traces(self, said: list[Said]) -> dict[int, Any]:
        traces = {}
        for each in said:
            trace = each.lost or self._speech.reply(each.line)
            if each.output:
                trace = replace(trace, output=each.output)
            traces[each.number] = trace
        return traces

    def _forget(self) -> None:
        """Drop all orders: a child that still owes an answer is ended."""
        for slot in self._slots:
            slot.forget()

    def _attend(self, seconds: float) -> list[Said]:
        """Listen to all children for `seconds`, or until one sends a line.

        Raises:
            CancelledError: the pool is abandoned.
        """
        if self.is_abandoned:
            raise CancelledError
        began = time.monotonic()
        by = select.poll()
        left = seconds
        for slot in self._slots:
            slot.send()
            if slot.child is not None:
                slot.child.watch(by)
                left = min(left, slot.seconds_left if slot.is_owed else left)
        by.poll(left * 1000)
        there = [slot for slot in self._slots if slot.child is not None]
        for slot in there:
            assert slot.child is not None
            slot.child.attend()
        # The time for reading their output counts as theirs, too.
        passed = min(time.monotonic() - began, _MOST_AT_ONCE)
        return [said for slot in there for said in slot.hear(passed)]


def cores() -> int:
    """Return how many processes can run at once on this machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
