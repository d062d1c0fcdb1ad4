"""What is smaller than a scenario, and the search for the smallest failure of each rule."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest
from outside import run
from sample import some

from asyncwait.conformance.areas import EXAMPLES
from asyncwait.conformance.evidence import scenario_of
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import Case, Failure, RuleResult
from asyncwait.conformance.verifying import (
    NOT_SMALLEST,
    Search,
    find_scenarios,
    reductions,
    shrink,
    trials,
)
from asyncwait.spec import Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    Ending,
    Leg,
    Scenario,
    Trace,
    id_of,
    key_of,
    scenarios_from_json,
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


TRACE = Trace((Leg(Ending("finished")),))

Fails = Callable[[Scenario], bool]


def failure(scenario: Scenario) -> Failure:
    case = Case("one", scenario, scenario, generated=True)
    return Failure(case, TRACE, Violation("wrong", 0))


class Backend:
    def __init__(self, **fails: Fails) -> None:
        self.fails = fails
        self.played: list[Scenario] = []

    def __call__(self, scenarios: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
        for scenario in scenarios:
            self.played.append(scenario)
            yield {rule: failure(scenario) for rule, fails in self.fails.items() if fails(scenario)}


def records(scenario: Scenario) -> int:
    return sum(isinstance(timed.element, Record) for timed in scenario.inputs)


def two_in_order(scenario: Scenario) -> bool:
    return records(scenario) >= 2 and scenario.mode == "ordered"


def largest(fails: Fails) -> Failure:
    return failure(max((s for s in generate(100, 0) if fails(s)), key=size_of))


def never() -> bool:
    return False


def test_a_search_ends_when_its_time_is_over() -> None:
    backend = Backend(one=two_in_order, other=two_in_order)
    search = Search(backend, lambda: len(backend.played) >= 3)
    begin = largest(two_in_order)

    first = search.smallest("one", begin)
    second = search.smallest("other", begin)

    assert len(backend.played) == 3
    assert size_of(first.case.planned) < size_of(begin.case.planned)
    assert second.case.planned == first.case.planned


def test_a_failure_that_nothing_repeats_stays_as_it_is() -> None:
    begin = largest(two_in_order)

    assert Search(Backend(), never).smallest("rule", begin) is begin


def noted(is_over: Callable[[], bool]) -> tuple[str, bool]:
    """Shrink a failure; return what is noted of it, and whether it was made smaller."""
    begin = largest(two_in_order)
    result = RuleResult(rules()["ORD-1"], "fail", failures=(begin,), note="known")

    def fails(case: Case, _: Trace) -> Mapping[str, Failure]:
        return {"ORD-1": failure(case.planned)} if two_in_order(case.planned) else {}

    try_out = trials(lambda scenarios: [TRACE] * len(scenarios), lambda scenario: scenario, fails)
    (shrunk,) = shrink([result], [result], try_out, is_over=is_over)
    return shrunk.note, shrunk.failures[0].case.size < begin.case.size


def test_whoever_runs_out_of_time_is_told() -> None:
    asked = count()

    assert noted(never) == ("known", True)
    assert noted(lambda: next(asked) >= 3) == (f"known; {NOT_SMALLEST}", True)
    assert noted(lambda: True) == (f"known; {NOT_SMALLEST}", False)


BACKEND = "faulty-knows-one-mode"
EXAMPLE = "the-last-finishes-first"


def test_nothing_can_be_left_out_of_what_the_command_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = run("play", "--shrink", BACKEND, EXAMPLE)

    *_, said, found, again = done.stdout.splitlines()
    (smallest,) = scenarios_from_json(found.encode())
    assert done.exit_code == 1, done.output
    assert len(smallest.inputs) == 2
    assert smallest.plans[0].steps[0].after == 40
    assert said.startswith("326 characters of JSON before, 174 now; ")
    assert done.stdout.startswith(f"{id_of(smallest)}: ordered; ")
    assert again == f"again: asyncwait play {BACKEND} {id_of(smallest)} --trace"
    assert find_scenarios(id_of(smallest)) == (smallest,)


def test_when_the_time_is_over_the_smallest_so_far_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("play", "--shrink", BACKEND, EXAMPLE, "--seconds", "1e-9")

    said = done.stdout.splitlines()[-3]
    assert done.exit_code == 1, done.output
    assert re.search(r" 326 now; 0 tried; .* --seconds 2e-09 ", said)


def test_a_chosen_rule_stays_broken_and_by_default_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = "a-clean-up-when-a-run-crashes"  # It breaks ORD-1, and REST-7 later.
    first = run("play", "--shrink", BACKEND, example, "--seconds", "5")
    chosen = run("play", "--shrink", BACKEND, example, "--rule", "REST-7")

    assert "REST-7 broken: " not in first.stdout
    assert "REST-7 broken: " in chosen.stdout
    (smallest,) = scenarios_from_json(chosen.stdout.splitlines()[-2].encode())
    assert smallest.crashes
