"""Which calls are attempts at which record, and what the last of them came to."""

import pytest

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import at, told
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import NEVER, LegHistory, Outcome, explain, judge
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    Ending,
    Leg,
    Plan,
    PlannedRetry,
    Scenario,
    Step,
    Trace,
)

A = Record("a")
RAISES = Step("raise", 40, error="ValueError")
NEVER_ENDS = Step("never")
LIMITED = PlannedRetry(attempt_timeout=40)


def leg_of(retry: PlannedRetry, step: Step, *parts: str, until: float) -> LegHistory:
    """A leg of two records "a", both taken at once, that goes on until `until`."""
    scenario = Scenario(retry=retry, inputs=at(0, A, A), plans=(Plan("a", (step,)),))
    leg = Leg(Ending("hung", until), told("; ".join(("0: takes 0 1", *parts))))
    (history,) = explain(scenario, Trace((leg,))).history.legs
    return history


@pytest.mark.parametrize(
    ("retry", "step", "parts", "until", "attempts", "extra"),
    [
        # In whatever order: the k-th call of a value says nothing.
        (
            PlannedRetry(),
            RAISES,
            "0: calls a#0 a#1; 40: #1 raises, #0 raises; 80: calls a#1 a#0",
            100,
            [[0, 3], [1, 2]],
            [],
        ),
        # A limit counts that is over before a blocked loop learns of the end: the consumer was
        # gone, and until the loop is free again the operator knows nothing of it.
        (LIMITED, NEVER_ENDS, "0: calls a#0; 20: blocked 80; 80: calls a#0", 20, [[0, 1], []], []),
        # A call that there was no reason for is set apart: the attempt before has not ended, or
        # what it came to stands, or it is for no record.
        (
            PlannedRetry(max_attempts=2),
            RAISES,
            ("0: calls a#0; 20: calls a#0; 40: #0 raises; 80: calls a#0; 120: #2 raises;"
             " 200: calls a#0 a#7"),
            240,
            [[0, 2], []],
            [1, 3, 4],
        ),
    ],
    ids=["in any order", "blocked", "without a reason"],
)  # fmt: skip
def test_calls_belong_to_the_records_that_they_are_said_to_be_for(  # noqa: PLR0917
    retry: PlannedRetry,
    step: Step,
    parts: str,
    until: float,
    attempts: list[list[int]],
    extra: list[int],
) -> None:
    """As long as there is a reason for them."""
    leg = leg_of(retry, step, parts, until=until)

    assert [[c.number for c in item.attempts] for item in leg.records] == attempts
    assert [each.number for each in leg.extra_calls] == extra


SAYS_WHEN = Step("raise", 40, error="RetryAfter", retry_after=7)
JITTERS = PlannedRetry(jitter=25)
SHORT = PlannedRetry(initial=1, attempt_timeout=40)


@pytest.mark.parametrize(
    ("retry", "step", "parts", "number", "expected"),
    [
        # By the number of the attempt, as `Retry` defines it, or as the call has said.
        (PlannedRetry(), RAISES, "40: #0 raises", 1, [Outcome(40, since=80, until=80)]),
        (PlannedRetry(), RAISES, "40: #0 raises", 2, [Outcome(40, since=120, until=120)]),
        (PlannedRetry(), RAISES, "40: #0 raises", 3, [Outcome(40)]),
        (JITTERS, RAISES, "40: #0 raises", 1, [Outcome(40, since=70, until=80)]),
        (
            PlannedRetry(cap=60, multiplier=9),
            RAISES,
            "40: #0 raises",
            2,
            [Outcome(40, since=100, until=100)],
        ),
        (PlannedRetry(on_error="some"), Step("raise", 40), "40: #0 raises", 1, [Outcome(40)]),
        (JITTERS, SAYS_WHEN, "40: #0 raises", 1, [Outcome(40, since=47, until=47)]),
        # An answer in the instant of the limit stands, or took too long.
        (
            LIMITED,
            Step(after=40, results=("x",)),
            "40: #0 gives x",
            1,
            [Outcome(40), Outcome(40, by_limit=True, since=80, until=80)],
        ),
        # A back-off ends when the loop is free again at the latest; it may have been looked at
        # before the block that begins with it.
        (
            PlannedRetry(),
            RAISES,
            "40: #0 raises; 60: blocked 200",
            1,
            [Outcome(40, since=80, until=200)],
        ),
        # A cancelled call is waited for until it is abandoned, for 20 ms at most.
        *(
            (SHORT, NEVER_ENDS, f"40: #0 told; {ends}", 1, [
                Outcome(40, by_limit=True, since=41, until=until)
            ])
            for ends, until in (
                ("40: #0 ends", 41), ("45: #0 ends", 45), ("90: #0 ends", 60), ("", 60)
            )
        ),
    ],
)  # fmt: skip
def test_what_an_attempt_comes_to_tells_when_the_next_one_is_due(
    retry: PlannedRetry, step: Step, parts: str, number: int, expected: list[Outcome]
) -> None:
    """Where both are legal there are two outcomes."""
    leg = leg_of(retry, step, "0: calls a#0", parts, until=400)

    assert leg.outcomes(leg.calls[0], number) == tuple(expected)


@pytest.mark.parametrize(
    ("retry", "step", "ends", "decided_at"),
    [
        # A record that backs off is undecided, until its deadline, if it has one.
        (PlannedRetry(), RAISES, "40: #0 raises", NEVER),
        (LIMITED, Step(after=40, results=("x",)), "40: #0 gives x", 40),
    ],
)
def test_a_record_is_decided_by_what_stands(
    retry: PlannedRetry, step: Step, ends: str, decided_at: float
) -> None:
    """And not by an attempt that is to be repeated."""
    leg = leg_of(retry, step, "0: calls a#0", ends, until=60)

    assert leg.records[0].decided_at == decided_at


@pytest.mark.parametrize("retry_after", [0, 80])
def test_a_call_that_completes_and_raises_is_repeated_for_either(retry_after: int) -> None:
    """Its results are refused after 40 ms, what it raises says another time: both are legal."""
    slip = Step("raise", error="RetryAfter", retry_after=retry_after, throws=True)
    scenario = Scenario(
        form="callback",
        retry=PlannedRetry(initial=40, on_result="empty"),
        inputs=at(0, A),
        plans=(Plan("a", (slip, Step(results=("a1",)))),),
    )

    trace = play(open_operator, scenario, "asyncio")

    assert [each.at for each in explain(scenario, trace).history.legs[0].calls] == [0, 40]
    assert dict(judge(scenario, trace, CHECKS).violations()) == {}
