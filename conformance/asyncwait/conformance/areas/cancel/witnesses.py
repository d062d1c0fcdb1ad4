"""CANCEL: a run that breaks each rule, and one that is close to it and legal."""

from asyncwait.conformance.evidence import Events, Run, Witness, at, finished, never
from asyncwait.spec import Record
from asyncwait.spec.scenario import Misuse, MisuseKind, Scenario

_LATE = Scenario(
    plans=(never("a", "a?"),), timeout=40, handled=True, inputs=at(0, Record("a")), unshielded=True
)


def _found(ms: float, what: MisuseKind, detail: str) -> Events:
    return (Misuse(ms, what, detail),)


def _late(begins: Events = (), ends: Events = ()) -> Run:
    """Return a run of one record, with what is found as its call begins, and as it is cancelled."""
    return finished(
        _LATE, "0: waits, takes 0, calls a", begins, "40: #0 cancelled", ends, "40: asks a, out a?"
    )


_AGAIN = "call 0 was cancelled again"
_TWICE = "the task of call 0 counts 2 cancellations"
_LIMIT = "call 0 sees that it has 0.04 s left"

WITNESSES: tuple[Witness, ...] = (
    Witness("CANCEL-1", _late(ends=_found(40, "cancelled-otherwise", _AGAIN)), _late(), _AGAIN),
    Witness("CANCEL-2", _late(ends=_found(40, "task-of-others", _TWICE)), _late(), _TWICE),
    Witness("CANCEL-3", _late(begins=_found(0, "scope-seen", _LIMIT)), _late(), _LIMIT),
)
