"""RETRY: runs that break a rule about retries, and their legal neighbours."""

from typing import Any

from asyncwait.conformance.evidence import (
    NearMiss,
    Witness,
    at,
    ends,
    failed,
    fails,
    finished,
    handler,
    one_leg,
    raises,
)
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import Plan, PlannedRetry, Scenario, SinkStep, Step

A, B = Record("a"), Record("b")

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
    retry=PlannedRetry(), inputs=at(0, A), plans=(Plan("a", (Step(after=200, results=("a1",)),)),)
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

_BEGINS = "0: waits, takes 0, calls a"
_ENDS = "80: calls a, #1 gives a1, out a1"
_GOES_WELL = finished(_ONCE, _BEGINS, "40: #0 raises", _ENDS)
_GIVEN_UP: dict[str, Any] = {
    "error": "CallFailed",
    "record": A,
    "cause": "ValueError",
    "attempts": 1,
}
_AFTER_TWO = "0: waits, takes 0, calls a; 40: #0 raises; 80: calls a; 120: #1 raises"


WITNESSES: tuple[Witness, ...] = (
    Witness(
        "RETRY-1",
        violating=one_leg(_ONCE, ends("hung", 1_000), _BEGINS, "0: end; 40: #0 raises"),
        legal=_GOES_WELL,
        text="Record 'a' (input 0) was not called again when its back-off was over",
    ),
    Witness(
        "RETRY-2",
        violating=failed(
            _TWICE,
            _AFTER_TWO,
            "200: calls a; 240: #2 raises",
            error="CallFailed",
            record=A,
            cause="ValueError",
            attempts=3,
        ),
        legal=failed(
            _TWICE, _AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=2
        ),
        text="call 2 of Record 'a' (input 0) is one more than 2",
    ),
    Witness(
        "RETRY-3",
        violating=finished(_ONCE, _BEGINS, "40: #0 raises; 60: calls a, #1 gives a1, out a1"),
        legal=_GOES_WELL,
        text="call 1 of Record 'a' (input 0) begins before 80",
    ),
    Witness(
        "RETRY-4",
        violating=finished(_ONCE, _BEGINS, "40: #0 raises; 120: calls a, #1 gives a1, out a1"),
        # The same while the consumer pauses: an operator may rest as long.
        legal=finished(
            Scenario(
                retry=PlannedRetry(),
                inputs=at(0, A),
                plans=(fails("a", 1, "a1", after=40),),
                sink=(SinkStep("pause", 120),),
            ),
            "0: takes 0, calls a; 40: #0 raises; 120: waits, calls a, #1 gives a1, out a1",
        ),
        text="call 1 of Record 'a' (input 0) was to begin at 80",
    ),
    Witness(
        "RETRY-5",
        violating=finished(_TOLD, _BEGINS, "40: #0 raises", _ENDS),
        legal=finished(_TOLD, _BEGINS, "40: #0 raises; 160: calls a, #1 gives a1, out a1"),
        text="call 1 of Record 'a' (input 0) begins at 80, not after 120 ms",
    ),
    Witness(
        "RETRY-6",
        violating=finished(_NO_REASON, _BEGINS, "40: #0 raises", _ENDS),
        legal=failed(
            _NO_REASON,
            _BEGINS,
            "40: #0 raises",
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
            _TWICE, _AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=1
        ),
        legal=failed(
            _TWICE, _AFTER_TWO, error="CallFailed", record=A, cause="ValueError", attempts=2
        ),
        text="the error tells of 1 attempt, there were 2",
    ),
    Witness(
        "RETRY-8",
        violating=finished(
            _REFUSED, _BEGINS, "40: #0 gives no never; 80: calls a, #1 gives a1, out no never a1"
        ),
        legal=finished(_REFUSED, _BEGINS, "40: #0 gives no never", _ENDS),
        text="Record 'no' came out, and Record 'a' (input 0) was called again",
    ),
    Witness(
        "RETRY-9",
        violating=finished(_AGAIN, _BEGINS, "40: #0 raises, out again", _ENDS),
        legal=finished(_AGAIN, _BEGINS, "40: #0 raises", _ENDS),
        text="Record 'again' came out of an attempt at Record 'a' (input 0) that was over",
    ),
    Witness(
        "RETRY-10",
        violating=finished(_SLOW, _BEGINS, "40: calls a; 200: #0 gives a1, out a1"),
        legal=_GOES_WELL,
        text="call 1 of Record 'a' (input 0) began, call 0 ran",
    ),
    Witness(
        "RETRY-11",
        violating=finished(
            _LATE,
            _BEGINS,
            "40: #0 raises; 120: asks a, out late; 440: calls a, #1 gives a1",
            at=800,
        ),
        legal=finished(_LATE, _BEGINS, "40: #0 raises; 120: asks a, out late", at=800),
        text="call 1 of Record 'a' (input 0) began after its deadline",
    ),
    Witness(
        "RETRY-12",
        violating=finished(_HANGS, _BEGINS, "120: calls a, #1 gives a1, out a1"),
        legal=finished(_HANGS, _BEGINS, "80: #0 cancelled; 120: calls a, #1 gives a1, out a1"),
        text="call 0 of Record 'a' (input 0) was not cancelled at its limit",
    ),
    Witness(
        "RETRY-13",
        violating=one_leg(_BREAKS, ends("hung", 1_000), _BEGINS, "0: end; 40: #0 raises"),
        legal=failed(
            _BREAKS,
            _BEGINS,
            "40: #0 raises",
            error="CallFailed",
            record=A,
            cause="LookupError",
            attempts=1,
        ),
        text="a predicate raised, and the leg hung",
    ),
    Witness(
        "RETRY-14",
        violating=one_leg(
            _TWO,
            ends("failed", 80, error="CallFailed", record=B, cause="Planned", attempts=1),
            "0: waits, takes 0 1, calls a b; 40: #0 raises; 80: #1 raises; 440: calls a",
        ),
        legal=failed(
            _TWO,
            "0: waits, takes 0 1, calls a b; 40: #0 raises; 80: #1 raises",
            error="CallFailed",
            record=B,
            cause="Planned",
            attempts=1,
        ),
        text="call 2 of 'a' began when all was over",
    ),
    Witness(
        "RETRY-15",
        violating=failed(_ONCE, _BEGINS, "0: end; 40: #0 raises", **_GIVEN_UP),
        legal=one_leg(_ONCE, ends("finished", 80), _BEGINS, "0: end; 40: #0 raises", _ENDS),
        text="Record 'a' (input 0) was given up, and attempts are left, behind the end of input",
    ),
    Witness(
        "RETRY-16",
        violating=failed(_RESTORED, "0: waits, calls a; 40: #0 raises", **_GIVEN_UP),
        legal=finished(_RESTORED, "0: waits, calls a; 40: #0 raises", _ENDS),
        text="Record 'a' (restored) was given up, and attempts are left",
    ),
    Witness(
        "RETRY-17",
        violating=failed(_AT_ONCE, _BEGINS, "0: #0 raises", **_GIVEN_UP),
        legal=finished(_AT_ONCE, _BEGINS, "0: #0 raises; 40: calls a, #1 gives a1, out a1"),
        text="Record 'a' (input 0) was given up, and attempts are left: it raised at once",
    ),
)

NEAR_MISSES: tuple[NearMiss, ...] = (
    # The leg fails with the call's own error, and nobody learns what the predicate raised.
    NearMiss(
        "RETRY-13",
        failed(_BREAKS, _BEGINS, "40: #0 raises", **_GIVEN_UP),
        "a predicate raised, and the leg failed with CallFailed",
        also="FAIL-10",
    ),
    NearMiss(
        "RETRY-12",
        finished(_HANGS, _BEGINS, "40: #0 cancelled; 120: calls a, #1 gives a1, out a1"),
        "call 0 of Record 'a' (input 0) was cancelled early",
        also="TIME-5",
    ),
)
