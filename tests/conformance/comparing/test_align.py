"""Two runs of one scenario, instant by instant."""

from typing import Any

from asyncwait.conformance._comparing import Difference, differences
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallEnded,
    CallStarted,
    Ending,
    Event,
    Leg,
    SinkTook,
    SinkWaits,
    SourceAsked,
    Taken,
    Trace,
)

END = Ending("finished", 80)


def trace(*events: Event, ending: Ending = END) -> Trace:
    return Trace((Leg(ending, events),))


def took(at: float, *values: Any) -> list[Event]:
    return [SinkTook(at, Record(value)) for value in values]


def test_equal_runs_do_not_differ() -> None:
    run = trace(Taken(0, 0), CallStarted(0, 0, "a"), *took(40, "x"))

    assert list(differences(run, run)) == []


def test_how_an_operator_asks_and_a_consumer_waits_is_not_compared() -> None:
    assert list(differences(trace(SourceAsked(0), SinkWaits(40)), trace())) == []


def test_calls_that_begin_together_have_no_order() -> None:
    one = trace(CallStarted(0, 0, "a"), CallStarted(0, 1, "b"), CallEnded(40, 0, results=("x",)))
    other = trace(CallStarted(0, 0, "b"), CallStarted(0, 1, "a"), CallEnded(40, 1, results=("x",)))

    assert list(differences(one, other)) == []


def test_what_comes_out_has_an_order() -> None:
    found = list(differences(trace(*took(40, "x", "y")), trace(*took(40, "y", "x"))))

    x, y = "Record 'x'", "Record 'y'"
    assert found == [Difference(0, 40, (x, y), (y, x))]


def test_a_difference_is_what_only_one_has_at_an_instant() -> None:
    one = trace(CallStarted(0, 0, "a"), CallStarted(40, 1, "a"))
    other = trace(CallStarted(0, 0, "a"), CallStarted(80, 1, "a"))

    assert list(differences(one, other)) == [
        Difference(0, 40, ("call 1 of 'a'",), ()),
        Difference(0, 80, (), ("call 1 of 'a'",)),
    ]


def test_an_ending_is_compared_by_its_error_and_what_it_names() -> None:
    failed = Ending("failed", 80, "CallFailed", Record("a"), detail="Record 'a': it failed")
    reworded = Ending("failed", 80, "CallFailed", Record("a"), detail="another text")
    bare = Ending("failed", 80, "ValueError", detail="Record 'a': it failed")

    assert list(differences(trace(ending=failed), trace(ending=reworded))) == []
    (found,) = differences(trace(ending=failed), trace(ending=bare))
    assert found.first == ("failed CallFailed Record 'a'",)
    assert found.second == ("failed ValueError",)


def test_a_leg_that_only_one_has_differs_in_all_of_it() -> None:
    run = Trace((Leg(END), Leg(END, tuple(took(40, "x")))))

    found = list(differences(run, trace()))

    assert [each.moment for each in found] == [(1, 40), (1, 80)]
