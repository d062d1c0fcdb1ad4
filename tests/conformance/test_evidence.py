"""Every rule has its evidence: an example, a check, and a witness for that check."""

import re
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from asyncwait.conformance.areas import CHECKS, EXAMPLES, all_witnesses
from asyncwait.conformance.evidence import (
    describe_scenario,
    scenario_of,
)
from asyncwait.spec import Record
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import (
    GRID,
    Plan,
    Scenario,
    Step,
    Timed,
    with_times,
)


def test_every_rule_has_a_check() -> None:
    assert set(CHECKS) == set(rules())


def test_every_check_has_one_witness() -> None:
    assert Counter(witness.rule for witness in all_witnesses()) == Counter(list(rules()))


def test_every_rule_has_an_example() -> None:
    assert {rule for example in EXAMPLES for rule in example.rules} == set(rules())


def test_names_of_examples_are_unique() -> None:
    names = Counter(example.name for example in EXAMPLES)
    assert [name for name, count in names.items() if count > 1] == []


def test_a_scenario_is_shown_in_the_words_that_examples_are_written_in(
    quick_scenarios: tuple[Scenario, ...],
) -> None:
    shown = [(each, describe_scenario(each)) for each in (*quick_scenarios, *_examples())]
    whole = [(each, lines) for each, lines in shown if not any(" more) " in line for line in lines)]

    assert len(whole) > len(shown) - 10
    for scenario, lines in whole:
        assert scenario_of("; ".join(lines)) == replace(scenario, name=""), lines


def _examples() -> list[Scenario]:
    return [example.scenario for example in EXAMPLES]


@pytest.mark.parametrize(
    "value",
    ["a b", "a/b@5*c", "x, y; z: 1%", "7", "null", "with", "", "grün", 1.5, [1, "b c"], {"k": 1}],
)
def test_a_value_that_is_no_word_is_shown_as_json(value: Any) -> None:
    steps = (Step(results=(value,)),) * 2
    scenario = Scenario(inputs=(Timed(0, Record(value, 5, "k")),), plans=(Plan(value, steps),))

    assert scenario_of("; ".join(describe_scenario(scenario))) == scenario


def test_examples_fit_a_clock_with_coarse_steps() -> None:
    """Planned instants are equal on purpose or a whole step apart, so that they can be played.

    Where figures are read amid a step nobody plays them on a real clock.
    """
    played = [s for s in _examples() if not any(at % GRID for at in s.figures_at)]

    amid = [s.name for s in played if with_times(s, lambda _, ms: ms - ms % GRID) is not s]

    assert amid == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0: a; capactiy 2", "'capactiy 2': a scenario has no such field"),
        ("capacity 1; capacity 2", "'capacity 2': that has been told already"),
        ("capacity 0", "capacity must be a whole number"),
        ("0: ~nine", "'0: ~nine': "),
        ("0: @5", "'0: @5': '@5' is no element"),
        ("a: 40 replies x", "'a: 40 replies x': 'replies x' is nothing that a call or a handler"),
        ("a: raises Nothing", "error must be one of 'ValueError', 'StopIteration'"),
        ("a: gives x with haste", "'a: gives x with haste': "),
        ("sink read 1 2 3", "'sink read 1 2 3': a SinkStep has no 4 parts"),
    ],
)
def test_what_is_no_scenario_is_refused_with_its_statement(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        scenario_of(text)
