"""RES: witnesses of what calls give."""

import msgspec

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    failed,
    finished,
    one_leg,
    replies,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Handler, Misuse, Plan, Scenario, Step

_SUPPLIED = Scenario(
    form="callback",
    inputs=at(0, Record("a")),
    plans=(Plan("a", (Step(after=40, results=("a1",), supplied=True, thread=True),)),),
)
_SEVERAL = Scenario(
    inputs=at(0, Record("a"), Record("b")), plans=(replies("a", 40, "x", "x"), replies("b", 40))
)
_TWO_CALLED = "0: waits, takes 0 1, calls a b"
_SILENT_HEAD = Scenario(
    inputs=at(0, Record("a"), Record("b")),
    plans=(replies("a", 80), replies("b", 40, "b1")),
    source_ends_at=120,
)
_REUSED = msgspec.structs.replace(_SILENT_HEAD, reuses=True)
_NO_COLLECTIONS = Scenario(
    inputs=at(0, Record("a"), Record("b")),
    plans=tuple(Plan(value, (Step("misreturn", 40, error="none"),)) for value in "ab"),
)
_NO_COLLECTION_GIVEN = "40: #0 misreturns, #1 misreturns"


def _completed_twice(result: str) -> Scenario:
    step = Step(after=40, results=(result,), twice=True)
    return Scenario(form="callback", inputs=at(0, Record("a")), plans=(Plan("a", (step,)),))


_FROM_A_THREAD = (
    replies("a", 80, "a1"),
    Plan("b", (Step(after=40, results=("b1",), thread=True),)),
)
_THREAD_UNORDERED = Scenario(
    mode="unordered", form="callback", inputs=at(0, Record("a"), Record("b")), plans=_FROM_A_THREAD
)
_THREAD_ORDERED = Scenario(
    form="callback", inputs=at(0, Record("a"), Record("b")), plans=_FROM_A_THREAD
)
_BROKEN = Scenario(
    mode="unordered",
    inputs=at(0, Record("a"), Record("b")),
    plans=(Plan("a", (Step("misreturn", 40, error="broken"),)), replies("b", 40, "x")),
)

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "RES-1",
        finished(_SEVERAL, _TWO_CALLED, "40: #0 gives x x, #1 gives, out x"),
        finished(_SEVERAL, _TWO_CALLED, "40: #0 gives x x, #1 gives, out x x"),
        "Record 'a' (input 0): 'x' never came out",
    ),
    Witness(
        "RES-2",
        finished(_SILENT_HEAD, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives; 120: out b1"),
        finished(_SILENT_HEAD, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives, out b1", at=120),
        "Record 'b' (input 1) is held up behind Record 'a' (input 0), which has no results",
    ),
    Witness(
        "RES-3",
        finished(_NO_COLLECTIONS, _TWO_CALLED, _NO_COLLECTION_GIVEN),
        failed(
            _NO_COLLECTIONS,
            _TWO_CALLED,
            _NO_COLLECTION_GIVEN,
            error="InvalidResult",
            record=Record("b"),
        ),
        "expected InvalidResult for Record 'a', and the stream just ended",
    ),
    Witness(
        "RES-4",
        finished(_completed_twice("a1"), "0: waits, takes 0, calls a; 40: #0 gives a1, out again"),
        finished(
            _completed_twice("again"), "0: waits, takes 0, calls a; 40: #0 gives again, out again"
        ),
        "a second completion came out: Record 'again'",
    ),
    Witness(
        "RES-5",
        finished(_THREAD_UNORDERED, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives a1, out a1 b1"),
        finished(_THREAD_ORDERED, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives a1, out a1 b1"),
        "Record 'b' (input 1): its answer from a thread was not noticed",
    ),
    Witness(
        "RES-6",
        failed(
            _BROKEN,
            _TWO_CALLED,
            "40: #1 gives x, #0 misreturns, out x x",
            error="CallFailed",
            record=Record("a"),
            cause="Planned",
        ),
        failed(
            _BROKEN,
            _TWO_CALLED,
            "40: #1 gives x, #0 misreturns, out x",
            error="CallFailed",
            record=Record("a"),
            cause="Planned",
        ),
        "Record 'x' came out of a collection that broke",
    ),
    Witness(
        "RES-7",
        violating=finished(
            _SUPPLIED,
            "0: waits, takes 0, calls a; 40: #0 gives a1",
            (Misuse(40, "supplier-thread", "the supplier of call 0"),),
            "40: out a1",
        ),
        legal=finished(_SUPPLIED, "0: waits, takes 0, calls a; 40: #0 gives a1, out a1"),
        text="the supplier of call 0 was asked on another thread",
    ),
    Witness(
        "RES-8",
        violating=finished(
            _SUPPLIED,
            "0: waits, takes 0, calls a; 40: #0 gives a1",
            (Misuse(40, "read-twice", "the results of call 0"),),
            "40: out a1",
        ),
        legal=finished(_SUPPLIED, "0: waits, takes 0, calls a; 40: #0 gives a1, out a1"),
        text="the results of call 0 were read a second time",
    ),
    Witness(
        "RES-9",
        violating=finished(
            _REUSED, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives, out reused", at=120
        ),
        legal=finished(_REUSED, _TWO_CALLED, "40: #1 gives b1; 80: #0 gives, out b1", at=120),
        text="Record 'reused' came out: a list of results was read too late",
    ),
)

A, B = Record("a"), Record("b")
_TEXT = Scenario(inputs=at(0, A, B), plans=(Plan("a", (Step("misreturn", error="text"),)),))
_TEXT_GIVEN = "0: waits, takes 0 1, calls a, #0 misreturns"
_TWICE = Scenario(
    form="callback",
    inputs=at(0, A, A),
    plans=(Plan("a", (Step(twice=True, results=("a1",)), Step("raise", error="ValueError"))),),
)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # The record behind a silent one is not called though there is room.
    NearMiss(
        "RES-2",
        one_leg(
            Scenario(capacity=1, inputs=at(0, A, B), plans=(replies("a", 40),)),
            ends("hung", 400),
            "0: waits, takes 0 1, calls a; 40: #0 gives",
        ),
        "Record 'b' (input 1) is held up behind Record 'a' (input 0), which has no results",
        also="CAP-4 END-8",
    ),
    NearMiss(
        "RES-3",
        failed(_TEXT, _TEXT_GIVEN, error="CallFailed", record=A, detail="the call failed"),
        "expected InvalidResult, got CallFailed: the call failed",
        also="FAIL-10",
    ),
    NearMiss(
        "RES-3",
        failed(_TEXT, _TEXT_GIVEN, error="InvalidResult", record=B),
        "expected the record Record 'a' in the error, got Record 'b'",
    ),
    # The first completion has decided it, so nothing can be wrong with it any more.
    NearMiss(
        "RES-4",
        failed(_TWICE, "0: waits, takes 0, calls a, #0 gives a1", error="CallFailed", record=A),
        "a second completion failed Record 'a' (input 0)",
        also="FAIL-10 FAIL-8",
    ),
    # The error names a record; which of two equal ones it was, it can't tell.
    NearMiss(
        "RES-4",
        failed(
            _TWICE,
            "0: waits, takes 0 1, calls a, #0 gives a1, calls a, #1 raises",
            error="CallFailed",
            record=A,
        ),
        also="FAIL-10",
    ),
    # What a broken collection of a timeout handler gave first must not come out either.
    NearMiss(
        "RES-6",
        failed(
            Scenario(
                timeout=40,
                inputs=at(0, A),
                plans=(Plan("a", (Step("never"),), Handler("misreturn", error="broken")),),
                handled=True,
            ),
            "0: waits, takes 0, calls a; 40: asks a, #0 cancelled, out x",
            error="CallFailed",
            record=A,
        ),
        "Record 'x' came out of a collection that broke",
        also="ELEM-3 FAIL-10",
    ),
)
