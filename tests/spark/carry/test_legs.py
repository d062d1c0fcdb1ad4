"""One leg in a lane, visit by visit, as the call host of `spark-streaming` plays it.

`asyncwait verify spark-streaming` plays all examples so; here is that a faulty host would show.
"""

from typing import Any

import pytest
from judged import broken_rules
from msgspec.structs import replace

from asyncwait.backends.faulty.carry import CallsAKeyAtOnce, CallsAllAtOnce
from asyncwait.backends.spark import Carry, EmbeddedSpark
from asyncwait.backends.spark.conformance import _stream_leg
from asyncwait.backends.spark.conformance._backends import KEPT, planned
from asyncwait.backends.spark.conformance._jobs import frame_of
from asyncwait.backends.spark.conformance._stream_leg import HostedLeg, barriers_of, parts_of
from asyncwait.backends.spark.conformance._streams import Stage, confirmed, rows_of
from asyncwait.backends.spark.conformance._task import LegReport
from asyncwait.conformance.evidence import Run, scenario_of
from asyncwait.spec import Record
from asyncwait.spec.carry import LaneState, VisitFailed
from asyncwait.spec.scenario import Ending, Leg, LegStart, Scenario, Trace
from asyncwait.toolkit import Lane


@pytest.fixture
def play(spark: EmbeddedSpark) -> Any:
    def play_one(scenario: Scenario) -> Leg:
        start = LegStart.first(scenario)
        with Stage(spark.session):
            frame = frame_of(spark.session, KEPT, streams=True)
            carry = Carry(lanes=1, order_by="index", version="1")
            work = planned(start, frame, keep=KEPT, carry=carry).job
        leg, lane, state = HostedLeg(work, start), Lane("0", work.terms), LaneState()
        batches = [rows_of(0, start, work)[1]]
        while leg.leg is None:
            try:
                _, state = lane.visit(state, (state.stamp or 0) + 1, batches.pop(), leg)
            except VisitFailed:
                break
            batches.append([])
        assert leg.leg is not None
        return leg.leg

    return play_one


def judged(scenario: Scenario, leg: Leg) -> set[str]:
    return {*broken_rules(Run(scenario, Trace((leg,))))}


SLOW_HEAD = scenario_of("capacity 2; 0: a b c d; a: 200 gives *1; b c d: 40 gives *1")
BUSY_KEY = scenario_of("key-ordered; 0: a/k b/k; a b: 40 gives *1")
LATE_FAILURE = scenario_of("0: a b; a: 200 gives *1; b: 40 raises own")


@pytest.mark.parametrize("scenario", [SLOW_HEAD, BUSY_KEY, LATE_FAILURE])
def test_what_hosts_do_is_conformant(play: Any, scenario: Scenario) -> None:
    assert judged(scenario, play(scenario)) == set()


@pytest.mark.parametrize(
    ("scenario", "slip", "rule"),
    [
        (SLOW_HEAD, ("has_room", CallsAllAtOnce.has_room), "CAP-1"),
        (BUSY_KEY, ("offer", CallsAKeyAtOnce.offer), "KEY-1"),
    ],
)
def test_a_host_that_slips_is_convicted(
    play: Any, monkeypatch: pytest.MonkeyPatch, scenario: Scenario, slip: tuple[str, Any], rule: str
) -> None:
    monkeypatch.setattr(_stream_leg.WatchedCalls, *slip)

    assert rule in judged(scenario, play(scenario))


def test_what_comes_out_is_compared_with_what_was_finished(play: Any) -> None:
    a, b = Record("a1"), Record("b1")
    done = LegReport(play(scenario_of("0: a b; a b: 40 gives *1")), 0)
    free = replace(done, leg=replace(done.leg, mode="unordered"))
    failed = replace(done, leg=replace(done.leg, ending=Ending("failed")))

    assert [confirmed(done, out).leg.ending.how for out in ([a, b], [b, a], [a])] == [
        "finished",
        "error",
        "error",
    ]
    assert confirmed(free, [b, a]) == free
    assert [confirmed(failed, out).leg.ending.how for out in ([a], [b])] == ["failed", "error"]


def test_a_barrier_behind_watermarks_stands_when_the_records_before_it_have_come() -> None:
    start = LegStart.first(scenario_of("0: ~1 a ~9 b ^1 c; a b c: 40 gives *1"))
    assert [len(part) for part in parts_of(start)] == [0, 2, 1]
    assert [each.behind for each in barriers_of(start)] == [2]
