"""`ordered_wait` on a DataFrame as a backend of the suite: what it does in tasks is judged."""

from typing import Any

import pytest
from judged import broken_rules

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark.conformance import _frame_backend, frame_backend
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.running import load_backend
from asyncwait.spec import Record
from asyncwait.spec.scenario import Capability, Plan, Scenario, SinkTook, Step, Timed

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM


def replies(value: str, after: int) -> Plan:
    """A plan for a value: two results after so many ms."""
    return Plan(value, (Step(after=after, results=(f"{value}1", f"{value}2")),))


TWO = Scenario(
    inputs=(Timed(0, Record("a", 1, "k")), Timed(0, Record("b", None, 2))),
    plans=(replies("a", 80), replies("b", 40)),
)


def outputs(trace: Any) -> list[Any]:
    """What came out, in order."""
    return [event.element for event in trace.legs[0].events if isinstance(event, SinkTook)]


def test_it_lacks_what_rows_of_a_frame_have_none_of() -> None:
    """Beside what Spark's data path does not give."""
    lacking = frozenset(Capability) - frame_backend().capabilities
    assert {each.value for each in lacking} == {
        "callbacks",
        "cancellation-seen",
        "contexts",
        "copies",
        "event-time",
        "in-flight-snapshot",
        "on-demand-snapshot",
        "one-loop",
        "restore",
        "snapshots",
        "timed-input",
    }
    assert type(load_backend("spark-dataframe")) is type(frame_backend())


def test_scenarios_become_rows_and_rows_traces(spark: EmbeddedSpark) -> None:
    """Timestamps and keys are carried past the function."""
    assert spark.session is not None
    (trace,) = frame_backend().run([TWO])
    assert outputs(trace) == [
        Record("a1", 1, "k"),
        Record("a2", 1, "k"),
        Record("b1", None, 2),
        Record("b2", None, 2),
    ]
    assert broken_rules(Run(TWO, trace)) == {}


def test_what_the_public_function_plans_is_what_is_judged(
    spark: EmbeddedSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it planned another order, or another capacity, that would come out."""
    assert spark.session is not None
    planned = _frame_backend.WAITS

    class Other:
        """A function that does not plan what it is asked for."""

        def __init__(self, mode: Any, more: int) -> None:
            self._mode = mode
            self._more = more

        def plan(self, *args: Any, **options: Any) -> Any:
            capacity = options.pop("capacity") + self._more
            return planned[self._mode].plan(*args, capacity=capacity, **options)

    monkeypatch.setattr(_frame_backend, "WAITS", {"ordered": Other("unordered", 0)})
    (trace,) = frame_backend().run([TWO])
    assert "ORD-1" in broken_rules(Run(TWO, trace))

    monkeypatch.setattr(_frame_backend, "WAITS", {"ordered": Other("ordered", 1)})
    narrow = Scenario(capacity=1, inputs=TWO.inputs, plans=TWO.plans)
    (trace,) = frame_backend().run([narrow])
    assert "CAP-1" in broken_rules(Run(narrow, trace))
