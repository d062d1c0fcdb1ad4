from judged import (
    judge,
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
from asyncwait.spec import Barrier, LatencyMarker, Record, Snapshot, Watermark
from asyncwait.spec.scenario import Plan, Scenario, SinkGaveUp, SinkStep, SnapshotAsked, Step, Timed

LATE_B = Scenario(
    inputs=(Timed(0, Record("a")), Timed(40, Record("b"))),
    plans=(Plan("a", (Step(after=80, results=("a",)),)),),
)
RESTORED = Scenario(
    capacity=1,
    inputs=(Timed(0, Watermark(1)), Timed(0, Watermark(2))),
    plans=(Plan("a", (Step(after=80, results=("a",)),)),),
    restore=Snapshot(1, (Record("a"), Watermark(0), Watermark(0), Record("a"))),
)
OVERTAKERS = Scenario(
    capacity=1,
    inputs=tuple(Timed(0, e) for e in (LatencyMarker(1), Barrier(2), LatencyMarker(3), Barrier(4))),
    sink=(SinkStep("pause", 40), SinkStep("read", 2), SinkStep("pause", 40)),
)
SILENT = Scenario(
    mode="unordered",
    capacity=1,
    inputs=(Timed(0, Record("a")), Timed(0, Record("b"))),
    plans=(Plan("a"), Plan("b", (Step(after=40),))),
)


def test_an_element_that_nobody_takes_is_unused_room() -> None:
    """At 40 there is room for b, and the source has it."""
    slow = finished(
        LATE_B,
        waits(0),
        taken(0, 0),
        called(0, "a"),
        answered(80, 0, "a"),
        took(80, Record("a")),
        taken(80, 1),
        called(80, "b", first=1),
        answered(80, 1, "b"),
        took(80, Record("b")),
    )
    # Nothing happened at 40, so the last moment of rest before it is the one at 0.
    assert texts("CAP-4", slow) == []
    held = run(LATE_B, leg(ends("hung", 400), waits(0), taken(0, 0), called(0, "a"), waits(40)))
    assert texts("CAP-4", held) == ["the source has an element, there is room, and nobody takes it"]


def test_one_element_of_the_source_may_wait_for_restored_ones() -> None:
    """While restored records wait for room, one element is read ahead and not two."""
    one, two = (
        run(RESTORED, leg(ends("crashed", 40), waits(0), called(0, "a"), taken(0, *indices)))
        for indices in ((0,), (0, 1))
    )
    assert texts("CAP-3", one) == []
    assert texts("CAP-3", two) == [
        "Watermark(timestamp=2) (input 1) was taken though Record 'a' (restored) waits for room"
    ]


def test_restored_watermarks_are_not_all_admitted() -> None:
    """They are all inside from the start: that says nothing of the slots they take."""
    started = run(RESTORED, leg(ends("crashed", 40), waits(0), called(0, "a"), taken(0, 0)))
    assert texts("CAP-5", started) == []


def test_a_silent_record_may_be_gone_already() -> None:
    """Nobody can see when a record without results gives its slot back."""
    given = (taken(0, 0, 1), called(0, "a"), answered(0, 0), called(0, "b", first=1))
    paused = run(SILENT, leg(ends("crashed", 40), *given))
    assert texts("CAP-1", paused) == []


def test_snapshots_on_request_do_not_count_among_those_that_wait() -> None:
    """Two that were read are legal; how many are requested is up to whoever asks."""
    requests = tuple(SnapshotAsked(0, number) for number in (7, 8, 9))
    paused = run(OVERTAKERS, leg(ends("crashed", 40), taken(0, 0, 1), requests))
    assert judge("CAP-6", paused).applied
    assert texts("CAP-6", paused) == []


def test_what_came_out_makes_way_for_as_many_others() -> None:
    """Four were read before the second pause, and two of them are out."""
    events = (taken(0, 0, 1), waits(40), took(40, LatencyMarker(1), Snapshot(2)), taken(40, 2, 3))
    given_up = (SinkGaveUp(80),)
    paused = run(OVERTAKERS, leg(ends("crashed", 120), *events, given_up))
    assert judge("CAP-6", paused).applied == 2
    assert texts("CAP-6", paused) == []


def test_a_barrier_waits_as_a_marker_does() -> None:
    """Its Snapshot is made when it is read, or when it is taken: nobody can tell."""
    paused = run(OVERTAKERS, leg(ends("crashed", 40), taken(0, 0, 1, 2, 3)))
    assert texts("CAP-6", paused) == ["4 markers and snapshots wait, capacity 1"]
