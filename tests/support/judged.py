"""What the tests of all areas of checks do with their witnesses and examples."""

from collections.abc import Mapping

import pytest

import asyncwait.backends.emitter
import asyncwait.backends.pool
import asyncwait.reference
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import Example, Run, Witness
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import Judged, Judgement
from asyncwait.conformance.judging import judge as judge_all
from asyncwait.spec import OpenOperator

OPERATORS: Mapping[str, OpenOperator] = {
    "reference": asyncwait.reference.open_operator,
    "pool": asyncwait.backends.pool.open_operator,
    "emitter": asyncwait.backends.emitter.open_operator,
}
LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")

each_operator = pytest.mark.parametrize("operator", OPERATORS)
each_loop = pytest.mark.parametrize("loop", LOOPS)


def each_witness(witnesses: tuple[Witness, ...]) -> pytest.MarkDecorator:
    """Parametrise a test over witnesses, by the id of their rule."""
    return pytest.mark.parametrize("witness", witnesses, ids=[w.rule for w in witnesses])


def each_example(examples: tuple[Example, ...]) -> pytest.MarkDecorator:
    """Parametrise a test over examples, by their names."""
    return pytest.mark.parametrize("example", examples, ids=[e.name for e in examples])


def judged(run: Run) -> Judged:
    """Return what all checks say of `run`, which they can judge."""
    found = judge_all(run.scenario, run.trace, CHECKS)
    assert not found.error
    assert not [judgement.error for judgement in found.by_rule.values() if judgement.error]
    return found


def judge(rule: str, run: Run) -> Judgement:
    """Return what the check of `rule` says of `run`."""
    return judged(run).by_rule[rule]


def texts(rule: str, run: Run) -> list[str]:
    """Return what the check of `rule` complains of in `run`."""
    return [violation.text for violation in judge(rule, run).violations]


def broken_rules(run: Run) -> dict[str, list[str]]:
    """Return the complaints of all checks that have some, by rule."""
    found = judged(run).by_rule.items()
    return {rule: [v.text for v in said.violations] for rule, said in found if said.violations}


def play_example(example: Example, operator: str, loop: LoopName) -> Run:
    """Play an example on an operator of `OPERATORS`."""
    return Run(example.scenario, play(OPERATORS[operator], example.scenario, loop))


def untested_rules(example: Example, run: Run) -> list[str]:
    """Return the rules that `example` is about, and that did not apply in `run`."""
    return [rule for rule in example.rules if not judge(rule, run).applied]


def assert_convicts(witness: Witness) -> None:
    """The witness's check complains of the violating run, once, and in these words."""
    assert texts(witness.rule, witness.violating) == [witness.text]


def assert_acquits(witness: Witness) -> None:
    """The witness's rule applies in the legal run, which breaks no rule at all."""
    assert judge(witness.rule, witness.legal).applied
    assert broken_rules(witness.legal) == {}


def assert_passes(example: Example, operator: str, loop: LoopName) -> None:
    """An operator breaks no rule in an example, and all rules it is about apply."""
    run = play_example(example, operator, loop)
    assert broken_rules(run) == {}
    assert untested_rules(example, run) == []
