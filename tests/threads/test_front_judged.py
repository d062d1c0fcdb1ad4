"""The adapter of the blocking front: what the suite does to its reader reaches the reader."""

from asyncwait.backends.threads.conformance import plain_backend
from asyncwait.conformance.evidence import scenario_of

RUNS = 50

LEFT_IN_TIME = scenario_of(
    "capacity 1; 0: a b; a: 280 raises; b: never; close_takes 40; cancel_at 40; sink block 200"
)


def test_a_reader_that_is_interrupted_before_it_asks_waits_for_nothing() -> None:
    legs = [trace.legs[0] for trace in plain_backend().run([LEFT_IN_TIME] * RUNS)]

    assert {(leg.ending.how, leg.ending.after) for leg in legs} == {("left", "stop")}
