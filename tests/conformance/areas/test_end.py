"""What the checks of the end say where a witness says something else."""

from typing import Any, cast

import pytest
from judged import broken_rules, texts

from asyncwait.conformance.evidence import (
    answered,
    called,
    ends,
    input_ended,
    leg,
    run,
    taken,
    waits,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallEnded,
    Closed,
    Misuse,
    Plan,
    Scenario,
    SinkLeft,
    SinkStep,
    SourceAsked,
    SourceClosed,
    Step,
    Timed,
)

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


@pytest.mark.parametrize("argument", ["config", "fn", "elements", "restore"])
def test_an_operator_that_took_a_wrong_argument_is_told_of_nothing_else(argument: str) -> None:
    """It was not given what the scenario says, so what it makes of it speaks of no other rule."""
    wrong = Scenario(
        inputs=(Timed(0, Record("a")),), hooks="plain", wrong_argument=cast("Any", argument)
    )
    hung = run(wrong, leg(ends("hung", 0), waits(0)))

    said = f"expected InvalidConfig, as `{argument}` is a text, and the leg hung"
    assert broken_rules(hung) == {"END-19": [said]}


def test_a_source_that_is_interrupted_by_leaving_is_not_interrupted_early() -> None:
    """Even if whoever asks again after leaving waits for ever: that is for other rules."""
    hung = run(
        Scenario(inputs=(Timed(0, Record("a")),), sink=(SinkStep("leave"),)),
        leg(
            ends("hung", 80),
            (SourceAsked(0), SinkLeft(0), Misuse(0, "interrupted", "the read of the source")),
            (SourceClosed(0), Closed(0)),
        ),
    )

    assert texts("END-17", hung) == []


def test_an_operator_that_refuses_a_wrong_argument_is_held_to_what_it_leaves() -> None:
    """A task that was started before is one too many."""
    wrong = Scenario(inputs=(Timed(0, Record("a")),), wrong_argument="fn")
    refused = run(wrong, leg(ends("failed", 0, error="InvalidConfig"), (Closed(0),), tasks_left=1))

    assert broken_rules(refused) == {"END-4": ["1 task is left"]}


@pytest.mark.parametrize(
    ("shields", "said"), [(True, []), (False, ["after leaving, a further read raised CallFailed"])]
)
def test_what_fails_while_a_consumer_shields_itself_may_be_told(
    *, shields: bool, said: list[str]
) -> None:
    """It was cancelled at 40, and leaves when its wait is over; an operator may work until then."""
    scenario = Scenario(
        inputs=(Timed(0, Record("a")),),
        plans=(Plan("a", (Step("raise", 80, error="ValueError"),)),),
        cancel_at=40,
        shields=shields,
    )
    left = run(
        scenario,
        leg(
            ends("left", 40, after="raised CallFailed"),
            taken(0, 0),
            called(0, "a"),
            waits(0),
            (SinkLeft(40), CallEnded(80, 0, "raised"), SourceClosed(80), Closed(80)),
        ),
    )

    assert texts("END-7", left) == said
