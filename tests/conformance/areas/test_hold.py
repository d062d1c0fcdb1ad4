"""What the checks of HOLD say where a witness says something else."""

import pytest
from judged import texts

from asyncwait.conformance.evidence import called, ends, leg, run, taken, waits
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import Plan, Scenario, Step, Timed


@pytest.mark.parametrize(
    ("read", "said"),
    [(1, []), (2, ["Record 'd' (input 1) was taken though Record 'b' (restored) waits for room"])],
)
def test_one_is_read_ahead_behind_what_was_restored_too(read: int, said: list[str]) -> None:
    """It is the one that waits for room; a second is too much."""
    scenario = Scenario(
        capacity=1,
        max_held=1,
        inputs=(Timed(0, Record("c")), Timed(0, Record("d"))),
        plans=(Plan("a", (Step("never"),)),),
        restore=Snapshot(1, (Record("a"), Record("b"))),
    )
    left = run(scenario, leg(ends("left", 20), waits(0), called(0, "a"), taken(0, *range(read))))

    assert texts("HOLD-4", left) == said
