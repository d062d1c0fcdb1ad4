"""COPY: runs in which values are shared, and their legal neighbours."""

from asyncwait.conformance.evidence import Witness, at, failed, finished, never, replies
from asyncwait.spec import Barrier, Record
from asyncwait.spec.scenario import Event, Misuse, MisuseKind, Plan, Scenario

A = Record("a")
_PLAN = replies("a", 40, "a1")
_ONE = Scenario(copies=True, inputs=at(0, A), plans=(_PLAN,))
_SAVED = Scenario(copies=True, inputs=at(0, A) + at(20, Barrier(1)), plans=(_PLAN,))
_DUE = Scenario(copies=True, inputs=at(0, A), timeout=40, handled=True, plans=(never("a", "late"),))
_UNCOPIED = Scenario(copies=True, inputs=at(0, A), plans=(Plan("a", uncopied=True),))


def _shared(ms: float, what: MisuseKind, detail: str) -> tuple[Event, ...]:
    return (Misuse(ms, what, detail),)


_BEGINS = "0: waits, takes 0"
_CALLED = "0: waits, takes 0, calls a"
_ENDS = "40: #0 gives a1, out a1"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "COPY-1",
        violating=finished(
            _ONE, _BEGINS, _shared(0, "call-shares", "'a' is given"), "0: calls a", _ENDS
        ),
        legal=finished(_ONE, _CALLED, _ENDS),
        text="'a' is given",
    ),
    Witness(
        "COPY-2",
        violating=finished(
            _SAVED,
            _CALLED,
            "20: takes 1",
            _shared(20, "spoiled", "a snapshot holds 'a'"),
            "20: out |1(a)",
            _ENDS,
        ),
        legal=finished(_SAVED, _CALLED, "20: takes 1, out |1(a)", _ENDS),
        text="a snapshot holds 'a'",
    ),
    Witness(
        "COPY-3",
        violating=finished(
            _DUE,
            _CALLED,
            _shared(40, "handler-shares", "'a' is given"),
            "40: asks a, #0 cancelled, out late",
        ),
        legal=finished(_DUE, _CALLED, "40: asks a, #0 cancelled, out late"),
        text="'a' is given",
    ),
    Witness(
        "COPY-4",
        violating=failed(_UNCOPIED, _CALLED, "0: #0 raises", error="Planned"),
        legal=failed(
            _UNCOPIED, _CALLED, "0: #0 raises", error="CallFailed", record=A, cause="Planned"
        ),
        text="expected CallFailed, got Planned: ",
    ),
)
