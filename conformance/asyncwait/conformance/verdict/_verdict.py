"""Conversion of counts to a verdict: a status for each rule, a word for the backend, a code."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from asyncwait.conformance.expected_failures import ExpectedFailure, ExpectedFailures
from asyncwait.conformance.running import Lacking, missing_text
from asyncwait.conformance.verdict._tally import (
    Case,
    Cause,
    Failing,
    Failure,
    Tally,
    find_causes,
)
from asyncwait.spec.rules import Rule, rules, version_key
from asyncwait.spec.scenario import ALL_CAPABILITIES, PROFILES, Capability, profiles_of
from asyncwait.spec.texts import counted, name_of, one_line

Status: TypeAlias = Literal[
    "pass",
    "held",
    "fail",
    "expected-fail",
    "unexpected-pass",
    "not-applicable",
    "blocked",
    "untested",
    "error",
]
"""Finding on a rule: "held" is a pass if not everything was played."""

Word: TypeAlias = Literal[
    "conformant", "conformant with expected failures", "not conformant", "inconclusive"
]

EXIT_CODES: Mapping[Word, int] = {
    "conformant": 0,
    "conformant with expected failures": 0,
    "not conformant": 1,
    "inconclusive": 3,
}
USAGE_ERROR = 2

WORST_FIRST: tuple[Word, ...] = (
    "not conformant",
    "inconclusive",
    "conformant with expected failures",
    "conformant",
)

_VERBS = {"fail": "fails", "expected-fail": "fails as expected", "open": "is not judged by"}
"""Verbs for a rule that does not decide, and does not hold."""

_OPEN: frozenset[Status] = frozenset({"held", "error", "untested", "blocked"})


def passed_of(statuses: Iterable[str]) -> str:
    """Return the numbers of passing and applicable rules; "-" if no rule applies."""
    applicable = [status for status in statuses if status != "not-applicable"]
    return f"{applicable.count('pass')}/{len(applicable)}" if applicable else "-"


def worst(words: Iterable[Word]) -> Word:
    """Return the worst of `words`; "conformant" if it is empty."""
    found = set(words)
    return next(word for word in WORST_FIRST if word in {"conformant", *found})


class RuleResult(Struct, frozen=True):
    """The finding on one rule."""

    rule: Rule
    status: Status
    applied: int = 0
    broken: int = 0
    failures: tuple[Failure, ...] = ()
    note: str = ""
    is_newer: bool = False

    @property
    def is_forgiven(self) -> bool:
        """Whether the verdict ignores it: only a MUST makes an operator wrong.

        An undecided rule is never ignored, whatever its level. But a rule that is newer than the
        version that the backend claims never decides, except by an unexpected pass.
        """
        if self.is_advisory:
            return self.status not in {"pass", "not-applicable"}
        return self.rule.level != "MUST" and self.status == "fail"

    @property
    def is_unseen(self) -> bool:
        """Whether it has an expected failure that may be absent, and was absent now."""
        return self.status == "pass" and bool(self.note)

    @property
    def is_open(self) -> bool:
        """Whether it is undecided."""
        return self.status in _OPEN

    @property
    def is_advisory(self) -> bool:
        """Whether it is reported and does not decide; an unexpected pass always decides."""
        return self.is_newer and self.status != "unexpected-pass"


class Verdict(Struct, frozen=True):
    """The findings on one backend.

    Args:
        seconds: duration of the verification.
        stopped: why not everything was played; empty if everything was.
        spec: the version of the specification that the backend claims; empty for the newest.
        spared: number of scenarios left out, because they can't convict by the selected rules.
    """

    backend: str
    results: tuple[RuleResult, ...]
    scenarios: int
    planned: int
    errors: tuple[str, ...] = ()
    seconds: float = 0
    seed: int = 0
    in_error: tuple[Case, ...] = ()
    stopped: str = ""
    causes: tuple[Cause, ...] = ()
    self_reported: bool = False
    capabilities: frozenset[Capability] = ALL_CAPABILITIES
    known: int = 0
    stale: Mapping[str, str] = {}
    expired: Mapping[str, date] = {}
    spec: str = ""
    spared: int = 0

    @property
    def failed(self) -> tuple[RuleResult, ...]:
        """Findings against the backend: the causes first, then the rules they explain."""
        by_rule = {r.rule.id: r for r in self.results if r.status in {"fail", "unexpected-pass"}}
        first = [by_rule.pop(cause.rule) for cause in self.causes]
        return (*first, *by_rule.values())

    @property
    def told(self) -> tuple[Case, ...]:
        """The cases that a report may mention, and that the user may play again."""
        failures = [failure for result in self.results for failure in result.failures]
        cases = [*(failure.case for failure in failures), *self.in_error]
        return tuple({case.id: case for case in cases}.values())

    @property
    def word(self) -> Word:
        """The worst status of any rule; an untested rule or an error is never green."""
        found = {r.status for r in self.results if not r.is_forgiven}
        if self.stale or found & {"fail", "unexpected-pass"}:
            return "not conformant"
        if not self.is_whole or self.errors or found & _OPEN:
            return "inconclusive"
        if "expected-fail" in found:
            return "conformant with expected failures"
        return "conformant"

    @property
    def claim(self) -> str:
        """The word, its profiles unless they are all, and the version."""
        to = f" to spec {self.spec}" if any(r.is_newer for r in self.results) else ""
        if self.capabilities.issuperset(PROFILES):
            return f"{self.word}{to}"
        return f"{self.word}{to}: {', '.join(profiles_of(self.capabilities))}"

    @property
    def is_whole(self) -> bool:
        """Whether everything was judged."""
        return self.scenarios == self.planned

    def count(self, *statuses: Status) -> int:
        """Return how many deciding rules have one of `statuses`."""
        return sum(r.status in statuses and not r.is_advisory for r in self.results)

    @property
    def line(self) -> str:
        """The verdict in one line, with everything that is not plain green."""
        only = [result.rule.id for result in self.results]
        is_part = len(only) < len(rules()) and rules().keys() >= {*only}
        part = f" as to {', '.join(only)}" if is_part else ""
        planned = counted(self.planned, "scenario")
        played = "" if self.is_whole else f" after {self.scenarios:,} of {planned}"
        told = f"({', '.join(self._parts())}){self._newer}"
        return f"{name_of(self.backend)}: {self.claim}{part}{played} {told}"

    def _parts(self) -> Iterator[str]:
        if (passed := self.count("pass")) or self.is_whole:
            yield counted(passed, "rule passes", "rules pass")
        for status in get_args(Status)[1:]:  # all but "pass"
            count = self.count(status)
            if count and status == "held":
                yield counted(count, "rule held so far", "rules held so far")
            elif count:
                is_known = status == "expected-fail" and self.known
                where = f" in {counted(self.known, 'scenario')}" if is_known else ""
                yield f"{count:,} {status}{where}"
        if forgiven := sum(r.is_forgiven and not r.is_advisory for r in self.results):
            yield f"{forgiven} of the failures not of a MUST"
        if self.errors:
            first = one_line(self.errors[0].strip().partition("\n")[0])
            yield f"{counted(len(self.errors), 'run in error', 'runs in error')}: {first}"
        failing = [r.rule.id for r in self.results if r.status == "fail" and not r.is_advisory]
        if over := [f"{rule} on {self.expired[rule]}" for rule in failing if rule in self.expired]:
            yield f"expected failures expired: {', '.join(over)}"
        if self.stale:
            yield f"expected failures that match nothing: {', '.join(self.stale)}"
        if self.self_reported:
            yield "self-reported"
        if self.spared:
            every = counted(self.planned + self.spared, "scenario")
            yield f"{self.planned:,} of {every} can show it"

    @property
    def newer(self) -> tuple[RuleResult, ...]:
        """The results of rules that apply, and are too new to decide."""
        return tuple(r for r in self.results if r.is_advisory and r.status != "not-applicable")

    @property
    def _newer(self) -> str:
        if not self.newer:
            return ""
        ids: dict[str, list[str]] = defaultdict(list)
        for result in self.newer:
            ids["open" if result.is_open else result.status].append(result.rule.id)
        said = f"; advisory: of {counted(len(self.newer), 'rule')} newer than {self.spec} it"
        parts = [
            f"{verb} {len(ids[status])}: {', '.join(ids[status])}"
            for status, verb in _VERBS.items()
            if ids[status]
        ]
        newest = max((result.rule.since for result in self.newer), key=version_key)
        return f"{said} {'; '.join(parts) or f'keeps all: claim {newest}'}"


def conclude(
    tally: Tally,
    chosen: Mapping[str, Rule],
    capabilities: frozenset[Capability],
    expected_failures: ExpectedFailures,
    *,
    missing: str = "",
    lacking: Lacking | None = None,
) -> tuple[RuleResult, ...]:
    """Give each rule its status.

    Args:
        tally: all judgements.
        chosen: rules by id; the tally counts those of them that apply.
        capabilities: of the backend.
        expected_failures: the declared expected failures, by the id of the rule.
        missing: why not everything was judged; empty if everything was.
        lacking: the backend's declarations on capabilities that it does not have.
    """
    return tuple(
        RuleResult(rule, "not-applicable", note=needs)
        if (needs := missing_text(rule, capabilities, lacking or {}))
        else _conclude(tally, rule, expected_failures.get(rule.id, ()), missing)
        for rule in chosen.values()
    )


def _conclude(
    tally: Tally, rule: Rule, expected_failures: tuple[ExpectedFailure, ...], unplayed: str
) -> RuleResult:
    count = tally.counts[rule.id]
    status: Status
    note = "; ".join(dict.fromkeys(each.reason for each in expected_failures))
    failures = count.found if count.found.count else count.known
    if failures.count:
        status = "fail" if failures is count.found else "expected-fail"
    elif count.error:
        status, note = "error", count.error
    elif count.is_untested:
        hidden = "wherever it applied it was broken, behind failures that are expected"
        why = hidden if count.applied else "it never applied"
        status, note = ("blocked", unplayed) if unplayed else ("untested", why)
    elif unplayed:
        status, note = "held", unplayed
    else:
        is_wrong = any(each.strict for each in expected_failures)
        status = "unexpected-pass" if is_wrong else "pass"
    kept = tuple(failures.kept)
    return RuleResult(rule, status, count.applied, failures.count, kept, note)


def causes_of(tally: Tally, results: Iterable[RuleResult]) -> tuple[Cause, ...]:
    """Return the failing rules that explain the others; see `find_causes`."""
    failing = [result for result in results if result.status == "fail"]
    seen = {rule: count.seen for rule, count in tally.counts.items()}
    return find_causes(
        Failing(tally.together, seen),
        [result.rule.id for result in failing if not result.is_forgiven],
        [result.rule.id for result in failing if result.is_forgiven],
    )
