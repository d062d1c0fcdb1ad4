"""KEY: runs that break a rule about order by key, and their legal neighbours."""

from typing import Any

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    asked,
    at,
    called,
    cancelled,
    ends,
    fails,
    finished,
    input_ended,
    leg,
    never,
    raised,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot, Watermark
from asyncwait.spec.scenario import PlannedRetry, Scenario

A, B, C = Record("a", key="x"), Record("b", key="x"), Record("c", key="y")
_A1, _B1, _C1 = Record("a1", key="x"), Record("b1", key="x"), Record("c1", key="y")
_PLANS = tuple(replies(value, 40, f"{value}1") for value in "abc")


def _keyed(*inputs: Any, **fields: Any) -> Scenario:
    return Scenario("key-ordered", **{"inputs": at(0, *inputs), "plans": _PLANS, **fields})


_SAME, _OTHER = _keyed(A, B), _keyed(A, C)
_THREE = _keyed(A, B, C)
_FENCED = _keyed(A, Watermark(1), C)
_ROOM = _keyed(A, B, *(Record(value, key="x") for value in "de"), capacity=1)
_LATE = _keyed(A, B, plans=(never("a", "a?"), replies("b", 40, "b1")), timeout=80, handled=True)
_RETRY = _keyed(A, B, plans=(fails("a", 1, "a1"), _PLANS[1]), retry=PlannedRetry(initial=40))
_SAVED = _keyed(A, B, Barrier(1))
_TRACKED = _keyed(A, B, tracked=True)
_ONE, _TRUE = Record("a", key=1), Record("b", key=True)
_MIXED = _keyed(_ONE, _TRUE)

_BEGINS = (waits(0), taken(0, 0, 1), called(0, "a"))
_A_OUT = (answered(40, 0, "a1"), took(40, _A1))
_B_AFTER_A = (called(40, "b", first=1), answered(80, 1, "b1"), took(80, _B1))
_ONE_BY_ONE = (*_BEGINS, *_A_OUT, *_B_AFTER_A)
_BOTH_AT_ONCE = (waits(0), taken(0, 0, 1), called(0, "a", "b"))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "KEY-1",
        violating=finished(_SAME, *_BOTH_AT_ONCE, *_A_OUT, answered(40, 1, "b1"), took(40, _B1)),
        legal=finished(_SAME, *_ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) is "
        "undecided",
    ),
    Witness(
        "KEY-2",
        violating=finished(
            _SAME,
            *_BEGINS,
            answered(40, 0, "a1"),
            called(40, "b", first=1),
            answered(80, 1, "b1"),
            took(80, _B1, _A1),
        ),
        legal=finished(_SAME, *_ONE_BY_ONE),
        text="results of Record 'a' (key 'x') (input 0) came after those of Record 'b' (key 'x') "
        "(input 1)",
    ),
    Witness(
        "KEY-3",
        violating=finished(
            _keyed(A, C, plans=(replies("a", 80, "a1"), _PLANS[2])),
            *(waits(0), taken(0, 0, 1), called(0, "a", "c"), answered(40, 1, "c1")),
            *(answered(80, 0, "a1"), took(80, _A1, _C1)),
        ),
        legal=finished(
            _keyed(A, C, plans=(replies("a", 80, "a1"), _PLANS[2])),
            *(waits(0), taken(0, 0, 1), called(0, "a", "c"), answered(40, 1, "c1")),
            *(took(40, _C1), answered(80, 0, "a1"), took(80, _A1)),
        ),
        text="Record 'c' (key 'y') (input 1) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "KEY-4",
        violating=finished(
            _SAME,
            *(waits(0), taken(0, 0, 1), called(0, "b"), answered(40, 0, "b1"), took(40, _B1)),
            *(called(40, "a", first=1), answered(80, 1, "a1"), took(80, _A1)),
        ),
        legal=finished(_SAME, *_ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) was called before Record 'a' (key 'x') (input 0)",
    ),
    Witness(
        "KEY-5",
        violating=finished(
            _SAME,
            *(*_BEGINS, *_A_OUT),
            *(called(60, "b", first=1), answered(100, 1, "b1"), took(100, _B1)),
        ),
        legal=finished(_SAME, *_ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) is not called, though Record 'a' (key 'x') (input 0) "
        "is decided",
    ),
    Witness(
        "KEY-6",
        violating=finished(
            _THREE,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a"), *_A_OUT, *_B_AFTER_A),
            *(called(80, "c", first=2), answered(120, 2, "c1"), took(120, _C1)),
        ),
        legal=finished(
            _THREE,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a"), called(0, "c", first=2), *_A_OUT),
            *(answered(40, 2, "c1"), took(40, _C1), *_B_AFTER_A),
        ),
        text="Record 'c' (key 'y') (input 2) is not called, only other keys are busy",
    ),
    Witness(
        "KEY-7",
        violating=finished(
            _FENCED,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a"), *_A_OUT, took(40, Watermark(1))),
            *(called(40, "c", first=1), answered(80, 1, "c1"), took(80, _C1)),
        ),
        legal=finished(
            _FENCED,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a", "c"), *_A_OUT),
            *(answered(40, 1, "c1"), took(40, Watermark(1), _C1)),
        ),
        text="Record 'c' (key 'y') (input 2) is not called, only Watermark(timestamp=1) (input 1) "
        "is before it",
    ),
    Witness(
        "KEY-8",
        violating=finished(
            _MIXED,
            *(*_BOTH_AT_ONCE, answered(40, 0, "a1"), took(40, Record("a1", key=1))),
            *(answered(40, 1, "b1"), took(40, Record("b1", key=True))),
        ),
        legal=finished(
            _MIXED,
            *(*_BEGINS, answered(40, 0, "a1"), took(40, Record("a1", key=1))),
            *(called(40, "b", first=1), answered(80, 1, "b1"), took(80, Record("b1", key=True))),
        ),
        text="Record 'b' (key True) (input 1) was called while Record 'a' (key 1) (input 0) is "
        "undecided",
    ),
    Witness(
        "KEY-9",
        violating=run(_ROOM, leg(ends("left", 20), waits(0), taken(0, 0, 1, 2), called(0, "a"))),
        legal=run(_ROOM, leg(ends("left", 20), *_BEGINS)),
        text="3 records are inside, capacity 1",
    ),
    Witness(
        "KEY-10",
        violating=finished(
            _LATE,
            *(*_BEGINS, cancelled(80, 0), asked(80, "a"), took(80, Record("a?", key="x"))),
            *(called(80, "b", first=1), asked(100, "b"), cancelled(100, 1)),
        ),
        legal=finished(
            _LATE,
            *(*_BEGINS, cancelled(80, 0), asked(80, "a"), took(80, Record("a?", key="x"))),
            *(called(80, "b", first=1), answered(120, 1, "b1"), took(120, _B1)),
        ),
        text="Record 'b' (key 'x') (input 1) timed out before its time since its call",
    ),
    Witness(
        "KEY-11",
        violating=finished(
            _RETRY,
            *(*_BEGINS, raised(0, 0), called(0, "b", first=1), called(40, "a", first=2)),
            *(answered(40, 2, "a1"), took(40, _A1), answered(40, 1, "b1"), took(40, _B1)),
        ),
        legal=finished(
            _RETRY,
            *(*_BEGINS, raised(0, 0), called(40, "a", first=1), answered(40, 1, "a1")),
            *(took(40, _A1), called(40, "b", first=2), answered(80, 2, "b1"), took(80, _B1)),
        ),
        text="Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) backs "
        "off",
    ),
    Witness(
        "KEY-12",
        violating=finished(
            _SAVED,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a"), took(0, Snapshot(1, (A,)))),
            *(*_A_OUT, *_B_AFTER_A),
        ),
        legal=finished(
            _SAVED,
            *(waits(0), taken(0, 0, 1, 2), called(0, "a"), took(0, Snapshot(1, (A, B)))),
            *(*_A_OUT, *_B_AFTER_A),
        ),
        text="Record 'b' (key 'x') waits for its key and is not in the snapshot",
    ),
    Witness(
        "KEY-13",
        violating=run(
            _TRACKED,
            leg(ends("finished", 80), *_ONE_BY_ONE, input_ended(80), kept_keys=70),
        ),
        legal=run(
            _TRACKED,
            leg(ends("finished", 80), *_ONE_BY_ONE, input_ended(80), kept_keys=2),
        ),
        text="70 keys are kept of a stream of 2",
    ),
)
