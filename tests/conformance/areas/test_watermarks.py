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
from asyncwait.spec import Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import Scenario, Timed

THREE = Scenario(inputs=tuple(Timed(0, Watermark(at)) for at in (5, 5, 7)))
AROUND = Scenario(
    mode="unordered",
    inputs=(Timed(0, Record("a")), Timed(0, Watermark(5)), Timed(0, Record("b"))),
)
GIVEN = (
    waits(0),
    taken(0, 0, 1, 2),
    called(0, "a", "b"),
    answered(0, 0, "a"),
    answered(0, 1, "b"),
)
IDLE = WatermarkStatus(idle=True)
STATUS_FIRST = Scenario(inputs=(Timed(0, IDLE), Timed(0, Watermark(5))))


def test_a_result_without_its_watermark_has_run_ahead() -> None:
    """That the watermark might have come later is no excuse."""
    crashed = run(AROUND, leg(ends("crashed", 40), *GIVEN, took(0, Record("a"), Record("b"))))
    assert texts("WM-2", crashed) == [
        "Record 'b' (input 2) came out before Watermark(timestamp=5) (input 1)"
    ]


def test_a_finished_record_left_behind_is_late_data() -> None:
    """Being decided is not enough: its results have to be out."""
    late = finished(AROUND, *GIVEN, took(0, Watermark(5), Record("a"), Record("b")))
    assert texts("WM-1", late) == [
        "Watermark(timestamp=5) (input 1) came out before Record 'a' (input 0) was out"
    ]


def test_merged_watermarks_are_noticed_at_the_next_one() -> None:
    """A leg need not come to its end for that."""
    crashed = run(
        THREE,
        leg(ends("crashed", 40), waits(0), taken(0, 0, 1, 2), took(0, Watermark(5), Watermark(7))),
    )
    assert texts("WM-3", crashed) == [
        "expected Watermark(timestamp=5) (input 1), got Watermark(timestamp=7)"
    ]


def test_an_invented_watermark_is_one_too_many() -> None:
    """A watermark that was not read is none to pass on."""
    more = finished(THREE, waits(0), taken(0, 0), took(0, Watermark(5), Watermark(6)))
    assert texts("WM-3", more) == ["Watermark(timestamp=6) came out once more than it went in"]


def test_a_watermark_does_not_overtake_a_status_either() -> None:
    """Statuses and watermarks are fences for each other, in both directions."""
    swapped = finished(STATUS_FIRST, waits(0), taken(0, 0, 1), took(0, Watermark(5), IDLE))
    assert texts("WM-5", swapped) == [
        "Watermark(timestamp=5) (input 1) came out before WatermarkStatus(idle=True) (input 0)"
    ]


def test_what_never_came_out_has_not_run_ahead() -> None:
    """Behind the status stand a record that is not out and a watermark that is."""
    inputs = (Timed(0, IDLE), Timed(0, Record("a")), Timed(0, Watermark(5)))
    mixed = Scenario(mode="unordered", inputs=inputs)
    crashed = run(
        mixed, leg(ends("crashed", 40), waits(0), taken(0, 0, 1, 2), took(0, Watermark(5), IDLE))
    )

    assert texts("WM-5", crashed) == [
        "Watermark(timestamp=5) (input 2) came out before WatermarkStatus(idle=True) (input 0)"
    ]
