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
from asyncwait.spec import Record, Snapshot
from asyncwait.spec.scenario import Plan, Scenario, Step, Timed

A1, A2 = Record("a1", 5), Record("a2", 5)
TWO_RESULTS = Scenario(
    inputs=(Timed(0, Record("a", 5)),), plans=(Plan("a", (Step(results=("a1", "a2")),)),)
)
GIVEN = (waits(0), taken(0, 0), called(0, "a"), answered(0, 0, "a1", "a2"))


def test_every_result_of_a_record_is_looked_at() -> None:
    """The second result has a timestamp to carry like the first."""
    said = texts("ELEM-1", finished(TWO_RESULTS, *GIVEN, took(0, A1, Record("a2"))))
    assert said == ["expected timestamp 5 of Record 'a' @ 5 (input 0), got Record 'a2'"]


def test_results_in_reverse_are_out_of_order() -> None:
    """A later result that comes first is in the wrong place."""
    said = texts("ELEM-5", finished(TWO_RESULTS, *GIVEN, took(0, A2, A1)))
    assert said == ["expected 'a1' of Record 'a' @ 5 (input 0) first, got Record 'a2' @ 5"]


def test_a_torn_record_is_not_a_repeated_one() -> None:
    """What comes of a record after it was torn apart still belongs to it."""
    torn = finished(TWO_RESULTS, *GIVEN, took(0, A1, Snapshot(1), A2))
    assert texts("ELEM-5", torn) == [
        f"expected 'a2' of Record 'a' @ 5 (input 0) next, got {Snapshot(1)}"
    ]
    assert texts("ELEM-4", torn) == texts("RES-1", torn) == []


def test_a_first_result_that_comes_again_is_repeated() -> None:
    """The whole of a record's results a second time are as many repetitions."""
    said = texts("ELEM-4", finished(TWO_RESULTS, *GIVEN, took(0, A1, A2, A1)))
    assert said == ["Record 'a1' @ 5 came out once more than records gave it"]


def test_a_crash_between_two_results_tears_nothing() -> None:
    """A consumer that is gone can't take the rest."""
    crashed = run(TWO_RESULTS, leg(ends("crashed", 40), *GIVEN, took(0, A1)))
    assert texts("ELEM-5", crashed) == []
