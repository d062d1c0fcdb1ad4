"""What the checks of the end say where a witness says something else."""

from judged import texts

from asyncwait.conformance.evidence import answered, called, ends, input_ended, leg, run, taken
from asyncwait.spec import Record
from asyncwait.spec.scenario import Closed, Scenario, SourceClosed, Timed

HOOKS = Scenario(inputs=(Timed(0, Record("a")),), hooks="plain")


def test_hooks_that_never_run_are_none() -> None:
    """And not a list of nothing."""
    finished = run(
        HOOKS,
        leg(
            ends("finished", 0),
            taken(0, 0),
            called(0, "a"),
            input_ended(0),
            answered(0, 0),
            (SourceClosed(0), Closed(0)),
        ),
    )

    assert texts("END-6", finished) == ["expected open, then close, got none"]
