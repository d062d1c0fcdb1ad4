"""The way through: examples and generated programs are played on every stage, and judged."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.conformance._words import counted, runs_in_error
from asyncwait.conformance.judging import Judgement, Violation
from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._history import MailboxHistory
from asyncwait.conformance.mailbox._player import STAGES, Stage
from asyncwait.conformance.mailbox._random import random_programs
from asyncwait.conformance.mailbox._served import MOST_BLOCKED, ServedMailbox
from asyncwait.conformance.mailbox.checks import MAILBOX_CHECKS, MailboxCheck
from asyncwait.conformance.verdict import Status, Word
from asyncwait.spec.mailbox.program import MailboxTrace, Program, program_id
from asyncwait.spec.rules import Rule, mailbox_rules
from asyncwait.spec.texts import name_of


class MailboxJudged(Struct, frozen=True):
    """What the checks say of one trace.

    Args:
        error: why nothing can be judged; empty if it was.
    """

    by_rule: Mapping[str, Judgement] = {}
    error: str = ""

    @property
    def broken(self) -> dict[str, Judgement]:
        """The judgements of the rules that are broken."""
        return {rule: found for rule, found in self.by_rule.items() if found.violations}


def judge_mailbox(
    trace: MailboxTrace, checks: Mapping[str, MailboxCheck] = MAILBOX_CHECKS
) -> MailboxJudged:
    """Judge `trace` by all `checks`; never raise, whatever is in it.

    What was seen counts also if the program did not come to its end: what was broken is broken.
    """
    try:
        history = MailboxHistory(trace)
    except Exception as error:
        return MailboxJudged(error=f"reading the trace failed: {type(error).__name__}: {error}")
    return MailboxJudged({rule: _judgement(check, history) for rule, check in checks.items()})


def _judgement(check: MailboxCheck, history: MailboxHistory) -> Judgement:
    try:
        return check(history)
    except Exception as error:  # A check that breaks must not pass for a pass.
        return Judgement(error=f"its check failed: {type(error).__name__}: {error}")


GENERATED = 1_000
"""Programs that are drawn for each stage."""

MOST_TRIES = 200
"""Programs that are tried to find a smaller one that fails."""

Progress = Callable[[int, int], None]
"""Told how many were judged, and of how many."""


class MailboxCase(Struct, frozen=True):
    """A program, and where it is played."""

    name: str
    program: Program
    stage: Stage
    is_generated: bool = False

    @property
    def label(self) -> str:
        """What it is called where it fails."""
        return f"{self.name} ({program_id(self.program)}), {self.stage}"

    @property
    def size(self) -> tuple[bool, int]:
        """Examples first, then what has fewer steps."""
        return self.is_generated, len(self.program.all_steps)


class MailboxFailure(Struct, frozen=True):
    """A case in which a rule was broken."""

    case: MailboxCase
    trace: MailboxTrace
    violation: Violation


class MailboxResult(Struct, frozen=True):
    """What is said of one rule.

    Args:
        status: "pass", "fail", "untested", "blocked" (too many runs blocked their process before),
            "not-applicable" (it shows on another stage only) or "error".
        note: why its check broke; empty if it did not.
    """

    rule: Rule
    status: Status
    applied: int = 0
    broken: int = 0
    failure: MailboxFailure | None = None
    note: str = ""


class MailboxVerdict(Struct, frozen=True):
    """What is said of one mailbox."""

    name: str
    results: tuple[MailboxResult, ...]
    runs: int
    planned: int
    errors: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[MailboxResult, ...]:
        """The rules that are broken."""
        return tuple(result for result in self.results if result.status == "fail")

    @property
    def word(self) -> Word:
        """The worst that any rule says; untested or an error is never green."""
        if any(result.rule.level == "MUST" for result in self.failed):
            return "not conformant"
        is_open = any(result.status in {"untested", "blocked", "error"} for result in self.results)
        if is_open or self.errors or self.runs < self.planned:
            return "inconclusive"
        return "conformant"

    @property
    def line(self) -> str:
        """The verdict in one line, with everything that is not plain green."""
        counts = {
            status: sum(result.status == status for result in self.results)
            for status in ("fail", "untested", "blocked", "error")
        }
        passed = sum(result.status == "pass" for result in self.results)
        parts = [
            counted(passed, "rule passes", "rules pass"),
            *(f"{count} {status}" for status, count in counts.items() if count),
            *runs_in_error(self.errors),
        ]
        before = "" if self.runs == self.planned else f"{self.runs:,} of "
        played = f"{before}{counted(self.planned, 'run')}"
        return f"{name_of(self.name)}: {self.word} ({', '.join(parts)}; {played})"


def mailbox_cases(
    count: int = GENERATED, seed: int = 0, stages: Sequence[Stage] = STAGES
) -> Iterator[MailboxCase]:
    """Yield what is played: every example on every stage where it means something, then others."""
    for example in MAILBOX_EXAMPLES:
        for stage in stages:
            if stage == "threads" or not example.program.needs_threads:
                yield MailboxCase(example.name, example.program, stage)
    for number, program in enumerate(random_programs(count, seed)):
        for stage in stages:
            yield MailboxCase(f"generated {number}", program, stage, is_generated=True)


class _Count:
    """What is known of one rule so far."""

    def __init__(self) -> None:
        self.applied = 0
        self.broken = 0
        self.failure: MailboxFailure | None = None
        self.error = ""


def verify_mailbox(
    served: ServedMailbox,
    name: str,
    cases: Sequence[MailboxCase],
    tell: Progress = lambda _, __: None,
) -> MailboxVerdict:
    """Play all cases and judge them by every rule."""
    rules = mailbox_rules()
    counts = {rule: _Count() for rule in rules}
    errors: list[str] = []
    judged = 0
    for case in cases:
        tell(judged, len(cases))
        trace = served.play(case.program, case.stage)
        found = judge_mailbox(trace)
        judged += 1
        if found.error or trace.ending.startswith("broken"):
            errors.append(f"{case.label}: {found.error or trace.ending}")
        _add(counts, case, trace, found)
        if served.blocked >= MOST_BLOCKED:
            break
    else:
        tell(judged, len(cases))
    results = tuple(_conclude(served, rules[rule], count) for rule, count in counts.items())
    if {case.stage for case in cases} != set(STAGES):
        results = tuple(_forgive_untested(result) for result in results)
    return MailboxVerdict(name, results, judged, len(cases), tuple(errors))


def _add(
    counts: Mapping[str, _Count], case: MailboxCase, trace: MailboxTrace, found: MailboxJudged
) -> None:
    for rule, judgement in found.by_rule.items():
        count = counts[rule]
        count.applied += judgement.applied
        count.error = count.error or judgement.error
        if judgement.violations:
            count.broken += 1
            failure = MailboxFailure(case, trace, judgement.violations[0])
            if count.failure is None or case.size < count.failure.case.size:
                count.failure = failure


def _conclude(served: ServedMailbox, rule: Rule, count: _Count) -> MailboxResult:
    status: Status = "pass"
    failure = count.failure
    if failure is not None:
        status = "fail"
        if failure.case.is_generated and not failure.trace.ending.startswith(("blocks", "died")):
            failure = _smaller(served, rule.id, failure)
    elif count.error:
        status = "error"
    elif not count.applied:
        status = "blocked" if served.blocked >= MOST_BLOCKED else "untested"
    return MailboxResult(rule, status, count.applied, count.broken, failure, count.error)


def _forgive_untested(result: MailboxResult) -> MailboxResult:
    """Say that a rule which only shows on another stage was not to be judged here."""
    if result.status != "untested":
        return result
    return replace(result, status="not-applicable", note="it shows on another stage only")


def _smaller(served: ServedMailbox, rule: str, failure: MailboxFailure) -> MailboxFailure:
    """Leave out step after step, as long as the rule is still broken."""
    tries = iter(range(MOST_TRIES))
    place = 0
    while place < len(failure.case.program.steps) and next(tries, None) is not None:
        steps = failure.case.program.steps
        program = replace(failure.case.program, steps=steps[:place] + steps[place + 1 :])
        case = replace(failure.case, program=program)
        trace = served.play(program, case.stage)
        found = judge_mailbox(trace).by_rule.get(rule)
        if found is not None and found.violations:
            failure = MailboxFailure(case, trace, found.violations[0])
        else:
            place += 1
    return failure
