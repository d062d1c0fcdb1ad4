"""Runs of the reference that a rule once took for faulty, each with what it had overlooked."""

import pytest
from judged import OPERATORS, each_loop, each_operator
from odd import ODD

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import at, never, raises, replies
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator
from asyncwait.spec import Barrier, Record
from asyncwait.spec.scenario import Handler, Plan, PlannedRetry, Scenario, SinkStep, Step

A, B, C = Record("a"), Record("b"), Record("c")
REPLIES = Handler("reply", ("late",))
LINGERS = Step("never", clean_up=60)

RUNS = {
    "the loop is blocked until one of two abandoned calls has ended": Scenario(
        mode="unordered",
        capacity=1,
        timeout=40,
        handled=True,
        inputs=at(0, A, B) + at(240, C),
        plans=(
            Plan("a", (Step("never", clean_up=80),), REPLIES),
            Plan("b", (Step("never", clean_up=120),), REPLIES),
        ),
        sink=(SinkStep("read", 2), SinkStep("block", 80)),
    ),
    "the operator is left before a second task reads": Scenario(
        inputs=at(40, A), source="scope", sink=(SinkStep("intrude"),), cancel_at=0, close_takes=40
    ),
    "what is for the program comes after a failure, when nobody asks": Scenario(
        form="callback",
        inputs=at(0, A, B),
        plans=(Plan("a", (Step("raise", 80, error="SystemExit"),)), raises("b", 40)),
        sink=(SinkStep("pause", 200),),
    ),
    "what an answer is given as, and not raised, is its outcome": Scenario(
        form="callback",
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 80, error="SystemExit"),)),),
    ),
    "two records fail before and after the loop was blocked, in one instant": Scenario(
        timeout=120,
        inputs=at(160, A) + at(240, B),
        plans=(
            Plan("a", (Step("raise", 120, error="ValueError", blocks=80),)),
            Plan("b", (Step("misreturn", 40, error="text"),)),
        ),
        sink=(SinkStep("pause", 400),),
    ),
    "the consumer blocks the loop in the instant of a failure": Scenario(
        inputs=at(0, A, B, Barrier(1)) + at(40, Barrier(2)),
        plans=(Plan("a", (Step("misreturn", 80, error="none"),)), never("b")),
        sink=(SinkStep("pause", 80), SinkStep("block", 80)),
    ),
    "a call and its handler both end the program, in one instant": Scenario(
        timeout=120,
        handled=True,
        inputs=at(80, A),
        plans=(
            Plan(
                "a",
                (Step("raise", 120, error="KeyboardInterrupt"),),
                Handler("raise", error="SystemExit"),
            ),
        ),
    ),
    "what is for the program leaves the loop when all is closed": Scenario(
        timeout=40,
        handled=True,
        hooks="coroutine",
        hook_takes=40,
        inputs=at(0, A),
        plans=(Plan("a", never("a").steps, Handler("raise", error="KeyboardInterrupt")),),
    ),
    "the loop that is ended cancels the closing of the source, too": Scenario(
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 40, error="KeyboardInterrupt"),)),),
        close_takes=80,
        company="beside",
        sink=(SinkStep("read", 1),),
    ),
    "a deadline comes in the instant in which another call ends the program": Scenario(
        timeout=120,
        inputs=at(0, A, A) + at(40, A),
        source_ends_at=400,
        plans=(Plan("a", (Step("raise", 120, error="SystemExit", supplied=True),)),),
        close_takes=40,
    ),
    "a supplier of what is for the program is late, and nobody asks it": Scenario(
        form="callback",
        timeout=80,
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 120, error="KeyboardInterrupt", supplied=True),)),),
        sink=(SinkStep("pause", 200),),
    ),
    "a call ends the program when its record was decided long ago": Scenario(
        timeout=80,
        handled=True,
        inputs=at(0, A) + at(400, B),
        plans=(
            Plan("a", (Step("raise", 120, error="KeyboardInterrupt", blocks=80),), REPLIES),
            replies("b", 0),
        ),
        sink=(SinkStep("pause", 40), SinkStep("block", 200)),
        close_takes=40,
    ),
    "a supplier of what is for the program comes with the deadline, and behind it": Scenario(
        form="callback",
        timeout=120,
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 120, error="SystemExit", supplied=True),)),),
        sink=(SinkStep("pause", 480),),
    ),
}


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("overlooked", RUNS)
def test_no_rule_is_broken(overlooked: str, loop: LoopName) -> None:
    """Whoever is sound is not convicted."""
    judged = judge(RUNS[overlooked], play(open_operator, RUNS[overlooked], loop), CHECKS)

    assert dict(judged.violations()) == {}


LAZY = {
    "what ends the program is noticed when the consumer asks": Scenario(
        form="callback",
        inputs=at(0, A, Barrier(1)),
        plans=(Plan("a", (Step("raise", 80, error="SystemExit"),)),),
        sink=(SinkStep("read", 1), SinkStep("pause", 480)),
        close_takes=40,
    ),
    "a second task reads in the instant in which something ends the program": Scenario(
        form="callback",
        inputs=at(0, A, Barrier(1)),
        plans=(Plan("a", (Step("raise", 80, error="SystemExit", supplied=True),)),),
        sink=(SinkStep("read", 1), SinkStep("pause", 480), SinkStep("intrude")),
        hooks="coroutine",
        hook_takes=40,
    ),
    "the second of two equal records fails first, as the loop is blocked": Scenario(
        timeout=120,
        handled=True,
        inputs=at(0, A, Record("b", 1), Record("b", 2)),
        plans=(Plan("a", (Step(after=80, results=("a1",)),)), Plan("b", (Step("never"),))),
        sink=(SinkStep("read", 1), SinkStep("pause", 40), SinkStep("block", 80)),
    ),
}


@pytest.mark.parametrize("overlooked", LAZY)
def test_no_rule_is_broken_by_an_operator_that_works_only_when_asked(overlooked: str) -> None:
    """It may come to look at an outcome late, and all that follows comes later."""
    (lazy,) = (odd for odd in ODD if odd.name == "works-only-when-asked")
    trace = play(lazy.open_operator, LAZY[overlooked], "asyncio")

    assert dict(judge(LAZY[overlooked], trace, CHECKS).violations()) == {}


BY_ANY = {
    "a deadline fails while the loop is blocked in the instant of leaving": Scenario(
        timeout=40,
        inputs=at(0, A, B),
        plans=(
            Plan("a", (Step("never"),)),
            Plan("b", (Step(after=20, results=("b1",), blocks=50),)),
        ),
        cancel="scope",
        cancel_at=20,
        source_ends_at=400,
    ),
    "a call that never ends is torn down, and cleans up": Scenario(
        inputs=at(0, A), plans=(Plan("a", (Step("never", clean_up=20),)),)
    ),
    "calls are abandoned in the instant in which they are to be repeated": Scenario(
        capacity=1,
        retry=PlannedRetry(attempt_timeout=80, initial=1, max_attempts=9),
        inputs=at(0, A),
        plans=(Plan("a", (Step("never", clean_up=2_000, swallow=True),)),),
    ),
    "a call is repeated between the limit of another and its being abandoned": Scenario(
        capacity=2,
        retry=PlannedRetry(initial=1, attempt_timeout=3),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (LINGERS, LINGERS)),
            Plan("b", (LINGERS, Step("raise", 2), Step(results=("b1",)))),
        ),
    ),
    "an attempt fails in the first of two blocks": Scenario(
        mode="unordered",
        retry=PlannedRetry(max_attempts=2, attempt_timeout=120, on_error="breaks"),
        inputs=at(0, A, B),
        plans=(
            Plan("a", (Step("never", clean_up=40),)),
            Plan("b", (Step(after=40, results=("b1",), blocks=80),)),
        ),
    ),
    "a call that has answered raises": Scenario(
        form="callback",
        retry=PlannedRetry(),
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", error="ValueError", results=("a1",), throws=True),)),),
    ),
    "a back-off and a deadline are over when the loop is free again": Scenario(
        form="callback",
        timeout=100,
        handled=True,
        retry=PlannedRetry(),
        inputs=at(0, A) + at(20, B),
        plans=(
            Plan("a", (Step("raise", error="ValueError"), Step(results=("a1",))), REPLIES),
            Plan("b", (Step(blocks=300, results=("b1",)),), REPLIES),
        ),
    ),
    "a predicate that breaks is not asked about what is no collection": Scenario(
        retry=PlannedRetry(on_error="breaks"),
        inputs=at(0, A),
        plans=(Plan("a", (Step("misreturn", 40, error="none"),)),),
    ),
    "a predicate that breaks is not asked about a RetryAfter": Scenario(
        retry=PlannedRetry(on_error="breaks"),
        inputs=at(0, A),
        plans=(
            Plan(
                "a", (Step("raise", 40, error="RetryAfter", retry_after=40), Step(results=("a1",)))
            ),
        ),
    ),
    "a call that ends before it is abandoned is waited for": Scenario(
        retry=PlannedRetry(attempt_timeout=80, initial=4),
        inputs=at(0, A),
        plans=(Plan("a", (Step("never", clean_up=6), Step(results=("a1",)))),),
    ),
}


@each_loop
@each_operator
@pytest.mark.parametrize("overlooked", BY_ANY)
def test_no_rule_is_broken_by_any_operator(overlooked: str, operator: str, loop: LoopName) -> None:
    """What was overlooked once in one of them holds for all."""
    trace = play(OPERATORS[operator], BY_ANY[overlooked], loop)

    assert dict(judge(BY_ANY[overlooked], trace, CHECKS).violations()) == {}
