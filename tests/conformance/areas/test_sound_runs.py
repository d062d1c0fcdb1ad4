"""Scenarios in which a rule once took sound operators for faulty, by what it had overlooked."""

import pytest
from judged import LOOPS
from odd import ODD, sound
from operators import OPERATORS

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.spec import OpenOperator
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability

OVERLOOKED = {
    "the loop is blocked until one of two abandoned calls has ended": (
        "unordered; capacity 1; timeout 40; handled; 0: a b; 240: c; "
        "a: never with clean_up=80, late gives late; b: never with clean_up=120, late gives late; "
        "sink read 2, block 80"
    ),
    "what is for the program comes after a failure, when nobody asks":
        "form callback; 0: a b; a: 80 raises SystemExit; b: 40 raises; sink pause 200",
    "what an answer is given as, and not raised, is its outcome":
        "form callback; 0: a; a: 80 raises SystemExit",
    "a call and its handler both end the program, in one instant":
        "timeout 120; handled; 80: a; a: 120 raises KeyboardInterrupt, late raises SystemExit",
    "what is for the program leaves the loop when all is closed": (
        "timeout 40; handled; 0: a; a: never, late raises KeyboardInterrupt; hooks coroutine; "
        "hook_takes 40"
    ),
    "the loop that is ended cancels the closing of the source, too":
        "0: a; a: 40 raises KeyboardInterrupt; close_takes 80; sink read 1",
    "a deadline comes in the instant in which another call ends the program": (
        "timeout 120; 0: a a; 40: a; a: 120 raises SystemExit with supplied; source_ends_at 400; "
        "close_takes 40"
    ),
    "a supplier of what is for the program is late, and nobody asks it": (
        "form callback; timeout 80; 0: a; a: 120 raises KeyboardInterrupt with supplied; "
        "sink pause 200"
    ),
    "a supplier of what is for the program comes with the deadline, and behind it":
        "form callback; timeout 120; 0: a; a: 120 raises SystemExit with supplied; sink pause 480",
    "what ends the program is noticed when the consumer asks":
        "form callback; 0: a ^1; a: 80 raises SystemExit; close_takes 40; sink read 1, pause 480",
    "a call that never ends is torn down, and cleans up": "0: a; a: never with clean_up=20",
    "calls are abandoned in the instant in which they are to be repeated": (
        "capacity 1; retry max_attempts=9 initial=1 attempt_timeout=80; 0: a; "
        "a: never with swallow clean_up=2000"
    ),
    "a call is repeated between the limit of another and its being abandoned": (
        "capacity 2; retry initial=1 attempt_timeout=3; 0: a b; "
        "a: 2 times never with clean_up=60; b: never with clean_up=60, 2 raises own, gives b1"
    ),
    "a call that has answered raises":
        "form callback; retry; 0: a; a: raises ValueError a1 with throws",
    "a back-off and a deadline are over when the loop is free again": (
        "form callback; timeout 100; handled; retry; 0: a; 20: b; "
        "a: raises, gives a1, late gives late; b: gives b1 with blocks=300, late gives late"
    ),
    "a predicate that breaks is not asked about what is no collection":
        "retry on_error=breaks; 0: a; a: 40 misreturns none",
    "a predicate that breaks is not asked about a RetryAfter":
        "retry on_error=breaks; 0: a; a: 40 raises RetryAfter with retry_after=40, gives a1",
    "a call that ends before it is abandoned is waited for":
        "retry initial=4 attempt_timeout=80; 0: a; a: never with clean_up=6, gives a1",
    "too many calls are abandoned while the consumer is away": (
        "capacity 1; timeout 40; handled; 0: a a b; a: never with clean_up=120, late gives A; "
        "b: never, late gives B; sink read 2, pause 120, leave"
    ),
    "too many attempts are abandoned while the consumer is away": (
        "capacity 1; timeout 120; handled; retry initial=1 attempt_timeout=40; 0: a; "
        "a: 9 times never with clean_up=400, late gives late; sink pause 240, leave"
    ),
    "attempts of two records are abandoned while the consumer is away": (
        "capacity 2; timeout 120; handled; retry initial=1 attempt_timeout=40; 0: a b; "
        "a b: 9 times never with clean_up=400, late gives late; sink pause 240, leave"
    ),
    "a failure that its consumer was not told of": "0: a; a: 40 raises; sink pause 80, leave",
    "markers that are out while stored records wait":
        "capacity 1; restore |99(a+b); 0: !7 ^1 c; a: 40 gives A",
    "an answer before it is known that too many calls are abandoned": (
        "unordered; capacity 1; timeout 80; handled; 0: a b c d; "
        "a b: never with clean_up=400, late gives late; c: 1 gives C; d: 40 gives D"
    ),
    "an error in the moment in which that is known": (
        "unordered; capacity 1; timeout 80; handled; 0: a b c; "
        "a b: never with clean_up=400, late gives late; c: 5 raises"
    ),
    "equal records that are due together and differ in nothing but their time":
        "unordered; timeout 40; handled; 0: a@1 a@2 a@3; a: never, late gives late",
    "a function in callback form that is called where no task runs":
        "form callback; capacity 1; 0: a b a; a: 40 gives A; b: 40 gives",
    "a source that takes its time to close, and then raises":
        "0: a; a: 40 gives A; close_takes 40; close_error",
    "a record gathers from a moment between ticks, to which its time is added": (
        "key-ordered; batch max_size=3 max_wait=40; retry max_attempts=3 initial=40 jitter=50; "
        "120: a/x b/x; a: raises, gives a2; b: gives b1; source_ends_at 520"
    ),
    "two ask for a key in the instant in which a deadline ends the load of it": (
        "timeout 130; handled; retry initial=40 attempt_timeout=50; cache max_keys=9 ttl=1000; "
        "40: a; 80: a a; a: 2 times never, gives a3, late gives late"
    ),
    "an interrupted generator that raises as it closes": (
        "0: a; 400: b; a: 40 gives A; source generator; close_error; sink read 1, leave"
    ),
    "a load ahead of time ends in the instant in which a retry asks for its key": (
        "retry on_result=pair; cache ttl=89 refresh_ahead=1; 0: v; 120: v; "
        "v: 1 gives a b, gives c, 1 gives x"
    ),
    "such a load gives nothing, and that is not kept": (
        "retry on_result=pair; cache ttl=89 refresh_ahead=1; 0: v; 120: v; "
        "v: 1 gives a b, gives c, 1 gives"
    ),
    "the failure handler leaves an error as it is, and another is raised before that is out": (
        "form callback; timeout 120; handled; failures_handled; tracked; 40: a; "
        "a: 120 raises ValueError, late raises ValueError"
    ),
    "two records fail in one instant before the failure handler is asked": (
        "form callback; failures_handled; tracked; restore |9(c+c); c: 40 raises"
    ),
    "closing raises, and the cancellation comes out": (
        "0: a; a: 200 gives; close_error; cancel_at 40"
    ),
    "the function's closing raises, and the cancellation comes out":
        "0: a; a: 200 gives; hooks plain; hook_error close; cancel_at 40",
    "the consumer is cancelled as it leaves, and closing raises":
        "0: a; a: 40 gives; close_takes 80; close_error; cancel_at 80",
    "closing raises after a crash": "close_error; crashes 20; sink pause 20",
    "closing raises where nobody was told of a failure":
        "0: a; a: 40 raises ValueError; close_error; sink pause 80, leave",
    "closing raises where nobody was told of results that can't be read":
        "0: a; a: 40 misreturns none; hooks plain; hook_error close; sink pause 80, leave",
    "closing raises where nobody was told of a deadline":
        "timeout 40; 0: a; a: never; close_error; sink pause 80, leave",
    "closing raises where nobody was told of the source's error":
        "0: a; a: 200 gives; source_error own; close_error; sink pause 40, leave",
    "a call that is cancelled on leaving ends the program": (
        "0: a; a: 200 raises KeyboardInterrupt with swallow clean_up=40; cancel_at 40"
    ),
    "a call cleans up after leaving, and then closing raises":
        "0: a; a: 120 gives with clean_up=80; close_error; sink pause 40, leave",
    "closing takes its time after leaving, and then raises": (
        "40: a; a: never; hooks coroutine; hook_takes 20; hook_error close; sink pause 40, leave"
    ),
    "a crash in the instant of a deadline, and closing that raises": (
        "timeout 40; handled; 0: c; c: 80 gives, late gives C; source_ends_at 400; "
        "close_takes 40; close_error; crashes 40; cancel scope"
    ),
    "a supplier of what is for the program comes after leaving": (
        "form callback; 0: a; a: 80 raises KeyboardInterrupt with supplied; close_takes 160; "
        "cancel_at 40"
    ),
    "such a supplier comes in the instant of leaving":
        "form callback; 0: a; a: 80 raises KeyboardInterrupt with supplied; cancel_at 80",
    "the failure handler would end the program, and is not asked before leaving":
        "timeout 80; failures_handled; 0: b; b: never, failed raises SystemExit; cancel_at 80",
    "a call that raises for the program when its limit had decided": (
        "failures_handled; retry attempt_timeout=40 on_error=asked; 0: a; "
        "a: 120 raises KeyboardInterrupt with swallow clean_up=40, failed gives F; "
        "source_ends_at 200"
    ),
    "the same of a supplier": (
        "form callback; failures_handled; retry attempt_timeout=40 on_error=asked; 0: a; "
        "a: 120 raises KeyboardInterrupt with supplied, failed gives F; source_ends_at 200"
    ),
    "a finished stream is interrupted while its operator is left": (
        "timeout 40; handled; 0: a; a: 120 raises KeyboardInterrupt with clean_up=40 swallow, "
        "late gives"
    ),
    "a load ahead of time ends the program": (
        "cache ttl=100 refresh_ahead=50; timeout 4000; 0: a; 60: a b; 120: c; "
        "a: gives a1, 40 raises KeyboardInterrupt; b: never; close_takes 40"
    ),
    "what is no Exception is not repeated": "retry; 0: a; a: raises Panic",
    "the predicate asks for another call about results that can't be read":
        "retry on_error=at-once; 0: a; a: misreturns broken",
    "an attempt is repeated at once in the instant of its limit":
        "form callback; retry attempt_timeout=3 on_error=at-once; 0: b; b: 40 gives",
    "a predicate that breaks is asked about what a record was completed with":
        "form callback; retry on_error=breaks; 0: a; a: 20 raises SystemExit",
    "a predicate that breaks is asked about results before the call raises": (
        "form callback; failures_handled; retry on_result=breaks; 0: a; "
        "a: raises ValueError x with throws, failed misreturns text"
    ),
    "the failure handler is asked about that predicate before the call raises": (
        "form callback; failures_handled; retry on_result=breaks; 40: a; "
        "a: 0 raises ValueError x with throws, failed gives F"
    ),
    "the time of a record is over as the batch goes that it makes full": (
        "key-ordered; timeout 160; handled; retry on_result=empty; batch max_size=2 max_wait=240; "
        "0: c/x b/x d a/y; c: 80 gives, late gives; d: gives, late gives; a b: 40 gives *1"
    ),
    "a source that breaks the contract, and nobody is told": (
        "source_error contract; source_ends_at 40; sink pause 80, leave"
    ),
    "a source that raises in the instant of leaving":
        "source_error own; source_ends_at 40; cancel_at 40",
    "opening raises, and the consumer is cancelled while the source closes":
        "hooks plain; hook_error open; close_takes 40; cancel_at 0",
    "a leg that never ends is torn down":
        "0: b; b: never with swallow; hooks coroutine; hook_takes 80",
    "a retry while an interrupted source closes": (
        "retry attempt_timeout=80 initial=1; 20: a; a: 200 gives; source_ends_at 40; "
        "source_error interrupt; close_takes 80"
    ),
    "what is for the program while its consumer leaves": (
        "timeout 40; handled; 0: b; b: never, late raises SystemExit; close_takes 80; cancel_at 80"
    ),
    "what a function raises for the program while its source closes": (
        "form callback; 0: a; a: 0 raises KeyboardInterrupt; close_takes 40; sink pause 20, leave"
    ),
}  # fmt: skip

SOUND: dict[str, tuple[OpenOperator, LoopName, frozenset[Capability]]] = {
    **{
        f"{name}-{loop}": (opens, loop, ALL_CAPABILITIES)
        for name, opens in OPERATORS.items()
        for loop in LOOPS
    },
    **{
        odd.name: (odd.open_operator, odd.loop, odd.backend().capabilities)
        for odd in ODD
        if odd.change.__module__.startswith(sound.__name__)
    },
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("operator", SOUND)
@pytest.mark.parametrize("overlooked", OVERLOOKED)
def test_no_rule_convicts_a_sound_operator(overlooked: str, operator: str) -> None:
    open_operator, loop, can = SOUND[operator]
    scenario = adapted(scenario_of(OVERLOOKED[overlooked]), can)

    judged = judge(scenario, play(open_operator, scenario, loop), CHECKS)

    assert dict(judged.violations()) == {}
