"""WM: witnesses of watermarks and statuses."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    finished,
    one_leg,
    replies,
    took,
)
from asyncwait.spec import Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Scenario, SinkStep

_IDLE = WatermarkStatus(True)
_SILENT = Scenario(
    mode="unordered", inputs=at(0, Record("a"), Watermark(10)), plans=(replies("a", 40),)
)
_CALLED = "0: waits, takes 0 1, calls a"
_BOTH_SIDES = Scenario(
    mode="unordered",
    inputs=at(0, Record("a", 5), Watermark(10), Record("a", 5)),
    plans=(replies("a", 40, "x"),),
)
_BOTH_SIDES_ANSWERED = "0: waits, takes 0 1 2, calls a a; 40: #0 gives x, #1 gives x"
_TWO_WATERMARKS = Scenario(inputs=at(0, Watermark(5), Watermark(5)))
_TWO_STATUSES = Scenario(inputs=at(0, _IDLE, _IDLE))
_BEHIND_A_RECORD = Scenario(
    inputs=at(0, Record("a"), Watermark(10)),
    plans=(replies("a", 40, "a1"),),
    sink=(SinkStep("read", 1), SinkStep("pause", 40)),
)
_MIXED = Scenario(inputs=at(0, Watermark(10), _IDLE))
_STATUS_ALONE = Scenario(inputs=at(0, _IDLE), source_ends_at=40)
_STATUS_BEHIND_A_RECORD = Scenario(
    inputs=at(0, Record("a"), _IDLE), plans=(replies("a", 40),), source_ends_at=40
)

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "WM-1",
        finished(_SILENT, _CALLED, "0: out ~10; 40: #0 gives"),
        finished(_SILENT, _CALLED, "40: #0 gives, out ~10"),
        "Watermark(timestamp=10) (input 1) came out while Record 'a' (input 0) was undecided",
    ),
    Witness(
        "WM-2",
        finished(_BOTH_SIDES, _BOTH_SIDES_ANSWERED, "40: out x@5 x@5 ~10"),
        finished(_BOTH_SIDES, _BOTH_SIDES_ANSWERED, "40: out x@5 ~10 x@5"),
        "Record 'a' @ 5 (input 2) came out before Watermark(timestamp=10) (input 1)",
    ),
    Witness(
        "WM-3",
        finished(_TWO_WATERMARKS, "0: waits, takes 0 1, out ~5"),
        finished(_TWO_WATERMARKS, "0: waits, takes 0 1, out ~5 ~5"),
        "Watermark(timestamp=5) (input 1) never came out",
    ),
    Witness(
        "WM-4",
        finished(_BEHIND_A_RECORD, _CALLED, "40: #0 gives a1, out a1; 80: out ~10"),
        finished(_BEHIND_A_RECORD, _CALLED, "40: #0 gives a1, gets a1; 80: waits, out ~10"),
        "Watermark(timestamp=10) (input 1) is next, but the waiting consumer did not get it",
    ),
    Witness(
        "WM-5",
        finished(_MIXED, "0: waits, takes 0 1", took(0, _IDLE, Watermark(10))),
        finished(_MIXED, "0: waits, takes 0 1", took(0, Watermark(10), _IDLE)),
        "WatermarkStatus(idle=True) (input 1) came out before Watermark(timestamp=10) (input 0) "
        "was out",
    ),
    Witness(
        "WM-6",
        finished(_TWO_STATUSES, "0: waits, takes 0 1", took(0, _IDLE)),
        finished(_TWO_STATUSES, "0: waits, takes 0 1", took(0, _IDLE, _IDLE)),
        "WatermarkStatus(idle=True) (input 1) never came out",
    ),
    Witness(
        "WM-7",
        finished(_STATUS_ALONE, "0: waits, takes 0", took(40, _IDLE)),
        finished(_STATUS_BEHIND_A_RECORD, _CALLED, "40: #0 gives", took(40, _IDLE)),
        "WatermarkStatus(idle=True) (input 0) is next, but the waiting consumer did not get it",
    ),
)

_THREE = Scenario(inputs=at(0, Watermark(5), Watermark(5), Watermark(7)))
_AROUND = Scenario(mode="unordered", inputs=at(0, Record("a"), Watermark(5), Record("b")))
_GIVEN = "0: waits, takes 0 1 2, calls a b, #0 gives a, #1 gives b"

NEAR_MISSES: tuple[NearMiss, ...] = (
    # That the watermark might have come later is no excuse.
    NearMiss(
        "WM-2",
        one_leg(_AROUND, ends("crashed", 40), _GIVEN, "0: out a b"),
        "Record 'b' (input 2) came out before Watermark(timestamp=5) (input 1)",
        also="WM-4",
    ),
    # Being decided is not enough: its results have to be out.
    NearMiss(
        "WM-1",
        finished(_AROUND, _GIVEN, "0: out ~5 a b"),
        "Watermark(timestamp=5) (input 1) came out before Record 'a' (input 0) was out",
    ),
    # A leg need not come to its end for that.
    NearMiss(
        "WM-3",
        one_leg(_THREE, ends("crashed", 40), "0: waits, takes 0 1 2, out ~5 ~7"),
        "expected Watermark(timestamp=5) (input 1), got Watermark(timestamp=7)",
        also="WM-4",
    ),
    # A watermark that was not read is none to pass on.
    NearMiss(
        "WM-3",
        finished(_THREE, "0: waits, takes 0, out ~5 ~6"),
        "Watermark(timestamp=6) came out once more than it went in",
    ),
    # Statuses and watermarks are fences for each other, in both directions.
    NearMiss(
        "WM-5",
        finished(
            Scenario(inputs=at(0, _IDLE, Watermark(5))),
            "0: waits, takes 0 1, out ~5",
            took(0, _IDLE),
        ),
        "Watermark(timestamp=5) (input 1) came out before WatermarkStatus(idle=True) (input 0)",
    ),
    # Behind the status stand a record that is not out and a watermark that is.
    NearMiss(
        "WM-5",
        one_leg(
            Scenario(mode="unordered", inputs=at(0, _IDLE, Record("a"), Watermark(5))),
            ends("crashed", 40),
            "0: waits, takes 0 1 2, out ~5",
            took(0, _IDLE),
        ),
        "Watermark(timestamp=5) (input 2) came out before WatermarkStatus(idle=True) (input 0)",
        also="CAP-4 WM-1",
    ),
)
