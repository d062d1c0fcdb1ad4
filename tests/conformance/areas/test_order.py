from judged import (
    texts,
)

from asyncwait.conformance.evidence import (
    answered,
    called,
    ends,
    finished,
    leg,
    run,
    taken,
    took,
    waits,
)
from asyncwait.spec import Record
from asyncwait.spec.scenario import Scenario, Timed

TWO = Scenario(inputs=(Timed(0, Record("a")), Timed(0, Record("b"))))


def test_a_record_that_is_passed_over_was_not_called_first() -> None:
    """A call in front of one that never starts is out of order, in an unfinished leg too."""
    crashed = run(TWO, leg(ends("crashed", 40), taken(0, 0, 1), called(0, "b")))
    assert texts("ORD-4", crashed) == [
        "Record 'b' (input 1) was called before Record 'a' (input 0)"
    ]


def test_a_record_that_is_not_called_yet_is_in_order() -> None:
    """The last records of a leg may wait for their calls for ever."""
    assert texts("ORD-4", run(TWO, leg(ends("crashed", 40), taken(0, 0, 1), called(0, "a")))) == []


def test_a_second_call_of_a_record_is_one_too_many() -> None:
    """There are two calls of a, and one record a."""
    both = (called(0, "a", "a", "b"), answered(0, 0, "a"), answered(0, 1, "a"), answered(0, 2, "b"))
    again = finished(TWO, waits(0), taken(0, 0, 1), *both, took(0, Record("a"), Record("b")))
    assert texts("ORD-5", again) == ["call 1 of 'a' belongs to no record"]
