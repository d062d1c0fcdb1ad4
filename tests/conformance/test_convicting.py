"""Where few rules are asked for, only what can convict by them is played, and nothing is lost."""

import re

import pytest
from outside import run

from asyncwait.backends.faulty import FAULTY
from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.generation import generate
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import judge
from asyncwait.conformance.verifying import PREMISES, Coverage, can_convict, verify
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    Scenario,
)

LARGE = 20
"""Inputs; what a larger example shows, a small one of the same rule does too."""

PLAYED: list[tuple[Scenario, tuple[str, ...]]] = [
    *((e.scenario, e.rules) for e in EXAMPLES[::3] if len(e.scenario.inputs) <= LARGE),
    *((scenario, ()) for scenario in generate(60, seed=0)),
]
"""Scenarios, each with the rules that it is about."""


@pytest.mark.parametrize("rule", PREMISES)
def test_what_a_check_looks_for_is_there_where_it_is_said_to_be(rule: str) -> None:
    spared = [scenario for scenario, _ in PLAYED if not PREMISES[rule](scenario)]
    check = {rule: CHECKS[rule]}
    applied = [
        judge(scenario, play(FAULTY[0].open_operator, scenario), check).by_rule[rule].applied
        for scenario in spared[::8]
    ]

    assert len(applied) > len(PLAYED) / 20
    assert sum(applied) == 0


def test_what_breaks_a_rule_by_hand_can_convict_by_it() -> None:
    lost = [
        (witness.rule, rule)
        for witness in all_witnesses()
        for run in [witness.violating]
        for rule, _ in judge(run.scenario, run.trace, CHECKS).violations()
        if not can_convict(rules()[rule], run.scenario)
    ]

    assert lost == []


def test_a_rule_is_played_where_it_can_be_shown() -> None:
    done = run("verify", "reference-asyncio", "--rule", "STAT-7", "--count", "40")

    assert done.exit_code == 0, done.output
    said = re.search(r"\(1 rule passes, (\d+) of (\d+) scenarios can show it\)$", done.stdout)
    assert said is not None, done.output
    assert int(said[1]) < len(EXAMPLES) < int(said[2])


def test_the_examples_about_a_rule_come_first() -> None:
    plan = Coverage(count=1, rules=("ORD-1",), fails_fast=True, jobs=1)
    verdict = verify("faulty-knows-one-mode", plan)

    (failed,) = verdict.failed
    assert "ORD-1" in next(e for e in EXAMPLES if e.name == failed.failures[0].case.name).rules
    assert verdict.scenarios < 10
    assert verdict.stopped.startswith("ORD-1 broken; ")


def test_a_should_stops_nothing() -> None:
    should = next(f for f in FAULTY if rules()[f.rule].level == "SHOULD" and not f.blocks)
    done = run(
        "verify", f"faulty-{should.name}", "--rule", should.rule, "--fail-fast", "--count", "1"
    )

    assert done.exit_code == 0, done.output
    assert "1 fail, 1 of the failures not of a MUST" in done.stdout
    assert "stopped" not in done.stdout
