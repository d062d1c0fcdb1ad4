"""Adds up the judgements of many traces, rule by rule."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from asyncwait.conformance.judging import Check, Judgement, Violation, judge
from asyncwait.spec.scenario import Scenario, Trace

KEPT = 3
"""Failures that are kept for each rule: the smallest ones say most."""


class Failure(Struct, frozen=True):
    """One scenario in which a rule was broken.

    Args:
        name: of the example, or the number of the generated scenario.
        scenario: what was played.
        trace: what was observed.
        violation: the first spot where the rule was broken.
        generated: it can be shrunk.
    """

    name: str
    scenario: Scenario
    trace: Trace
    violation: Violation
    generated: bool = False

    @property
    def size(self) -> tuple[bool, int]:
        """Examples first, then by length: what is easiest to read."""
        return self.generated, len(msgspec.json.encode(self.scenario))


class Count:
    """What is known of one rule so far."""

    def __init__(self) -> None:
        self.applied = 0
        self.broken = 0
        self.failures: list[Failure] = []
        self.error = ""
        """Why its check broke on some trace, so that it has not judged them all."""

    def add(self, judgement: Judgement, failure: Failure | None) -> None:
        """Add the judgement of one trace, and the failure that it is, if it is one."""
        self.applied += judgement.applied
        if failure is not None:
            self.broken += 1
            self.failures = sorted([*self.failures, failure], key=lambda f: f.size)[:KEPT]


class Tally:
    """The judgements so far.

    Args:
        checks: to judge by, by the id of their rule; they also choose the explanation of a trace.
        rules: ids of the rules that count.
    """

    def __init__(self, checks: Mapping[str, Check], rules: Iterable[str]) -> None:
        self.counts = {rule: Count() for rule in rules}
        self.errors: list[str] = []
        self.judged = 0
        self.self_reported = False
        self.broken_by: dict[bytes, frozenset[str]] = {}
        """Which rules a generated scenario breaks, by its key: what shrinking repeats first."""
        self._checks = checks

    def add(self, name: str, scenario: Scenario, trace: Trace, *, key: bytes = b"") -> None:
        """Judge one trace by every rule; `key` is that of a generated scenario."""
        judged = judge(scenario, trace, self._checks)
        if judged.error:
            self.errors.append(f"{name}: {judged.error}")
            return
        self.judged += 1
        self.self_reported |= trace.self_reported
        broken = dict(judged.violations())
        for rule, count in self.counts.items():
            judgement, failure = judged.by_rule[rule], None
            if rule in broken:
                failure = Failure(name, scenario, trace, broken[rule], bool(key))
            count.add(judgement, failure)
            if judgement.error:
                count.error = count.error or f"{name}: {judgement.error}"
        if key:
            self.broken_by[key] = frozenset(broken)

    def breaks(self, rule: str, scenario: Scenario, trace: Trace) -> Violation | None:
        """Return the first violation of `rule` in one trace, without counting it; or None."""
        return dict(judge(scenario, trace, self._checks).violations()).get(rule)
