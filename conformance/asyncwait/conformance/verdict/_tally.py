"""Adds up the judgements of many traces, rule by rule, and finds which broken rules explain others.

A single fault usually breaks several rules: an operator that starts calls in the wrong order also
gives results the wrong timestamps. `find_causes` works in four steps:

1. Over the failing scenarios, it selects the rule that fits best (`_Fit`):
   - the rule is broken in most of them, and in most of those in which it applies;
   - the rule is broken in their first instant;
   - the scenarios are about the rule: it applies in all of them, its area is broken in all of
     them, and examples among them are examples of that rule;
   - the rule says what is wrong, not only that something is late or missing (`SYMPTOMS`).
   Where two rules fit alike, the order of the chapters decides.
2. The scenarios that break that rule are covered. The function selects the next rule among the
   others.
3. A rule without an uncovered scenario is explained, unless chance may have covered it. If the
   causes cover nearly all scenarios in which a rule applies, nothing follows for the rule. Losses
   and swallowed errors (`GRAVE`) are never explained.
4. All other rules go through the same steps again.

A SHOULD, which does not decide the verdict, never explains a MUST.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from asyncwait.conformance.expected_failures import ExpectedFailures, Sorted, moment_of, sort_out
from asyncwait.conformance.judging import Check, Judged, Judgement, Violation, judge
from asyncwait.spec.scenario import Scenario, Trace, id_of, size_of
from asyncwait.spec.texts import name_of

CHANCE = 0.05
"""A rule counts as explained if chance would cover all its failures less probably than this."""

SYMPTOMS = frozenset(
    {"CAP-4", "ELEM-6", "END-2", "END-8", "FAIL-2", "HOLD-1", "KEY-3", "KEY-5", "KEY-6", "KEY-7"}
    | {"ORD-2", "ORD-3", "POLICY-2", "RES-2", "RES-5", "RETRY-4", "SNAP-5", "SNAP-8", "WM-4"}
    | {"WM-7"}
)
"""Rules about missing or late elements: any fault that holds an element back breaks them, too."""

GRAVE = frozenset(
    {"RES-1", "SNAP-2", "REST-5", "END-9"}
    | {"FAIL-1", "FAIL-7", "TIME-4", "END-12", "END-13", "END-18", "END-20", "RETRY-13", "POLICY-4"}
)
"""Rules about lost data, then about swallowed errors: each has an entry of its own."""


class Cause(Struct, frozen=True):
    """A broken rule that no other rule explains."""

    rule: str
    explains: tuple[str, ...] = ()


class Failed(Struct, frozen=True):
    """A scenario in which rules are failing."""

    broken: frozenset[str]
    first: frozenset[str]
    applied: frozenset[str]
    about: frozenset[str] = frozenset()


class Failing(Struct, frozen=True):
    """The observations on the failing rules.

    Args:
        together: every scenario in which a rule is failing.
        seen: for each rule, the number of scenarios in which it applied.
    """

    together: Collection[Failed]
    seen: Mapping[str, int]


def find_causes(failing: Failing, *ranks: Sequence[str]) -> tuple[Cause, ...]:
    """Return the rules that explain all failures, those that fit best first."""
    found: list[Cause] = []
    left = [list(rules) for rules in ranks]
    while causes := _causes(failing, left):
        found += causes
        known = {rule for cause in causes for rule in (cause.rule, *cause.explains)}
        left = [[rule for rule in rules if rule not in known] for rules in left]
    return tuple(found)


def _causes(failing: Failing, ranks: Sequence[Sequence[str]]) -> list[Cause]:
    found: list[Cause] = []
    counted = [rule for rules in ranks for rule in rules]
    uncovered = [each for each in failing.together if each.broken & set(counted)]
    total = _count(each.broken for each in uncovered)
    while uncovered:
        fit = _Fit(uncovered, failing.seen)
        candidates = next(some for rules in ranks if (some := [r for r in rules if fit.broken[r]]))
        best = max(candidates, key=fit)
        uncovered = [each for each in uncovered if best not in each.broken]
        open_rules = {best, *GRAVE}.union(*(each.broken for each in uncovered))
        explained = [r for r in counted if fit.broken[r] and r not in open_rules]
        covers = {best, *(cause.rule for cause in found)}
        covered = _count(each.applied for each in failing.together if each.broken & covers)
        shares = {rule: covered[rule] / failing.seen[rule] for rule in explained}
        found.append(Cause(best, tuple(r for r in explained if shares[r] ** total[r] < CHANCE)))
    return found


class _Fit:
    """Score of a rule as an explanation of failures; the larger, the better."""

    def __init__(self, failed: Sequence[Failed], seen: Mapping[str, int]) -> None:
        self.broken = _count(each.broken for each in failed)
        self._all = len(failed)
        self._seen = seen
        self._first = _count(each.first for each in failed)
        self._applied = _count(each.applied for each in failed)
        self._about = _count(each.about for each in failed)
        self._examples = sum(bool(each.about) for each in failed) or 1
        self._areas = _count({_area(rule) for rule in each.broken} for each in failed)

    def __call__(self, rule: str) -> float:
        broken = self.broken[rule]
        shares = self._first[rule] + self._applied[rule] + self._areas[_area(rule)]
        return (
            math.log(broken / self._all)
            + math.log(broken / max(broken, self._seen[rule])) / 2
            + shares / self._all
            + 2 * self._about[rule] / self._examples
            - (rule in SYMPTOMS)
        )


def _count(each: Iterable[Iterable[str]]) -> Counter[str]:
    return Counter(name for names in each for name in names)


def _area(rule: str) -> str:
    return rule.partition("-")[0]


KEPT = 3
"""Failures kept for each rule: the smallest are the clearest."""


class Case(Struct, frozen=True, dict=True):
    """A run of a backend: a `Scenario`, or a plan of another rule book."""

    name: str
    planned: Any
    scenario: Any
    generated: bool = False
    about: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """The id with which the case can be played again."""
        return id_of(self.planned)

    @property
    def called(self) -> tuple[str, str]:
        """Its name and its id, by which an expected failure may list it."""
        return self.name, self.id

    @property
    def label(self) -> str:
        """The name of the case in failures."""
        return f"{name_of(self.name)} ({self.id})"

    @cached_property
    def size(self) -> tuple[bool, int, bytes]:
        """Sort key: examples first, then by length, as these are the easiest to read."""
        return self.generated, *size_of(self.planned)


class Failure(Struct, frozen=True):
    """One case in which a rule was broken."""

    case: Case
    trace: Any
    violation: Violation


class Failures:
    """The failures of one rule: how many, and the smallest."""

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[Failure] = []

    def add(self, failure: Failure) -> None:
        """Count it, and keep it if it is small."""
        self.count += 1
        self.kept = sorted([*self.kept, failure], key=lambda f: f.case.size)[:KEPT]


class Count:
    """The observations on one rule so far."""

    def __init__(self) -> None:
        self.applied = 0
        self.seen = 0
        """Traces in which it applied, once or more."""
        self.held = 0
        """Traces in which it applied and was not broken."""
        self.found = Failures()
        self.known = Failures()
        """Failures that the backend declares as expected."""
        self.error = ""
        """Why its check broke on a trace, and so has not judged all traces."""

    @property
    def is_untested(self) -> bool:
        """Whether nothing is known of it: at most it was broken after an expected failure."""
        return not (self.held or self.found.count or self.known.count)

    def add(self, judgement: Judgement) -> None:
        """Add the judgement of one trace."""
        self.applied += judgement.applied
        self.seen += judgement.applied > 0
        self.held += judgement.applied > 0 and not judgement.violations


class Tally:
    """The judgements so far."""

    def __init__(
        self,
        checks: Mapping[str, Check],
        rules: Iterable[str],
        expected_failures: ExpectedFailures | None = None,
    ) -> None:
        self.counts = {rule: Count() for rule in rules}
        self.errors: list[str] = []
        self.together: list[Failed] = []
        """The findings against the backend in each trace with findings."""
        self.broken: list[tuple[Case, Mapping[str, Violation]]] = []
        """Each case with a broken rule, and all its violations, expected or not."""
        self.scenarios: list[Scenario] = []
        """Judged scenarios."""
        self.in_error: list[Case] = []
        """Cases without a trace to judge."""
        self.judged = 0
        self.known = 0
        """Traces with an expected failure: findings after that failure do not count."""
        self.self_reported = False
        self._checks = checks
        self._expected = expected_failures or {}

    def add(self, case: Case, trace: Any, judged: Judged | None = None) -> None:
        """Judge one trace by every rule, unless it is `judged` already, and count the result."""
        judged = judged or judge(case.scenario, trace, self._checks, self.counts)
        if judged.error:
            self.fail(case, judged.error)
            return
        self.judged += 1
        self.self_reported |= trace.self_reported
        self._add_failures(case, failures_of(case, trace, judged), judged)
        self.scenarios.append(case.scenario)
        for rule, count in self.counts.items():
            count.add(judged.by_rule[rule])
            if error := judged.by_rule[rule].error:
                count.error = count.error or f"{case.label}: {error}"

    def _add_failures(self, case: Case, broken: Mapping[str, Failure], judged: Judged) -> None:
        if not broken:
            return
        said = self._sorted(case, broken)
        self.broken.append((case, _violations(broken)))
        self.known += bool(said.known)
        if said.findings:
            self.together.append(_failed(case, said.findings, judged))
        for rule in said.findings & self.counts.keys():
            self.counts[rule].found.add(broken[rule])
        for rule in said.known.keys() & self.counts.keys():
            self.counts[rule].known.add(broken[rule])

    def findings(self, case: Case, trace: Trace) -> dict[str, Failure]:
        """Return the findings against the backend in a trace, in the order of the checks."""
        broken = failures_of(case, trace, judge(case.scenario, trace, self._checks))
        found = self._sorted(case, broken).findings
        return {rule: failure for rule, failure in broken.items() if rule in found}

    def _sorted(self, case: Case, broken: Mapping[str, Failure]) -> Sorted:
        return sort_out(_violations(broken), self._expected, case.called)

    def fail(self, case: Case, why: str) -> None:
        """Note a run without a trace to judge: harness or backend broke, not the operator."""
        self.errors.append(f"{case.label}: {why}" if case.name else why)
        self.in_error.append(case)


def failures_of(case: Case, trace: Any, judged: Judged) -> dict[str, Failure]:
    """Return the failures in `judged`, by the id of the rule."""
    return {rule: Failure(case, trace, violation) for rule, violation in judged.violations()}


def _failed(case: Case, findings: frozenset[str], judged: Judged) -> Failed:
    moments = {rule: min(map(moment_of, judged.by_rule[rule].violations)) for rule in findings}
    first = min(moments.values())
    return Failed(
        findings,
        frozenset(rule for rule, moment in moments.items() if moment == first),
        frozenset(rule for rule, judgement in judged.by_rule.items() if judgement.applied),
        frozenset(case.about),
    )


def _violations(broken: Mapping[str, Failure]) -> dict[str, Violation]:
    return {rule: failure.violation for rule, failure in broken.items()}
