"""Checks, and the judgement of a trace: the history of each leg, and the finding of each check.

A check is a pure function from a history to its findings. This is the only module that calls
checks. Between the two stand questions about a leg that checks of several areas share.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, product, repeat
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import astuple, force_setattr

from asyncwait.conformance.judging._calls import Course, link_calls, overloaded_at
from asyncwait.conformance.judging._decide import (
    REFUSALS,
    UNDECIDED,
    Decision,
    decide,
    refused,
)
from asyncwait.conformance.judging._figures import readings
from asyncwait.conformance.judging._history import History, LegHistory
from asyncwait.conformance.judging._link import Link, link_outputs
from asyncwait.conformance.judging._observe import NEVER, Call, Input, Item, Output, Took
from asyncwait.conformance.judging._read import read_leg
from asyncwait.conformance.judging._rest import Rest
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    PLANNED_ERRORS,
    FailureAsked,
    Leg,
    Misuse,
    MisuseKind,
    Scenario,
    Trace,
    identity,
)

LONGEST = 1_000
"""Largest number of characters in the text of a violation."""


class Violation(Struct, frozen=True):
    """One place where a rule is broken.

    Args:
        at: ms since the leg began.
    """

    text: str
    at: float
    leg: int = 0

    def __post_init__(self) -> None:
        # The text may quote a foreign program, at any length.
        if len(self.text) > LONGEST:
            force_setattr(self, "text", f"{self.text[:LONGEST]}...")


class Judgement(Struct, frozen=True):
    """Result of one check on one trace.

    Args:
        applied: number of places where the rule applied.
        error: why the check itself failed on this trace; empty if it judged.
    """

    applied: int = 0
    violations: tuple[Violation, ...] = ()
    error: str = ""


_NOTHING = Judgement()
"""Result of most checks: most rules don't apply to most traces."""

Finding: TypeAlias = tuple[str, float] | None
"""One place where a rule applied: None where it held, else what is wrong and when."""

LegCheck: TypeAlias = Callable[[LegHistory], Iterator[Finding]]
WholeCheck: TypeAlias = Callable[[History], Judgement]


class Check(Struct, frozen=True):
    """Check of one rule: a function of a history, without side effects."""

    rule: str
    function: WholeCheck

    def __call__(self, history: History) -> Judgement:
        """Judge `history`."""
        return self.function(history)


def leg_check(rule: str, *, needs_times: bool = True) -> Callable[[LegCheck], Check]:
    """Make a check of a function that judges one leg at a time, up to its first violation.

    Args:
        rule: id of the rule.
        needs_times: the check abstains if the loop was blocked: then the trace does not determine
            when the operator could notice an event. Each check abstains if decisions are open.
    """

    def make(function: LegCheck) -> Check:
        def judge_legs(history: History) -> Judgement:
            judged = [
                _first(function(leg), number)
                for number, leg in enumerate(history.legs)
                if (leg.tells_when if needs_times else leg.tells_what)
            ]
            applied = sum(each.applied for each in judged)
            violations = tuple(broken for each in judged for broken in each.violations)
            return Judgement(applied, violations) if applied else _NOTHING

        return Check(rule, judge_legs)

    return make


def _first(findings: Iterable[Finding], leg: int = 0) -> Judgement:
    """Judge by the findings up to the first violation: nothing asks for a second one."""
    applied = 0
    for finding in findings:
        applied += 1
        if finding is not None:
            return Judgement(applied, (Violation(*finding, leg=leg),))
    return Judgement(applied)


def check(rule: str) -> Callable[[WholeCheck], Check]:
    """Make a check of a function that judges a whole trace; see `leg_check`."""
    return lambda function: Check(rule, function)


def holds(places: Iterable[object]) -> Iterator[Finding]:
    """Yield a finding for each place where a rule applies, and holds; false places don't count."""
    return (None for each in places if each)


def misuses(leg: LegHistory, *kinds: MisuseKind) -> Iterator[tuple[str, float]]:
    """Yield a violation for each misuse of these kinds that the harness has noted."""
    return ((event.detail, event.at) for _, event in leg.seen(Misuse) if event.what in kinds)


def bounded(
    leg: LegHistory, most: float, what: str, count: Callable[[Rest], int]
) -> Iterator[Finding]:
    """Judge that `count` is at most `most` at each moment of rest at which it is not 0."""
    for rest in leg.rests:
        if number := count(rest):
            yield (f"{number} {what}", rest.at) if number > most else None


def figures_hold(leg: LegHistory, *names: str) -> Iterator[Finding]:
    """Judge that each of these figures is within its bounds at each reading."""
    for name, reading in product(names, leg.once(readings)):
        if wrong := reading.wrong(name):
            yield wrong, reading.figures.at
        if reading.bounds[name][1]:
            yield None


def failure_named(leg: LegHistory, name: str) -> Iterator[Finding]:
    """Judge that the leg fails with the error `name` if this error decided a record first."""
    blamed = first_failures(leg)
    ending = leg.ending
    if not blamed or any(item.wrong != name for item in blamed):
        return
    if ending.how == "finished":
        yield f"expected {name} for {blamed[0].element}, and the stream just ended", ending.at
    if ending.how != "failed":
        return
    if ending.cause in REFUSALS:
        return  # A limit may have refused the record before, while the consumer was away.
    if ending.error != name:
        yield f"expected {name}, got {ending.error}: {ending.detail}", ending.at
    elif set(blamed).isdisjoint(leg.named):
        yield (
            f"expected the record {blamed[0].element} in the error, got {ending.record}",
            ending.at,
        )
    else:
        yield None


def first_failures(leg: LegHistory) -> list[Item]:
    """Return the records that failed first; several if they failed in one instant.

    The list is empty if the consumer had left: then the leg fails by closing, and no earlier
    failure comes out.
    """
    if leg.ending.how == "failed" and leg.left_at < NEVER:
        return []
    return [item for item in leg.records if item.wrong and item.decided_at <= leg.fail_at]


def item_of(leg: LegHistory, call: Call) -> Item | None:
    """Return the record of a call."""
    number = call.record
    return None if number is None or number >= len(leg.records) else leg.records[number]


def lost_failure(
    leg: LegHistory, item: Item, call: Call, what: str, asked: Container[Item]
) -> Finding:
    """Return how the failure of a call that several records share was lost for `item`."""
    if item.last is not call or leg.ending.how in {"failed", "left", "crashed", "interrupted"}:
        return None
    is_lost = bool(item.wrong) or (item.failure != "" and item not in asked)
    if leg.ending.how in {"hung", "livelock"} and (item.decided_at == NEVER or is_lost):
        return f"the {what} of {item} failed, and nothing became of that", call.ended_at
    if leg.ran_to_its_end and is_lost:
        return f"the {what} of {item} failed, and that was lost", call.ended_at
    return None


def failures_asked(leg: LegHistory) -> Mapping[Item, Sequence[FailureAsked]]:
    """Return the requests to the failure handler about each record."""
    found: dict[Item, list[FailureAsked]] = defaultdict(list)
    for _, event in leg.seen(FailureAsked):
        number = leg.numbers.of(event, identity(event.value))
        if number is not None and number < len(leg.records):
            found[leg.records[number]].append(event)
    return found


_NAMED = frozenset(PLANNED_ERRORS["raise"]) - {""}
"""Errors that plans name by their class; all other errors are the harness's own."""


def causes_of(item: Item, failure: str, cause: str) -> set[str]:
    """Return the class names that the cause of a record's failure may have; empty for any.

    The set contains "" if the failure may have no cause.
    """
    if cause:
        return {cause}
    if failure == "CallTimedOut":  # After a failed attempt its error may be the cause.
        is_first = len(item.attempts) == 1 and item.attempts[0].ended_at >= item.decided_at
        return {"", "TimeoutError"} if is_first else set()
    if failure != "CallFailed" or item.last is None:
        return set()
    error = item.last.step.error
    if item.timed_out or error not in _NAMED:
        return {"Planned"}
    # Python itself raises RuntimeError for a StopIteration that leaves a coroutine.
    return {error, "RuntimeError"} if error == "StopIteration" else {error}


def either(names: Iterable[str]) -> str:
    """Join names of errors for a sentence; "" stands for no error."""
    return " or ".join(sorted(name or "none" for name in names))


class FirstBehind:
    """Finds when the first element that was read behind some place came out."""

    def __init__(self, items: Sequence[Item]) -> None:
        began = [item.first_seq if item.given else NEVER for item in items]
        self._places = [item.pos for item in items]
        self._earliest = [*accumulate(reversed([*began, NEVER]), min)][::-1]

    def __call__(self, pos: int) -> float:
        """Return the number of the first event with which an element behind `pos` came out."""
        return self._earliest[bisect_right(self._places, pos)]


def first_stray(leg: LegHistory, values: Iterable[Any], *, after: int = -1) -> Output | None:
    """Return the first record that came out with one of `values` though no record gave it."""
    found: list[Output] = []
    for value in values:
        strays = leg.strays.get(identity(value), ())
        number = bisect_right(strays, after, key=lambda stray: stray.seq)
        found += strays[number : number + 1]
    return min(found, key=lambda stray: stray.seq, default=None)


def untimely_request(leg: LegHistory, item: Item, *, after: float, before: float) -> float | None:
    """Return when the handler was asked for the value of `item` though no such record was due.

    Args:
        leg: the leg of `item`.
        item: a record.
        after: ms; only later requests count.
        before: ms; only earlier requests count.
    """
    assert isinstance(item.element, Record)
    asked = leg.untimely_at.get(identity(item.element.value), ())
    number = bisect_right(asked, after)
    return asked[number] if number < len(asked) and asked[number] < before else None


def blamed_for_timeout(leg: LegHistory) -> frozenset[Item]:
    """Return the records whose timeout the error may mean; empty if several timed out."""
    if leg.ending.error != "CallTimedOut":
        return frozenset()
    timed_out = frozenset(item for item in leg.named if item.timed_out)
    if not timed_out:
        return leg.named
    return timed_out if len(timed_out) == 1 else frozenset()


def early_timeout(leg: LegHistory, item: Item, blamed: frozenset[Item]) -> float | None:
    """Return when `item` was decided by time before its deadline; None if it was not."""
    undecided_until = min(leg.deadline(item), item.decided_at)
    early = untimely_request(leg, item, after=item.at, before=undecided_until)
    if early is None and item in blamed and leg.end_at < leg.deadline(item):
        return leg.end_at
    return early


def held_back(leg: LegHistory) -> Iterator[Finding]:
    """Find a decided record that could come out while the consumer waits, and does not."""
    for rest in leg.waits:
        if (held := rest.emittable) is not None and held.is_record:
            yield f"{held} is decided, but the waiting consumer did not get it", rest.at
    yield from holds(item.given for item in leg.records)


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
    fields: tuple[Any, ...] = (
        *astuple(facts),
        items,
        outputs,
        calls.extra,
        decided.untimely,
        overloaded_at(facts),
        not decided.are_open,
    )
    return LegHistory(*fields)


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


H = TypeVar("H")
Look: TypeAlias = Callable[[H], Iterator[Finding]]


class BookJudged(Judged, frozen=True):
    """Judgement of one history by every rule of a book."""

    @property
    def broken(self) -> dict[str, Violation]:
        """The first violation of each broken rule, the earliest first."""
        return dict(sorted(self.violations(), key=lambda each: each[1].at))


class BookChecks(dict[str, Look[H]]):
    """The check of each rule of a book beside the operator's, by its id.

    Each check reads a history of its own kind, and yields a finding for each spot: None, or the
    text of a violation with the number of its event. (Checks of operators give a time instead.)
    """

    def __call__(self, rule: str) -> Callable[[Look[H]], Look[H]]:
        """Register a function of a history as the check of a rule."""

        def add(look: Look[H]) -> Look[H]:
            assert rule not in self, f"{rule} has a check already"
            self[rule] = look
            return look

        return add

    def judge(self, history: H) -> BookJudged:
        """Judge a history by every rule, in the order of their numbers."""
        rules = sorted(self, key=lambda rule: int(rule.partition("-")[2]))
        return BookJudged({rule: _judgement_by(self[rule], history) for rule in rules})


def _judgement_by(look: Look[H], history: H) -> Judgement:
    try:
        return _first(look(history))
    except Exception as error:  # A check that breaks must not count as a pass.
        return Judgement(error=f"its check failed: {_described(error)}")
