"""Runs that look wrong and are not, and some that look right and are not."""

import pytest
from judged import broken_rules, judge, texts

from asyncwait.conformance.evidence import (
    answered,
    asked,
    at,
    called,
    cancelled,
    ends,
    failed,
    input_ended,
    leg,
    never,
    raised,
    raises,
    replies,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallStarted,
    Closed,
    Crash,
    Handler,
    HandlerAsked,
    Misuse,
    Plan,
    PlannedRetry,
    Scenario,
    SinkLeft,
    SinkStep,
    SnapshotAsked,
    SnapshotRequest,
    SourceAsked,
    SourceClosed,
    Step,
)

A, B, C = Record("a"), Record("b"), Record("c")


def test_deadlines_after_too_many_abandoned_calls_mean_nothing() -> None:
    """The operator failed at 160; that c was not decided at 240 is no fault of it."""
    stubborn = Step("never", results=("late",), swallow=True, clean_up=400)
    scenario = Scenario(
        mode="unordered",
        capacity=1,
        timeout=80,
        inputs=at(0, A, B, C),
        plans=(
            Plan("a", (stubborn,), Handler("reply")),
            Plan("b", (stubborn,), Handler("reply")),
            never("c"),
        ),
        handled=True,
        sink=(SinkStep("pause", 400),),
    )
    seen = run(
        scenario,
        leg(
            ends("failed", 400, error="TooManyAbandonedCalls", again="same", after="same"),
            taken(0, 0, 1),
            called(0, "a"),
            asked(80, "a"),
            (CallCancelled(80, 0),),
            called(80, "b", first=1),
            taken(80, 2),
            asked(160, "b"),
            (CallCancelled(160, 1),),
            called(160, "c", first=2),
            cancelled(161, 2),
            waits(400),
            answered(480, 0, "late"),
            answered(560, 1, "late"),
            abandoned=2,
        ),
    )

    assert judge("TIME-9", seen).applied
    assert broken_rules(seen) == {}


def test_a_call_without_an_answer_may_hang() -> None:
    """Where a call never answers and has no deadline, waiting for ever is all there is to do."""
    scenario = Scenario(inputs=at(0, A), plans=(never("a"),))
    seen = run(
        scenario, leg(ends("hung", 1000), waits(0), taken(0, 0), called(0, "a"), input_ended(0))
    )

    assert texts("END-8", seen) == []


def test_a_failure_that_ends_the_stream_well_is_convicted() -> None:
    """A call raised in the very instant of the end, so there was no time to notice."""
    scenario = Scenario(inputs=at(0, A), plans=(raises("a", 40),))
    seen = run(
        scenario,
        leg(ends("finished", 40), waits(0), taken(0, 0), called(0, "a"), raised(40, 0)),
    )

    assert texts("FAIL-1", seen) == [
        "expected CallFailed for Record 'a', and the stream just ended"
    ]


def test_a_marker_may_come_before_a_requested_snapshot() -> None:
    """Both overtake what is queued, and a marker is in no snapshot."""
    scenario = Scenario(
        inputs=at(0, A) + at(40, LatencyMarker(3)),
        plans=(replies("a", 200, "a1"),),
        sink=(SinkStep("pause", 120),),
        requests=(SnapshotRequest(80, 7),),
    )
    seen = run(
        scenario,
        leg(
            ends("finished", 200),
            taken(0, 0),
            called(0, "a"),
            taken(40, 1),
            input_ended(40),
            (SnapshotAsked(80, 7),),
            waits(120),
            took(120, LatencyMarker(3), Snapshot(7, (A,), read=2)),
            answered(200, 0, "a1"),
            took(200, Record("a1")),
        ),
    )

    assert judge("SNAP-8", seen).applied
    assert broken_rules(seen) == {}


def test_a_record_without_results_is_not_mistaken_for_its_equal() -> None:
    """Of three equal records one came out, one was silent, and the one behind is restored."""
    snapshot = Snapshot(1, (A,))
    gives_a1, gives_nothing = Step(results=("a1",)), Step()
    scenario = Scenario(
        inputs=at(0, A, A, Watermark(9), A, Barrier(1)),
        plans=(Plan("a", (gives_a1, gives_nothing, Step(after=120, results=("a1",)))),),
        source_ends_at=120,
        crashes=(Crash(80),),
    )
    seen = run(
        scenario,
        leg(
            ends("crashed", 80),
            waits(0),
            taken(0, 0, 1, 2),
            called(0, "a", "a"),
            answered(0, 0, "a1"),
            answered(0, 1),
            took(0, Record("a1"), Watermark(9)),
            taken(0, 3, 4),
            called(0, "a", first=2),
            took(0, snapshot),
            (SinkLeft(80),),
            cancelled(80, 2),
        ),
        leg(
            ends("finished", 40),
            waits(0),
            called(0, "a"),
            answered(0, 0, "a1"),
            took(0, Record("a1")),
            input_ended(40),
            first_index=5,
            restored=snapshot,
        ),
    )

    assert judge("REST-7", seen).applied
    assert broken_rules(seen) == {}


def test_a_call_may_begin_when_the_loop_is_free_after_leaving() -> None:
    """The answer of the first call blocked the loop before anybody could be told to leave."""
    scenario = Scenario(
        inputs=at(0, A) + at(40, B),
        plans=(Plan("a", (Step(40, blocks=40),)), never("b")),
        cancel_at=40,
    )
    seen = run(
        scenario,
        leg(
            ends("left", 40),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            (SinkLeft(40),),
            taken(40, 1),
            (Blocked(40, 80),),
            answered(80, 0),
            called(80, "b", first=1),
            cancelled(80, 1),
        ),
    )

    assert judge("END-10", seen).applied
    assert broken_rules(seen) == {}


def test_of_equal_records_any_may_be_asked_for_while_the_loop_is_blocked_again_and_again() -> None:
    """All have answered at their deadline; the second gave its own, the others the handler's."""
    first, second, third = (Record("a", n) for n in range(3))
    scenario = Scenario(
        mode="unordered",
        timeout=80,
        inputs=at(0, first, second, third),
        plans=(Plan("a", (Step(80, results=("a1",)),), Handler("reply", ("late",), blocks=40)),),
        handled=True,
    )
    seen = run(
        scenario,
        leg(
            ends("finished", 160),
            waits(0),
            taken(0, 0, 1, 2),
            input_ended(0),
            called(0, "a", "a", "a"),
            *(answered(80, call, "a1") for call in range(3)),
            asked(80, "a"),
            (Blocked(80, 120),),
            asked(120, "a"),
            (Blocked(120, 160),),
            took(160, Record("a1", 1), Record("late", 0), Record("late", 2)),
        ),
    )

    assert judge("ELEM-1", seen).applied
    assert broken_rules(seen) == {}


def test_a_read_may_be_interrupted_at_a_deadline_that_is_noticed_before_a_block() -> None:
    """The answer of the call blocked the loop in the instant of the deadline, and came late."""
    scenario = Scenario(
        timeout=80,
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 80, error="ValueError", blocks=40),)),),
        source_ends_at=400,
    )
    error = {"error": "CallTimedOut", "record": A, "again": "same", "after": "same"}
    seen = run(
        scenario,
        leg(
            ends("failed", 120, **error),
            waits(0),
            (SourceAsked(0),),
            taken(0, 0),
            (SourceAsked(0),),
            called(0, "a"),
            (Misuse(80, "interrupted", "the read of the source"),),
            (Blocked(80, 120),),
            raised(120, 0),
        ),
    )

    assert judge("END-17", seen).applied
    assert broken_rules(seen) == {}


def test_a_read_after_leaving_may_tell_of_a_failure_in_that_instant() -> None:
    """The call raises at 40, when the consumer leaves, who learns it by reading once more."""
    scenario = Scenario(inputs=at(0, A), plans=(raises("a", 40),), cancel_at=40, source_ends_at=400)
    seen = run(
        scenario,
        leg(
            ends("left", 40, after="raised CallFailed"),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            raised(40, 0),
            (SinkLeft(40),),
        ),
    )

    assert judge("END-7", seen).applied
    assert texts("END-7", seen) == []


def test_a_failure_may_come_before_what_ends_the_program_in_that_instant() -> None:
    """Both calls raise at 40; when one has failed the operator, nobody asks the other any more."""
    scenario = Scenario(
        form="callback",
        inputs=at(0, A, B),
        plans=(
            Plan("a", (Step("raise", 40, error="KeyboardInterrupt", supplied=True),)),
            raises("b", 40),
        ),
    )
    seen = run(
        scenario,
        leg(
            ends("failed", 40, error="CallFailed", record=B, cause="ValueError", attempts=1),
            waits(0),
            taken(0, 0, 1),
            called(0, "a", "b"),
            raised(40, 1),
            raised(40, 0),
        ),
    )

    assert texts("FAIL-11", seen) == []


def test_too_many_abandoned_calls_come_before_what_closing_raises() -> None:
    """The operator has failed when its source is closed; what that raises is a note on it."""
    late = (Step("never", swallow=True),)
    scenario = Scenario(
        capacity=1,
        timeout=40,
        inputs=at(0, A, B),
        plans=(Plan("a", late, Handler("reply")), Plan("b", late, Handler("reply"))),
        handled=True,
        close_error=True,
    )
    seen = run(
        scenario,
        leg(
            ends("failed", 85, error="TooManyAbandonedCalls"),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            (HandlerAsked(40, "a"), CallCancelled(40, 0)),
            taken(40, 1),
            called(40, "b", first=1),
            (HandlerAsked(80, "b"), CallCancelled(80, 1)),
            (SourceClosed(85), Closed(85)),
        ),
    )

    assert texts("END-13", seen) == []


@pytest.mark.parametrize(("closed_at", "is_heard"), [(80, False), (120, True)])
def test_a_thread_that_nobody_waits_for_may_end_the_program_unheard(
    closed_at: int,
    is_heard: bool,  # noqa: FBT001
) -> None:
    """Its record was over at 40 and it was not cancelled; at 80 it raises, when all is closed."""
    scenario = Scenario(
        timeout=40,
        inputs=at(0, A),
        plans=(Plan("a", (Step("raise", 80, error="SystemExit"),)),),
        close_takes=closed_at - 40,
    )
    seen = run(
        scenario,
        leg(
            ends("failed", 40, error="CallTimedOut", record=A),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            raised(80, 0),
            (SourceClosed(closed_at), Closed(closed_at)),
        ),
    )

    said = ["expected SystemExit to end the loop, the leg failed CallTimedOut"]
    assert texts("FAIL-11", seen) == (said if is_heard else [])


def test_a_predicate_that_raises_is_no_other_failure() -> None:
    """The leg fails with the call's own error, and nobody learns what the predicate raised."""
    scenario = Scenario(
        retry=PlannedRetry(on_error="breaks"), inputs=at(0, A), plans=(raises("a", 40),)
    )
    seen = run(
        scenario,
        leg(
            ends("failed", 40, error="CallFailed", record=A, cause="ValueError", attempts=1),
            waits(0),
            taken(0, 0),
            called(0, "a"),
            raised(40, 0),
        ),
    )

    assert texts("RETRY-13", seen) == ["a predicate raised, and the leg failed with CallFailed"]


def test_a_call_that_is_told_to_be_for_a_record_beyond_the_last_belongs_to_none() -> None:
    """Whoever writes such a trace is told of the call."""
    scenario = Scenario(retry=PlannedRetry(), inputs=at(0, A), plans=(replies("a", 0, "a1"),))
    seen = run(
        scenario,
        leg(
            ends("finished", 0),
            waits(0),
            taken(0, 0),
            (CallStarted(0, 0, "a", 0),),
            answered(0, 0, "a1"),
            (CallStarted(0, 1, "a", 1),),
            took(0, Record("a1")),
            input_ended(0),
        ),
    )

    assert texts("ORD-5", seen) == ["call 1 of 'a' belongs to no record"]


def test_a_record_that_is_called_at_once_has_not_waited_for_room_in_a_later_leg_either() -> None:
    """It is there 120 ms after the scenario began, and 40 after its leg did."""
    scenario = Scenario(
        timeout=80,
        inputs=at(120, A),
        plans=(replies("a", 0, "a1"),),
        crashes=(Crash(80),),
    )
    seen = run(
        scenario,
        leg(ends("crashed", 80), waits(0)),
        leg(
            ends("finished", 40),
            waits(0),
            taken(40, 0),
            called(40, "a"),
            answered(40, 0, "a1"),
            took(40, Record("a1")),
            input_ended(40),
        ),
    )

    assert broken_rules(seen) == {}
    assert judge("TIME-7", seen).applied == 0


_RAISES = Handler("raise", error="ValueError")


@pytest.mark.parametrize(
    ("handler", "cause", "broken"),
    [
        (_RAISES, "ValueError", set()),
        (_RAISES, "TimeoutError", {"FAIL-10"}),
        (_RAISES, "", {"FAIL-10"}),
        (Handler("none"), "", set()),
        (Handler("none"), "TimeoutError", set()),
        (Handler("none"), "ValueError", {"FAIL-10"}),
    ],
)
def test_a_deadline_has_the_cause_that_its_handler_raised(
    handler: Handler, cause: str, broken: set[str]
) -> None:
    """Where that raised nothing, the operator may say that time was up."""
    scenario = Scenario(
        timeout=80,
        handled=True,
        inputs=at(0, A),
        plans=(Plan("a", (Step("never"),), handler),),
    )
    late = failed(
        scenario,
        waits(0),
        taken(0, 0),
        called(0, "a"),
        asked(80, "a"),
        cancelled(80, 0),
        error="CallTimedOut",
        record=A,
        cause=cause,
    )
    assert set(broken_rules(late)) == broken
