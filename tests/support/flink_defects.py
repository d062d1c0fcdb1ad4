"""Writes the page of what Flink's operators do wrong: each in the smallest scenario that shows it.

    python tests/support/flink_defects.py > docs/flink-defects.md

It begins with the examples that the exceptions name, and looks for smaller scenarios in which the
same rule is broken in the same way.
"""

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from flink_runs import SCENARIOS, run_of
from msgspec import Struct

from asyncwait.backends.flink._exceptions import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink.conformance import backend, keyed_backend
from asyncwait.conformance.report import describe_scenario, draw
from asyncwait.conformance.running import StreamBackend
from asyncwait.conformance.shrinking import Search
from asyncwait.conformance.verdict import Failure
from asyncwait.spec.rules import departures, rules
from asyncwait.spec.scenario import Scenario, scenarios_to_json

SECONDS = 8.0
"""How long a smaller scenario is looked for, each time."""

HEAD = """# What is wrong in Flink 2.3.0

What the suite finds in the operators of Apache Flink 2.3.0, which run unmodified
([how](flink.md)): the rule that is broken, the smallest scenario that was found to break it, and
what happened in it. Ids are those of the
[departures](../spec/asyncwait/spec/rules/departures.md). Not all of it is a mistake to everybody:
what Flink documents, and does otherwise than this specification, stands here, too.

Columns are milliseconds, input, calls and output; `>>>` marks the instant in which the rule is
broken. The tests play every scenario again, and hold what is drawn here to what happens. This page
is written by `python tests/support/flink_defects.py`.
"""


class Operator(Struct, frozen=True):
    """One of Flink's operators.

    Args:
        name: under which it is verified.
        backend: plays scenarios on it.
    """

    name: str
    backend: StreamBackend

    def departs(self, scenario: Scenario, flink: str) -> dict[str, Failure]:
        """Return what a scenario shows broken as Flink departs so; by the rule and how it is.

        Args:
            scenario: to be played, as far as the operator can.
            flink: id of the departure.
        """
        run = run_of(self.backend, scenario)
        return {
            f"{rule} {_kind(run.broken[rule])}": run.broken[rule]
            for rule, why in run.said.known.items()
            if any(reason.startswith(f"{flink}:") for reason in why)
        }


def _kind(failure: Failure) -> str:
    """Return how something is broken, whatever the values and the times."""
    return re.sub(r"'[^']*'|\d+|\(.*?\)|@ -?", "#", failure.violation.text)


class Defect(Struct, frozen=True):
    """A departure, and the smallest scenario that was found to show it.

    Args:
        operator: whose it is.
        known: the departure.
        rule: id of the rule that is broken.
        failure: how.
    """

    operator: Operator
    known: Known
    rule: str
    failure: Failure


def smallest(operator: Operator, known: Known, example: str) -> Defect:
    """Return the smallest failure that is found, beginning with an example."""
    scenario = SCENARIOS[example]
    found = operator.departs(scenario, known.flink)
    how = next(how for rule in (*known.rules, *known.seldom) for how in found if _is(how, rule))
    ends = time.monotonic() + SECONDS

    def try_out(candidates: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
        for candidate in candidates:
            yield operator.departs(candidate, known.flink)

    search = Search(try_out, lambda: time.monotonic() > ends)
    return Defect(operator, known, how.split(maxsplit=1)[0], search.smallest(how, found[how]))


def _is(how: str, rule: str) -> bool:
    return how.split(maxsplit=1)[0] == rule


def section(defect: Defect) -> Iterator[str]:
    """Yield the lines on one defect."""
    known, failure, rule = defect.known, defect.failure, rules()[defect.rule]
    left = next(each for each in departures() if each.flink == known.flink)
    case = failure.case
    yield f"## {known.flink}: {known.shows}"
    yield ""
    yield f"Flink: {left.theirs}. Here: {left.ours}; {left.why}."
    yield ""
    yield f"It breaks {rule.id}: {rule.sentence}"
    yield ""
    yield "```text"
    yield from drawn(failure)
    yield "```"
    yield ""
    yield "```"
    yield f"asyncwait play {defect.operator.name} '{scenarios_to_json((case.planned,)).decode()}'"
    yield "```"
    yield ""


def drawn(failure: Failure) -> list[str]:
    """Return a scenario and what happened in it, as the page shows them."""
    scenario = failure.case.scenario
    timeline = draw(scenario, failure.trace, failure.violation)
    return [line.rstrip() for line in (*describe_scenario(scenario), *timeline)]


def defects() -> Iterator[Defect]:
    """Yield all of them; what both operators do stands with the first."""
    plain, keyed = Operator("flink", backend()), Operator("flink-keyed", keyed_backend())
    own = [known for known in KNOWN_KEYED if known not in KNOWN]
    for operator, listed in ((plain, KNOWN), (keyed, own)):
        for known in listed:
            for example in known.examples:
                yield smallest(operator, known, example)


def main() -> None:
    """Write the page, and say on standard error how far it is."""
    print(HEAD)
    for defect in defects():
        print(f"{defect.known.flink}: {defect.rule}", file=sys.stderr)
        print("\n".join(section(defect)))


if __name__ == "__main__":
    main()
