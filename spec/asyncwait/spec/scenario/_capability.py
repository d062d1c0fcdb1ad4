"""What a backend may be unable to do. A rule or a scenario says which ability it needs."""

from enum import StrEnum


class Capability(StrEnum):
    """An ability that a backend declares; each is present unless it is taken away by name."""

    VIRTUAL_TIME = "virtual-time"
    """Scenarios run on a clock that jumps; without it, on a grid of real time."""
    TIMED_INPUT = "timed-input"
    """Input elements can be made available at chosen times; without it, all are there at once."""
    CANCEL_CALLS = "cancel-calls"
    """A running call can be cancelled."""
    CANCELLATION_SEEN = "cancellation-seen"
    """Cancelling the operator can be watched from inside; without it, it is simply gone."""
    ON_DEMAND_SNAPSHOT = "on-demand-snapshot"
    """`request_snapshot` is there."""
    IN_FLIGHT_SNAPSHOT = "in-flight-snapshot"
    """A snapshot is taken while calls run; without it, the operator drains at a barrier."""


ALL_CAPABILITIES = frozenset(Capability)
