"""Arguments of an operator, a snapshot among them, are checked when it opens."""

import re
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
    check_restore(restore)


@pytest.mark.parametrize(
    ("restore", "name", "shown"),
    [
        *((wrong, "restore", wrong) for wrong in (b"x", (Record("a"),), Snapshot)),
        *(
            (Snapshot(1, (Record("b"), wrong, 7)), r"restore\.in_flight", wrong)  # type: ignore[arg-type]
            for wrong in ("a", None, LatencyMarker(1), Barrier(1), Snapshot(1))
        ),
        *(
            (Snapshot(1, wrong), r"restore\.in_flight", wrong)
            for wrong in (None, 7, "ab", iter(()))
        ),  # type: ignore[arg-type]
    ],
)
def test_what_can_not_be_restored_is_refused(restore: Any, name: str, shown: Any) -> None:
    told = re.escape(f"got {shown!r} ({type(shown).__name__})")
    with pytest.raises(InvalidConfig, match=f"^{name} must be .*{told}$"):
        check_restore(restore)
