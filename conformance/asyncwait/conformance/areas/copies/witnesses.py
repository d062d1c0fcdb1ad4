"""COPY: runs in which values are shared, and their legal neighbours."""

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    asked,
    at,
    called,
    cancelled,
    failed,
    finished,
    never,
    raised,
    replies,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, Record, Snapshot
from asyncwait.spec.scenario import Event, Misuse, MisuseKind, Plan, Scenario

A = Record("a")
_PLAN = replies("a", 40, "a1")
_ONE = Scenario(copies=True, inputs=at(0, A), plans=(_PLAN,))
_SAVED = Scenario(copies=True, inputs=at(0, A) + at(20, Barrier(1)), plans=(_PLAN,))
_DUE = Scenario(copies=True, inputs=at(0, A), timeout=40, handled=True, plans=(never("a", "late"),))
_UNCOPIED = Scenario(copies=True, inputs=at(0, A), plans=(Plan("a", uncopied=True),))


def _shared(ms: float, what: MisuseKind, detail: str) -> tuple[Event, ...]:
    return (Misuse(ms, what, detail),)


_BEGINS = (waits(0), taken(0, 0))
_CALLED = (*_BEGINS, called(0, "a"))
_ENDS = (answered(40, 0, "a1"), took(40, Record("a1")))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "COPY-1",
        violating=finished(
            _ONE, *_BEGINS, _shared(0, "call-shares", "'a' is given"), called(0, "a"), *_ENDS
        ),
        legal=finished(_ONE, *_CALLED, *_ENDS),
        text="'a' is given",
    ),
    Witness(
        "COPY-2",
        violating=finished(
            _SAVED,
            *_CALLED,
            taken(20, 1),
            _shared(20, "spoiled", "a snapshot holds 'a'"),
            took(20, Snapshot(1, (A,))),
            *_ENDS,
        ),
        legal=finished(_SAVED, *_CALLED, taken(20, 1), took(20, Snapshot(1, (A,))), *_ENDS),
        text="a snapshot holds 'a'",
    ),
    Witness(
        "COPY-3",
        violating=finished(
            _DUE,
            *_CALLED,
            _shared(40, "handler-shares", "'a' is given"),
            asked(40, "a"),
            cancelled(40, 0),
            took(40, Record("late")),
        ),
        legal=finished(_DUE, *_CALLED, asked(40, "a"), cancelled(40, 0), took(40, Record("late"))),
        text="'a' is given",
    ),
    Witness(
        "COPY-4",
        violating=failed(_UNCOPIED, *_CALLED, raised(0, 0), error="Planned"),
        legal=failed(
            _UNCOPIED, *_CALLED, raised(0, 0), error="CallFailed", record=A, cause="Planned"
        ),
        text="expected CallFailed, got Planned: ",
    ),
)
