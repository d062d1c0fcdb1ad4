"""What the rules say of scenarios that Flink's operators play in this process."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from asyncwait.backends.flink._expected_failures import Known
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import Sorted, expected_failures_of, sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import StreamBackend, adapted
from asyncwait.conformance.verdict import Case, Failure, failures_of
from asyncwait.spec.rules import departures, rules
from asyncwait.spec.scenario import Scenario, id_of

SCENARIOS = {example.name: example.scenario for example in EXAMPLES}
"""The examples, by their names."""


class Run(Struct, frozen=True):
    broken: dict[str, Failure]
    said: Sorted


def run_of(backend: StreamBackend, scenario: Scenario) -> Run:
    case = Case("shrunk", scenario, adapted(scenario, backend.capabilities), generated=True)
    (trace,) = backend.run([case.scenario])
    applying = {rule.id for rule in rules().values() if rule.applies_to(backend.capabilities)}
    checks = {rule: check for rule, check in CHECKS.items() if rule in applying}
    broken = failures_of(case, trace, judge(case.scenario, trace, checks))
    violations = {rule: failure.violation for rule, failure in broken.items()}
    expected = expected_failures_of(backend.expected_failures)
    return Run(broken, sort_out(violations, expected, case.called))


def said_of(backend: StreamBackend) -> dict[str, Sorted]:
    return {name: run_of(backend, scenario).said for name, scenario in SCENARIOS.items()}


def assert_departures(
    known: Sequence[Known], said: Mapping[str, Sorted], kept: Iterable[str]
) -> None:
    """What is known is each a departure and shows in an example, and no example shows more."""
    assert {each.flink for each in known} <= {departure.flink for departure in departures()}
    assert {r for each in known for r in (*each.rules, *each.seldom)} <= rules().keys()
    assert len({each.flink for each in known}) == len(known)
    assert {name: each.findings for name, each in said.items() if each.findings} == {}
    broken = {rule for each in said.values() for rule in each.known}
    assert {rule for each in known for rule in each.rules} <= broken
    assert {name: said[name].known for name in kept if said[name].known} == {}


def assert_the_same_each_time(backend: StreamBackend, example: str) -> None:
    """The clock is the loop's, and only one of the threads runs at a time."""
    scenario = adapted(SCENARIOS[example], backend.capabilities)
    traces = [trace for _ in range(5) for trace in backend.run([scenario])]
    assert all(trace == traces[0] for trace in traces), id_of(scenario)
