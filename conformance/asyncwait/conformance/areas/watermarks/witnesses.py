"""WM: witnesses of watermarks and statuses."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    at,
    called,
    finished,
    replies,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Scenario, SinkStep

_IDLE = WatermarkStatus(True)
_SILENT = Scenario(
    mode="unordered", inputs=at(0, Record("a"), Watermark(10)), plans=(replies("a", 40),)
)
_CALLED = (waits(0), taken(0, 0, 1), called(0, "a"))
_BOTH_SIDES = Scenario(
    mode="unordered",
    inputs=at(0, Record("a", 5), Watermark(10), Record("a", 5)),
    plans=(replies("a", 40, "x"),),
)
_BOTH_SIDES_ANSWERED = (
    waits(0),
    taken(0, 0, 1, 2),
    called(0, "a", "a"),
    answered(40, 0, "x"),
    answered(40, 1, "x"),
)
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
        finished(_SILENT, *_CALLED, took(0, Watermark(10)), answered(40, 0)),
        finished(_SILENT, *_CALLED, answered(40, 0), took(40, Watermark(10))),
        "Watermark(timestamp=10) (input 1) came out while Record 'a' (input 0) was undecided",
    ),
    Witness(
        "WM-2",
        finished(
            _BOTH_SIDES,
            *_BOTH_SIDES_ANSWERED,
            took(40, Record("x", 5), Record("x", 5), Watermark(10)),
        ),
        finished(
            _BOTH_SIDES,
            *_BOTH_SIDES_ANSWERED,
            took(40, Record("x", 5), Watermark(10), Record("x", 5)),
        ),
        "Record 'a' @ 5 (input 2) came out before Watermark(timestamp=10) (input 1)",
    ),
    Witness(
        "WM-3",
        finished(_TWO_WATERMARKS, waits(0), taken(0, 0, 1), took(0, Watermark(5))),
        finished(_TWO_WATERMARKS, waits(0), taken(0, 0, 1), took(0, Watermark(5), Watermark(5))),
        "Watermark(timestamp=5) (input 1) never came out",
    ),
    Witness(
        "WM-4",
        finished(
            _BEHIND_A_RECORD,
            *_CALLED,
            answered(40, 0, "a1"),
            took(40, Record("a1")),
            took(80, Watermark(10)),
        ),
        finished(
            _BEHIND_A_RECORD,
            *_CALLED,
            answered(40, 0, "a1"),
            took(40, Record("a1"))[:1],
            waits(80),
            took(80, Watermark(10)),
        ),
        "Watermark(timestamp=10) (input 1) is next, but the waiting consumer did not get it",
    ),
    Witness(
        "WM-5",
        finished(_MIXED, waits(0), taken(0, 0, 1), took(0, _IDLE, Watermark(10))),
        finished(_MIXED, waits(0), taken(0, 0, 1), took(0, Watermark(10), _IDLE)),
        "WatermarkStatus(idle=True) (input 1) came out before Watermark(timestamp=10) (input 0) "
        "was out",
    ),
    Witness(
        "WM-6",
        finished(_TWO_STATUSES, waits(0), taken(0, 0, 1), took(0, _IDLE)),
        finished(_TWO_STATUSES, waits(0), taken(0, 0, 1), took(0, _IDLE, _IDLE)),
        "WatermarkStatus(idle=True) (input 1) never came out",
    ),
    Witness(
        "WM-7",
        finished(_STATUS_ALONE, waits(0), taken(0, 0), took(40, _IDLE)),
        finished(_STATUS_BEHIND_A_RECORD, *_CALLED, answered(40, 0), took(40, _IDLE)),
        "WatermarkStatus(idle=True) (input 0) is next, but the waiting consumer did not get it",
    ),
)
