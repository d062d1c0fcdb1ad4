"""What the checks of POLICY say where a witness says something else."""

import pytest
from judged import texts

from asyncwait.conformance.evidence import called, ends, failure_asked, leg, run, taken, waits
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    Blocked,
    Handler,
    Plan,
    PlannedRetry,
    Scenario,
    SinkLeft,
    Step,
    Timed,
)

ASKED_TOO_EARLY = "the failure handler was asked about Record 'a' (input 0), which had not failed"


@pytest.mark.parametrize(("until", "said"), [(120, []), (60, [ASKED_TOO_EARLY])])
def test_an_attempt_may_run_out_of_time_while_the_loop_is_blocked_in_leaving(
    until: int, said: list[str]
) -> None:
    """Its limit is at 80, and the consumer leaves at 40: until the block is over nobody notices."""
    scenario = Scenario(
        retry=PlannedRetry(max_attempts=1, attempt_timeout=80),
        inputs=(Timed(0, Record("a")),),
        plans=(Plan("a", (Step("never"),), failure=Handler("reply", ("a!",))),),
        failures_handled=True,
    )
    left = run(
        scenario,
        leg(
            ends("left", 40),
            taken(0, 0),
            called(0, "a"),
            waits(0),
            (SinkLeft(40), Blocked(40, until)),
            failure_asked(until, "a", "CallFailed"),
        ),
    )

    assert texts("POLICY-5", left) == said
    assert texts("POLICY-9", left) == []
