"""The adapter of the blocking front: what the suite does to its reader reaches the reader."""

from asyncwait.backends.threads.conformance import plain_backend
from asyncwait.conformance.evidence import at, never, raises
from asyncwait.spec import Record
from asyncwait.spec.scenario import Scenario, SinkStep

RUNS = 50

LEFT_IN_TIME = Scenario(
    capacity=1,
    inputs=at(0, Record("a"), Record("b")),
    plans=(raises("a", 280), never("b")),
    sink=(SinkStep("block", 200),),
    close_takes=40,
    cancel_at=40,
)


def test_a_reader_that_is_interrupted_before_it_asks_waits_for_nothing() -> None:
    """Its thread may not have come to the loop yet; the failure behind it is not its own."""
    legs = [trace.legs[0] for trace in plain_backend().run([LEFT_IN_TIME] * RUNS)]

    assert {(leg.ending.how, leg.ending.after) for leg in legs} == {("left", "stop")}
