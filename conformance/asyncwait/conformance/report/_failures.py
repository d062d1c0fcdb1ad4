"""What is wrong with a backend, in lines: the causes drawn, the rest named."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from asyncwait.conformance._counted import counted
from asyncwait.conformance.report._again import HINT, again_lines
from asyncwait.conformance.report._besides import besides
from asyncwait.conformance.report._excerpt import excerpt
from asyncwait.conformance.report._timeline import describe_scenario, draw
from asyncwait.conformance.timeline import draw_lanes
from asyncwait.conformance.verdict import Failure, RuleResult, Status, Verdict
from asyncwait.spec.rules import Level
from asyncwait.spec.texts import name_of

SHOWN = 5
"""Rules whose failures are drawn; the others are named."""


def failure_lines(verdict: Verdict, kept: AbstractSet[str] = frozenset()) -> Iterator[str]:
    """Yield the lines that tell what is wrong: the rules that explain the others come first.

    Args:
        verdict: on one backend.
        kept: ids of scenarios that whoever reads this can play by their id.
    """
    for line in (
        *_broken(verdict, kept),
        *(
            f"expected failure that matches nothing: {rule}: {why}"
            for rule, why in verdict.stale.items()
        ),
        *_in_error(verdict),
        *_undecided(verdict),
        *_unseen(verdict),
    ):
        yield f"{name_of(verdict.backend)}: {line}" if line and not line.startswith(" ") else line


def rule_lines(
    backend: str, result: RuleResult, kept: AbstractSet[str] = frozenset()
) -> Iterator[str]:
    """Yield what there is to say of one rule that does not pass.

    Args:
        backend: its name.
        result: what the suite says of the rule.
        kept: ids of scenarios that whoever reads this can play by their id.
    """
    lines = _rule(backend, result, kept)
    yield f"{name_of(backend)}: {next(lines)}"
    yield from lines


def rule_text_lines(level: Level, sentence: str, why: str, hint: str) -> Iterator[str]:
    """Yield what a rule says to somebody whose operator breaks it.

    Args:
        level: how binding it is.
        sentence: what holds.
        why: the reason.
        hint: what to look for in the operator; may be empty.
    """
    yield f"{level}: {sentence}"
    yield f"why it matters: {' '.join(why.split())}"
    if hint:
        yield f"if it fails: {hint}"


def _broken(verdict: Verdict, kept: AbstractSet[str]) -> Iterator[str]:
    """Yield the failures of the first causes, then what else is broken."""
    explains = {cause.rule: cause.explains for cause in verdict.causes}
    left = {result.rule.id: result for result in verdict.failed}
    for result in verdict.failed[:SHOWN]:
        if result.rule.id in left:
            explained = explains.get(result.rule.id, ())
            yield from _rule(verdict.backend, result, kept, explained)
            for rule in (result.rule.id, *explained):
                left.pop(rule, None)
    if left:
        yield f"also broken: {', '.join(map(_named, left.values()))}; see one with --rule ID"
    if len(verdict.failed) > 1 and verdict.causes:
        first, *others = (cause.rule for cause in verdict.causes)
        further = f"; further causes: {', '.join(others)}" if others else ""
        yield f"likely cause: {first} {verdict.failed[0].rule.title}{further}"
    if any(result.failures for result in verdict.failed):
        yield HINT


def _rule(
    backend: str, result: RuleResult, kept: AbstractSet[str], explains: Iterable[str] = ()
) -> Iterator[str]:
    rule = result.rule
    if not result.failures:
        yield f"{rule.id} {rule.title}: {result.status}: {result.note}"
        return
    yield f"{rule.id} {rule.title}: {result.status} in {counted(result.broken, 'scenario')}"
    for line in rule_text_lines(rule.level, rule.sentence, rule.why, rule.hint):
        yield f"  {line}"
    if result.is_advisory:
        yield f"  since {rule.since}: newer than what the backend claims, so it does not decide"
    if result.note:
        yield f"  note: {result.note}"
    for line in (*_drawn(result.failures[0]), *again_lines(backend, result.failures[0].case, kept)):
        yield f"  {line}".rstrip()
    if explained := ", ".join(explains):
        yield f"  broken only where {rule.id}, or a rule above it, is broken too: {explained}"
    yield ""


def _named(result: RuleResult) -> str:
    return f"{result.rule.id} ({result.failures[0].case.id})" if result.failures else result.rule.id


def _drawn(failure: Failure) -> Iterator[str]:
    """Yield the scenario of a failure and its timeline."""
    yield f"{failure.case.label}: {failure.violation.text} (at {failure.violation.at:g} ms)"
    yield from excerpt(describe_scenario(failure.case.scenario))
    yield from draw_lanes(failure.case.scenario, failure.trace, failure.violation)
    yield from excerpt(draw(failure.case.scenario, failure.trace, failure.violation))
    yield from besides(failure.trace)


def _in_error(verdict: Verdict) -> Iterator[str]:
    for error in verdict.errors[:SHOWN]:
        yield f"error: {error}"
    if len(verdict.errors) > SHOWN:
        yield f"and {counted(len(verdict.errors) - SHOWN, 'more error')}"
    if verdict.stopped:
        yield f"stopped: {verdict.stopped}"


def _undecided(verdict: Verdict) -> Iterator[str]:
    """Yield a line for each reason why rules are not decided, and for which they are."""
    for (status, note), ids in _by_reason(verdict).items():
        why = "" if note == verdict.stopped else f" ({note})"
        yield f"{status.replace('-', ' ')}{why}: {', '.join(ids)}"


def _unseen(verdict: Verdict) -> Iterator[str]:
    """Yield a line on expected failures that may be out of date: it decides nothing."""
    if ids := [result.rule.id for result in verdict.results if result.is_unseen]:
        where = f"seldom, not seen with seed {verdict.seed}"
        yield f"{where}: {', '.join(ids)}; another seed may show it"


def _by_reason(verdict: Verdict) -> Mapping[tuple[Status, str], list[str]]:
    rules: dict[tuple[Status, str], list[str]] = {}
    for result in verdict.results:
        if result.status in {"error", "untested", "blocked", "not-applicable"}:
            rules.setdefault((result.status, result.note), []).append(result.rule.id)
    return rules
