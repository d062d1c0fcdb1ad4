"""Plays known scenarios on Flink's own operator, as a task that does one thing at a time.

What is translated:

- A record's token is its value as JSON, so that Java's texts name it as in the trace; results are
  texts in Java, too.
- Time goes from timer to timer. Each fires at its time and the lag, and its mail is run before the
  next one fires, unless only `run_mail` runs mails.
- What is held upstream is given when the operator is blocked no more, and there is no mail.
- Where the operator is blocked, it runs mails itself, one after the other.
"""

from flink_life import FlinkLife
from known_player import Player
from known_traces import Entry, Scenario


def play_on_flink(scenario: Scenario) -> list[Entry]:
    """Return the trace of a scenario; Java runs by then."""
    try:
        _FlinkPlayer(scenario).play().send(None)  # it waits for nothing
    except StopIteration as end:
        trace: list[Entry] = end.value
        return trace
    raise AssertionError


class _FlinkPlayer(Player):
    kind = FlinkLife

    async def _settle(self) -> None:
        """Have Flink do what there is to do: mails first, then what is held upstream."""
        life, number = self.life, self.notes.event
        while not life.has_failed:
            if life.is_blocked and not life.mails:
                self.notes.blocked(life.busy_with)
                break
            if life.is_blocked or (life.mails and life.scenario.auto_drain):
                life.run_mail()
            elif self._held:
                self._give_held()
            else:
                break
        self.notes.event = number

    def _run_mails(self, most: int) -> None:
        for _ in range(most):
            if self.life.mails and not self.life.has_failed:
                self.life.run_mail()

    async def _advance(self, ms: int) -> None:
        clock = self.life.clock
        end = clock.time + ms
        while not self.life.has_failed and clock.fire_until(end):
            if self.life.scenario.auto_drain:
                await self._settle()
        clock.time = end
