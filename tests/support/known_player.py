"""Has happen to an operator what a known scenario says, whichever it is."""

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, ClassVar

from known_traces import INPUTS, Entry, Event, Notes, Scenario, outcome_in
from msgspec.structs import replace

from asyncwait.spec import Barrier, Element, Record, Watermark, WatermarkStatus


class Player(ABC):
    """Plays a scenario.

    Args:
        scenario: which one.

    Attributes:
        life: the operator; it is asked by the same words in all that are played on.
    """

    kind: ClassVar[Any]
    """Of the life: made of a scenario, notes, and the life that it is restored after."""

    def __init__(self, scenario: Scenario) -> None:
        self.notes = Notes()
        self._events = scenario.events
        self._held: deque[int] = deque()
        self._barriers = 0
        self.life: Any = self.kind(scenario, self.notes)

    async def play(self) -> list[Entry]:
        """Play all events, note how it ends, and return the trace."""
        try:
            if await self.life.begin():
                await self._play_all()
        finally:
            await self.life.end()
        return self.notes.entries

    async def _play_all(self) -> None:
        await self._settle()
        for number, event in enumerate(self._events):
            self.notes.event = number
            await self._play(event)
            await self._settle()
        self.notes.event = len(self._events)
        if (on := self.life.blocked_on) is not None:
            self.notes.add("stuck", on=on)
        self.notes.add("end", in_queue=self.life.queued, **self.life.left)

    async def _play(self, event: Event) -> None:
        if self.life.has_failed and event["op"] != "restore":
            self.notes.add("ignored", why="task failed")
        elif event["op"] not in INPUTS:
            await self._happen(event)
        elif self._held or not self.life.takes_input:
            self.notes.add("held_upstream")
            self._held.append(self.notes.event)
        else:
            self._give(event)

    async def _happen(self, event: Event) -> None:
        match event:
            case {"op": "complete" | "fail", "value": value}:
                self.life.complete(value, event.get("attempt", -1), outcome_in(event))
            case {"op": "advance", "ms": ms}:
                await self._advance(ms)
            case {"op": "run_mail", "n": n}:
                self._run_mails(n)
            case {"op": "queue_size"}:
                self.notes.add("queue_size", n=self.life.queued)
            case {"op": "set", **changed}:
                self.life.scenario = replace(self.life.scenario, **changed)
            case {"op": "restore", **changed}:
                await self._restore(**changed)
            case _:
                raise NotImplementedError(event)  # A trace that nobody can play is no skip.

    def _give(self, event: Event) -> None:
        self.notes.unblocked()
        if event["op"] == "end_input":
            self.life.end_input()
        else:
            self.life.give(self._element(event))

    def _give_held(self) -> None:
        """Give what is held upstream first, in its own event."""
        self.notes.event = self._held.popleft()
        self._give(self._events[self.notes.event])

    def _element(self, event: Event) -> Element:
        match event:
            case {"op": "record", "value": value, "ts": ts}:
                return Record(value, ts)
            case {"op": "watermark", "ts": ts}:
                return Watermark(ts)
            case {"op": "watermark_status", "idle": idle}:
                return WatermarkStatus(idle)
        self._barriers += 1
        return Barrier(self._barriers)

    @abstractmethod
    async def _settle(self) -> None:
        """Let the operator do what there is to do, and then what is held upstream come."""

    @abstractmethod
    async def _advance(self, ms: int) -> None:
        """Let time pass."""

    @abstractmethod
    def _run_mails(self, most: int) -> None:
        """Let so many of the mails run that wait."""

    async def _restore(self, snapshot: int = -1, **changed: Any) -> None:
        snapshots, old = self.notes.snapshots, self.life
        number = snapshot % len(snapshots)
        await old.end()
        self._held.clear()
        self.notes.add("restoring", snapshot=number)
        self.life = self.kind(replace(old.scenario, **changed), self.notes, old)
        await self.life.begin(snapshots[number])
