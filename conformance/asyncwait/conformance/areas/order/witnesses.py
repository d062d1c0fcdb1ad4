"""ORD: witnesses of the order of results, and of calls."""

from asyncwait.conformance.evidence import Witness, at, finished, replies
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Scenario, SinkStep

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
