"""HOLD: runs that break a rule about room for finished results, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    finished,
    never,
    one_leg,
    replies,
)
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import Scenario

A, B, C, D = (Record(value) for value in "abcd")
_PLANS = (replies("a", 200, "a1"), *(replies(value, 40, f"{value}1") for value in "bcd"))
_TWO = Scenario(capacity=2, max_held=1, inputs=at(0, A, B, C, D), plans=_PLANS)
_SAVED = Scenario(capacity=2, max_held=1, inputs=at(0, A, B) + at(80, Barrier(1)), plans=_PLANS)

_BEGINS = "0: waits, takes 0 1, calls a b"
_TOGETHER = "0: waits, takes 0 1 2, calls a b; 40: #1 gives b1"
_C_IS_CALLED = "40: calls c; 80: #2 gives c1"
_ENDS = "200: #0 gives a1, out a1 b1"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "HOLD-1",
        violating=finished(
            _TWO,
            _TOGETHER,
            _ENDS,
            "200: takes 3, calls c d; 240: #2 gives c1, #3 gives d1, out c1 d1",
        ),
        legal=finished(
            _TWO,
            _TOGETHER,
            _C_IS_CALLED,
            "80: takes 3",
            _ENDS,
            "200: out c1, calls d; 240: #3 gives d1, out d1",
        ),
        text="Record 'c' (input 2) is not called, only finished ones are in its way",
    ),
    Witness(
        "HOLD-2",
        violating=one_leg(_TWO, ends("left", 60), _TOGETHER, "40: takes 3, calls c d, end"),
        legal=one_leg(_TWO, ends("left", 60), _TOGETHER, "40: takes 3, calls c"),
        text="3 undecided calls and 1 finished, capacity 2",
    ),
    Witness(
        "HOLD-3",
        violating=one_leg(
            _TWO, ends("left", 100), _TOGETHER, "40: takes 3", _C_IS_CALLED, "80: calls d"
        ),
        legal=one_leg(_TWO, ends("left", 100), _TOGETHER, "40: takes 3", _C_IS_CALLED),
        text="2 undecided and 2 finished, capacity 2 and 1 held",
    ),
    Witness(
        "HOLD-4",
        violating=one_leg(_TWO, ends("left", 20), "0: waits, takes 0 1 2 3, calls a b"),
        legal=one_leg(_TWO, ends("left", 20), "0: waits, takes 0 1 2, calls a b"),
        text="Record 'd' (input 3) was taken though Record 'c' (input 2) waits for room",
    ),
    Witness(
        "HOLD-5",
        violating=finished(_SAVED, _BEGINS, "40: #1 gives b1; 80: takes 2, out |1(a)", _ENDS),
        legal=finished(_SAVED, _BEGINS, "40: #1 gives b1; 80: takes 2, out |1(a+b)", _ENDS),
        text="Record 'b' is finished and not in the snapshot",
    ),
)

_RESTORED = Scenario(
    capacity=1, max_held=1, inputs=at(0, C, D), plans=(never("a"),), restore=Snapshot(1, (A, B))
)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # What is read ahead behind what was restored waits for room; a second is too much.
    NearMiss(
        "HOLD-4", one_leg(_RESTORED, ends("left", 20), "0: waits, calls a, takes 0"), applies=False
    ),
    NearMiss(
        "HOLD-4",
        one_leg(_RESTORED, ends("left", 20), "0: waits, calls a, takes 0 1"),
        "Record 'd' (input 1) was taken though Record 'b' (restored) waits for room",
        also="CAP-3",
    ),
)
