"""What all checks say of a run, and the operators and loops that play some."""

import pytest
from operators import OPERATORS

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import Run
from asyncwait.conformance.harness import LoopName
from asyncwait.conformance.judging import Judged, Judgement
from asyncwait.conformance.judging import judge as judge_all

LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")

each_operator = pytest.mark.parametrize("operator", OPERATORS)


def judged(run: Run) -> Judged:
    found = judge_all(run.scenario, run.trace, CHECKS)
    assert not found.error
    assert not [judgement.error for judgement in found.by_rule.values() if judgement.error]
    return found


def judge(rule: str, run: Run) -> Judgement:
    return judged(run).by_rule[rule]


def texts(rule: str, run: Run) -> list[str]:
    return [violation.text for violation in judge(rule, run).violations]


def broken_rules(run: Run) -> dict[str, list[str]]:
    found = judged(run).by_rule.items()
    return {rule: [v.text for v in said.violations] for rule, said in found if said.violations}
