"""Generated scenarios: seeded, different and of every kind."""

from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given, settings

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import TRAIT_NAMES, traits_of
from asyncwait.conformance.generation import QUICK, TICK, generate
from asyncwait.conformance.generation.strategies import scenarios
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator
from asyncwait.spec import Record
from asyncwait.spec.scenario import Scenario, key_of, scenarios_from_json, scenarios_to_json

ENOUGH = 15
# Few generated calls fail together, or end the program, and none has its task cancelled. Back-offs
# of keys fill the shape `lines`.
SCARCE = {
    "FAIL-4": 10,
    "FAIL-11": 3,
    "FAIL-12": 7,
    "END-19": 4,
    "POLICY-6": 10,
    "STAT-7": 10,
    "KEY-8": 10,
    "KEY-11": 5,
    "KEY-12": 10,
    "KEY-13": 5,
}


def test_the_same_seed_gives_the_same_scenarios() -> None:
    """A failure in one place can be repeated in another."""
    assert generate(50, 7) == generate(50, 7)


def test_the_same_seed_gives_the_same_scenarios_everywhere() -> None:
    """On every Python, and in every version until what is drawn is changed on purpose."""
    drawn = sha256(b"".join(map(key_of, generate(50, 7)))).hexdigest()

    assert drawn.startswith("275ac9ad70c5110a")


def test_a_smaller_count_gives_the_first_scenarios_of_a_greater() -> None:
    """What a quick run has found a full one of the same seed finds, too."""
    assert generate(9, 7) == generate(50, 7)[:9]


@settings(max_examples=20, deadline=None)
@given(scenarios())
def test_hypothesis_makes_scenarios_that_can_be_played(scenario: Scenario) -> None:
    """So a property of an operator may be tested on what hypothesis finds and shrinks."""
    judged = judge(scenario, play(open_operator, scenario), CHECKS)

    assert dict(judged.violations()) == {}


def test_another_seed_gives_other_scenarios() -> None:
    """So a longer search is one option away; they may have the simplest scenarios in common."""
    assert len(set(map(key_of, generate(50, 7))) & set(map(key_of, generate(50, 8)))) < 5


@pytest.mark.parametrize("count", [1, 2, 9, 100])
def test_there_are_as_many_scenarios_as_asked_for(count: int) -> None:
    """All of them different."""
    assert len({key_of(scenario) for scenario in generate(count, 0)}) == count


def test_each_scenario_survives_json(quick_scenarios: tuple[Scenario, ...]) -> None:
    """It can be sent to any backend, and kept in a file."""
    assert scenarios_from_json(scenarios_to_json(quick_scenarios)) == quick_scenarios


NEEDED_BY_NONE = {"cancellation-seen", "in-flight-snapshot"}
"""What these bring is only watched, or not; any two others can be in one scenario."""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_any_two_profiles_and_traits_meet(seed: int) -> None:
    """What breaks only where two of them cross is in each quick run."""
    held = [sorted(traits_of(scenario)) for scenario in generate(QUICK, seed)]
    met = Counter(pair for each in held for pair in combinations(each, 2))

    names = sorted({*map(str, TRAIT_NAMES)} - NEEDED_BY_NONE)
    assert [pair for pair in combinations(names, 2) if not met[pair]] == []


FLAVOURS: dict[str, Callable[[Scenario], object]] = {
    "plain hooks": lambda s: s.hooks == "plain",
    "coroutine hooks": lambda s: s.hooks == "coroutine",
    "one slot": lambda s: s.capacity == 1,
    "a timeout with a handler": lambda s: s.timeout and s.handled,
    "a timeout without one": lambda s: s.timeout and not s.handled,
    "a crash": lambda s: s.crashes,
    "several crashes": lambda s: len(s.crashes) > 1,
    "another capacity after a crash": lambda s: any(c.capacity for c in s.crashes),
    "another mode after a crash": lambda s: any(c.mode for c in s.crashes),
    "a consumer that gives up": lambda s: any(step.does == "give_up" for step in s.sink),
    "a consumer that leaves": lambda s: any(step.does == "leave" for step in s.sink),
    "a cancelled consumer": lambda s: s.cancel_at is not None,
    "a source that raises": lambda s: s.source_error,
    "a late end": lambda s: s.source_ends_at,
    "equal values": lambda s: max(values_of(s).values(), default=0) > 1,
    "a tie": lambda s: len({t.at for t in s.inputs}) < len(s.inputs),
    "a call that never answers": lambda s: any(p.does == "never" for p in steps_of(s)),
    "an answer from a thread": lambda s: any(p.thread for p in steps_of(s)),
    "a swallowed cancellation": lambda s: any(p.swallow for p in steps_of(s)),
    "no results": lambda s: any(p.does == "reply" and not p.results for p in steps_of(s)),
    "many results": lambda s: any(len(p.results) > 1 for p in steps_of(s)),
    "calls that clean up without a shield": lambda s: s.unshielded and s.form == "coroutine",
    "keys that are equal to nothing": lambda s: s.unequal_keys and "key-ordered" in s.modes,
    "nothing at all": lambda s: not s.inputs,
}


def steps_of(scenario: Scenario) -> list[object]:
    """All planned steps."""
    return [step for plan in scenario.plans for step in plan.steps]


def values_of(scenario: Scenario) -> Counter[str]:
    """How often each value comes in."""
    elements = [timed.element for timed in scenario.inputs]
    return Counter(repr(each.value) for each in elements if isinstance(each, Record))


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_scenarios_of_every_kind_are_there(
    quick_scenarios: tuple[Scenario, ...], flavour: str
) -> None:
    """Not once by luck, but often enough to find something."""
    assert sum(bool(FLAVOURS[flavour](s)) for s in quick_scenarios) >= 10


def test_all_kinds_of_elements_come_in(quick_scenarios: tuple[Scenario, ...]) -> None:
    """And most scenarios hold enough of them to get into each other's way."""
    kinds = Counter(type(t.element).__name__ for s in quick_scenarios for t in s.inputs)

    assert set(kinds) == {
        "Record",
        "Watermark",
        "WatermarkStatus",
        "LatencyMarker",
        "Barrier",
        "Snapshot",
    }
    assert sum(len(s.inputs) >= 3 for s in quick_scenarios) > QUICK * 3 / 4


def test_all_times_are_on_the_grid(quick_scenarios: tuple[Scenario, ...]) -> None:
    """Two instants are equal on purpose or a tick apart, so a real clock can play them too."""
    for scenario in quick_scenarios:
        times = [timed.at for timed in scenario.inputs]
        times += [scenario.source_ends_at, scenario.timeout or 0, scenario.cancel_at or 0]
        times += [crash.at for crash in scenario.crashes]
        times += [request.at for request in scenario.requests]
        times += [step.n for step in scenario.sink if step.does != "read"]
        for plan in scenario.plans:
            times += [
                ms for s in plan.steps for ms in (s.after, s.clean_up, s.again, s.retry_after)
            ]
        if (retry := scenario.retry) is not None:
            times += [retry.initial, retry.cap, retry.attempt_timeout or 0]
        assert [ms for ms in times if ms % TICK] == []


def test_every_rule_applies_often_in_the_quick_suite(
    quick_scenarios: tuple[Scenario, ...],
) -> None:
    """A rule that hardly ever applies is hardly tested."""
    applied: Counter[str] = Counter()
    for scenario in (*(each.scenario for each in EXAMPLES), *quick_scenarios):
        judged = judge(scenario, play(open_operator, scenario), CHECKS)
        assert dict(judged.violations()) == {}
        for rule, judgement in judged.by_rule.items():
            applied[rule] += judgement.applied

    assert {
        rule: applied[rule] for rule in CHECKS if applied[rule] < SCARCE.get(rule, ENOUGH)
    } == {}
