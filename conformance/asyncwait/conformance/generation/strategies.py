"""Random scenarios for property tests: hypothesis draws them, and shrinks failing scenarios.

    BACKEND = stream_backend(open_operator, profiles=["ordered", "timeouts"])

    @given(scenarios(BACKEND))
    def test_the_operator_keeps_the_rules(scenario: Scenario) -> None:
        check(BACKEND, scenario)

The suite itself does not use hypothesis: it draws a thousand scenarios in a fifth of a second.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.expected_failures import expected_failures_of
from asyncwait.conformance.generation._generate import LAYERS
from asyncwait.conformance.generation._random import apart, scenario
from asyncwait.conformance.running import Backend, Broken, adapted, checked
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import Case, Tally
from asyncwait.spec.rules import rules_for
from asyncwait.spec.scenario import Scenario

__all__ = ["check", "scenarios"]

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]


def scenarios(backend: Backend | None = None) -> st.SearchStrategy[Scenario]:
    """Return a strategy for scenarios of every kind.

    Args:
        backend: the strategy adapts each scenario to the capabilities of this backend; None for no
            change.
    """
    if backend is None:
        return _scenarios()
    return _scenarios().map(lambda drawn: adapted(drawn, backend.capabilities))


def check(backend: Backend, scenario: Scenario) -> None:
    """Play a scenario on a backend in this process, and judge the run by all rules.

    Args:
        backend: the result of `stream_backend`; the run may break its expected failures.
        scenario: the check adapts it to the capabilities of the backend.

    Raises:
        AssertionError: the run breaks a MUST, or the backend gave no run. The message names the
            broken rules, and draws scenario and run.
    """
    case = Case("", scenario, adapted(scenario, backend.capabilities))
    (played,) = backend.run([case.scenario])
    run = checked(case.scenario, played)
    if isinstance(run, Broken):
        raise AssertionError(run.text)
    rules = rules_for(backend.capabilities)
    checks = {rule: CHECKS[rule] for rule in rules}
    tally = Tally(checks, rules, expected_failures_of(backend.expected_failures))
    found = {
        rule: failure.violation
        for rule, failure in tally.findings(case, run).items()
        if rules[rule].level == "MUST"
    }
    if found:
        broken = [f"{rule} {rules[rule].title}: {wrong.text}" for rule, wrong in found.items()]
        drawn = draw(case.scenario, run, next(iter(found.values())))
        raise AssertionError("\n".join([*broken, *describe_scenario(case.scenario), *drawn]))


@st.composite
def _scenarios(draw: Draw) -> Scenario:
    chance = _Drawn(draw)
    drawn = scenario(chance)
    for layer in LAYERS.values():
        if chance.choice([False, False, True]):
            drawn = layer.put_on(chance, drawn)
    return apart(drawn)


class _Drawn:
    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def choice(self, options: Sequence[T], /) -> T:
        """Return one of `options`; the first is the simplest."""
        chosen: T = self._draw(st.sampled_from(options))
        return chosen

    def randint(self, least: int, most: int, /) -> int:
        """Return a number from `least` to `most`."""
        number: int = self._draw(st.integers(least, most))
        return number
