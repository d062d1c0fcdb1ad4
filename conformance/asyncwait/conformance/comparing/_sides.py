"""One of two backends that are compared: what it is held to, and what is said of its runs."""

from collections.abc import Mapping

from msgspec import Struct

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.comparing._align import Moment
from asyncwait.conformance.expected_failures import ExpectedFailures, moment_of, sort_out
from asyncwait.conformance.judging import Checks, Violation, judge
from asyncwait.spec.rules import rules
from asyncwait.spec.scenario import Capability, Scenario, Trace


class Said(Struct, frozen=True):
    """What the rules say of a run.

    Args:
        known: why the run departs from the rules, as the backend is known for; empty if it is not.
        error: why the run can't be judged; empty if it can.
    """

    findings: Mapping[str, Violation] = {}
    known: tuple[str, ...] = ()
    since: Moment | None = None
    error: str = ""


class Side(Struct, frozen=True):
    """One of the two backends."""

    name: str
    checks: Checks
    expected_failures: ExpectedFailures

    @classmethod
    def of(
        cls, name: str, capabilities: frozenset[Capability], expected_failures: ExpectedFailures
    ) -> "Side":
        """Return what a backend with these capabilities is held to."""
        applying = {rule for rule, each in rules().items() if each.applies_to(capabilities)}
        return cls(
            name, {r: check for r, check in CHECKS.items() if r in applying}, expected_failures
        )

    def judge(self, scenario: Scenario, trace: Trace) -> Said:
        """Judge a run of this side."""
        judged = judge(scenario, trace, self.checks)
        broken = dict(judged.violations())
        errors = [judged.error, *(each.error for each in judged.by_rule.values())]
        said = sort_out(scenario, broken, self.expected_failures)
        return Said(
            {rule: broken[rule] for rule in broken if rule in said.findings},
            tuple(dict.fromkeys(why for reasons in said.known.values() for why in reasons)),
            min((moment_of(broken[rule]) for rule in said.known), default=None),
            next(filter(None, errors), ""),
        )
