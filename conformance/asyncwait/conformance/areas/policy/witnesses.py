"""POLICY: runs that break a rule about failure handlers, and their legal neighbours."""

from msgspec.structs import replace

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    asked,
    at,
    called,
    cancelled,
    failed,
    fails,
    failure_asked,
    finished,
    misreturned,
    never,
    raised,
    raises,
    replies,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, Step

A, INSTEAD = Record("a"), Record("a?")
_REPLY = Handler("reply", ("a?",))


def _of(plan: Plan, handler: Handler = _REPLY, **fields: object) -> Scenario:
    """Return a scenario in which one record comes in, whose failure is handled so."""
    plans = (replace(plan, failure=handler),)
    return Scenario(inputs=at(0, A), plans=plans, failures_handled=True, **fields)  # type: ignore[arg-type]


_RAISES = _of(raises("a", 40))
_LEFT_ALONE = _of(raises("a", 40), Handler("none"))
_BREAKS = _of(raises("a", 40), Handler("raise", error="StopIteration"))
_GIVES_TEXT = _of(raises("a", 40), Handler("misreturn", error="text"))
_ANSWERED = _of(replies("a", 40, "a1"))
_GIVES_NOTHING = _of(Plan("a", (Step("misreturn", 40, error="none"),)))
_LATE = _of(never("a"), timeout=80, handled=True)
_AGAIN = _of(fails("a", 1, "a1", after=40), retry=PlannedRetry())
_TWICE = _of(raises("a", 40), retry=PlannedRetry(max_attempts=2))

_BEGINS = (waits(0), taken(0, 0), called(0, "a"))
_FAILS = (*_BEGINS, raised(40, 0))
_ASKED = failure_asked(40, "a", "CallFailed", "ValueError")
_ENDS = (called(80, "a", first=1), answered(80, 1, "a1"), took(80, Record("a1")))
_HANDLED = finished(_RAISES, *_FAILS, _ASKED, took(40, INSTEAD))

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "POLICY-1",
        violating=finished(_RAISES, *_FAILS, _ASKED, _ASKED, took(40, INSTEAD)),
        legal=_HANDLED,
        text="the failure handler was asked about Record 'a' (input 0) again",
    ),
    Witness(
        "POLICY-2",
        violating=failed(
            _RAISES, *_FAILS, _ASKED, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=_HANDLED,
        text="Record 'a' (input 0) failed the operator, its failure was handled",
    ),
    Witness(
        "POLICY-3",
        violating=finished(_LEFT_ALONE, *_FAILS, _ASKED),
        legal=failed(
            _LEFT_ALONE,
            *_FAILS,
            _ASKED,
            error="CallFailed",
            record=A,
            cause="ValueError",
            attempts=1,
        ),
        text="Record 'a' (input 0) was not spared by its failure handler, the leg finished",
    ),
    Witness(
        "POLICY-4",
        violating=failed(
            _BREAKS, *_FAILS, _ASKED, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=failed(
            _BREAKS,
            *_FAILS,
            _ASKED,
            error="CallFailed",
            record=A,
            cause="StopIteration",
            attempts=1,
        ),
        text="expected StopIteration as the cause, got ValueError",
    ),
    Witness(
        "POLICY-5",
        violating=finished(
            _ANSWERED, *_BEGINS, answered(40, 0, "a1"), _ASKED, took(40, Record("a1"))
        ),
        legal=finished(_ANSWERED, *_BEGINS, answered(40, 0, "a1"), took(40, Record("a1"))),
        text="the failure handler was asked about Record 'a' (input 0), which had not failed",
    ),
    Witness(
        "POLICY-6",
        violating=finished(_GIVES_TEXT, *_FAILS, _ASKED, took(40, *map(Record, "text"))),
        legal=failed(_GIVES_TEXT, *_FAILS, _ASKED, error="InvalidResult", record=A, attempts=1),
        text="Record 'a' (input 0) was not spared by its failure handler, the leg finished",
    ),
    Witness(
        "POLICY-7",
        violating=finished(_GIVES_NOTHING, *_BEGINS, misreturned(40, 0), _ASKED, took(40, INSTEAD)),
        legal=finished(
            _GIVES_NOTHING,
            *_BEGINS,
            misreturned(40, 0),
            failure_asked(40, "a", "InvalidResult"),
            took(40, INSTEAD),
        ),
        text="Record 'a' (input 0) failed with InvalidResult, the handler got CallFailed",
    ),
    Witness(
        "POLICY-8",
        violating=finished(
            _LATE,
            *_BEGINS,
            failure_asked(80, "a", "CallTimedOut"),
            asked(80, "a"),
            cancelled(80, 0),
            took(80, INSTEAD),
        ),
        legal=finished(
            _LATE,
            *_BEGINS,
            asked(80, "a"),
            failure_asked(80, "a", "CallTimedOut"),
            cancelled(80, 0),
            took(80, INSTEAD),
        ),
        text="Record 'a' (input 0) was late, and the failure handler was asked first",
    ),
    Witness(
        "POLICY-9",
        violating=finished(_AGAIN, *_FAILS, _ASKED, *_ENDS),
        legal=finished(
            _TWICE,
            *_FAILS,
            called(80, "a", first=1),
            raised(120, 1),
            failure_asked(120, "a", "CallFailed", "ValueError", attempts=2),
            took(120, INSTEAD),
        ),
        text="the failure handler was asked about Record 'a' (input 0), and attempts are left",
    ),
)
