"""Plays a plan: its batches one after the other, and the attempts of each."""

from contextlib import suppress

from msgspec.structs import replace

from asyncwait.conformance.carry._attempt import Attempt, Played, nothing
from asyncwait.conformance.carry._history import History, Sunk
from asyncwait.conformance.carry._plan import BETWEEN, Batch, Plan, Trouble, lane_name
from asyncwait.conformance.carry._world import Stuck, World
from asyncwait.spec.carry import LaneState, decode_lane, encode_lane
from asyncwait.toolkit import CallTable, Lane

MOST_BATCHES = 40
"""Batches after those with rows: a lane that is not empty by then never will be."""

MOST_ATTEMPTS = 12
"""Attempts after those with trouble: if all fail, the next would fail, too."""

PAUSE = 2
"""Pause after an attempt, in units of the clock."""


def play_plan(
    plan: Plan, lane_class: type[Lane] = Lane, table_class: type[CallTable] = CallTable
) -> History:
    """Return the history of a played plan.

    Args:
        plan: the plan.
        lane_class: plays the visits of lanes.
        table_class: holds the calls of a host.
    """
    player = _Player(plan, lane_class, table_class)
    with suppress(Stuck):  # Records that are not out yet are lost.
        player.play()
    return player.history


class _Player:
    def __init__(self, plan: Plan, lane: type[Lane], table: type[CallTable]) -> None:
        self._plan = plan
        self._lane_class = lane
        self._terms = plan.terms
        self.history = History(plan)
        self._world = World(plan.calls, table, self.history)
        lanes = sorted({lane for lane, _ in self.history.came_in})
        self._states = dict.fromkeys(lanes, encode_lane(LaneState()))
        self._past: list[Played] = []
        self._sunk: set[int] = set()
        self._place = 0
        self._turned = False

    def play(self) -> None:
        for batch in self._plan.batches:
            self._batch(batch)
        for _ in range(MOST_BATCHES):
            if not any(self._played(Batch(timer=True)).visits()):
                return
            self._batch(Batch(timer=True))

    def _divided_anew(self, batch: Batch) -> Played | None:
        """Return a batch whose rows go to other lanes; None if no record is in flight.

        The first batch of a run visits every lane that holds a record. The rows of other lanes are
        left out: to them the new number is the first one.
        """
        holding = {name for name, state in self._states.items() if decode_lane(state).identities}
        if not holding:
            return None
        lanes = sorted({at for each in self._plan.batches for at, _ in each.rows})
        turned = dict(zip(lanes, lanes[1:] + lanes[:1], strict=True))
        rows = ((turned[at], row) for at, row in batch.rows)
        kept = tuple((at, row) for at, row in rows if lane_name(at) in holding)
        terms = replace(self._terms, lanes=self._terms.lanes + 1)
        return replace(self._played(replace(batch, rows=kept, timer=True)), terms=terms)

    def _played(self, batch: Batch) -> Played:
        return Played(len(self._past), batch, self._lane_class, self._terms, self._states)

    def _batch(self, batch: Batch) -> None:
        for trouble in (*batch.troubles, *[None] * MOST_ATTEMPTS):
            if trouble in BETWEEN:
                self._between(trouble)
                continue
            played = self._divided_anew(batch) if trouble == "other lanes" else self._played(batch)
            if played is None:
                continue
            attempt = self._tried(played, trouble)
            if attempt is None or trouble == "dies early":
                continue
            self._sink(played.number, attempt)
            if trouble != "dies late" or self._plan.sink == "skips":
                if trouble == "late visit after":
                    self._late()
                self._stand(played, attempt)
                return
        raise Stuck

    def _between(self, trouble: Trouble | None) -> None:
        match trouble:
            case "host killed":
                self._world.lose(self._place)
            case "moved":
                self._place = 1 - self._place
            case "other order":
                self._turned = not self._turned
            case _:
                self._terms = replace(self._terms, version=f"{self._terms.version}'")

    def _tried(self, played: Played, trouble: Trouble | None) -> Attempt | None:
        """Return an attempt, with parts of a twin in place of its own; None if all failed."""
        twin: Attempt | None = None

        def play_twin() -> None:
            nonlocal twin
            place = 1 - self._place if trouble == "twin elsewhere" else self._place
            turned = not self._turned
            made = Attempt(played, self._world, self.history, place=place, turned=turned)
            twin = made if made.play() else None

        has_twin = trouble is not None and trouble.startswith("twin")
        amid = play_twin if has_twin else self._late if trouble == "late visit amid" else nothing
        attempt = Attempt(played, self._world, self.history, place=self._place, turned=self._turned)
        is_well = attempt.play(trouble, amid)
        self._world.rest(PAUSE)
        if not is_well or twin is None:
            return attempt if is_well else twin
        if trouble == "twin gives output":
            attempt.outputs = twin.outputs
        else:
            attempt.states = twin.states
        return attempt

    def _late(self) -> None:
        if self._past:
            late = self._past[-1]
            Attempt(late, self._world, self.history, place=self._place, is_late=True).play()

    def _sink(self, number: int, attempt: Attempt) -> None:
        again = number in self._sunk
        if again and self._plan.sink != "repeats":
            return
        self._sunk.add(number)
        for lane, outputs in attempt.outputs.items():
            self.history.add(Sunk(number, lane, outputs, again))

    def _stand(self, played: Played, attempt: Attempt) -> None:
        self._past.append(played)
        self._states = attempt.states
