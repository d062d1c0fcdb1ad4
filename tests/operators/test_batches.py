"""Batches with times that examples, which run in real time, cannot have."""

import pytest

from asyncwait.backends import pool
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator
from asyncwait.spec import OpenOperator

LEFT_TOGETHER = scenario_of("""
    retry initial=1 attempt_timeout=80; batch max_size=3; 0: a b c; source_ends_at 400;
    a: never with clean_up=4, 40 gives a1; b c: never, 40 gives *1
""")
"""Three records leave one call at its limit, and it cleans up beyond their back-offs."""


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "opens",
    [pool.open_operator, open_operator],
    ids=["pool", "reference"],
)
def test_all_that_leave_one_call_together_are_called_again(
    opens: OpenOperator, loop: LoopName
) -> None:
    trace = play(opens, LEFT_TOGETHER, loop)

    assert dict(judge(LEFT_TOGETHER, trace, CHECKS).violations()) == {}
    assert trace.legs[-1].ending.how == "finished"
