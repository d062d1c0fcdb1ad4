"""Adds up the judgements of many traces, rule by rule."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from asyncwait.conformance.expected_failures import ExpectedFailures, Sorted, moment_of, sort_out
from asyncwait.conformance.judging import Check, Judged, Judgement, Violation, judge
from asyncwait.conformance.verdict._causes import Failed
from asyncwait.spec.scenario import Scenario, Trace, id_of, size_of
from asyncwait.spec.texts import name_of

KEPT = 3
"""Failures that are kept for each rule: the smallest ones say most."""


class Case(Struct, frozen=True, dict=True):
    """A scenario that a backend is asked for."""

    name: str
    planned: Scenario
    scenario: Scenario
    generated: bool = False
    repeatable: bool = True
    about: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """Under which it can be asked for again."""
        return id_of(self.planned)

    @property
    def example(self) -> str:
        """Its name, if it is an example: it is in each run."""
        return self.name if self.about else ""

    @property
    def label(self) -> str:
        """What it is called where it fails."""
        name = name_of(self.name)
        return f"{name} ({self.id})" if self.repeatable else name

    @cached_property
    def size(self) -> tuple[bool, int, bytes]:
        """Examples first, then by length: what is easiest to read."""
        return self.generated, *size_of(self.planned)


class Failure(Struct, frozen=True):
    """One case in which a rule was broken."""

    case: Case
    trace: Trace
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
    """What is known of one rule so far."""

    def __init__(self) -> None:
        self.applied = 0
        self.seen = 0
        """Traces in which it applied, once or more."""
        self.held = 0
        """Those of them in which it was not broken."""
        self.found = Failures()
        self.known = Failures()
        """Those that the backend is known for."""
        self.error = ""
        """Why its check broke on some trace, so that it has not judged them all."""

    @property
    def is_untested(self) -> bool:
        """Whether nothing is known of it: it was broken at most, behind what is expected."""
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
        """What speaks against the backend in one trace, for each in which something does."""
        self.broken: list[tuple[Case, Mapping[str, Violation]]] = []
        """What was played where a rule is broken, and how each is, whatever is known."""
        self.applied: list[tuple[Scenario, frozenset[str]]] = []
        """What was judged, and by which rules: those that applied there."""
        self.in_error: list[Case] = []
        """Cases of which there is nothing to judge."""
        self.judged = 0
        self.known = 0
        """Traces that show what the backend is known for: what follows there does not count."""
        self.self_reported = False
        self._checks = checks
        self._expected = expected_failures or {}

    def add(self, case: Case, trace: Trace, judged: Judged | None = None) -> None:
        """Judge one trace by every rule, unless it is `judged` already, and count that."""
        judged = judged or judge(case.scenario, trace, self._checks, self.counts)
        if judged.error:
            self.fail(case, judged.error)
            return
        self.judged += 1
        self.self_reported |= trace.self_reported
        self._add_failures(case, failures_of(case, trace, judged), judged)
        self.applied.append((case.scenario, _applied(judged)))
        for rule, count in self.counts.items():
            count.add(judged.by_rule[rule])
            if error := judged.by_rule[rule].error:
                count.error = count.error or f"{case.label}: {error}"

    def _add_failures(self, case: Case, broken: Mapping[str, Failure], judged: Judged) -> None:
        said = self._sorted(case, broken)
        if broken:
            self.broken.append((case, _violations(broken)))
        self.known += bool(said.known)
        if said.findings:
            self.together.append(_failed(case, said.findings, judged))
        for rule in said.findings & self.counts.keys():
            self.counts[rule].found.add(broken[rule])
        for rule in said.known.keys() & self.counts.keys():
            self.counts[rule].known.add(broken[rule])

    def findings(self, case: Case, trace: Trace) -> dict[str, Failure]:
        """Return what speaks against the backend in a trace, which is not counted."""
        broken = failures_of(case, trace, judge(case.scenario, trace, self._checks))
        return {rule: broken[rule] for rule in self._sorted(case, broken).findings}

    def _sorted(self, case: Case, broken: Mapping[str, Failure]) -> Sorted:
        return sort_out(case.scenario, _violations(broken), self._expected, case.example)

    def fail(self, case: Case, why: str) -> None:
        """Note that there is nothing to judge: harness or backend broke, not the operator."""
        self.errors.append(f"{case.label}: {why}" if case.name else why)
        self.in_error.append(case)


def failures_of(case: Case, trace: Trace, judged: Judged) -> dict[str, Failure]:
    """Return what `judged` finds broken in a trace, by the id of the rule."""
    return {rule: Failure(case, trace, violation) for rule, violation in judged.violations()}


def _failed(case: Case, findings: frozenset[str], judged: Judged) -> Failed:
    """Return how a trace has failed, as to what it may be a consequence of."""
    moments = {rule: min(map(moment_of, judged.by_rule[rule].violations)) for rule in findings}
    first = min(moments.values())
    return Failed(
        findings,
        frozenset(rule for rule, moment in moments.items() if moment == first),
        _applied(judged),
        frozenset(case.about),
    )


def _applied(judged: Judged) -> frozenset[str]:
    return frozenset(rule for rule, judgement in judged.by_rule.items() if judgement.applied)


def _violations(broken: Mapping[str, Failure]) -> dict[str, Violation]:
    return {rule: failure.violation for rule, failure in broken.items()}
