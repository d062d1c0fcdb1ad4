"""Times of a scenario, and a function that changes each time by its kind."""

from collections.abc import Callable
from operator import is_
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

TIMES = frozenset(
    {
        *("Scenario.timeout", "Scenario.source_ends_at", "Scenario.cancel_at"),
        *("Scenario.hook_takes", "Scenario.close_takes"),
        *("Timed.at", "SinkStep.n", "SnapshotRequest.at", "Crash.at"),
        *("Step.after", "Step.retry_after", "Step.again", "Step.clean_up"),
        *("PlannedRetry.initial", "PlannedRetry.cap", "PlannedRetry.attempt_timeout"),
    }
)
"""Kinds of times: the struct and its field. Figures, caches and limits have further times."""

_PARTS = {"inputs", "plans", "steps", "sink", "requests", "crashes", "retry"}
"""Fields of parts that contain times."""

_PartT = TypeVar("_PartT", bound=Struct)


def with_times(part: _PartT, change: Callable[[str, int], int]) -> _PartT:
    """Return a part of a scenario with changed times; the part itself if no time changes.

    Args:
        part: the scenario, or a struct in it.
        change: receives the kind of a time and its ms, and returns the new ms.
    """
    changes: dict[str, Any] = {}
    for name in part.__struct_fields__:
        old = new = getattr(part, name)
        kind = f"{type(part).__name__}.{name}"
        if kind in TIMES and old is not None and getattr(part, "does", "") != "read":
            new = change(kind, old)
        elif name in _PARTS and isinstance(old, tuple):
            each = tuple(with_times(one, change) for one in old)
            new = old if all(map(is_, each, old)) else each
        elif name in _PARTS and old is not None:
            new = with_times(old, change)
        if new is not old and new != old:
            changes[name] = new
    return replace(part, **changes) if changes else part
