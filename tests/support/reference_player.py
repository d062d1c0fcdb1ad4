"""Plays known scenarios on the reference, through its contract, on a clock that stands otherwise.

What is translated:

- A millisecond is 1/1024 s, so that sums of times are exact. `timer_lag_ms` means nothing here: the
  reference has no such lag (TO-4).
- Flink's `max_attempts` counts repetitions, and ours calls (RT-3). Function and handler are in
  callback form. The handler gives what Flink's completes its future with, raises what that fails it
  with, and gives None where Flink's does nothing, or is Flink's own.
- The consumer takes an element, and lets the operator go on before it takes the next: Flink lets
  each out by a mail of its own (BP-7). What is held upstream comes when there is none to take.
- That an element waits for room is told by `statistics()`. What was restored has found its room
  when the source is asked for an element.
- The size of the queue is no part of the contract, and read off the reference's own. Where
  `run_mail` runs the mails, the reference's mailbox has a stop in front of it, and lets so many of
  its own mails in.
- A completion of an attempt that the reference has not made is ignored, and noted as that.

Not compared: how many mails and timers are left at the end; the classes of Java's errors, and what
Flink reports a failure through; the words of a refusal.
"""

from collections import deque
from typing import Any

from known_traces import INPUTS, Entry, Event, Notes, Scenario, outcome_in
from msgspec.structs import replace
from reference_life import ReferenceLife
from standing_clock import all_others_wait, pass_millisecond, run_standing

from asyncwait.spec import Barrier, Element, Record, Watermark, WatermarkStatus


def play_on_reference(scenario: Scenario, loop: str) -> list[Entry]:
    """Return the trace of a scenario."""
    return run_standing(loop, _play, scenario)


async def _play(scenario: Scenario) -> list[Entry]:
    player = ReferencePlayer(scenario)
    try:
        await player.play()
    finally:
        await player.life.end()
    return player.notes.entries


class ReferencePlayer:
    """Has happen to operators what a scenario says.

    Args:
        scenario: which one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.notes = Notes()
        self._events = scenario.events
        self._held: deque[int] = deque()
        self._barriers = 0
        self.life = ReferenceLife(scenario, self.notes)

    async def play(self) -> None:
        """Play all events, and note how it ends."""
        if not await self.life.begin():
            return
        await self._settle()
        for number, event in enumerate(self._events):
            self.notes.event = number
            await self._play(event)
            await self._settle()
        self.notes.event = len(self._events)
        if (on := self.life.blocked_on) is not None:
            self.notes.add("stuck", on=on)
        self.notes.add("end", in_queue=self.life.queued)

    async def _play(self, event: Event) -> None:
        if self.life.has_failed and event["op"] != "restore":
            self.notes.add("ignored", why="task failed")
        elif event["op"] not in INPUTS:
            await self._happen(event)
        elif self._held or not self.life.is_asking:
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
                self.life.let_mails_in(n)
            case {"op": "queue_size"}:
                self.notes.add("queue_size", n=self.life.queued)
            case {"op": "set", **changed}:
                self.life.scenario = replace(self.life.scenario, **changed)
            case {"op": "restore", **changed}:
                await self._restore(**changed)
            case _:
                raise NotImplementedError(event)

    def _give(self, event: Event) -> None:
        self.notes.unblocked()
        if event["op"] == "end_input":
            self.life.end_input()
        else:
            self.life.give(self._element(event))

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

    async def _settle(self) -> None:
        """Let the operator do what there is to do, and then what is held upstream come."""
        number = self.notes.event
        while True:
            await all_others_wait()
            self.life.look()
            if await self.life.take():
                continue
            if self._held and self.life.is_asking:
                self.notes.event = self._held.popleft()
                self._give(self._events[self.notes.event])
                continue
            break
        if (on := self.life.blocked_on) is not None:
            self.notes.blocked(on)
        self.notes.event = number

    async def _advance(self, ms: int) -> None:
        for _ in range(ms):
            pass_millisecond()
            await self._settle()

    async def _restore(self, snapshot: int = -1, **changed: Any) -> None:
        snapshots, old = self.notes.snapshots, self.life
        number = snapshot % len(snapshots)
        await old.end()
        self._held.clear()
        self.notes.add("restoring", snapshot=number)
        self.life = ReferenceLife(replace(old.scenario, **changed), self.notes, old)
        await self.life.begin(snapshots[number])
