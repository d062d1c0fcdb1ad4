"""Operators that are watched are judged, by the figures that are shown of them."""

import pytest

from asyncwait.backends.watching._figures import Metric
from asyncwait.backends.watching._instruments import Export
from asyncwait.backends.watching.conformance import family
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import judge

NTH = 6
"""Of so many examples a watched operator is asked for one; those of figures are asked of all."""

GENERATED = 20


def broken(name: str) -> list[set[str]]:
    """The rules that are broken in each scenario in which some are."""
    number, backend = list(family()).index(name), family()[name]()
    chosen = [
        each.scenario
        for place, each in enumerate(EXAMPLES)
        if place % NTH == number or any(rule.startswith("STAT-") for rule in each.rules)
    ]
    scenarios = [*chosen, *generate(GENERATED, seed=number)]
    runs = zip(scenarios, backend.run(scenarios), strict=True)
    found = [set(dict(judge(*run, CHECKS).violations())) for run in runs]
    return [each for each in found if each]


@pytest.mark.parametrize("name", family())
def test_what_is_watched_keeps_all_rules(name: str) -> None:
    """It does what it does alone, and what is shown is what is so."""
    assert broken(name) == []


def test_figures_that_are_not_read_again_are_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rules on figures, and by no others."""

    def value(self: Export, metric: Metric) -> float:
        figure: float = getattr(self._figures, metric.figure)
        return figure

    monkeypatch.setattr(Export, "value", value)
    found = set[str]().union(*broken("watching-pool-asyncio"))

    assert found
    assert {rule.partition("-")[0] for rule in found} <= {"STAT", "TIME"}
