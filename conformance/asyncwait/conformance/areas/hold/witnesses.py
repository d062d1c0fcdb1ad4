"""HOLD: runs that break a rule about room for finished results, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    at,
    called,
    ends,
    finished,
    input_ended,
    leg,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import Scenario

A, B, C, D = (Record(value) for value in "abcd")
_PLANS = (replies("a", 200, "a1"), *(replies(value, 40, f"{value}1") for value in "bcd"))
_TWO = Scenario(capacity=2, max_held=1, inputs=at(0, A, B, C, D), plans=_PLANS)
_SAVED = Scenario(capacity=2, max_held=1, inputs=at(0, A, B) + at(80, Barrier(1)), plans=_PLANS)
_A1, _B1, _C1, _D1 = (Record(f"{value}1") for value in "abcd")

_BEGINS = (waits(0), taken(0, 0, 1), called(0, "a", "b"))
_TOGETHER = (waits(0), taken(0, 0, 1, 2), called(0, "a", "b"), answered(40, 1, "b1"))
_C_IS_CALLED = (called(40, "c", first=2), answered(80, 2, "c1"))
_ENDS = (answered(200, 0, "a1"), took(200, _A1, _B1))
_REST = (_C1, _D1)


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "HOLD-1",
        violating=finished(
            _TWO,
            *_TOGETHER,
            *_ENDS,
            taken(200, 3),
            called(200, "c", "d", first=2),
            answered(240, 2, "c1"),
            answered(240, 3, "d1"),
            took(240, *_REST),
        ),
        legal=finished(
            _TWO,
            *_TOGETHER,
            *_C_IS_CALLED,
            taken(80, 3),
            *_ENDS,
            took(200, _C1),
            called(200, "d", first=3),
            answered(240, 3, "d1"),
            took(240, _D1),
        ),
        text="Record 'c' (input 2) is not called, only finished ones are in its way",
    ),
    Witness(
        "HOLD-2",
        violating=run(
            _TWO,
            leg(
                ends("left", 60),
                *_TOGETHER,
                taken(40, 3),
                called(40, "c", "d", first=2),
                input_ended(40),
            ),
        ),
        legal=run(
            _TWO,
            leg(ends("left", 60), *_TOGETHER, taken(40, 3), called(40, "c", first=2)),
        ),
        text="3 undecided calls and 1 finished, capacity 2",
    ),
    Witness(
        "HOLD-3",
        violating=run(
            _TWO,
            leg(
                ends("left", 100),
                *_TOGETHER,
                taken(40, 3),
                *_C_IS_CALLED,
                called(80, "d", first=3),
            ),
        ),
        legal=run(_TWO, leg(ends("left", 100), *_TOGETHER, taken(40, 3), *_C_IS_CALLED)),
        text="2 undecided and 2 finished, capacity 2 and 1 held",
    ),
    Witness(
        "HOLD-4",
        violating=run(_TWO, leg(ends("left", 20), waits(0), taken(0, 0, 1, 2, 3), *_BEGINS[2:])),
        legal=run(_TWO, leg(ends("left", 20), waits(0), taken(0, 0, 1, 2), *_BEGINS[2:])),
        text="Record 'd' (input 3) was taken though Record 'c' (input 2) waits for room",
    ),
    Witness(
        "HOLD-5",
        violating=finished(
            _SAVED,
            *_BEGINS,
            answered(40, 1, "b1"),
            taken(80, 2),
            took(80, Snapshot(1, (A,))),
            *_ENDS,
        ),
        legal=finished(
            _SAVED,
            *_BEGINS,
            answered(40, 1, "b1"),
            taken(80, 2),
            took(80, Snapshot(1, (A, B))),
            *_ENDS,
        ),
        text="Record 'b' is finished and not in the snapshot",
    ),
)
