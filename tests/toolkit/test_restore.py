"""What an operator is given to go on with is checked at its door."""

from typing import Any

import pytest

from asyncwait.spec import (
    Barrier,
    InvalidConfig,
    LatencyMarker,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.toolkit import check_restore


@pytest.mark.parametrize(
    "restore",
    [None, Snapshot(1), Snapshot(2, (Record("a"), Watermark(3), WatermarkStatus(idle=True)))],
    ids=["none", "empty", "everything"],
)
def test_what_a_snapshot_can_hold_is_accepted(restore: Snapshot | None) -> None:
    """Records and fences, or nothing at all."""
    check_restore(restore)


@pytest.mark.parametrize(
    "restore", [b"x", (Record("a"),), Snapshot], ids=["bytes", "tuple", "class"]
)
def test_something_that_is_no_snapshot_is_refused(restore: Any) -> None:
    """The error names it, with its type."""
    with pytest.raises(InvalidConfig) as caught:
        check_restore(restore)

    assert str(caught.value) == (
        f"restore must be a Snapshot or None, got {restore!r} ({type(restore).__name__})"
    )


@pytest.mark.parametrize(
    "element", ["a", None, LatencyMarker(1), Barrier(1), Snapshot(1)], ids=repr
)
def test_a_snapshot_that_holds_anything_else_is_refused(element: Any) -> None:
    """The error names the first such element, with its type."""
    with pytest.raises(InvalidConfig) as caught:
        check_restore(Snapshot(1, (Record("b"), element, 7)))  # type: ignore[arg-type]

    assert str(caught.value) == (
        "restore.in_flight must be records, watermarks and statuses, "
        f"got {element!r} ({type(element).__name__})"
    )


@pytest.mark.parametrize("in_flight", [None, 7, "ab", iter(())], ids=["none", "int", "str", "once"])
def test_in_flight_elements_that_are_no_tuple_are_refused(in_flight: Any) -> None:
    """What can be read but once would be gone after the look at it."""
    with pytest.raises(InvalidConfig, match=r"^restore\.in_flight must be a tuple of elements, "):
        check_restore(Snapshot(1, in_flight))
