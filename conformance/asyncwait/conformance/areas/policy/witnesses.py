"""POLICY: runs that break a rule about failure handlers, and their legal neighbours."""

from msgspec.structs import replace

from asyncwait.conformance.evidence import (
    NearMiss,
    Run,
    Witness,
    at,
    ends,
    failed,
    fails,
    failure_asked,
    finished,
    never,
    one_leg,
    raises,
    replies,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Blocked, Handler, Plan, PlannedRetry, Scenario, Step

A = Record("a")
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

_BEGINS = "0: waits, takes 0, calls a"
_FAILS = "0: waits, takes 0, calls a; 40: #0 raises"
_ASKED = failure_asked(40, "a", "CallFailed", "ValueError")
_ENDS = "80: calls a, #1 gives a1, out a1"
_HANDLED = finished(_RAISES, _FAILS, _ASKED, "40: out a?")

WITNESSES: tuple[Witness, ...] = (
    Witness(
        "POLICY-1",
        violating=finished(_RAISES, _FAILS, _ASKED, _ASKED, "40: out a?"),
        legal=_HANDLED,
        text="the failure handler was asked about Record 'a' (input 0) again",
    ),
    Witness(
        "POLICY-2",
        violating=failed(
            _RAISES, _FAILS, _ASKED, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=_HANDLED,
        text="Record 'a' (input 0) failed the operator, its failure was handled",
    ),
    Witness(
        "POLICY-3",
        violating=finished(_LEFT_ALONE, _FAILS, _ASKED),
        legal=failed(
            _LEFT_ALONE,
            _FAILS,
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
            _BREAKS, _FAILS, _ASKED, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=failed(
            _BREAKS, _FAILS, _ASKED, error="CallFailed", record=A, cause="StopIteration", attempts=1
        ),
        text="expected StopIteration as the cause, got ValueError",
    ),
    Witness(
        "POLICY-5",
        violating=finished(_ANSWERED, _BEGINS, "40: #0 gives a1", _ASKED, "40: out a1"),
        legal=finished(_ANSWERED, _BEGINS, "40: #0 gives a1, out a1"),
        text="the failure handler was asked about Record 'a' (input 0), which had not failed",
    ),
    Witness(
        "POLICY-6",
        violating=finished(_GIVES_TEXT, _FAILS, _ASKED, "40: out t e x t"),
        legal=failed(_GIVES_TEXT, _FAILS, _ASKED, error="InvalidResult", record=A, attempts=1),
        text="Record 'a' (input 0) was not spared by its failure handler, the leg finished",
    ),
    Witness(
        "POLICY-7",
        violating=finished(_GIVES_NOTHING, _BEGINS, "40: #0 misreturns", _ASKED, "40: out a?"),
        legal=finished(
            _GIVES_NOTHING,
            _BEGINS,
            "40: #0 misreturns",
            failure_asked(40, "a", "InvalidResult"),
            "40: out a?",
        ),
        text="Record 'a' (input 0) failed with InvalidResult, the handler got CallFailed",
    ),
    Witness(
        "POLICY-8",
        violating=finished(
            _LATE,
            _BEGINS,
            failure_asked(80, "a", "CallTimedOut"),
            "80: asks a, #0 cancelled, out a?",
        ),
        legal=finished(
            _LATE,
            _BEGINS,
            "80: asks a",
            failure_asked(80, "a", "CallTimedOut"),
            "80: #0 cancelled, out a?",
        ),
        text="Record 'a' (input 0) was late, and the failure handler was asked first",
    ),
    Witness(
        "POLICY-9",
        violating=finished(_AGAIN, _FAILS, _ASKED, _ENDS),
        legal=finished(
            _TWICE,
            _FAILS,
            "80: calls a; 120: #1 raises",
            failure_asked(120, "a", "CallFailed", "ValueError", attempts=2),
            "120: out a?",
        ),
        text="the failure handler was asked about Record 'a' (input 0), and attempts are left",
    ),
)

_LIMITED = _of(
    never("a"), Handler("reply", ("a!",)), retry=PlannedRetry(max_attempts=1, attempt_timeout=80)
)


def _left_blocked(until: float) -> Run:
    """The limit is at 80, and the consumer leaves at 40: until the block is over nobody notices."""
    return one_leg(
        _LIMITED,
        ends("left", 40),
        "0: takes 0, calls a, waits; 40: left",
        (Blocked(40, until),),
        failure_asked(until, "a", "CallFailed"),
    )


NEAR_MISSES: tuple[NearMiss, ...] = (
    NearMiss("POLICY-5", _left_blocked(120), applies=False, also="POLICY-7"),
    NearMiss(
        "POLICY-5",
        _left_blocked(60),
        "the failure handler was asked about Record 'a' (input 0), which had not failed",
    ),
    NearMiss(
        "POLICY-7",
        finished(
            _RAISES,
            _FAILS,
            failure_asked(40, "a", "CallFailed", "ValueError", attempts=2),
            "40: out a?",
        ),
        "Record 'a' (input 0) had 1 attempt, the handler was told 2",
    ),
)
