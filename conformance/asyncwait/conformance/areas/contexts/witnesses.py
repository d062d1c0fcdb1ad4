"""CTX: a run that breaks each rule, and one that is close to it and legal."""

from asyncwait.conformance.evidence import Events, Run, Witness, at, finished, never, replies
from asyncwait.spec import Record
from asyncwait.spec.scenario import Misuse, MisuseKind, Scenario

A, B = Record("a"), Record("b")
_TWO = Scenario(
    plans=(replies("a", 40, "a1"), replies("b", 80, "b1")), inputs=at(0, A, B), contexts=True
)
_LATE = Scenario(
    plans=(never("a", "a?"),), timeout=40, handled=True, inputs=at(0, A), contexts=True
)


def _found(ms: float, what: MisuseKind, detail: str) -> Events:
    return (Misuse(ms, what, detail),)


def _both(first: Events = (), second: Events = (), read: Events = ()) -> Run:
    """Return a run of two records, with what is found as they are called, and as one is read."""
    return finished(
        _TWO,
        "0: waits, reads, takes 0, calls a",
        first,
        "0: reads, takes 1, calls b",
        second,
        "40: #0 gives a1, out a1",
        read,
        "80: #1 gives b1, out b1",
    )


def _late(found: Events = ()) -> Run:
    return finished(
        _LATE, "0: waits, takes 0, calls a; 40: #0 cancelled, asks a", found, "40: out a?"
    )


_LOST = "call 0 saw what nobody has set"
_SHARED = "call 1 saw what call 0 has set"
_ASKED = "the timeout handler saw what call 0 has set"
_READ = "the consumer saw what call 0 has set"
_GIVEN = "the source saw what call 0 has set"

WITNESSES: tuple[Witness, ...] = (
    Witness("CTX-1", _both(first=_found(0, "context-lost", _LOST)), _both(), _LOST),
    Witness("CTX-2", _both(second=_found(0, "context-of-a-call", _SHARED)), _both(), _SHARED),
    Witness("CTX-3", _late(_found(40, "context-of-a-handler", _ASKED)), _late(), _ASKED),
    Witness("CTX-4", _both(read=_found(40, "context-of-the-consumer", _READ)), _both(), _READ),
    Witness("CTX-5", _both(first=_found(0, "context-of-the-source", _GIVEN)), _both(), _GIVEN),
)
