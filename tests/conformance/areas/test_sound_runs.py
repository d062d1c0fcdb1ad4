"""Scenarios in which a rule once took sound operators for faulty, by what it had overlooked."""

import pytest
from judged import LOOPS, OPERATORS
from odd import ODD, sound

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import at, never, raises, replies
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.spec import Barrier, LatencyMarker, OpenOperator, Record, Snapshot
from asyncwait.spec.scenario import (
    ALL_CAPABILITIES,
    Capability,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SinkStep,
    Step,
)

A, B, C, D = (Record(value) for value in "abcd")
LATE = Handler("reply", ("late",))
LINGERS = Step("never", clean_up=60)
PAUSED, READ = SinkStep("pause", 40), SinkStep("read", 1)


def a(*steps: Step, handler: Handler = LATE) -> tuple[Plan, ...]:
    """The plan of one value."""
    return (Plan("a", steps, handler),)


def b(*steps: Step, handler: Handler = LATE) -> tuple[Plan, ...]:
    """The plan of another one."""
    return (Plan("b", steps, handler),)


def ends(after: int, error: str = "SystemExit", **fields: bool | int) -> Step:
    """A call that ends the program."""
    return Step("raise", after, error=error, **fields)  # type: ignore[arg-type]


STUBBORN = (*a(Step("never", clean_up=400)), *b(Step("never", clean_up=400)))

OVERLOOKED = {
    "the loop is blocked until one of two abandoned calls has ended": Scenario(
        "unordered", 1, 40, inputs=at(0, A, B) + at(240, C),
        plans=(*a(Step("never", clean_up=80)), *b(Step("never", clean_up=120))),
        handled=True, sink=(SinkStep("read", 2), SinkStep("block", 80)),
    ),
    "the operator is left before a second task reads": Scenario(
        inputs=at(40, A), source="scope", sink=(SinkStep("intrude"),), cancel_at=0, close_takes=40
    ),
    "what is for the program comes after a failure, when nobody asks": Scenario(
        inputs=at(0, A, B), plans=(*a(ends(80)), raises("b", 40)), form="callback",
        sink=(SinkStep("pause", 200),),
    ),
    "what an answer is given as, and not raised, is its outcome": Scenario(
        inputs=at(0, A), plans=a(ends(80)), form="callback"
    ),
    "two records fail before and after the loop was blocked, in one instant": Scenario(
        timeout=120, inputs=at(160, A) + at(240, B),
        plans=(
            *a(Step("raise", 120, error="ValueError", blocks=80)),
            *b(Step("misreturn", 40, error="text")),
        ),
        sink=(SinkStep("pause", 400),),
    ),
    "the consumer blocks the loop in the instant of a failure": Scenario(
        inputs=at(0, A, B, Barrier(1)) + at(40, Barrier(2)),
        plans=(*a(Step("misreturn", 80, error="none")), never("b")),
        sink=(SinkStep("pause", 80), SinkStep("block", 80)),
    ),
    "a call and its handler both end the program, in one instant": Scenario(
        timeout=120, inputs=at(80, A), handled=True,
        plans=a(ends(120, "KeyboardInterrupt"), handler=Handler("raise", error="SystemExit")),
    ),
    "what is for the program leaves the loop when all is closed": Scenario(
        timeout=40, inputs=at(0, A), handled=True, hooks="coroutine", hook_takes=40,
        plans=a(Step("never"), handler=Handler("raise", error="KeyboardInterrupt")),
    ),
    "the loop that is ended cancels the closing of the source, too": Scenario(
        inputs=at(0, A), plans=a(ends(40, "KeyboardInterrupt")), close_takes=80, company="beside",
        sink=(READ,),
    ),
    "a deadline comes in the instant in which another call ends the program": Scenario(
        timeout=120, inputs=at(0, A, A) + at(40, A), source_ends_at=400, close_takes=40,
        plans=a(ends(120, supplied=True)),
    ),
    "a supplier of what is for the program is late, and nobody asks it": Scenario(
        timeout=80, inputs=at(0, A), plans=a(ends(120, "KeyboardInterrupt", supplied=True)),
        form="callback", sink=(SinkStep("pause", 200),),
    ),
    "a call ends the program when its record was decided long ago": Scenario(
        timeout=80, inputs=at(0, A) + at(400, B), handled=True, close_takes=40,
        plans=(*a(ends(120, "KeyboardInterrupt", blocks=80)), replies("b", 0)),
        sink=(PAUSED, SinkStep("block", 200)),
    ),
    "a supplier of what is for the program comes with the deadline, and behind it": Scenario(
        timeout=120, inputs=at(0, A), plans=a(ends(120, supplied=True)), form="callback",
        sink=(SinkStep("pause", 480),),
    ),
    "what ends the program is noticed when the consumer asks": Scenario(
        inputs=at(0, A, Barrier(1)), plans=a(ends(80)), form="callback", close_takes=40,
        sink=(READ, SinkStep("pause", 480)),
    ),
    "a second task reads in the instant in which something ends the program": Scenario(
        inputs=at(0, A, Barrier(1)), plans=a(ends(80, supplied=True)), form="callback",
        sink=(READ, SinkStep("pause", 480), SinkStep("intrude")), hooks="coroutine", hook_takes=40,
    ),
    "the second of two equal records fails first, as the loop is blocked": Scenario(
        timeout=120, inputs=at(0, A, Record("b", 1), Record("b", 2)), handled=True,
        plans=(replies("a", 80, "a1"), Plan("b", (Step("never"),))),
        sink=(READ, PAUSED, SinkStep("block", 80)),
    ),
    "a deadline fails while the loop is blocked in the instant of leaving": Scenario(
        timeout=40, inputs=at(0, A, B), source_ends_at=400, cancel="scope", cancel_at=20,
        plans=(*a(Step("never")), *b(Step(after=20, results=("b1",), blocks=50))),
    ),
    "a call that never ends is torn down, and cleans up": Scenario(
        inputs=at(0, A), plans=a(Step("never", clean_up=20))
    ),
    "calls are abandoned in the instant in which they are to be repeated": Scenario(
        capacity=1, inputs=at(0, A), plans=a(Step("never", clean_up=2_000, swallow=True)),
        retry=PlannedRetry(attempt_timeout=80, initial=1, max_attempts=9),
    ),
    "a call is repeated between the limit of another and its being abandoned": Scenario(
        capacity=2, inputs=at(0, A, B), retry=PlannedRetry(initial=1, attempt_timeout=3),
        plans=(
            *a(LINGERS, LINGERS), *b(LINGERS, Step("raise", 2), Step(results=("b1",))),
        ),
    ),
    "an attempt fails in the first of two blocks": Scenario(
        "unordered", inputs=at(0, A, B),
        retry=PlannedRetry(max_attempts=2, attempt_timeout=120, on_error="breaks"),
        plans=(
            *a(Step("never", clean_up=40)), *b(Step(after=40, results=("b1",), blocks=80)),
        ),
    ),
    "a call that has answered raises": Scenario(
        inputs=at(0, A), form="callback", retry=PlannedRetry(),
        plans=a(Step("raise", error="ValueError", results=("a1",), throws=True)),
    ),
    "a back-off and a deadline are over when the loop is free again": Scenario(
        timeout=100, inputs=at(0, A) + at(20, B), handled=True, form="callback",
        retry=PlannedRetry(),
        plans=(
            *a(Step("raise", error="ValueError"), Step(results=("a1",))),
            *b(Step(blocks=300, results=("b1",))),
        ),
    ),
    "a predicate that breaks is not asked about what is no collection": Scenario(
        inputs=at(0, A), plans=a(Step("misreturn", 40, error="none")),
        retry=PlannedRetry(on_error="breaks"),
    ),
    "a predicate that breaks is not asked about a RetryAfter": Scenario(
        inputs=at(0, A), retry=PlannedRetry(on_error="breaks"),
        plans=a(Step("raise", 40, error="RetryAfter", retry_after=40), Step(results=("a1",))),
    ),
    "a call that ends before it is abandoned is waited for": Scenario(
        inputs=at(0, A), plans=a(Step("never", clean_up=6), Step(results=("a1",))),
        retry=PlannedRetry(attempt_timeout=80, initial=4),
    ),
    "a failure that its consumer was not told of": Scenario(
        inputs=at(0, A), plans=(raises("a", 40),), sink=(SinkStep("pause", 80), SinkStep("leave"))
    ),
    "markers that are out while stored records wait": Scenario(
        capacity=1, inputs=at(0, LatencyMarker(7), Barrier(1), C), plans=(replies("a", 40, "A"),),
        restore=Snapshot(99, (A, B)),
    ),
    "an answer before it is known that too many calls are abandoned": Scenario(
        "unordered", 1, 80, inputs=at(0, A, B, C, D), handled=True,
        plans=(*STUBBORN, replies("c", 1, "C"), replies("d", 40, "D")),
    ),
    "an error in the moment in which that is known": Scenario(
        "unordered", 1, 80, inputs=at(0, A, B, C), plans=(*STUBBORN, raises("c", 5)), handled=True
    ),
    "equal records that are due together and differ in nothing but their time": Scenario(
        "unordered", timeout=40, inputs=at(0, *(Record("a", n) for n in (1, 2, 3))),
        plans=a(Step("never")), handled=True,
    ),
    "a function in callback form that is called where no task runs": Scenario(
        capacity=1, inputs=at(0, A, B, A), plans=(replies("a", 40, "A"), replies("b", 40)),
        form="callback",
    ),
    "a source that takes its time to close, and then raises": Scenario(
        inputs=at(0, A), plans=(replies("a", 40, "A"),), close_takes=40, close_error=True
    ),
    **{
        f"a call that completes, and raises when to try again: {ms} ms": Scenario(
            inputs=at(0, A), form="callback", retry=PlannedRetry(initial=40, on_result="empty"),
            plans=a(Step("raise", error="RetryAfter", retry_after=ms, throws=True), Step()),
        )
        for ms in (0, 80)
    },
}  # fmt: skip

SOUND: dict[str, tuple[OpenOperator, LoopName, frozenset[Capability]]] = {
    **{f"{n}-{loop}": (o, loop, ALL_CAPABILITIES) for n, o in OPERATORS.items() for loop in LOOPS},
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
    """What was overlooked once, in one of them, is legal for all."""
    open_operator, loop, can = SOUND[operator]
    scenario = adapted(OVERLOOKED[overlooked], can)

    judged = judge(scenario, play(open_operator, scenario, loop), CHECKS)

    assert dict(judged.violations()) == {}
