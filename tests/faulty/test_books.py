"""The galleries of mailboxes, carried calls and hedges: each fault is convicted by its rule."""

import inspect
from itertools import chain
from typing import Any

import pytest

from asyncwait.backends.faulty.carry import FAULTY_CARRY, FaultyCarry
from asyncwait.backends.faulty.hedge import FAULTY_HEDGES, FaultyHedge
from asyncwait.backends.faulty.mailbox import FAULTY_MAILBOXES, FaultyMailbox
from asyncwait.conformance.carry import CARRY_CHECKS, play_plan
from asyncwait.conformance.carry import small_plans as small_runs_of_lanes
from asyncwait.conformance.hedge import HEDGE_CHECKS, play_hedges, random_plans, small_plans
from asyncwait.conformance.mailbox import (
    MAILBOX_CHECKS,
    judge_mailbox,
    mailbox_plans,
    play_program,
)
from asyncwait.spec.rules import carry_rules, hedge_rules, mailbox_rules, rules

MOST_LINES = 20

BOOKS: list[tuple[Any, Any, Any]] = [
    (FAULTY_MAILBOXES, MAILBOX_CHECKS, mailbox_rules()),
    (FAULTY_CARRY, CARRY_CHECKS, carry_rules()),
    (FAULTY_HEDGES, HEDGE_CHECKS, hedge_rules()),
]
EVERY_FAULT = [faulty for gallery, *_ in BOOKS for faulty in gallery]


@pytest.mark.parametrize("faulty", FAULTY_MAILBOXES, ids=lambda each: each.name)
def test_an_example_convicts_a_mailbox_by_its_rule(faulty: FaultyMailbox) -> None:
    plans = [plan for _, plan, rules in mailbox_plans(0) if faulty.rule in rules]
    runs = (play_program(plan.program, faulty.open_processor, plan.stage) for plan in plans)
    assert any(faulty.rule in judge_mailbox(run).broken for run in runs)


@pytest.mark.parametrize("faulty", FAULTY_CARRY, ids=lambda each: each.name)
def test_the_smallest_run_that_convicts_a_lane_names_its_rule_first(faulty: FaultyCarry) -> None:
    runs = (
        play_plan(plan, faulty.lane_class, faulty.table_class) for plan in small_runs_of_lanes(1)
    )
    broken = next(filter(None, (CARRY_CHECKS.judge(run).broken for run in runs)))
    assert next(iter(broken)) == faulty.rule


@pytest.mark.parametrize("faulty", FAULTY_HEDGES, ids=lambda each: each.name)
def test_the_smallest_run_that_convicts_a_hedge_names_its_rule_first(faulty: FaultyHedge) -> None:
    plans = chain(small_plans(), random_plans(60, 1))
    runs = (play_hedges(plan, faulty.hedged) for plan in plans)
    broken = next(filter(None, (HEDGE_CHECKS.judge(run).broken for run in runs)))
    assert next(iter(broken)) == faulty.rule


@pytest.mark.parametrize(("gallery", "checks", "book"), BOOKS, ids=["mailbox", "carry", "hedge"])
def test_every_rule_of_a_book_has_a_check_and_convicts_one(
    gallery: Any, checks: Any, book: Any
) -> None:
    assert set(checks) == {faulty.rule for faulty in gallery} == set(book)
    assert len({faulty.name for faulty in gallery}) == len(gallery)
    assert not set(book) & set(rules())


@pytest.mark.parametrize("faulty", EVERY_FAULT, ids=lambda each: each.name)
def test_it_is_one_small_change_that_says_what_it_is(faulty: Any) -> None:
    methods = [
        name
        for name, value in vars(faulty.change).items()
        if (callable(value) or isinstance(value, property)) and name != "__init__"
    ]
    assert len(methods) <= 1
    assert not any(name.startswith("_") and not name.startswith("__") for name in methods)
    assert len(inspect.getsource(faulty.change).splitlines()) <= MOST_LINES
    assert faulty.sentence.endswith(".")
