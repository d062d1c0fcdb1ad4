"""Writes the pages of what Flink's operators do wrong: each in the example that shows it.

python tests/support/flink_defects.py flink > docs/flink-defects.md
python tests/support/flink_defects.py pyflink > docs/pyflink-defects.md
"""

import gc
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink._foreign import ForeignSide
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.backends.pyflink._expected_failures import KNOWN as KNOWN_PYTHON
from asyncwait.backends.pyflink.conformance import backend as pyflink_backend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.expected_failures import Sorted, expected_failures_of, sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.report import excerpt
from asyncwait.conformance.running import StreamBackend, adapted
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import Case, Failure, failures_of
from asyncwait.spec.rules import departures, rules
from asyncwait.spec.scenario import Scenario, id_of, scenarios_to_json

DOCS = Path(__file__).resolve().parents[2] / "docs"

HEAD = """# What is wrong in {flink} 2.3.0

What the suite finds in {operators}, which {run} unmodified
([how](flink.md)): the rule that is broken, an example that breaks it, and what happened in the
example. Ids are those of the [departures](../spec/asyncwait/spec/rules/departures.md). Not every
departure is a mistake: this page also lists what {flink} documents and this specification rejects.

Columns are milliseconds, input, calls and output; `>>>` marks the instant in which the rule is
broken. The tests play every example again, and compare this page with what happens. This page
is written by `python tests/support/flink_defects.py {name}`.
"""


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


def assert_let_go(
    backend: StreamBackend, threads: Callable[[], int], collect: Callable[[], object]
) -> None:
    """A run that is over leaves no operator and no thread.

    Args:
        backend: plays an example 40 times.
        threads: returns the number of threads.
        collect: collects what is no longer used; Java does so in its own time.
    """
    scenario = adapted(SCENARIOS["several-results-each"], backend.capabilities)
    list(backend.run([scenario]))
    collect()
    before, running = _sides(), threads()
    list(backend.run([scenario] * 40))
    for _ in range(20):
        collect()
        if _sides() <= before:
            break
        threading.Event().wait(0.05)
    assert _sides() <= before
    assert threads() <= running


def _sides() -> int:
    """Return how many operators Python knows; no proxy is asked what it is, as that may be gone."""
    return sum(issubclass(type(each), ForeignSide) for each in gc.get_objects())


class Defect(Struct, frozen=True):
    """A departure, and an example that shows it in the operator of a backend."""

    backend: str
    known: Known
    example: str

    @property
    def id(self) -> str:
        return f"{self.backend}-{self.known.flink}-{self.example}"

    def section(self, run: Run) -> str:
        known = self.known
        rule, failure = self._shown(run)
        left = next(each for each in departures() if each.flink == known.flink)
        theirs = left.theirs if left.theirs.startswith("PyFlink:") else f"Flink: {left.theirs}"
        planned = scenarios_to_json((failure.case.planned,)).decode()
        lines = [
            f"## {known.flink}: {known.shows}",
            "",
            f"{theirs}. Here: {left.ours}; {left.why}.",
            "",
            f"It breaks {rule}: {rules()[rule].sentence}",
            "",
            "```text",
            *drawn(failure),
            "```",
            "",
            "```",
            f"asyncwait play {self.backend} '{planned}'",
            "```",
            "",
        ]
        return "\n".join(lines)

    def _shown(self, run: Run) -> tuple[str, Failure]:
        by_departure = {
            rule
            for rule, why in run.said.known.items()
            if any(reason.startswith(f"{self.known.flink}:") for reason in why)
        }
        listed = (*self.known.rules, *self.known.seldom)
        rule = next(rule for rule in listed if rule in by_departure)
        return rule, run.broken[rule]


LONGEST = 100
"""Lines of a drawing; a longer one is cut to what a person reads."""


def drawn(failure: Failure) -> list[str]:
    scenario = failure.case.scenario
    timeline = draw(scenario, failure.trace, failure.violation)
    # The module of a function in a message of PyFlink may change.
    lines = [
        re.sub(r"'asyncwait\.\S+<locals>\.", "'", line.rstrip())
        for line in (*describe_scenario(scenario), *timeline)
    ]
    return lines if len(lines) <= LONGEST else list(excerpt(lines))


class Page(Struct, frozen=True):
    name: str
    flink: str
    operators: str
    run: str
    backends: Mapping[str, Callable[[], StreamBackend]]
    known: Mapping[str, Sequence[Known]]

    @property
    def defects(self) -> list[Defect]:
        return [
            Defect(name, known, example)
            for name, listed in self.known.items()
            for known in listed
            for example in known.examples
        ]

    @property
    def head(self) -> str:
        return HEAD.format(name=self.name, flink=self.flink, operators=self.operators, run=self.run)

    @property
    def text(self) -> str:
        return (DOCS / f"{self.name}-defects.md").read_text(encoding="utf-8")

    def section(self, defect: Defect) -> str:
        """Play the example of a defect; return what the page says of the defect."""
        return defect.section(run_of(self.backends[defect.backend](), SCENARIOS[defect.example]))


FLINK = Page(
    "flink",
    "Flink",
    "the operators of Apache Flink 2.3.0",
    "run",
    {"flink": backend, "flink-keyed": keyed_backend},
    {"flink": KNOWN, "flink-keyed": [k for k in KNOWN_KEYED if k not in KNOWN]},
)

PYFLINK = Page(
    "pyflink",
    "PyFlink",
    "the asynchronous operation of PyFlink 2.3.0",
    "runs",
    {"pyflink": pyflink_backend},
    {"pyflink": KNOWN_PYTHON},
)

PAGES = {page.name: page for page in (FLINK, PYFLINK)}


def main(name: str) -> None:
    page = PAGES[name]
    print(page.head)
    for defect in page.defects:
        print(page.section(defect))


if __name__ == "__main__":
    main(*sys.argv[1:])
