"""What is smaller than a scenario."""

import msgspec
import pytest
from sample import some

from asyncwait.conformance._shrink import reductions
from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.generation import generate
from asyncwait.spec.scenario import (
    Scenario,
    key_of,
    size_of,
)

RICH = scenario_of(
    "unordered; form callback; capacity 6; timeout 80; handled; restore |99(c@0); 40: a@7/k; "
    "80: b; a: 120 gives x y with twice; hooks coroutine; source_ends_at 160; source_error own; "
    "cancel_at 400; requests 40 100; sink read 2, pause 40; crashes 80 capacity=2"
)

BARE = Scenario()
SET = [name for name in RICH.__struct_fields__ if getattr(RICH, name) != getattr(BARE, name)]

BYTES = 2_000
"""How long a scenario with few reductions is, as JSON; they number as its length, each as long."""

SMALL = [example.scenario for example in EXAMPLES if len(key_of(example.scenario)) < BYTES]


@pytest.mark.parametrize("field", SET)
def test_whatever_is_set_can_be_left_out(field: str) -> None:
    without = msgspec.structs.replace(RICH, **{field: getattr(BARE, field)})

    assert without in list(reductions(RICH))


def test_every_reduction_is_smaller() -> None:
    for scenario in (RICH, *some([*SMALL, *generate(30, 0)], 4, "reduced")):
        assert all(size_of(reduced) < size_of(scenario) for reduced in reductions(scenario))


@pytest.mark.parametrize(
    ("timeout", "smaller"),
    [(400, [40, 200, 360]), (40, []), (7, [1, 3, 6]), (1, [])],
    ids=["on the grid", "one step", "beside it", "one"],
)
def test_times_stay_on_the_grid_if_they_are_on_it(timeout: int, smaller: list[int]) -> None:
    found = [reduced.timeout for reduced in reductions(Scenario(timeout=timeout))]

    assert found == [None, *smaller]


def test_what_would_be_no_scenario_is_left_out() -> None:
    scenario = scenario_of("40: a; 80: b")

    times = [tuple(timed.at for timed in reduced.inputs) for reduced in reductions(scenario)]

    assert (40, 0) not in times
    assert {(0, 80), (40, 40)} <= set(times)
