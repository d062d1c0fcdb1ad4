"""What is beyond a limit is refused by name; at its limits a scenario accuses nobody."""

from collections.abc import Callable
from typing import Any

import pytest
from judged import broken_rules, each_operator
from operators import OPERATORS

from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import play
from asyncwait.spec import Barrier, InvalidConfig, Record, Snapshot, Watermark
from asyncwait.spec.scenario import (
    LIMITS,
    Crash,
    Handler,
    Plan,
    Scenario,
    SinkStep,
    Step,
    Timed,
    scenarios_from_json,
    scenarios_to_json,
)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def chain(snapshots: int) -> Snapshot:
    last = Snapshot(7)
    for _ in range(snapshots - 1):
        last = Snapshot(7, (), None, last)
    return last


def records(count: int, at: int = 0) -> tuple[Timed, ...]:
    return tuple(Timed(at, Record(number)) for number in range(count))


HIGH = 2**63 - 1
TOO_MANY = LIMITS.items + 1
DEEPER = nested(LIMITS.levels + 1)

BEYOND: dict[str, tuple[Callable[[], object], str]] = {
    "fraction": (lambda: Step(after=1.5), r"after .* got 1.5 \(float\)"),  # type: ignore[arg-type]
    "boolean": (lambda: Step(clean_up=True), r"clean_up .* got True \(bool\)"),
    "list": (lambda: Step(results=[1]), r"results .* got \[1\] \(list\)"),  # type: ignore[arg-type]
    "timestamp": (lambda: Timed(0, Record(1, HIGH + 1)), f"timestamp .* got {HIGH + 1} "),
    "watermark": (lambda: Timed(0, Watermark(-HIGH - 2)), f"timestamp .* got {-HIGH - 2} "),
    "barrier": (lambda: Timed(0, Barrier(HIGH + 1)), f"checkpoint_id .* got {HIGH + 1} "),
    "deep value": (lambda: Timed(0, Record(DEEPER)), f"element .*{LIMITS.levels} levels"),
    "deep key": (lambda: Timed(0, Record(1, 1, DEEPER)), f"element .*{LIMITS.levels} levels"),
    "deep results": (lambda: Step(results=(DEEPER,)), f"results .*{LIMITS.levels} levels"),
    "deep handler": (lambda: Handler(results=(DEEPER,)), f"results .*{LIMITS.levels} levels"),
    "deep plan": (lambda: Plan(DEEPER), f"value .*{LIMITS.levels} levels"),
    "chain": (lambda: Timed(0, chain(LIMITS.levels + 1)), f"element .*{LIMITS.levels} snapshots"),
    "restore": (lambda: Scenario(restore=chain(LIMITS.levels + 1)), "restore .* snapshots"),
    "stored": (lambda: Timed(0, Snapshot(1, (Record(1),) * TOO_MANY)), f"in_flight .*{TOO_MANY}"),
    "results": (lambda: Step(results=(1,) * TOO_MANY), f"results .* got {TOO_MANY}"),
    "inputs": (lambda: Scenario(inputs=records(1) * TOO_MANY), f"inputs .* got {TOO_MANY}"),
    "crashes": (lambda: Scenario(crashes=(Crash(1),) * LIMITS.legs), f"crashes .*{LIMITS.legs}"),
    "read": (lambda: SinkStep("read", LIMITS.count + 1), f"n .* got {LIMITS.count + 1} "),
    "mode": (lambda: Scenario("sorted"), "mode .* got 'sorted'"),  # type: ignore[arg-type]
    "error of an answer": (lambda: Step(error="ValueError"), "error .* 'reply'"),
    "odd answer": (lambda: Step("misreturn", error="gold"), "error .*'text'"),
    "odd error": (lambda: Handler("raise", error="OS"), "error .*'ValueError'"),
    "all together": (
        lambda: Scenario(inputs=records(3), timeout=10**12, plans=(Plan(0, (Step("never"),)),)),
        f"the longest legal duration .*{LIMITS.duration} ms.* got 4000000000000 ",
    ),
}
"""What no document that is changed in one spot holds: for the others see `test_schema.py`."""


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_a_limit_is_refused_by_name_when_it_is_built(name: str) -> None:
    build, told = BEYOND[name]
    with pytest.raises(InvalidConfig, match=f"^{told}"):
        build()


def late(count: int, timeout: int) -> Scenario:
    plans = tuple(Plan(n, (Step("never"),), Handler(results=(n,))) for n in range(count))
    return Scenario(
        "ordered", 1, timeout, inputs=records(count), plans=plans, handled=True, name="late"
    )


DEEP = nested(LIMITS.levels)
BORDERS = {
    "the last input": Scenario(inputs=records(1, LIMITS.duration)),
    "a slow call": Scenario(
        inputs=records(1), plans=(Plan(0, (Step(after=LIMITS.duration // 2),)),)
    ),
    "deadlines": late(60, LIMITS.duration // 61),
    "one late deadline": late(1, LIMITS.duration // 2),
    "a deadline nobody sees": Scenario(
        timeout=LIMITS.timeout,
        inputs=records(3, LIMITS.duration - 200),
        plans=(Plan(0, (Step(after=37),)),),
    ),
    "room": Scenario(capacity=LIMITS.count, inputs=records(3)),
    "a reader": Scenario(inputs=records(3), sink=(SinkStep("read", LIMITS.count),)),
    "levels": Scenario(
        inputs=(Timed(0, Record(DEEP, 1, DEEP)), Timed(0, Barrier(1))),
        plans=(Plan(DEEP, (Step(after=40, results=(DEEP,)),)),),
        crashes=(Crash(20),),
    ),
    "snapshots": Scenario(
        inputs=(Timed(0, Record(0)), Timed(0, chain(LIMITS.levels))),
        plans=(Plan(0, (Step(after=40),)),),
        crashes=(Crash(20),),
    ),
    "numbers": Scenario(
        inputs=(
            Timed(0, Watermark(-HIGH - 1)),
            Timed(0, Record("low", -HIGH - 1)),
            Timed(0, Record("high", HIGH)),
            Timed(0, Barrier(HIGH)),
            Timed(0, Watermark(HIGH)),
        )
    ),
    "legs": Scenario(
        inputs=records(3),
        crashes=(Crash(1),) * (LIMITS.legs - 1),
        plans=(Plan(0, (Step(after=200),)),),
    ),
    "hundreds of records": Scenario(capacity=200, inputs=records(300)),
}


@pytest.mark.parametrize("name", BORDERS)
@each_operator
def test_at_its_limits_a_scenario_accuses_nobody(name: str, operator: str) -> None:
    scenario = BORDERS[name]

    assert scenarios_from_json(scenarios_to_json((scenario,))) == (scenario,)
    assert broken_rules(Run(scenario, play(OPERATORS[operator], scenario))) == {}
