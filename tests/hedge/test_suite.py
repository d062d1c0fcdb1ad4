"""The suite of hedges: its rules, and runs of sound functions."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any

import pytest

from asyncwait.conformance.hedge import (
    HEDGE_CHECKS,
    HedgePlan,
    play_hedges,
    random_plans,
    small_plans,
)
from asyncwait.spec.rules import hedge_rules


def convicted(plans: Iterable[HedgePlan], loop: Any = "asyncio") -> list[object]:
    judged = ((HEDGE_CHECKS.judge(play_hedges(plan, loop=loop)).broken, plan) for plan in plans)
    return [(broken, plan) for broken, plan in judged if broken]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(10))
def test_what_is_sound_is_never_convicted_in_small_runs(part: int) -> None:
    assert convicted(islice(small_plans(), part, None, 10)) == []


@pytest.mark.sampled(20)
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_sound_is_never_convicted_in_random_runs(seed: int, loop: str) -> None:
    assert convicted(random_plans(200, seed), loop) == []


def test_every_rule_applies_to_random_runs() -> None:
    applied = Counter[str]()
    for plan in random_plans(200, 7):
        for rule, judged in HEDGE_CHECKS.judge(play_hedges(plan)).by_rule.items():
            applied[rule] += judged.applied
    assert [rule for rule in hedge_rules() if not applied[rule]] == []
