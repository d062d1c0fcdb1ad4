"""Plays known scenarios on Flink's own operator, as a task that does one thing at a time.

What is translated:

- A record's token is its value as JSON, so that Java's texts name it as in the trace; results are
  texts in Java, too.
- Time goes from timer to timer. Each fires at its time and the lag, and its mail is run before the
  next one fires, unless only `run_mail` runs mails.
- What is held upstream is given when the operator is blocked no more, and there is no mail.
- Where the operator is blocked, it runs mails itself, one after the other.
"""

from collections import deque
from typing import Any

from flink_life import FlinkLife
from known_traces import INPUTS, Entry, Event, Notes, Scenario, outcome_in
from msgspec.structs import replace

from asyncwait.spec import Record, Watermark, WatermarkStatus


def play_on_flink(scenario: Scenario) -> list[Entry]:
    """Return the trace of a scenario; Java runs by then."""
    player = FlinkPlayer(scenario)
    try:
        player.play()
    finally:
        player.life.end()
    return player.notes.entries


class FlinkPlayer:
    """Has happen to operators what a scenario says.

    Args:
        scenario: which one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.notes = Notes()
        self._events = scenario.events
        self._held: deque[int] = deque()
        self.life = FlinkLife(scenario, self.notes)

    def play(self) -> None:
        """Play all events, and note how it ends."""
        if not self.life.begin():
            return
        for number, event in enumerate(self._events):
            self.notes.event = number
            self._play(event)
            self._settle()
        self.notes.event = len(self._events)
        if self.life.is_blocked:
            self.notes.add("stuck", on=self.life.busy_with)
        life = self.life
        self.notes.add("end", in_queue=life.queued, mails=life.mails, timers=len(life.clock))

    def _play(self, event: Event) -> None:
        if self.life.has_failed and event["op"] != "restore":
            self.notes.add("ignored", why="task failed")
        elif event["op"] not in INPUTS:
            self._happen(event)
        elif self.life.is_blocked or self._held:
            self.notes.add("held_upstream")
            self._held.append(self.notes.event)
        else:
            self._give(event)

    def _happen(self, event: Event) -> None:
        match event:
            case {"op": "complete" | "fail", "value": value}:
                self.life.complete(value, event.get("attempt", -1), outcome_in(event))
            case {"op": "advance", "ms": ms}:
                self._advance(ms)
            case {"op": "run_mail", "n": n}:
                self._run_mails(n)
            case {"op": "queue_size"}:
                self.notes.add("queue_size", n=self.life.queued)
            case {"op": "set", **changed}:
                self.life.scenario = replace(self.life.scenario, **changed)
            case {"op": "restore", **changed}:
                self._restore(**changed)
            case _:
                raise NotImplementedError(event)

    def _give(self, event: Event) -> None:
        life = self.life
        match event:
            case {"op": "record", "value": value, "ts": ts}:
                life.process(Record(value, ts))
            case {"op": "watermark", "ts": ts}:
                life.process(Watermark(ts))
            case {"op": "watermark_status", "idle": idle}:
                life.process(WatermarkStatus(idle))
            case {"op": "snapshot"}:
                life.snapshot()
            case {"op": "end_input"}:
                life.end_input()

    def _settle(self) -> None:
        """Have Flink do what there is to do: mails first, then what is held upstream."""
        life, number = self.life, self.notes.event
        while not life.has_failed:
            if life.is_blocked and not life.mails:
                self.notes.blocked(life.busy_with)
                break
            if life.is_blocked or (life.mails and life.scenario.auto_drain):
                life.run_mail()
            elif self._held:
                self.notes.event = self._held.popleft()
                self._give(self._events[self.notes.event])
            else:
                break
        self.notes.event = number

    def _run_mails(self, most: int) -> None:
        for _ in range(most):
            if self.life.mails and not self.life.has_failed:
                self.life.run_mail()

    def _advance(self, ms: int) -> None:
        clock = self.life.clock
        end = clock.time + ms
        while not self.life.has_failed and clock.fire_until(end):
            if self.life.scenario.auto_drain:
                self._settle()
        clock.time = end

    def _restore(self, snapshot: int = -1, **changed: Any) -> None:
        snapshots = self.notes.snapshots
        number = snapshot % len(snapshots)
        old = self.life
        old.end()
        self._held.clear()
        self.notes.add("restoring", snapshot=number)
        self.life = FlinkLife(replace(old.scenario, **changed), self.notes, old)
        self.life.begin(snapshots[number])
