"""Generated scenarios: seeded, different and of every kind."""

from collections import Counter
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given, settings

from asyncwait.backends.faulty import gallery
from asyncwait.conformance import stream_backend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, shapes
from asyncwait.conformance.generation.strategies import check, scenarios
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.reference import open_operator
from asyncwait.spec.scenario import Capability, Scenario, key_of, needs

SOUND = stream_backend(open_operator)
ENOUGH = 8
SCARCE = {
    "FAIL-4": 6,
    "END-9": 6,
    "BAT-9": 4,
    "BAT-12": 0,
    "CACHE-6": 0,
    "LIMIT-6": 0,
    "LIMIT-14": 0,
    "LIMIT-15": 0,
    "LIMIT-16": 0,
    "LIMIT-17": 2,
}
"""Budgets are not drawn; others need two rare things."""


def sharing(seed: int) -> list[Scenario]:
    both = "batched", "cached", "limited"
    return [scenario for name, scenario in shapes(QUICK, seed) if name.startswith(both)]


def test_the_same_seed_gives_the_same_scenarios_everywhere() -> None:
    drawn = sha256(b"".join(map(key_of, generate(50, 7)))).hexdigest()

    assert drawn.startswith("342c8155568b7cfa")


def test_a_smaller_count_gives_the_first_scenarios_of_a_greater() -> None:
    assert generate(9, 7) == generate(50, 7)[:9]


@settings(max_examples=20, deadline=None)
@given(scenarios(SOUND))
def test_hypothesis_makes_scenarios_that_a_sound_operator_passes(scenario: Scenario) -> None:
    check(SOUND, scenario)


def test_what_an_operator_breaks_is_an_assertion_that_names_the_rule() -> None:
    faulty = gallery()["faulty-fails-without-naming-the-record"]()
    example = next(example for example in EXAMPLES if "FAIL-1" in example.rules)

    with pytest.raises(AssertionError, match=r"^FAIL-1 "):
        check(faulty, example.scenario)


def test_another_seed_gives_other_scenarios() -> None:
    assert len(set(map(key_of, generate(50, 7))) & set(map(key_of, generate(50, 8)))) < 5


@pytest.mark.parametrize("count", [1, 2, 9, 100])
def test_there_are_as_many_scenarios_as_asked_for(count: int) -> None:
    assert len({key_of(scenario) for scenario in generate(count, 0)}) == count


NEVER_BOTH = {
    ("batches", "cache"),
    ("batches", "callbacks"),
    ("cache", "callbacks"),
    ("cache", "copies"),
    ("cache", "limits"),
    ("jitter", "timeouts"),
}
"""A function in callback form is not called in batches, and what it gives is not cached. Chance
does not decide whether a back-off would outlast a deadline."""

NEEDED_BY_NONE = {"cancellation-seen", "in-flight-snapshot"}
"""What these bring is only watched, or not; any two others can be in one scenario."""


@pytest.mark.sampled(3)
@pytest.mark.timeout(900)  # half a minute, on a busy machine minutes
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_any_two_profiles_meet(seed: int) -> None:
    drawn = (*generate(QUICK, seed), *sharing(seed))
    names = sorted({*map(str, Capability)} - NEEDED_BY_NONE)
    held = [[name for name in names if name in needs(scenario)] for scenario in drawn]
    met = Counter(pair for each in held for pair in combinations(each, 2))

    assert [pair for pair in combinations(names, 2) if not met[pair]] == sorted(NEVER_BOTH)


def test_every_rule_applies_often_in_the_quick_suite(
    quick_scenarios: tuple[Scenario, ...],
) -> None:
    applied: Counter[str] = Counter()
    for scenario in (*quick_scenarios, *sharing(0)):
        judged = judge(scenario, play(open_operator, scenario), CHECKS)
        assert dict(judged.violations()) == {}
        for rule, judgement in judged.by_rule.items():
            applied[rule] += judgement.applied

    assert [rule for rule in CHECKS if applied[rule] < SCARCE.get(rule, ENOUGH)] == []
