"""ORD: witnesses of the order of results, and of calls."""

from asyncwait.conformance.evidence import NearMiss, Witness, at, ends, finished, one_leg, replies
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import CallStarted, PlannedRetry, Scenario, SinkStep

_SLOW_HEAD = Scenario(
    inputs=at(0, Record("a"), Record("b")), plans=(replies("a", 80, "a1"), replies("b", 40, "b1"))
)
_SLOW_HEAD_ANSWERED = "0: waits, takes 0 1, calls a b; 40: #1 gives b1; 80: #0 gives a1"
_ONE = Scenario(
    inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), sink=(SinkStep("pause", 80),)
)
_ONE_ANSWERED = "0: takes 0, calls a; 40: #0 gives a1"
_UNORDERED = Scenario(mode="unordered", inputs=_SLOW_HEAD.inputs, plans=_SLOW_HEAD.plans)
_DIVIDED = Scenario(
    mode="unordered", inputs=at(0, Record("a"), Watermark(5), Record("b")), plans=_SLOW_HEAD.plans
)
_EQUAL = Scenario(inputs=at(0, Record("a"), Record("a")), plans=(replies("a", 40, "a1"),))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "ORD-1",
        finished(_SLOW_HEAD, _SLOW_HEAD_ANSWERED, "80: out b1 a1"),
        finished(_SLOW_HEAD, _SLOW_HEAD_ANSWERED, "80: out a1 b1"),
        "results of Record 'a' (input 0) came after those of Record 'b' (input 1)",
    ),
    Witness(
        "ORD-2",
        finished(_ONE, "0: waits", _ONE_ANSWERED, "80: out a1"),
        finished(_ONE, _ONE_ANSWERED, "80: waits, out a1"),
        "Record 'a' (input 0) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "ORD-3",
        finished(_UNORDERED, _SLOW_HEAD_ANSWERED, "80: out b1 a1"),
        finished(
            _DIVIDED,
            "0: waits, takes 0 1 2, calls a b; 40: #1 gives b1; 80: #0 gives a1",
            "80: out a1 ~5 b1",
        ),
        "Record 'b' (input 1) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "ORD-4",
        finished(
            _UNORDERED,
            "0: waits, takes 0 1, calls b a; 40: #0 gives b1, out b1; 80: #1 gives a1",
            "80: out a1",
        ),
        finished(
            _UNORDERED,
            "0: waits, takes 0 1, calls a b; 40: #1 gives b1, out b1; 80: #0 gives a1",
            "80: out a1",
        ),
        "Record 'b' (input 1) was called before Record 'a' (input 0)",
    ),
    Witness(
        "ORD-5",
        finished(_EQUAL, "0: waits, takes 0 1, calls a; 40: #0 gives a1, out a1 a1"),
        finished(_EQUAL, "0: waits, takes 0 1, calls a a; 40: #0 gives a1, #1 gives a1, out a1 a1"),
        "Record 'a' (input 1) was never called",
    ),
)

_TWO = Scenario(inputs=at(0, Record("a"), Record("b")))

NEAR_MISSES: tuple[NearMiss, ...] = (
    # A call in front of one that never starts is out of order, in an unfinished leg too.
    NearMiss(
        "ORD-4",
        one_leg(_TWO, ends("crashed", 40), "0: takes 0 1, calls b"),
        "Record 'b' (input 1) was called before Record 'a' (input 0)",
        also="CAP-3",
    ),
    # The last records of a leg may wait for their calls for ever.
    NearMiss("ORD-4", one_leg(_TWO, ends("crashed", 40), "0: takes 0 1, calls a"), applies=False),
    # There are two calls of a, and one record a.
    NearMiss(
        "ORD-5",
        finished(
            _TWO, "0: waits, takes 0 1, calls a a b, #0 gives a, #1 gives a, #2 gives b, out a b"
        ),
        "call 1 of 'a' belongs to no record",
    ),
    # The second call is told to be for a record beyond the last.
    NearMiss(
        "ORD-5",
        one_leg(
            Scenario(
                retry=PlannedRetry(), inputs=at(0, Record("a")), plans=(replies("a", 0, "a1"),)
            ),
            ends("finished", 0),
            "0: waits, takes 0",
            (CallStarted(0, 0, "a", 0),),
            "0: #0 gives a1",
            (CallStarted(0, 1, "a", 1),),
            "0: out a1, end",
        ),
        "call 1 of 'a' belongs to no record",
    ),
)
