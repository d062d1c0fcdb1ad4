"""Every rule has its evidence: an example, a check, and a witness for that check."""

from collections import Counter

import pytest

from asyncwait.conformance.areas import CHECKS, EXAMPLES, WITNESSES
from asyncwait.conformance.evidence import Example
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    GRID,
    PlannedRetry,
    Scenario,
    scenarios_from_json,
    scenarios_to_json,
)


def test_every_rule_has_a_check() -> None:
    """A rule that nobody judges is advice, and a check without a rule is an opinion."""
    assert set(CHECKS) == set(rules())


def test_every_check_has_one_witness() -> None:
    """Two hand-written runs show where the border of a check lies."""
    assert Counter(witness.rule for witness in WITNESSES) == Counter(list(rules()))


def test_every_rule_has_an_example() -> None:
    """At least one scenario is about it by name."""
    assert {rule for example in EXAMPLES for rule in example.rules} == set(rules())


def test_names_of_examples_are_unique() -> None:
    """A name stands for one example in reports and on the command line."""
    names = Counter(example.name for example in EXAMPLES)
    assert [name for name, count in names.items() if count > 1] == []


def test_examples_are_data() -> None:
    """An example comes back equal from its JSON."""
    scenarios = tuple(example.scenario for example in EXAMPLES)
    assert scenarios_from_json(scenarios_to_json(scenarios)) == scenarios


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_examples_fit_a_clock_with_coarse_steps(example: Example) -> None:
    """Planned instants are equal on purpose or a whole step apart, so that they can be played.

    Where figures are read amid a step nobody plays them on a real clock.
    """
    times = () if any(at % GRID for at in example.scenario.figures_at) else _times(example.scenario)
    assert [at for at in times if at % GRID] == []


def _times(scenario: Scenario) -> list[int]:
    steps = [step for plan in scenario.plans for step in plan.steps]
    retry = scenario.retry or PlannedRetry()
    return [
        retry.initial,
        retry.cap,
        retry.attempt_timeout or 0,
        scenario.timeout or 0,
        scenario.source_ends_at,
        scenario.cancel_at or 0,
        *(timed.at for timed in scenario.inputs),
        *(step.after for step in steps),
        *(step.clean_up for step in steps),
        *(step.again for step in steps),
        *(step.retry_after for step in steps),
        *(step.n for step in scenario.sink if step.does in {"pause", "give_up"}),
        *(request.at for request in scenario.requests),
        *(crash.at for crash in scenario.crashes),
    ]
