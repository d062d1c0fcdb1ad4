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


def play_known(scenario: Scenario, loop: str) -> list[Entry]:
    """Return the trace of a scenario."""
    return run_standing(loop, lambda: _Player(scenario).play())


class _Player:
    def __init__(self, scenario: Scenario) -> None:
        self._notes = Notes()
        self._events = scenario.events
        self._held: deque[int] = deque()
        self._barriers = 0
        self._life = ReferenceLife(scenario, self._notes)

    async def play(self) -> list[Entry]:
        """Play all events, note how it ends, and return the trace."""
        try:
            if await self._life.begin():
                await self._play_all()
        finally:
            await self._life.end()
        return self._notes.entries

    async def _play_all(self) -> None:
        await self._settle()
        for number, event in enumerate(self._events):
            self._notes.event = number
            await self._play(event)
            await self._settle()
        self._notes.event = len(self._events)
        if (on := self._life.blocked_on) is not None:
            self._notes.add("stuck", on=on)
        self._notes.add("end", in_queue=self._life.queued)

    async def _settle(self) -> None:
        """Let the operator do what there is to do, and then what is held upstream come."""
        number = self._notes.event
        while True:
            await all_others_wait()
            self._life.look()
            if await self._life.take():
                continue
            if not (self._held and self._life.takes_input):
                break
            self._give_held()
        if (on := self._life.blocked_on) is not None:
            self._notes.blocked(on)
        self._notes.event = number

    async def _play(self, event: Event) -> None:
        if self._life.has_failed and event["op"] != "restore":
            self._notes.add("ignored", why="task failed")
        elif event["op"] not in INPUTS:
            await self._happen(event)
        elif self._held or not self._life.takes_input:
            self._notes.add("held_upstream")
            self._held.append(self._notes.event)
        else:
            self._give(event)

    async def _happen(self, event: Event) -> None:
        match event:
            case {"op": "complete" | "fail", "value": value}:
                self._life.complete(value, event.get("attempt", -1), outcome_in(event))
            case {"op": "advance", "ms": ms}:
                for _ in range(ms):
                    pass_millisecond()
                    await self._settle()
            case {"op": "run_mail", "n": n}:
                self._life.let_mails_in(n)
            case {"op": "queue_size"}:
                self._notes.add("queue_size", n=self._life.queued)
            case {"op": "set", **changed}:
                self._life.scenario = replace(self._life.scenario, **changed)
            case {"op": "restore", **changed}:
                await self._restore(**changed)
            case _:
                raise NotImplementedError(event)  # A trace that nobody can play is no skip.

    def _give(self, event: Event) -> None:
        self._notes.unblocked()
        if event["op"] == "end_input":
            self._life.end_input()
        else:
            self._life.give(self._element(event))

    def _give_held(self) -> None:
        """Give what is held upstream first, in its own event."""
        self._notes.event = self._held.popleft()
        self._give(self._events[self._notes.event])

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

    async def _restore(self, snapshot: int = -1, **changed: Any) -> None:
        snapshots, old = self._notes.snapshots, self._life
        number = snapshot % len(snapshots)
        await old.end()
        self._held.clear()
        self._notes.add("restoring", snapshot=number)
        self._life = ReferenceLife(replace(old.scenario, **changed), self._notes, old)
        await self._life.begin(snapshots[number])
