"""Two runs of one scenario, instant by instant."""

from typing import Any

from asyncwait.conformance._comparing import differences
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
    Trace,
)

END = Ending("finished", 80)


def trace(*events: Event, ending: Ending = END) -> Trace:
    return Trace((Leg(ending, events),))


def took(at: float, *values: Any) -> list[Event]:
    return [SinkTook(at, Record(value)) for value in values]


def test_how_an_operator_asks_and_a_consumer_waits_is_not_compared() -> None:
    assert list(differences(trace(SourceAsked(0), SinkWaits(40)), trace())) == []


def test_calls_that_begin_together_have_no_order() -> None:
    one = trace(CallStarted(0, 0, "a"), CallStarted(0, 1, "b"), CallEnded(40, 0, results=("x",)))
    other = trace(CallStarted(0, 0, "b"), CallStarted(0, 1, "a"), CallEnded(40, 1, results=("x",)))

    assert list(differences(one, other)) == []


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

    assert [(each.leg, each.at) for each in found] == [(1, 40), (1, 80)]
