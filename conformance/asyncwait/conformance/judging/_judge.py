"""From a trace to its judgement: the history of each leg, and the judgement of each check.

This is the only module that calls checks.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, repeat
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from asyncwait.conformance.judging._calls import Course, link_calls, overloaded_at
from asyncwait.conformance.judging._check import Check, Judgement, Violation
from asyncwait.conformance.judging._decide import UNDECIDED, Decision, decide
from asyncwait.conformance.judging._history import History, LegHistory
from asyncwait.conformance.judging._link import Link, link_outputs
from asyncwait.conformance.judging._observe import NEVER, Input, Item, Output, Took
from asyncwait.conformance.judging._read import read_leg
from asyncwait.conformance.judging._refused import refused
from asyncwait.spec.scenario import Leg, Scenario, Trace


def history_of(scenario: Scenario, trace: Trace) -> History:
    """Return a trace as checks see it; each leg begins at the crash planned for the last one."""
    begin = [0, *accumulate(crash.at for crash in scenario.crashes)]
    legs = zip(trace.legs, chain(begin, repeat(begin[-1])), strict=False)
    return History(scenario, trace, tuple(_leg(scenario, leg, at) for leg, at in legs))


def _leg(scenario: Scenario, leg: Leg, began_at: float) -> LegHistory:
    facts = read_leg(scenario, leg, began_at)
    calls = link_calls(facts)
    decided = decide(facts, calls)
    decisions = {**decided.of, **refused(facts, calls, decided.of)}
    links = link_outputs(facts, decisions)
    given: dict[int | None, list[Took]] = defaultdict(list)
    for took, link in zip(facts.took, links, strict=True):
        given[link.pos].append(took)
    items = tuple(
        _item(each, calls.of.get(each.pos), decisions.get(each.pos, UNDECIDED), given[each.pos])
        for each in facts.inputs
    )
    outputs = tuple(map(partial(_output, items), facts.took, links))
    return LegHistory(
        facts,
        items,
        outputs,
        calls.extra,
        decided.untimely,
        overloaded_at(facts),
        tells_what=not decided.are_open,
    )


def _item(given: Input, course: Course | None, decision: Decision, took: Sequence[Took]) -> Item:
    """Return an input with its calls, its decision and its outputs `took`."""
    owed = max(1, len(decision.results or ()))
    first, last = took[:1], took[owed - 1 : owed]
    fields: tuple[Any, ...] = (
        *astuple(given),
        () if course is None else course.attempts,
        *astuple(decision),
        len(took),
        first[0].at if first else NEVER,
        first[0].seq if first else -1,
        last[0].at if last else NEVER,
        last[0].seq if last else -1,
    )
    return Item(*fields)


def _output(items: Sequence[Item], took: Took, link: Link) -> Output:
    item = None if link.pos is None else items[link.pos]
    return Output(took.element, took.at, took.seq, item, link.part, link.trouble)


Checks = Mapping[str, Check]
"""Checks by the id of their rule."""


class Judged(Struct, frozen=True):
    """Judgements of all checks on one trace."""

    by_rule: Mapping[str, Judgement] = {}
    error: str = ""

    def violations(self) -> Iterator[tuple[str, Violation]]:
        """Yield the first violation of each rule that is broken, in the order of the checks."""
        for rule, judgement in self.by_rule.items():
            for violation in judgement.violations[:1]:
                yield rule, violation


def judge(
    scenario: Scenario, trace: Trace, checks: Checks, only: Collection[str] | None = None
) -> Judged:
    """Judge `trace` by all `checks`; never raise, for any content of the trace.

    Args:
        scenario: the plan.
        trace: the run.
        checks: the checks, by the ids of their rules.
        only: ids of rules; the other rules judge the trace only if it breaks one of these. None for
            all rules.
    """
    try:
        history = history_of(scenario, trace)
    except Exception as error:
        return Judged(error=f"reading the trace failed: {_described(error)}")
    if only is not None:
        judged = Judged({rule: _judgement(checks[rule], history) for rule in only})
        if not any(judged.violations()):
            return judged
    return Judged({rule: _judgement(check, history) for rule, check in checks.items()})


def _judgement(check: Check, history: History) -> Judgement:
    """Judge by one rule; an error of the check is no pass."""
    try:
        return check(history)
    except Exception as error:
        return Judgement(error=f"its check failed: {_described(error)}")


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
