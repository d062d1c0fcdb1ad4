"""Which calls are attempts at which record, and what the last of them came to."""

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import NEVER, LegHistory, Outcome, explain, judge
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Ending,
    Event,
    Leg,
    Plan,
    PlannedRetry,
    Scenario,
    Step,
    Taken,
    Timed,
    Trace,
)

A = Record("a")
RAISES = Step("raise", 40, error="ValueError")


def leg_of(retry: PlannedRetry, steps: tuple[Step, ...], *events: Event, at: float) -> LegHistory:
    """A leg of two records "a", both taken at once, that goes on until `at`."""
    scenario = Scenario(retry=retry, inputs=(Timed(0, A), Timed(0, A)), plans=(Plan("a", steps),))
    leg = Leg(Ending("hung", at), (Taken(0, 0), Taken(0, 1), *events))
    (history,) = explain(scenario, Trace((leg,))).history.legs
    return history


def test_calls_belong_to_the_records_that_they_are_said_to_be_for() -> None:
    """In whatever order: the k-th call of a value says nothing."""
    leg = leg_of(
        PlannedRetry(),
        (RAISES,),
        CallStarted(0, 0, "a", 0),
        CallStarted(0, 1, "a", 1),
        CallEnded(40, 1, "raised"),
        CallEnded(40, 0, "raised"),
        CallStarted(80, 2, "a", 1),
        CallStarted(80, 3, "a", 0),
        at=100,
    )

    assert [[c.number for c in item.attempts] for item in leg.records] == [[0, 3], [1, 2]]
    assert leg.extra_calls == ()


def test_a_limit_counts_that_is_over_before_a_blocked_loop_learns_of_the_end() -> None:
    """The consumer was gone, and until the loop is free again the operator knows nothing of it."""
    leg = leg_of(
        PlannedRetry(attempt_timeout=40),
        (Step("never"),),
        CallStarted(0, 0, "a", 0),
        Blocked(20, 80),
        CallStarted(80, 1, "a", 0),
        at=20,
    )

    assert [[c.number for c in item.attempts] for item in leg.records] == [[0, 1], []]


def test_a_call_that_there_was_no_reason_for_is_set_apart() -> None:
    """The attempt before has not ended, or what it came to stands, or the deadline was over."""
    leg = leg_of(
        PlannedRetry(max_attempts=2),
        (RAISES,),
        CallStarted(0, 0, "a", 0),
        CallStarted(20, 1, "a", 0),
        CallEnded(40, 0, "raised"),
        CallStarted(80, 2, "a", 0),
        CallEnded(120, 2, "raised"),
        CallStarted(200, 3, "a", 0),
        CallStarted(200, 4, "a", 7),
        at=240,
    )

    assert [call.number for call in leg.records[0].attempts] == [0, 2]
    assert [call.number for call in leg.extra_calls] == [1, 3, 4]


@pytest.mark.parametrize(
    ("retry", "step", "number", "expected"),
    [
        (PlannedRetry(), RAISES, 1, Outcome(40, since=80, until=80)),
        (PlannedRetry(), RAISES, 2, Outcome(40, since=120, until=120)),
        (PlannedRetry(), RAISES, 3, Outcome(40)),
        (PlannedRetry(jitter=25), RAISES, 1, Outcome(40, since=70, until=80)),
        (PlannedRetry(cap=60, multiplier=9), RAISES, 2, Outcome(40, since=100, until=100)),
        (PlannedRetry(on_error="some"), Step("raise", 40), 1, Outcome(40)),
        (
            PlannedRetry(jitter=25),
            Step("raise", 40, error="RetryAfter", retry_after=7),
            1,
            Outcome(40, since=47, until=47),
        ),
    ],
)
def test_what_an_attempt_comes_to_tells_when_the_next_one_is_due(
    retry: PlannedRetry, step: Step, number: int, expected: Outcome
) -> None:
    """By the number of the attempt, as `Retry` defines it, or as the call has said."""
    leg = leg_of(retry, (step,), CallStarted(0, 0, "a", 0), CallEnded(40, 0, "raised"), at=400)

    assert leg.outcomes(leg.calls[0], number) == (expected,)


def test_an_answer_in_the_instant_of_the_limit_leaves_both_outcomes() -> None:
    """Its own, which stands, and that it took too long."""
    leg = leg_of(
        PlannedRetry(attempt_timeout=40),
        (Step(after=40, results=("x",)),),
        CallStarted(0, 0, "a", 0),
        CallEnded(40, 0, "returned", ("x",)),
        at=60,
    )

    assert leg.outcomes(leg.calls[0], 1) == (
        Outcome(40),
        Outcome(40, by_limit=True, since=80, until=80),
    )
    assert leg.records[0].decided_at == 40


def test_a_back_off_ends_when_the_loop_is_free_again() -> None:
    """At the latest; it may have been looked at before the block that begins with it."""
    leg = leg_of(
        PlannedRetry(),
        (RAISES,),
        CallStarted(0, 0, "a", 0),
        CallEnded(40, 0, "raised"),
        Blocked(60, 200),
        at=400,
    )

    assert leg.outcomes(leg.calls[0], 1) == (Outcome(40, since=80, until=200),)


@pytest.mark.parametrize(("ended_at", "until"), [(40, 41), (45, 45), (90, 60), (None, 60)])
def test_a_cancelled_call_is_waited_for_until_it_is_abandoned(
    ended_at: float | None, until: float
) -> None:
    """That takes 20 ms at most."""
    ends = () if ended_at is None else (CallEnded(ended_at, 0, "cancelled"),)
    leg = leg_of(
        PlannedRetry(initial=1, attempt_timeout=40),
        (Step("never"),),
        CallStarted(0, 0, "a", 0),
        CallCancelled(40, 0),
        *ends,
        at=400,
    )

    assert leg.outcomes(leg.calls[0], 1) == (Outcome(40, by_limit=True, since=41, until=until),)


def test_a_record_that_backs_off_is_undecided() -> None:
    """Until its deadline, if it has one."""
    leg = leg_of(
        PlannedRetry(), (RAISES,), CallStarted(0, 0, "a", 0), CallEnded(40, 0, "raised"), at=60
    )

    assert leg.records[0].decided_at == NEVER


@pytest.mark.parametrize("retry_after", [0, 80])
def test_a_call_that_completes_and_raises_is_repeated_for_either(retry_after: int) -> None:
    """Its results are refused after 40 ms, what it raises says another time: both are legal."""
    slip = Step("raise", error="RetryAfter", retry_after=retry_after, throws=True)
    scenario = Scenario(
        form="callback",
        retry=PlannedRetry(initial=40, on_result="empty"),
        inputs=(Timed(0, A),),
        plans=(Plan("a", (slip, Step(results=("a1",)))),),
    )

    trace = play(open_operator, scenario, "asyncio")

    assert [call.at for call in explain(scenario, trace).history.legs[0].calls] == [0, 40]
    assert dict(judge(scenario, trace, CHECKS).violations()) == {}
