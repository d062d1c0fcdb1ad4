"""What the rules say of scenarios that Flink's operators play in this process."""

from msgspec import Struct

from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import Sorted, expected_failures_of, sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import StreamBackend, adapted
from asyncwait.conformance.verdict import Case, Failure, failures_of
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Scenario

SCENARIOS = {example.name: example.scenario for example in EXAMPLES}
"""The examples, by their names."""


class Run(Struct, frozen=True):
    """One run of a scenario.

    Args:
        broken: the failures, by the id of the rule.
        said: what they say of the operator.
    """

    broken: dict[str, Failure]
    said: Sorted


def run_of(backend: StreamBackend, scenario: Scenario) -> Run:
    """Play a scenario on a backend, as far as that can, and judge it by all rules that apply."""
    case = Case("shrunk", scenario, adapted(scenario, backend.capabilities), generated=True)
    (trace,) = backend.run([case.scenario])
    applying = {rule.id for rule in rules().values() if rule.applies_to(backend.capabilities)}
    checks = {rule: check for rule, check in CHECKS.items() if rule in applying}
    broken = failures_of(case, trace, judge(case.scenario, trace, checks))
    violations = {rule: failure.violation for rule, failure in broken.items()}
    return Run(
        broken, sort_out(case.scenario, violations, expected_failures_of(backend.expected_failures))
    )


def broken_by(backend: StreamBackend, example: str) -> set[str]:
    """Return the rules that a backend breaks in an example."""
    return set(run_of(backend, SCENARIOS[example]).broken)
