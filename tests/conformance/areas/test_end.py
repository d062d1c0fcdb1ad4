"""What the checks of the end say where a witness says something else."""

from judged import texts

from asyncwait.conformance.evidence import answered, called, ends, input_ended, leg, run, taken
from asyncwait.spec import Record
from asyncwait.spec.scenario import Closed, Scenario, SinkStep, SourceClosed, Timed

HOOKS = Scenario(inputs=(Timed(0, Record("a")),), hooks="plain")


def test_sums_of_rounded_times_may_be_off() -> None:
    """In floats, 40 ms behind 23.112 ms is a little earlier than 63.112 ms."""
    closing = Scenario(inputs=(Timed(0, Record("a")),), close_takes=40, sink=(SinkStep("leave"),))

    for closed, said in (63.112, []), (63.115, ["leaving took 40.003 ms, and nothing"]):
        left = run(closing, leg(ends("left", 23.112), (SourceClosed(closed), Closed(closed))))
        assert [text[:35] for text in texts("END-11", left)] == said


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
