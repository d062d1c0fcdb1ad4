"""Scenarios and traces are data: they survive JSON, and say where they break their schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_run import FULL

from asyncwait.spec import (
    MODES,
    Barrier,
    InvalidConfig,
    LatencyMarker,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec.scenario import (
    CallEnded,
    CallStarted,
    Crash,
    Ending,
    Handler,
    Leg,
    Plan,
    PlannedRetry,
    Scenario,
    SinkStep,
    SinkTook,
    SnapshotRequest,
    Step,
    Taken,
    Timed,
    Trace,
    identity,
    scenarios_from_json,
    scenarios_to_json,
    trace_from_json,
)

SMALL = st.integers(0, 100)
VALUES = st.none() | st.booleans() | SMALL | st.text(max_size=2)
ELEMENTS = st.one_of(
    st.builds(Record, VALUES, st.none() | SMALL, VALUES),
    st.builds(Watermark, SMALL),
    st.builds(WatermarkStatus, st.booleans()),
    st.builds(LatencyMarker, SMALL),
    st.builds(Barrier, SMALL),
)
SCENARIOS = st.builds(
    Scenario,
    mode=st.sampled_from(MODES),
    capacity=st.integers(1, 9),
    timeout=st.none() | st.integers(1, 100),
    inputs=st.lists(st.builds(Timed, SMALL, ELEMENTS), max_size=4).map(
        lambda inputs: tuple(sorted(inputs, key=lambda timed: timed.at))
    ),
    plans=st.lists(
        st.builds(Plan, VALUES, st.lists(st.builds(Step), min_size=1, max_size=2).map(tuple)),
        max_size=2,
    ).map(tuple),
    crashes=st.lists(st.builds(Crash, SMALL), max_size=2).map(tuple),
)


def test_a_scenario_that_uses_everything_survives_json() -> None:
    """No field is lost on the way."""
    assert scenarios_from_json(scenarios_to_json((FULL,))) == (FULL,)


@given(st.lists(SCENARIOS, max_size=3).map(tuple))
def test_scenarios_survive_json(scenarios: tuple[Scenario, ...]) -> None:
    """What was generated can be stored and played again."""
    data = scenarios_to_json(scenarios)

    assert scenarios_from_json(data) == scenarios
    assert scenarios_to_json(scenarios_from_json(data)) == data


def test_what_is_left_at_its_default_is_not_written() -> None:
    """A scenario file shows what matters."""
    scenario = Scenario(inputs=(Timed(0, Record("a")),))

    assert json.loads(scenarios_to_json((scenario,))) == [
        {"inputs": [{"at": 0, "element": {"type": "record", "value": "a"}}]}
    ]


def timed_at(at: int) -> bytes:
    """Return an input element as JSON."""
    return b'{"at": %d, "element": {"type": "watermark", "timestamp": 0}}' % at


BREAK = "the scenarios break their schema: "
WAIT = "must be a whole number from 0 to 432000000"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the scenarios are not JSON: Input data was truncated"),
        (b"[{]", "the scenarios are not JSON: JSON is malformed: object keys must be strings"),
        (b"{}", f"{BREAK}Expected `array`, got `object`"),
        (
            b'[{}, {"capcity": 2}]',
            f"{BREAK}Object contains unknown field `capcity` - at `$[1]`",
        ),
        (
            b'[{"mode": "sorted"}]',
            f"{BREAK}Invalid enum value 'sorted' - at `$[0].mode`",
        ),
        (
            b'[{"inputs": [{"at": 0, "element": {"type": "recrod"}}]}]',
            f"{BREAK}Invalid value 'recrod' - at `$[0].inputs[0].element.type`",
        ),
        (
            b'[{"inputs": [{"at": 0, "element": {"type": "record", "value": 1, "timestmp": 3}}]}]',
            f"{BREAK}Object contains unknown field `timestmp` - at `$[0].inputs[0].element`",
        ),
        (
            b'[{"inputs": [{"at": "soon", "element": {"type": "record", "value": 1}}]}]',
            f"{BREAK}Expected `int`, got `str` - at `$[0].inputs[0].at`",
        ),
        (
            b'[{"capacity": 0}]',
            f"{BREAK}capacity must be a whole number from 1 to 1000000, got 0 (int) - at `$[0]`",
        ),
        (
            b'[{"plans": [{"value": 1, "steps": []}]}]',
            f"{BREAK}steps must hold 1 to 5000 items, got 0 - at `$[0].plans[0]`",
        ),
        (
            b'[{"inputs": [%s, %s]}]' % (timed_at(5), timed_at(4)),
            f"{BREAK}inputs must be in the order of their times, got [5, 4] (list)",
        ),
        (
            (
                b'[{"company": "before", "inputs": ['
                b'{"at": 0, "element": {"type": "barrier", "checkpoint_id": 1}}]}]'
            ),
            (
                f"{BREAK}company must be another one where barriers, snapshots or markers come in: "
                "they overtake, got 'before' (str)"
            ),
        ),
        (
            b'[{"plans": [{"value": 1, "steps": [{"does": "raise", "error": "OSError"}]}]}]',
            (
                f"{BREAK}error must be one of 'ValueError', 'StopIteration', 'StopAsyncIteration', "
                "'CancelledError', 'KeyboardInterrupt', 'SystemExit', 'Unpicklable', 'RetryAfter', "
                "'ExceptionGroup', 'Chained', 'CallFailed', 'CallTimedOut', 'InvalidConfig', "
                "'' where the plan is to 'raise', got 'OSError' (str) - at `$[0].plans[0].steps[0]`"
            ),
        ),
        (
            b'[{"plans": [{"value": 1, "handler": {"does": "misreturn"}}]}]',
            (
                f"{BREAK}error must be one of 'none', 'text', 'bytes', 'number', 'broken' where "
                "the plan is to 'misreturn', got '' (str) - at `$[0].plans[0].handler`"
            ),
        ),
        (
            b'[{"plans": [{"value": 1, "steps": [{"after": -1}]}]}]',
            f"{BREAK}after {WAIT}, got -1 (int) - at `$[0].plans[0].steps[0]`",
        ),
        (
            b'[{"sink": [{"does": "pause", "n": -40}]}]',
            f"{BREAK}n {WAIT}, got -40 (int) - at `$[0].sink[0]`",
        ),
    ],
)
def test_a_broken_scenario_file_says_where(data: bytes, message: str) -> None:
    """The path leads to the spot."""
    with pytest.raises(InvalidConfig) as caught:
        scenarios_from_json(data)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacity": 0}, "capacity must be a whole number from 1 to 1000000, got 0"),
        ({"timeout": 0}, "timeout must be a whole number from 1 to 9223372036854775807, got 0"),
        (
            {"mode": "sorted"},
            "mode must be 'ordered', 'unordered' or 'key-ordered', got 'sorted' (str)",
        ),
        (
            {"source_ends_at": -1},
            f"source_ends_at {WAIT}, got -1 (int)",
        ),
        ({"cancel_at": -1}, f"cancel_at {WAIT}, got -1 (int)"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_refused(changes: Any, message: str) -> None:
    """It is told when it is built, not when it is played."""
    with pytest.raises(InvalidConfig) as caught:
        Scenario(**changes)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (Step, {"error": "ValueError"}, "error must be one of '' where the plan is to 'reply'"),
        (Step, {"does": "misreturn", "error": "gold"}, "error must be one of 'none', 'text'"),
        (
            Step,
            {"clean_up": -1},
            f"clean_up {WAIT}, got -1 (int)",
        ),
        (Handler, {"does": "raise", "error": "OS"}, "error must be one of 'ValueError', 'Stop"),
        (
            SnapshotRequest,
            {"at": -1, "checkpoint_id": 1},
            f"at {WAIT}",
        ),
        (
            Timed,
            {"at": -1, "element": Record(1)},
            "at must be a whole number",
        ),
        (Crash, {"at": -1}, f"at {WAIT}, got -1 (int)"),
        (
            Crash,
            {"at": 0, "capacity": 0},
            "capacity must be a whole number from 1 to 1000000, got 0",
        ),
    ],
)
def test_a_part_that_cannot_be_played_is_refused(
    kind: Callable[..., object], fields: dict[str, object], message: str
) -> None:
    """Each part of a scenario is checked by itself, so that the path leads to it."""
    with pytest.raises(InvalidConfig) as caught:
        kind(**fields)

    assert str(caught.value).startswith(message)


def test_calls_of_a_value_follow_its_steps_and_stay_at_the_last() -> None:
    """A plan need not be as long as the run."""
    assert [FULL.step("a", ordinal).does for ordinal in (0, 1, 2)] == ["raise", "reply", "reply"]
    assert FULL.step(["b"], 0).does == "never"


def test_a_value_without_a_plan_is_answered_with_itself() -> None:
    """Small scenarios stay small."""
    assert FULL.step("other", 5) == Step(results=("other",))


def test_the_handler_of_a_value_is_part_of_its_plan() -> None:
    """Without one it gives None; and there may be no handler at all."""
    assert FULL.handler("a") == Handler()
    assert FULL.handler("other") == Handler("none")
    assert Scenario(plans=FULL.plans).handler("a") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (1, 1.0), (1, True), (None, "null"), ([1], (1, 2)), (b"a", "a")],
)
def test_values_that_differ_have_another_identity(one: Any, other: Any) -> None:
    """Equal in Python is not the same in a plan."""
    assert identity(one) != identity(other)


def test_the_order_of_the_keys_of_a_dict_is_no_part_of_its_identity() -> None:
    """A backend may store objects in its own order."""
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})


def test_a_crash_may_change_the_configuration() -> None:
    """Times of a scenario are in milliseconds, those of a configuration in seconds."""
    assert FULL.retry is not None
    retry = FULL.retry.config()
    assert FULL.config() == OperatorConfig("unordered", 2, 0.04, retry, 3)
    assert FULL.config(FULL.crashes[0]) == OperatorConfig("ordered", 1, 0.04, retry, 3)
    assert FULL.config(Crash(50)) == OperatorConfig("unordered", 2, 0.04, retry, 3)


def test_a_planned_retry_is_one_in_seconds() -> None:
    """With predicates that every process knows by name."""
    retry = PlannedRetry(4, 20, 3, 200, 50, 80, "asked", "pair").config()

    assert (retry.max_attempts, retry.multiplier, retry.seed) == (4, 3, 0)
    assert (retry.initial, retry.cap, retry.jitter, retry.attempt_timeout) == (0.02, 0.2, 0.5, 0.08)
    assert [retry.on_error(ValueError()), retry.on_error(KeyError())] == [True, False]
    assert [retry.on_result(("x", "y")), retry.on_result(("x",))] == [True, False]


def test_a_scenario_is_timed_if_its_source_has_to_wait() -> None:
    """For an element, or for its end."""
    assert FULL.is_timed
    assert Scenario(source_ends_at=5).is_timed
    assert not Scenario(inputs=(Timed(0, Record(1)),), timeout=40).is_timed


TRACE = Trace(
    (
        Leg(
            Ending("failed", 20, "CallFailed", Record("a"), "ValueError", again="same"),
            (
                Taken(0, 0),
                CallStarted(0, 0, "a"),
                CallEnded(20, 0, "raised"),
                SinkTook(20.5, Snapshot(1, (Record("a"),))),
            ),
            restored=Snapshot(0),
            tasks_left=1,
        ),
    ),
    self_reported=True,
)


def test_a_trace_survives_json() -> None:
    """A program in another language can write one."""
    data = json.dumps(to_json(TRACE)).encode()

    assert trace_from_json(data) == TRACE


def to_json(trace: Trace) -> Any:
    """Return what a foreign program would write for `trace`."""
    leg = trace.legs[0]
    events = [
        {"type": "taken", "at": 0, "index": 0},
        {"type": "call", "at": 0, "call": 0, "value": "a"},
        {"type": "call-ended", "at": 20, "call": 0, "how": "raised"},
        {
            "type": "took",
            "at": 20.5,
            "element": {
                "type": "snapshot",
                "checkpoint_id": 1,
                "in_flight": [{"type": "record", "value": "a"}],
            },
        },
    ]
    ending = {
        "how": leg.ending.how,
        "at": 20,
        "error": "CallFailed",
        "record": {"type": "record", "value": "a"},
        "cause": "ValueError",
        "again": "same",
    }
    restored = {"type": "snapshot", "checkpoint_id": 0}
    whole = {"ending": ending, "events": events, "restored": restored, "tasks_left": 1}
    return {"legs": [whole], "self_reported": True}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"legs": [{"ending": {"ho', "the trace is not whole JSON: Input data was truncated"),
        (b'{"legs": [{}]}', "the trace breaks its schema: Object missing required field `ending`"),
        (
            b'{"legs": [{"ending": {"how": "won"}}]}',
            "the trace breaks its schema: Invalid enum value 'won' - at `$.legs[0].ending.how`",
        ),
        (
            b'{"legs": [], "selfreported": true}',
            "the trace breaks its schema: Object contains unknown field `selfreported`",
        ),
        (
            b'{"legs": [{"ending": {"how": "finished"}, "task_left": 1}]}',
            (
                "the trace breaks its schema: Object contains unknown field `task_left` - at "
                "`$.legs[0]`"
            ),
        ),
        (
            b'{"legs": [{"ending": {"how": "failed", "eror": "CallFailed"}}]}',
            (
                "the trace breaks its schema: Object contains unknown field `eror` - at "
                "`$.legs[0].ending`"
            ),
        ),
        (
            (
                b'{"legs": [{"ending": {"how": "finished"}, "events": '
                b'[{"type": "call-ended", "at": 0, "call": 0, "reslts": []}]}]}'
            ),
            (
                "the trace breaks its schema: Object contains unknown field `reslts` - at "
                "`$.legs[0].events[0]`"
            ),
        ),
    ],
)
def test_a_broken_trace_says_where(data: bytes, message: str) -> None:
    """A trace that was cut short is told from one of another shape."""
    with pytest.raises(InvalidConfig) as caught:
        trace_from_json(data)

    assert str(caught.value).startswith(message)


def test_a_scenario_knows_how_long_a_leg_may_last() -> None:
    """Even one call after the other, each as slow as planned: what lasts longer hangs."""
    scenario = Scenario(
        timeout=100,
        inputs=(Timed(0, Record("a")), Timed(50, Record("b"))),
        plans=(Plan("a", (Step(after=30, clean_up=5),)), Plan("b", (Step("never", after=999),))),
        sink=(SinkStep("pause", 7), SinkStep("read", 40)),
        crashes=(Crash(3),),
        restore=Snapshot(0, (Record("a"),)),
    )

    assert scenario.horizon == 50 + 7 + 3 + (3 + 1) * 100
