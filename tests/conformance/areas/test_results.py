from judged import (
    texts,
)

from asyncwait.conformance.evidence import (
    answered,
    asked,
    called,
    cancelled,
    ends,
    failed,
    leg,
    misreturned,
    raised,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Handler, Plan, Scenario, Step, Timed

A = Record("a")
ONE_SLOT = Scenario(
    capacity=1,
    inputs=(Timed(0, A), Timed(0, Record("b"))),
    plans=(Plan("a", (Step(after=40),)),),
)
TEXT = Scenario(
    inputs=(Timed(0, A), Timed(0, Record("b"))),
    plans=(Plan("a", (Step("misreturn", error="text"),)),),
)
TEXT_GIVEN = (waits(0), taken(0, 0, 1), called(0, "a"), misreturned(0, 0))
TWICE = Scenario(
    form="callback",
    inputs=(Timed(0, A), Timed(0, A)),
    plans=(Plan("a", (Step(twice=True, results=("a1",)), Step("raise", error="ValueError"))),),
)
BROKEN_HANDLER = Scenario(
    timeout=40,
    inputs=(Timed(0, A),),
    plans=(Plan("a", (Step("never"),), Handler("misreturn", error="broken")),),
    handled=True,
)


def test_a_silent_record_that_keeps_its_slot_holds_the_next_one_up() -> None:
    """The record behind it is not called though there is room."""
    leak = run(
        ONE_SLOT,
        leg(ends("hung", 400), waits(0), taken(0, 0, 1), called(0, "a"), answered(40, 0)),
    )
    assert texts("RES-2", leak) == [
        "Record 'b' (input 1) is held up behind Record 'a' (input 0), which has no results"
    ]


def test_an_invalid_result_has_its_own_error() -> None:
    """Another error is the wrong one."""
    wrong = failed(TEXT, *TEXT_GIVEN, error="CallFailed", record=A, detail="the call failed")
    assert texts("RES-3", wrong) == ["expected InvalidResult, got CallFailed: the call failed"]


def test_an_invalid_result_names_its_record() -> None:
    """Another record is the wrong one."""
    wrong = failed(TEXT, *TEXT_GIVEN, error="InvalidResult", record=Record("b"))
    assert texts("RES-3", wrong) == ["expected the record Record 'a' in the error, got Record 'b'"]


def test_a_second_completion_must_not_fail_the_record() -> None:
    """The first completion has decided it, so nothing can be wrong with it any more."""
    wrong = failed(
        TWICE,
        waits(0),
        taken(0, 0),
        called(0, "a"),
        answered(0, 0, "a1"),
        error="CallFailed",
        record=A,
    )
    assert texts("RES-4", wrong) == ["a second completion failed Record 'a' (input 0)"]


def test_an_equal_record_may_fail_by_itself() -> None:
    """The error names a record; which of two equal ones it was, it can't tell."""
    right = failed(
        TWICE,
        waits(0),
        taken(0, 0, 1),
        called(0, "a"),
        answered(0, 0, "a1"),
        called(0, "a", first=1),
        raised(0, 1),
        error="CallFailed",
        record=A,
    )
    assert texts("RES-4", right) == []


def test_a_handlers_collection_may_break_too() -> None:
    """What a broken collection of a timeout handler gave first must not come out either."""
    wrong = failed(
        BROKEN_HANDLER,
        waits(0),
        taken(0, 0),
        called(0, "a"),
        asked(40, "a"),
        cancelled(40, 0),
        took(40, Record("x")),
        error="CallFailed",
        record=A,
    )
    assert texts("RES-6", wrong) == ["Record 'x' came out of a collection that broke"]
