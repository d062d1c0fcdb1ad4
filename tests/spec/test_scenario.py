"""Scenarios and traces are data: they survive JSON, and say where they break their schema."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from asyncwait.spec import (
    InvalidConfig,
    OperatorConfig,
    Record,
    Snapshot,
)
from asyncwait.spec.scenario import (
    LIMITS,
    Crash,
    Plan,
    PlannedRetry,
    Scenario,
    SinkStep,
    Step,
    Timed,
    id_of,
    identity,
    key_of,
    scenarios_from_json,
    trace_from_json,
)

FENCE = b'{"at": %d, "element": {"type": "watermark", "timestamp": 0}}'
PLAN = b'[{"plans": [{"value": 1, "steps": [%s]}]}]'


def deep(levels: int) -> bytes:
    return b'[{"plans": [{"value": %s}]}]' % (b"[" * levels + b"]" * levels)


@pytest.mark.parametrize(
    ("read", "data", "told"),
    [
        (scenarios_from_json, b"", "are not JSON: "),
        (scenarios_from_json, b"[{]", "are not JSON: "),
        (scenarios_from_json, b'[{"name": "\xff"}]', "are not JSON: "),
        (scenarios_from_json, b'[{"name": "\xed\xa0\x80"}]', "are not JSON: "),
        (scenarios_from_json, b'[{"name": "\\ud800"}]', "are not JSON: "),
        (scenarios_from_json, b'[{"timeout": NaN}]', "are not JSON: "),
        (scenarios_from_json, b"\0", "are not JSON: "),
        (scenarios_from_json, b'[{}, {"capcity": 2}]', "break their schema: "),
        (scenarios_from_json, b'[{"capacity": 0}]', r"schema: .*capacity .* got 0 \(int\)"),
        (scenarios_from_json, PLAN % b"", "schema: .*steps .* got 0"),
        (scenarios_from_json, deep(200), f"schema: .*value .*{LIMITS.levels} levels"),
        (scenarios_from_json, deep(10**5), f"schema: .*{LIMITS.levels} levels"),
        (scenarios_from_json, b'[{"timeout": %s}]' % (b"9" * 400), r"timeout .* got 9+\.\.\. "),
        (scenarios_from_json, b'[{"timeout": %s}]' % (b"9" * 5_000), "schema: "),
        (scenarios_from_json, b" " * (LIMITS.bytes + 1), f"{LIMITS.bytes} bytes, got "),
        (
            scenarios_from_json,
            PLAN % b'{"does": "raise", "error": "OSError"}',
            "schema: .*error .*'Chained'.* 'raise', got 'OSError' ",
        ),
        (
            scenarios_from_json,
            b'[{"plans": [{"value": 1, "handler": {"does": "misreturn"}}]}]',
            "schema: .*error .*'broken'.* 'misreturn', got '' ",
        ),
        (scenarios_from_json, b'[{"inputs": [%s, %s]}]' % (FENCE % 5, FENCE % 4), r"got \[5, 4\]"),
        (trace_from_json, b'{"legs": [{"ending": {"ho', "is not whole JSON: "),
        (trace_from_json, b'{"legs": [{}]}', "breaks its schema: "),
    ],
)
def test_a_broken_file_says_what_is_wrong_and_where(
    read: Callable[[bytes], object], data: bytes, told: str
) -> None:
    with pytest.raises(InvalidConfig, match=f"^the (scenarios|trace) .*{told}") as caught:
        read(data)

    cause = caught.value.__cause__
    assert isinstance(cause, RecursionError | None) or str(caught.value).endswith(str(cause))


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (1, 1.0), (1, True), (None, "null"), ([1], (1, 2)), (b"a", "a")],
)
def test_values_that_differ_have_another_identity(one: Any, other: Any) -> None:
    assert identity(one) != identity(other)


def test_a_crash_may_change_the_configuration() -> None:
    crashes = Crash(50, 1, "ordered"), Crash(60)
    scenario = Scenario("unordered", 2, 40, PlannedRetry(2), max_held=3, crashes=crashes)
    retry = PlannedRetry(2).config()
    assert scenario.config() == OperatorConfig("unordered", 2, 0.04, retry, 3)
    assert scenario.config(crashes[0]) == OperatorConfig("ordered", 1, 0.04, retry, 3)
    assert scenario.config(crashes[1]) == OperatorConfig("unordered", 2, 0.04, retry, 3)


def test_a_planned_retry_is_one_in_seconds() -> None:
    retry = PlannedRetry(4, 20, 3, 200, 50, 80, "asked", "pair").config()

    assert (retry.max_attempts, retry.multiplier, retry.seed) == (4, 3, 0)
    assert (retry.initial, retry.cap, retry.jitter, retry.attempt_timeout) == (0.02, 0.2, 0.5, 0.08)
    assert [retry.on_error(ValueError()), retry.on_error(KeyError())] == [True, False]
    assert [retry.on_result(("x", "y")), retry.on_result(("x",))] == [True, False]


def test_a_scenario_knows_how_long_a_leg_may_last() -> None:
    scenario = Scenario(
        timeout=100,
        inputs=(Timed(0, Record("a")), Timed(50, Record("b"))),
        plans=(Plan("a", (Step(after=30, clean_up=5),)), Plan("b", (Step("never", after=999),))),
        sink=(SinkStep("pause", 7), SinkStep("read", 40)),
        crashes=(Crash(3),),
        restore=Snapshot(0, (Record("a"),)),
    )

    assert scenario.horizon == 50 + 7 + 3 + (3 + 1) * 100


ONE = Scenario(capacity=1, inputs=(Timed(0, Record("a")),))


def test_an_id_is_eight_digits_that_stay_the_same() -> None:
    assert id_of(ONE) == "620a446d"
    assert key_of(ONE) == (
        b'{"capacity":1,"inputs":[{"at":0,"element":{"type":"record","value":"a"}}]}'
    )


def test_a_name_makes_no_other_scenario() -> None:
    assert id_of(msgspec.structs.replace(ONE, name="one")) == id_of(ONE)
