"""Legs of a scenario: the start of each leg follows from the leg before it."""

from msgspec import Struct

from asyncwait.spec._config import Mode, OperatorConfig
from asyncwait.spec._elements import Snapshot
from asyncwait.spec.scenario._scenario import Crash, Scenario, SnapshotRequest, Timed
from asyncwait.spec.scenario._trace import Leg, SinkTook
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

GRID = 40
"""Milliseconds between two different instants of a scenario that a real clock can play."""


class LegStart(Struct, frozen=True):
    """Start of a leg, before it is played.

    Args:
        scenario: the scenario of the leg.
        number: number of the leg, from 0.
        first_index: index of the leg's first input among the scenario's inputs.
        began_at: ms of the scenario's time at which this leg begins; 0 for the first.
        restored: snapshot that the operator restores.
    """

    scenario: Scenario
    number: int = 0
    first_index: int = 0
    began_at: int = 0
    restored: Snapshot | None = None

    @classmethod
    def first(cls, scenario: Scenario) -> "LegStart":
        """Return the plan of the first leg of `scenario`."""
        return cls(scenario, restored=scenario.restore)

    @property
    def crash(self) -> Crash | None:
        """Planned crash of the leg, if the leg runs that long; None without a crash."""
        crashes = self.scenario.crashes
        return crashes[self.number] if self.number < len(crashes) else None

    @property
    def config(self) -> OperatorConfig:
        """Configuration of this leg, with the changes by earlier crashes."""
        crashes = self.scenario.crashes[: self.number]
        modes: list[Mode] = [crash.mode for crash in crashes if crash.mode is not None]
        capacities = [crash.capacity for crash in crashes if crash.capacity is not None]
        last = Crash(0, capacities[-1] if capacities else None, modes[-1] if modes else None)
        return self.scenario.config(last)

    @property
    def inputs(self) -> tuple[Timed, ...]:
        """Inputs of this leg, with times since the leg began."""
        rest = self.scenario.inputs[self.first_index :]
        if not self.began_at:
            return rest
        return tuple(Timed(max(0, timed.at - self.began_at), timed.element) for timed in rest)

    @property
    def requests(self) -> tuple[SnapshotRequest, ...]:
        """Snapshots on demand of this leg; only the first leg has any."""
        return self.scenario.requests if self.number == 0 else ()


def next_leg(plan: LegStart, leg: Leg) -> LegStart | None:
    """Return the start of the leg after `leg`, whose start was `plan`; None after the last leg.

    Output after the last snapshot is dropped: the next leg starts from that snapshot, which
    travels as bytes, and reads the source again from the position of the snapshot.
    """
    if leg.ending.how != "crashed" or plan.crash is None:
        return None
    restored, first_index = last_snapshot(plan, leg)
    return LegStart(
        plan.scenario,
        plan.number + 1,
        first_index,
        plan.began_at + plan.crash.at,
        None if restored is None else decode_snapshot(encode_snapshot(restored)),
    )


def last_snapshot(plan: LegStart, leg: Leg) -> tuple[Snapshot | None, int]:
    """Return the last snapshot that was emitted in `leg`, and the input index after it."""
    taken = [event.element for event in leg.events if isinstance(event, SinkTook)]
    snapshots = [element for element in taken if isinstance(element, Snapshot)]
    if not snapshots:
        return plan.restored, plan.first_index
    last = snapshots[-1]
    for index, timed in enumerate(plan.scenario.inputs):
        if getattr(timed.element, "checkpoint_id", None) == last.checkpoint_id:
            return last, index + 1
    return last, plan.first_index + (last.read or 0)
