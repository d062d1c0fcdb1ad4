"""The suite of stand-ins: rules, runs of sound ones, and the gallery of those that are not."""

import inspect
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any

import pytest

from asyncwait.backends.faulty.hedge import FAULTY_HEDGES, FaultyHedge
from asyncwait.conformance.hedge import (
    HEDGE_CHECKS,
    HedgePlan,
    broken_by,
    judge_hedges,
    play_hedges,
    random_plans,
    small_plans,
)
from asyncwait.spec.rules import carry_rules, hedge_rules, mailbox_rules, rules

MOST_LINES = 20

each_faulty = pytest.mark.parametrize("faulty", FAULTY_HEDGES, ids=lambda each: each.name)


def convicted(plans: Iterable[HedgePlan], loop: Any = "asyncio") -> list[object]:
    judged = ((broken_by(play_hedges(plan, loop=loop)), plan) for plan in plans)
    return [(broken, plan) for broken, plan in judged if broken]


def test_every_rule_has_a_check_and_holds_no_operator() -> None:
    assert [*hedge_rules()] == [f"HEDGE-{number}" for number in range(1, 12)]
    assert set(HEDGE_CHECKS) == set(hedge_rules())
    assert set(hedge_rules()) & {*rules(), *mailbox_rules(), *carry_rules()} == set()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(10))
def test_what_is_sound_is_never_convicted_in_small_runs(part: int) -> None:
    assert convicted(islice(small_plans(), part, None, 10)) == []


@pytest.mark.sampled(10)
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_sound_is_never_convicted_in_random_runs(seed: int, loop: str) -> None:
    assert convicted(random_plans(200, seed), loop) == []


def test_every_rule_applies_to_random_runs() -> None:
    applied = Counter[str]()
    for plan in random_plans(200, 7):
        for rule, judged in judge_hedges(play_hedges(plan)).items():
            applied[rule] += judged.applied
    assert [rule for rule in hedge_rules() if not applied[rule]] == []


@each_faulty
def test_the_smallest_run_that_convicts_it_names_its_rule_first(faulty: FaultyHedge) -> None:
    for plan in chain(small_plans(), random_plans(60, 1)):
        broken = broken_by(play_hedges(plan, faulty.stand_ins_class))
        if broken:
            break
    assert next(iter(broken), None) == faulty.rule


def test_every_rule_convicts_one() -> None:
    assert {faulty.rule for faulty in FAULTY_HEDGES} == set(hedge_rules())
    assert len({faulty.name for faulty in FAULTY_HEDGES}) == len(FAULTY_HEDGES)


@each_faulty
def test_it_is_one_small_change_that_says_what_it_is(faulty: FaultyHedge) -> None:
    methods = [value for value in vars(faulty.change).values() if callable(value)]
    assert len(methods) == 1
    assert len(inspect.getsource(faulty.change).splitlines()) <= MOST_LINES
    assert faulty.sentence.endswith(".")
