"""RETRY: runs that break a rule about retries, and their legal neighbours."""

from typing import Any

from asyncwait.conformance.evidence import (
    Witness,
    answered,
    asked,
    at,
    called,
    cancelled,
    ends,
    failed,
    fails,
    finished,
    handler,
    input_ended,
    leg,
    raised,
    raises,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, A1 = Record("a"), Record("b"), Record("a1")

# Fails at 40, and is called again at 80.
_ONCE = Scenario(retry=PlannedRetry(), inputs=at(0, A), plans=(fails("a", 1, "a1", after=40),))
_TWICE = Scenario(retry=PlannedRetry(max_attempts=2), inputs=at(0, A), plans=(raises("a", 40),))
_TOLD = Scenario(
    retry=PlannedRetry(),
    inputs=at(0, A),
    plans=(
        Plan("a", (Step("raise", 40, error="RetryAfter", retry_after=120), Step(results=("a1",)))),
    ),
)
_NO_REASON = Scenario(
    retry=PlannedRetry(on_error="some"),
    inputs=at(0, A),
    plans=(Plan("a", (Step("raise", 40), Step(results=("a1",)))),),
)
_REFUSED = Scenario(
    retry=PlannedRetry(on_result="pair"),
    inputs=at(0, A),
    plans=(Plan("a", (Step(after=40, results=("no", "never")), Step(results=("a1",)))),),
)
_AGAIN = Scenario(
    form="callback",
    retry=PlannedRetry(),
    inputs=at(0, A),
    plans=(Plan("a", (Step("raise", 40, error="ValueError", twice=True), Step(results=("a1",)))),),
)
_SLOW = Scenario(
    retry=PlannedRetry(),
    inputs=at(0, A),
    plans=(Plan("a", (Step(after=200, results=("a1",)),)),),
)
_LATE = Scenario(
    timeout=120,
    handled=True,
    retry=PlannedRetry(initial=400),
    inputs=at(0, A),
    plans=(Plan("a", (Step("raise", 40), Step(results=("a1",))), handler("late")),),
    source_ends_at=800,
)
_HANGS = Scenario(
    retry=PlannedRetry(attempt_timeout=80),
    inputs=at(0, A),
    plans=(Plan("a", (Step("never"), Step(results=("a1",)))),),
)
_BREAKS = Scenario(retry=PlannedRetry(on_error="breaks"), inputs=at(0, A), plans=(raises("a", 40),))
_TWO = Scenario(
    retry=PlannedRetry(initial=400, on_error="some"),
    inputs=at(0, A, B),
    plans=(raises("a", 40), Plan("b", (Step("raise", 80),))),
)
_RESTORED = Scenario(
    retry=PlannedRetry(), plans=(fails("a", 1, "a1", after=40),), restore=Snapshot(9, (A,))
)
_AT_ONCE = Scenario(retry=PlannedRetry(), inputs=at(0, A), plans=(fails("a", 1, "a1"),))

_BEGINS = (waits(0), taken(0, 0), called(0, "a"))
_ENDS = (called(80, "a", first=1), answered(80, 1, "a1"), took(80, A1))
_GOES_WELL = finished(_ONCE, *_BEGINS, raised(40, 0), *_ENDS)
_GIVEN_UP: dict[str, Any] = {
    "error": "CallFailed",
    "record": A,
    "cause": "ValueError",
    "attempts": 1,
}
_AFTER_TWO = (*_BEGINS, raised(40, 0), called(80, "a", first=1), raised(120, 1))


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "RETRY-1",
        violating=run(_ONCE, leg(ends("hung", 1_000), *_BEGINS, input_ended(0), raised(40, 0))),
        legal=_GOES_WELL,
        text="Record 'a' (input 0) was not called again when its back-off was over",
    ),
    Witness(
        "RETRY-2",
        violating=failed(
            _TWICE,
            *_AFTER_TWO,
            called(200, "a", first=2),
            raised(240, 2),
            error="CallFailed",
            record=A,
            cause="ValueError",
            attempts=3,
        ),
        legal=failed(
            _TWICE, *_AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=2
        ),
        text="call 2 of Record 'a' (input 0) is one more than 2",
    ),
    Witness(
        "RETRY-3",
        violating=finished(
            _ONCE,
            *_BEGINS,
            raised(40, 0),
            called(60, "a", first=1),
            answered(60, 1, "a1"),
            took(60, A1),
        ),
        legal=_GOES_WELL,
        text="call 1 of Record 'a' (input 0) begins before 80",
    ),
    Witness(
        "RETRY-4",
        violating=finished(
            _ONCE,
            *_BEGINS,
            raised(40, 0),
            called(120, "a", first=1),
            answered(120, 1, "a1"),
            took(120, A1),
        ),
        # The same while the consumer pauses: an operator may rest as long.
        legal=finished(
            Scenario(
                retry=PlannedRetry(),
                inputs=at(0, A),
                plans=(fails("a", 1, "a1", after=40),),
                sink=(SinkStep("pause", 120),),
            ),
            taken(0, 0),
            called(0, "a"),
            raised(40, 0),
            waits(120),
            called(120, "a", first=1),
            answered(120, 1, "a1"),
            took(120, A1),
        ),
        text="call 1 of Record 'a' (input 0) was to begin at 80",
    ),
    Witness(
        "RETRY-5",
        violating=finished(_TOLD, *_BEGINS, raised(40, 0), *_ENDS),
        legal=finished(
            _TOLD,
            *_BEGINS,
            raised(40, 0),
            called(160, "a", first=1),
            answered(160, 1, "a1"),
            took(160, A1),
        ),
        text="call 1 of Record 'a' (input 0) begins at 80, not after 120 ms",
    ),
    Witness(
        "RETRY-6",
        violating=finished(_NO_REASON, *_BEGINS, raised(40, 0), *_ENDS),
        legal=failed(
            _NO_REASON,
            *_BEGINS,
            raised(40, 0),
            error="CallFailed",
            record=A,
            cause="Planned",
            attempts=1,
        ),
        text="call 1 of Record 'a' (input 0) repeats what stands",
    ),
    Witness(
        "RETRY-7",
        violating=failed(
            _TWICE, *_AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=failed(
            _TWICE, *_AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=2
        ),
        text="the error tells of 1 attempt, there were 2",
    ),
    Witness(
        "RETRY-8",
        violating=finished(
            _REFUSED,
            *_BEGINS,
            answered(40, 0, "no", "never"),
            called(80, "a", first=1),
            answered(80, 1, "a1"),
            took(80, Record("no"), Record("never"), A1),
        ),
        legal=finished(_REFUSED, *_BEGINS, answered(40, 0, "no", "never"), *_ENDS),
        text="Record 'no' came out, and Record 'a' (input 0) was called again",
    ),
    Witness(
        "RETRY-9",
        violating=finished(_AGAIN, *_BEGINS, raised(40, 0), took(40, Record("again")), *_ENDS),
        legal=finished(_AGAIN, *_BEGINS, raised(40, 0), *_ENDS),
        text="Record 'again' came out of an attempt at Record 'a' (input 0) that was over",
    ),
    Witness(
        "RETRY-10",
        violating=finished(
            _SLOW,
            *_BEGINS,
            called(40, "a", first=1),
            answered(200, 0, "a1"),
            took(200, A1),
        ),
        legal=_GOES_WELL,
        text="call 1 of Record 'a' (input 0) began, call 0 ran",
    ),
    Witness(
        "RETRY-11",
        violating=finished(
            _LATE,
            *_BEGINS,
            raised(40, 0),
            asked(120, "a"),
            took(120, Record("late")),
            called(440, "a", first=1),
            answered(440, 1, "a1"),
            at=800,
        ),
        legal=finished(
            _LATE, *_BEGINS, raised(40, 0), asked(120, "a"), took(120, Record("late")), at=800
        ),
        text="call 1 of Record 'a' (input 0) began after its deadline",
    ),
    Witness(
        "RETRY-12",
        violating=finished(
            _HANGS, *_BEGINS, called(120, "a", first=1), answered(120, 1, "a1"), took(120, A1)
        ),
        legal=finished(
            _HANGS,
            *_BEGINS,
            cancelled(80, 0),
            called(120, "a", first=1),
            answered(120, 1, "a1"),
            took(120, A1),
        ),
        text="call 0 of Record 'a' (input 0) was not cancelled at its limit",
    ),
    Witness(
        "RETRY-13",
        violating=run(_BREAKS, leg(ends("hung", 1_000), *_BEGINS, input_ended(0), raised(40, 0))),
        legal=failed(
            _BREAKS,
            *_BEGINS,
            raised(40, 0),
            error="CallFailed",
            record=A,
            cause="LookupError",
            attempts=1,
        ),
        text="a predicate raised, and the leg hung",
    ),
    Witness(
        "RETRY-14",
        violating=run(
            _TWO,
            leg(
                ends("failed", 80, error="CallFailed", record=B, cause="Planned", attempts=1),
                waits(0),
                taken(0, 0, 1),
                called(0, "a", "b"),
                raised(40, 0),
                raised(80, 1),
                called(440, "a", first=2),
            ),
        ),
        legal=failed(
            _TWO,
            waits(0),
            taken(0, 0, 1),
            called(0, "a", "b"),
            raised(40, 0),
            raised(80, 1),
            error="CallFailed",
            record=B,
            cause="Planned",
            attempts=1,
        ),
        text="call 2 of 'a' began when all was over",
    ),
    Witness(
        "RETRY-15",
        violating=failed(_ONCE, *_BEGINS, input_ended(0), raised(40, 0), **_GIVEN_UP),
        legal=run(
            _ONCE,
            leg(ends("finished", 80), *_BEGINS, input_ended(0), raised(40, 0), *_ENDS),
        ),
        text="Record 'a' (input 0) was given up, and attempts are left, behind the end of input",
    ),
    Witness(
        "RETRY-16",
        violating=failed(_RESTORED, waits(0), called(0, "a"), raised(40, 0), **_GIVEN_UP),
        legal=finished(_RESTORED, waits(0), called(0, "a"), raised(40, 0), *_ENDS),
        text="Record 'a' (restored) was given up, and attempts are left",
    ),
    Witness(
        "RETRY-17",
        violating=failed(_AT_ONCE, *_BEGINS, raised(0, 0), **_GIVEN_UP),
        legal=finished(
            _AT_ONCE,
            *_BEGINS,
            raised(0, 0),
            called(40, "a", first=1),
            answered(40, 1, "a1"),
            took(40, A1),
        ),
        text="Record 'a' (input 0) was given up, and attempts are left: it raised at once",
    ),
)
