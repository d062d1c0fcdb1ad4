"""KEY: runs that break a rule about order by key, and their legal neighbours."""

from typing import Any

from asyncwait.conformance.evidence import (
    Witness,
    at,
    ends,
    fails,
    finished,
    never,
    one_leg,
    replies,
    took,
)
from asyncwait.spec import Barrier, Record, Watermark
from asyncwait.spec.scenario import PlannedRetry, Scenario

A, B, C = Record("a", key="x"), Record("b", key="x"), Record("c", key="y")
_PLANS = tuple(replies(value, 40, f"{value}1") for value in "abc")


def _keyed(*inputs: Any, **fields: Any) -> Scenario:
    return Scenario("key-ordered", **{"inputs": at(0, *inputs), "plans": _PLANS, **fields})


_SAME = _keyed(A, B)
_THREE = _keyed(A, B, C)
_FENCED = _keyed(A, Watermark(1), C)
_ROOM = _keyed(A, B, *(Record(value, key="x") for value in "de"), capacity=1)
_LATE = _keyed(A, B, plans=(never("a", "a?"), replies("b", 40, "b1")), timeout=80, handled=True)
_RETRY = _keyed(A, B, plans=(fails("a", 1, "a1"), _PLANS[1]), retry=PlannedRetry(initial=40))
_SAVED = _keyed(A, B, Barrier(1))
_TRACKED = _keyed(A, B, tracked=True)
_ONE, _TRUE = Record("a", key=1), Record("b", key=True)
_MIXED = _keyed(_ONE, _TRUE)

_BEGINS = "0: waits, takes 0 1, calls a"
_A_OUT = "40: #0 gives a1, out a1/x"
_B_AFTER_A = "40: calls b; 80: #1 gives b1, out b1/x"
_ONE_BY_ONE = (
    "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1/x, calls b; 80: #1 gives b1, out b1/x"
)
_BOTH_AT_ONCE = "0: waits, takes 0 1, calls a b"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "KEY-1",
        violating=finished(_SAME, _BOTH_AT_ONCE, _A_OUT, "40: #1 gives b1, out b1/x"),
        legal=finished(_SAME, _ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) is "
        "undecided",
    ),
    Witness(
        "KEY-2",
        violating=finished(
            _SAME, _BEGINS, "40: #0 gives a1, calls b; 80: #1 gives b1, out b1/x a1/x"
        ),
        legal=finished(_SAME, _ONE_BY_ONE),
        text="results of Record 'a' (key 'x') (input 0) came after those of Record 'b' (key 'x') "
        "(input 1)",
    ),
    Witness(
        "KEY-3",
        violating=finished(
            _keyed(A, C, plans=(replies("a", 80, "a1"), _PLANS[2])),
            "0: waits, takes 0 1, calls a c; 40: #1 gives c1; 80: #0 gives a1",
            "80: out a1/x c1/y",
        ),
        legal=finished(
            _keyed(A, C, plans=(replies("a", 80, "a1"), _PLANS[2])),
            "0: waits, takes 0 1, calls a c; 40: #1 gives c1, out c1/y; 80: #0 gives a1",
            "80: out a1/x",
        ),
        text="Record 'c' (key 'y') (input 1) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "KEY-4",
        violating=finished(
            _SAME,
            "0: waits, takes 0 1, calls b; 40: #0 gives b1, out b1/x, calls a",
            "80: #1 gives a1, out a1/x",
        ),
        legal=finished(_SAME, _ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) was called before Record 'a' (key 'x') (input 0)",
    ),
    Witness(
        "KEY-5",
        violating=finished(_SAME, _BEGINS, _A_OUT, "60: calls b; 100: #1 gives b1, out b1/x"),
        legal=finished(_SAME, _ONE_BY_ONE),
        text="Record 'b' (key 'x') (input 1) is not called, though Record 'a' (key 'x') (input 0) "
        "is decided",
    ),
    Witness(
        "KEY-6",
        violating=finished(
            _THREE,
            "0: waits, takes 0 1 2, calls a",
            _A_OUT,
            _B_AFTER_A,
            "80: calls c; 120: #2 gives c1, out c1/y",
        ),
        legal=finished(
            _THREE,
            "0: waits, takes 0 1 2, calls a c",
            _A_OUT,
            "40: #1 gives c1, out c1/y, calls b; 80: #2 gives b1, out b1/x",
        ),
        text="Record 'c' (key 'y') (input 2) is not called, only other keys are busy",
    ),
    Witness(
        "KEY-7",
        violating=finished(
            _FENCED,
            "0: waits, takes 0 1 2, calls a",
            _A_OUT,
            "40: out ~1, calls c; 80: #1 gives c1, out c1/y",
        ),
        legal=finished(
            _FENCED, "0: waits, takes 0 1 2, calls a c", _A_OUT, "40: #1 gives c1, out ~1 c1/y"
        ),
        text="Record 'c' (key 'y') (input 2) is not called, only Watermark(timestamp=1) (input 1) "
        "is before it",
    ),
    Witness(
        "KEY-8",
        violating=finished(
            _MIXED,
            _BOTH_AT_ONCE,
            "40: #0 gives a1",
            took(40, Record("a1", key=1)),
            "40: #1 gives b1",
            took(40, Record("b1", key=True)),
        ),
        legal=finished(
            _MIXED,
            _BEGINS,
            "40: #0 gives a1",
            took(40, Record("a1", key=1)),
            "40: calls b; 80: #1 gives b1",
            took(80, Record("b1", key=True)),
        ),
        text="Record 'b' (key True) (input 1) was called while Record 'a' (key 1) (input 0) is "
        "undecided",
    ),
    Witness(
        "KEY-9",
        violating=one_leg(_ROOM, ends("left", 20), "0: waits, takes 0 1 2, calls a"),
        legal=one_leg(_ROOM, ends("left", 20), _BEGINS),
        text="3 records are inside, capacity 1",
    ),
    Witness(
        "KEY-10",
        violating=finished(
            _LATE, _BEGINS, "80: #0 cancelled, asks a, out a?/x, calls b; 100: asks b, #1 cancelled"
        ),
        legal=finished(
            _LATE,
            _BEGINS,
            "80: #0 cancelled, asks a, out a?/x, calls b; 120: #1 gives b1, out b1/x",
        ),
        text="Record 'b' (key 'x') (input 1) timed out before its time since its call",
    ),
    Witness(
        "KEY-11",
        violating=finished(
            _RETRY,
            _BEGINS,
            "0: #0 raises, calls b; 40: calls a, #2 gives a1, out a1/x, #1 gives b1",
            "40: out b1/x",
        ),
        legal=finished(
            _RETRY,
            _BEGINS,
            "0: #0 raises; 40: calls a, #1 gives a1, out a1/x, calls b; 80: #2 gives b1",
            "80: out b1/x",
        ),
        text="Record 'b' (key 'x') (input 1) was called while Record 'a' (key 'x') (input 0) backs "
        "off",
    ),
    Witness(
        "KEY-12",
        violating=finished(
            _SAVED, "0: waits, takes 0 1 2, calls a, out |1(a/x)", _A_OUT, _B_AFTER_A
        ),
        legal=finished(
            _SAVED, "0: waits, takes 0 1 2, calls a, out |1(a/x+b/x)", _A_OUT, _B_AFTER_A
        ),
        text="Record 'b' (key 'x') waits for its key and is not in the snapshot",
    ),
    Witness(
        "KEY-13",
        violating=one_leg(_TRACKED, ends("finished", 80), _ONE_BY_ONE, "80: end", kept_keys=70),
        legal=one_leg(_TRACKED, ends("finished", 80), _ONE_BY_ONE, "80: end", kept_keys=2),
        text="70 keys are kept of a stream of 2",
    ),
)
