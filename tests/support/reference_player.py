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

from known_player import Player
from known_traces import Entry, Scenario
from reference_life import ReferenceLife
from standing_clock import all_others_wait, pass_millisecond, run_standing


def play_on_reference(scenario: Scenario, loop: str) -> list[Entry]:
    """Return the trace of a scenario."""
    return run_standing(loop, lambda: _ReferencePlayer(scenario).play())


class _ReferencePlayer(Player):
    kind = ReferenceLife

    async def _settle(self) -> None:
        number = self.notes.event
        while True:
            await all_others_wait()
            self.life.look()
            if await self.life.take():
                continue
            if not (self._held and self.life.takes_input):
                break
            self._give_held()
        if (on := self.life.blocked_on) is not None:
            self.notes.blocked(on)
        self.notes.event = number

    async def _advance(self, ms: int) -> None:
        for _ in range(ms):
            pass_millisecond()
            await self._settle()

    def _run_mails(self, most: int) -> None:
        self.life.let_mails_in(most)
