"""Writes the pages of what Flink's operators do wrong: each in the smallest scenario that shows it.

    python tests/support/flink_defects.py flink > docs/flink-defects.md
    python tests/support/flink_defects.py pyflink > docs/pyflink-defects.md

It begins with the examples that the expected failures name, and looks for smaller scenarios in
which the same rule is broken in the same way.
"""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from smallest_failures import EVIDENCE, drawn, evidence, search

from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.backends.pyflink._expected_failures import KNOWN as KNOWN_PYTHON
from asyncwait.backends.pyflink.conformance import backend as pyflink_backend
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import Sorted, expected_failures_of, sort_out
from asyncwait.conformance.judging import judge
from asyncwait.conformance.running import StreamBackend, adapted
from asyncwait.conformance.verdict import Case, Failure, failures_of
from asyncwait.spec.rules import departures, rules
from asyncwait.spec.scenario import Scenario, id_of, scenarios_from_json

SECONDS = 8.0
"""How long a smaller scenario is looked for, each time."""

DOCS = Path(__file__).resolve().parents[2] / "docs"

HEAD = """# What is wrong in {flink} 2.3.0

What the suite finds in {operators}, which {run} unmodified
([how](flink.md)): the rule that is broken, the smallest scenario that was found to break it, and
what happened in it. Ids are those of the
[departures](../spec/asyncwait/spec/rules/departures.md). Not all of it is a mistake to everybody:
what {flink} documents, and does otherwise than this specification, stands here, too.

Columns are milliseconds, input, calls and output; `>>>` marks the instant in which the rule is
broken. The tests play every scenario again, and hold what is drawn here to what happens. This page
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


class Operator(Struct, frozen=True):
    name: str
    backend: StreamBackend

    def departs(self, scenario: Scenario, flink: str) -> dict[str, Failure]:
        """Return what a scenario shows broken as Flink departs so; by the rule and how it is."""
        run = run_of(self.backend, scenario)
        return {
            f"{rule} {_kind(run.broken[rule])}": run.broken[rule]
            for rule, why in run.said.known.items()
            if any(reason.startswith(f"{flink}:") for reason in why)
        }


def _kind(failure: Failure) -> str:
    return re.sub(r"'[^']*'|\d+|\(.*?\)|@ -?", "#", failure.violation.text)


class Defect(Struct, frozen=True):
    operator: Operator
    known: Known
    rule: str
    failure: Failure


def smallest(operator: Operator, known: Known, example: str) -> Defect:
    scenario = SCENARIOS[example]
    found = operator.departs(scenario, known.flink)
    how = next(how for rule in (*known.rules, *known.seldom) for how in found if _is(how, rule))
    ends = time.monotonic() + SECONDS
    looking = search(
        lambda each: operator.departs(each, known.flink), lambda: time.monotonic() > ends
    )
    return Defect(operator, known, how.split(maxsplit=1)[0], looking.smallest(how, found[how]))


def _is(how: str, rule: str) -> bool:
    return how.split(maxsplit=1)[0] == rule


def section(defect: Defect) -> Iterator[str]:
    known, failure, rule = defect.known, defect.failure, rules()[defect.rule]
    left = next(each for each in departures() if each.flink == known.flink)
    yield f"## {known.flink}: {known.shows}"
    yield ""
    theirs = left.theirs if left.theirs.startswith("PyFlink:") else f"Flink: {left.theirs}"
    yield f"{theirs}. Here: {left.ours}; {left.why}."
    yield ""
    yield f"It breaks {rule.id}: {rule.sentence}"
    yield ""
    yield from evidence(defect.operator.name, failure)


class Listed(Struct, frozen=True):
    backend: Callable[[], StreamBackend]
    known: Sequence[Known]

    @property
    def planned(self) -> list[tuple[Known, str]]:
        return [(known, example) for known in self.known for example in known.examples]


class Page(Struct, frozen=True):
    name: str
    flink: str
    operators: str
    run: str
    listed: Mapping[str, Listed]

    def defects(self) -> Iterator[Defect]:
        for name, listed in self.listed.items():
            operator = Operator(name, listed.backend())
            for known, example in listed.planned:
                yield smallest(operator, known, example)

    def head(self) -> str:
        return HEAD.format(name=self.name, flink=self.flink, operators=self.operators, run=self.run)

    def sections(self) -> list[dict[str, str]]:
        text = (DOCS / f"{self.name}-defects.md").read_text(encoding="utf-8")
        return [found.groupdict() for found in SECTION.finditer(text)]

    def names(self) -> list[str]:
        return [f"{n}-{each['flink']}-{each['rule']}" for n, each in enumerate(self.sections())]

    def plays(self, section: Mapping[str, str]) -> list[list[str]]:
        (scenario,) = scenarios_from_json(section["json"].encode())
        operator = Operator(section["name"], self.listed[section["name"]].backend())
        found = operator.departs(scenario, section["flink"])
        shown = [failure for how, failure in found.items() if _is(how, section["rule"])]
        return [drawn(failure) for failure in shown]


SECTION = re.compile(
    rf"^## (?P<flink>[A-Z]+-\d+): .*?^It breaks (?P<rule>[A-Z]+-\d+): .*?{EVIDENCE}",
    re.MULTILINE | re.DOTALL,
)

FLINK = Page(
    "flink",
    "Flink",
    "the operators of Apache Flink 2.3.0",
    "run",
    {
        "flink": Listed(backend, KNOWN),
        "flink-keyed": Listed(keyed_backend, [k for k in KNOWN_KEYED if k not in KNOWN]),
    },
)

PYFLINK = Page(
    "pyflink",
    "PyFlink",
    "the asynchronous operation of PyFlink 2.3.0",
    "runs",
    {"pyflink": Listed(pyflink_backend, KNOWN_PYTHON)},
)

PAGES = {page.name: page for page in (FLINK, PYFLINK)}


def main(name: str) -> None:
    page = PAGES[name]
    print(page.head())
    for defect in page.defects():
        print(f"{defect.known.flink}: {defect.rule}", file=sys.stderr)
        print("\n".join(section(defect)))


if __name__ == "__main__":
    main(*sys.argv[1:])
