"""The rule that a verdict on a faulty operator names first is its own, or it is said why not."""

from functools import cache

import msgspec
import pytest

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, shapes
from asyncwait.conformance.harness import play
from asyncwait.conformance.judging import Judged, judge
from asyncwait.conformance.running import adapted
from asyncwait.conformance.verdict import Case, Tally, causes_of, conclude
from asyncwait.reference import open_operator
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import ALL_CAPABILITIES as ALL
from asyncwait.spec.scenario import Trace

MARKED = 49
"""So many are marked as a consequence; another one needs a reason that is better than these."""

LARGE = 20
"""Inputs; what a larger example shows, a small one of the same rule does too."""

CASES = [
    Case(example.name, example.scenario, example.scenario, about=example.rules)
    for example in EXAMPLES
]

each_faulty = pytest.mark.parametrize(
    "faulty", [faulty for faulty in FAULTY if not faulty.blocks], ids=lambda faulty: faulty.name
)


@pytest.mark.timeout(300)
@each_faulty
def test_the_rule_that_is_named_first_is_its_own_or_the_one_it_is_marked_with(
    faulty: Faulty,
) -> None:
    """A mark that is not needed any more, or names another rule, fails as well."""
    assert first_named(faulty) == expected(faulty)


def test_few_are_marked_as_a_consequence() -> None:
    """Whoever reads a verdict is seldom led to another rule."""
    marked = [faulty for faulty in FAULTY if faulty.consequence_of is not None]

    assert len(marked) == MARKED <= len(FAULTY) / 7
    assert all(expected(faulty) in rules().keys() - {faulty.rule} for faulty in marked)


def expected(faulty: Faulty) -> str:
    """The rule that a verdict should name first."""
    return faulty.consequence_of[0] if faulty.consequence_of else faulty.rule


def first_named(faulty: Faulty) -> str:
    """The first of the causes that examples show; or else those of the whole quick suite."""
    can = faulty.backend().capabilities
    checks = {name: CHECKS[name] for name, rule in rules().items() if rule.applies_to(can)}
    tally = Tally(checks, checks)
    for cases in (filter(lambda case: is_told_by(case, faulty.rule), CASES), quick_suite()):
        for case in cases:
            played = msgspec.structs.replace(case, scenario=adapted(case.scenario, can))
            trace = play(faulty.open_operator, played.scenario, faulty.loop)
            tally.add(played, trace, judged_already(case, trace) if can == ALL else None)
        if tally.counts[faulty.rule].found.count:
            return causes_of(tally, conclude(tally, rules(), can, {}))[0].rule
    return ""


def judged_already(case: Case, trace: Trace) -> Judged | None:
    """What is said of a trace that is the reference's: most are, and judging takes time."""
    known, judged = of_the_reference(case.name)
    return judged if trace == known else None


@cache
def of_the_reference(name: str) -> tuple[Trace | None, Judged]:
    """Its trace of an example, and what is said of that."""
    scenario = next((case.scenario for case in CASES if case.name == name), None)
    if scenario is None:
        return None, Judged()
    trace = play(open_operator, scenario)
    return trace, judge(scenario, trace, CHECKS)


def is_told_by(example: Case, rule: str) -> bool:
    """Whether an example is small, or about a rule."""
    scenario = example.scenario
    return rule in example.about or (len(scenario.inputs) <= LARGE and not scenario.tracked)


@cache
def quick_suite() -> tuple[Case, ...]:
    """What a quick suite has besides the examples."""
    drawn = [*shapes(QUICK, 0), *((str(n), each) for n, each in enumerate(generate(QUICK, 0)))]
    return tuple(Case(name, scenario, scenario, generated=True) for name, scenario in drawn)
