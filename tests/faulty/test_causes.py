"""The rule that a verdict on a faulty operator names first is its own, or it is said why not."""

import pytest
from suite import quick_cases
from sweep import verdict_on

from asyncwait.backends.faulty import FAULTY, Faulty
from asyncwait.conformance.verdict import Case
from asyncwait.spec.rules import rules

MARKED = 23
"""So many are marked as a consequence; another one needs a reason that is better than these."""

LARGE = 20
"""Inputs; what a larger example shows, a small one of the same rule does too."""

each_faulty = pytest.mark.parametrize(
    "faulty", [faulty for faulty in FAULTY if not faulty.blocks], ids=lambda faulty: faulty.name
)


@pytest.mark.sampled(30)
@pytest.mark.timeout(300)
@each_faulty
def test_the_rule_that_is_named_first_is_its_own_or_the_one_it_is_marked_with(
    faulty: Faulty,
) -> None:
    first, wanted = first_named(faulty), expected(faulty)

    assert first == wanted, (
        f"the verdict on {faulty.name} names {first or 'another rule'} first, and not {wanted}: "
        "mend @breaks, or say there `behind` which rule it stands, and `why`"
    )


def test_few_are_marked_as_a_consequence() -> None:
    marked = [faulty for faulty in FAULTY if faulty.consequence_of is not None]

    assert len(marked) == MARKED <= len(FAULTY) / 7
    assert all(expected(faulty) in rules().keys() - {faulty.rule} for faulty in marked)


def expected(faulty: Faulty) -> str:
    return faulty.consequence_of[0] if faulty.consequence_of else faulty.rule


def first_named(faulty: Faulty) -> str:
    """The first of the causes that examples show; or else those of the whole quick suite."""
    small = (case for case in quick_cases() if is_told_by(case, faulty.rule))
    drawn = (case for case in quick_cases() if case.generated)
    verdict = verdict_on(faulty, small, drawn, until=faulty.rule)
    named = [result.rule.id for result in verdict.failed]
    return named[0] if faulty.rule in named else ""


def is_told_by(case: Case, rule: str) -> bool:
    scenario = case.scenario
    is_small = len(scenario.inputs) <= LARGE and not scenario.tracked
    return not case.generated and (rule in case.about or is_small)
