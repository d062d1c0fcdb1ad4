"""The gallery of lanes and hosts: what is faulty is convicted by its rule, which comes first."""

import inspect

import pytest

from asyncwait.backends.faulty.carry import FAULTY_CARRY, FaultyCarry
from asyncwait.conformance.carry import judge_carry, play_plan, small_plans
from asyncwait.spec.rules import carry_rules

MOST_LINES = 20

each_faulty = pytest.mark.parametrize("faulty", FAULTY_CARRY, ids=lambda each: each.name)


@each_faulty
def test_the_smallest_run_that_convicts_it_names_its_rule_first(faulty: FaultyCarry) -> None:
    for plan in small_plans(1):
        broken = judge_carry(play_plan(plan, faulty.lane_class, faulty.table_class)).broken
        if broken:
            break

    assert next(iter(broken), None) == faulty.rule


def test_every_rule_convicts_one() -> None:
    assert {faulty.rule for faulty in FAULTY_CARRY} == set(carry_rules())
    assert len({faulty.name for faulty in FAULTY_CARRY}) == len(FAULTY_CARRY)


@each_faulty
def test_it_is_one_small_change_that_says_what_it_is(faulty: FaultyCarry) -> None:
    methods = [name for name, value in vars(faulty.change).items() if callable(value)]

    assert len(methods) == 1
    assert not methods[0].startswith("_")
    assert len(inspect.getsource(faulty.change).splitlines()) <= MOST_LINES
    assert faulty.sentence.endswith(".")
