"""Operators that are watched are judged, by the figures that are shown of them."""

import pytest

from asyncwait.backends.watching._figures import Metric
from asyncwait.backends.watching._instruments import Export
from asyncwait.backends.watching.conformance import family
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import adapted
from asyncwait.spec.scenario import Scenario

OF_FIGURES = [
    each.scenario for each in EXAMPLES if any(rule.startswith("STAT-") for rule in each.rules)
]
"""They are asked of every watched operator."""

NTH, GENERATED = 6, 20
"""Of so many examples it is asked for one besides, and for so many generated scenarios."""


def broken(name: str, scenarios: list[Scenario]) -> list[set[str]]:
    backend = family()[name]()
    fitting = [adapted(each, backend.capabilities) for each in scenarios]
    runs = zip(fitting, backend.run(fitting), strict=True)
    # A watched operator wakes to show its figures, so END-23 does not apply to it.
    found = [set(dict(judge(*run, CHECKS).violations())) - {"END-23"} for run in runs]
    return [each for each in found if each]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("number", "name"), list(enumerate(family())), ids=list(family()))
def test_what_is_watched_keeps_all_rules(number: int, name: str) -> None:
    others = [each.scenario for each in EXAMPLES[number::NTH] if "END-23" not in each.rules]
    assert broken(name, [*OF_FIGURES, *others, *generate(GENERATED, seed=number)]) == []


def test_figures_that_are_not_read_again_are_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(self: Export, metric: Metric) -> float | None:
        return metric.read(self._figures)

    monkeypatch.setattr(Export, "value", value)
    found = set[str]().union(*broken("watching-pool-asyncio", OF_FIGURES))

    assert found
    assert {rule.partition("-")[0] for rule in found} <= {"STAT", "TIME"}
