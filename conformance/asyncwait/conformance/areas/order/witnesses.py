"""ORD: witnesses of the order of results, and of calls."""

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
from asyncwait.spec import Record, Watermark
from asyncwait.spec.scenario import Scenario, SinkStep

_SLOW_HEAD = Scenario(
    inputs=at(0, Record("a"), Record("b")),
    plans=(replies("a", 80, "a1"), replies("b", 40, "b1")),
)
_SLOW_HEAD_ANSWERED = (
    waits(0),
    taken(0, 0, 1),
    called(0, "a", "b"),
    answered(40, 1, "b1"),
    answered(80, 0, "a1"),
)
_ONE = Scenario(
    inputs=at(0, Record("a")), plans=(replies("a", 40, "a1"),), sink=(SinkStep("pause", 80),)
)
_ONE_ANSWERED = (taken(0, 0), called(0, "a"), answered(40, 0, "a1"))
_UNORDERED = Scenario(mode="unordered", inputs=_SLOW_HEAD.inputs, plans=_SLOW_HEAD.plans)
_DIVIDED = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Watermark(5), Record("b")),
    plans=_SLOW_HEAD.plans,
)
_EQUAL = Scenario(inputs=at(0, Record("a"), Record("a")), plans=(replies("a", 40, "a1"),))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "ORD-1",
        finished(_SLOW_HEAD, *_SLOW_HEAD_ANSWERED, took(80, Record("b1"), Record("a1"))),
        finished(_SLOW_HEAD, *_SLOW_HEAD_ANSWERED, took(80, Record("a1"), Record("b1"))),
        "results of Record 'a' (input 0) came after those of Record 'b' (input 1)",
    ),
    Witness(
        "ORD-2",
        finished(_ONE, waits(0), *_ONE_ANSWERED, took(80, Record("a1"))),
        finished(_ONE, *_ONE_ANSWERED, waits(80), took(80, Record("a1"))),
        "Record 'a' (input 0) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "ORD-3",
        finished(_UNORDERED, *_SLOW_HEAD_ANSWERED, took(80, Record("b1"), Record("a1"))),
        finished(
            _DIVIDED,
            waits(0),
            taken(0, 0, 1, 2),
            called(0, "a", "b"),
            answered(40, 1, "b1"),
            answered(80, 0, "a1"),
            took(80, Record("a1"), Watermark(5), Record("b1")),
        ),
        "Record 'b' (input 1) is decided, but the waiting consumer did not get it",
    ),
    Witness(
        "ORD-4",
        finished(
            _UNORDERED,
            waits(0),
            taken(0, 0, 1),
            called(0, "b", "a"),
            answered(40, 0, "b1"),
            took(40, Record("b1")),
            answered(80, 1, "a1"),
            took(80, Record("a1")),
        ),
        finished(
            _UNORDERED,
            waits(0),
            taken(0, 0, 1),
            called(0, "a", "b"),
            answered(40, 1, "b1"),
            took(40, Record("b1")),
            answered(80, 0, "a1"),
            took(80, Record("a1")),
        ),
        "Record 'b' (input 1) was called before Record 'a' (input 0)",
    ),
    Witness(
        "ORD-5",
        finished(
            _EQUAL,
            waits(0),
            taken(0, 0, 1),
            called(0, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1"), Record("a1")),
        ),
        finished(
            _EQUAL,
            waits(0),
            taken(0, 0, 1),
            called(0, "a", "a"),
            answered(40, 0, "a1"),
            answered(40, 1, "a1"),
            took(40, Record("a1"), Record("a1")),
        ),
        "Record 'a' (input 1) was never called",
    ),
)
