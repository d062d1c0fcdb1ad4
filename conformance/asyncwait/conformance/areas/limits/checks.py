"""LIMIT: when calls may begin, which record is next, and how the other records end."""

from collections.abc import Iterator
from functools import partial

from asyncwait.conformance.areas.limits._counted import (
    Window,
    is_too_large,
    loads,
    pause,
    runs,
    spendings,
)
from asyncwait.conformance.areas.limits._waiting import (
    callable_since,
    idles,
    long_waits,
    pending_retry,
    queues,
)
from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Check,
    Finding,
    Item,
    LegHistory,
    blamed_for_timeout,
    early_timeout,
    item_of,
    leg_check,
    span,
)


def _rule_of(window: Window) -> str:
    """Return the rule by which a window holds no more than allowed."""
    if window.is_burst:
        return "LIMIT-11"
    if window.limit.by:
        return "LIMIT-10"
    if window.per is None:
        return "LIMIT-3"
    return "LIMIT-2" if window.limit.costs else "LIMIT-1"


def _is_kept(leg: LegHistory, rule: str) -> Iterator[Finding]:
    """Find a call that begins although a window then holds more than its limit allows."""
    for load in leg.once(loads):
        if _rule_of(load.window) != rule:
            continue
        if load.first > load.window.most:
            yield str(load), load.run.at
        yield None


def _no_more(rule: str) -> Check:
    return leg_check(rule)(partial(_is_kept, rule=rule))


no_window_holds_more_calls = _no_more("LIMIT-1")
no_window_holds_more_cost = _no_more("LIMIT-2")
no_more_calls_run_at_a_time = _no_more("LIMIT-3")


def _is_used(leg: LegHistory, rule: str) -> Iterator[Finding]:
    """Find a record that waits although all limits have room for its call."""
    for idle in leg.once(idles):
        if idle.rule != rule:
            continue
        if idle.unused is not None:
            yield f"{idle.unused} is not called, and all limits have room", idle.rest.at
        yield None


def _used(rule: str) -> Check:
    return leg_check(rule)(partial(_is_used, rule=rule))


room_is_used = _used("LIMIT-4")
# No record lacks room that is reserved for records which wait for their keys or back off.
what_can_not_be_called_holds_no_permit = _used("LIMIT-5")
# No record lacks room that is reserved for a record which was decided during its wait.
a_permit_without_a_call_is_free = _used("LIMIT-6")


@leg_check("LIMIT-7")
def repeated_calls_count_and_go_first(leg: LegHistory) -> Iterator[Finding]:
    """Repeated calls exceed no limit, and no first call begins while a repeated call waits."""
    if leg.scenario.retry is None:
        return
    for load in leg.once(loads):
        if load.held > load.window.most >= load.first:
            yield f"{load}, repeated calls among them", load.run.at
        if load.held > load.first:
            yield None
    if leg.scenario.batch is not None or any(each.by for each in leg.scenario.limits):
        return
    for run in leg.once(runs):
        if not run.is_retry and (item := pending_retry(leg, run)) is not None:
            yield f"{run} began while {item} waited to be called again", run.at


@leg_check("LIMIT-8")
def no_record_passes_another(leg: LegHistory) -> Iterator[Finding]:
    """First calls begin in the order in which their records began to wait for the same room."""
    if not leg.scenario.limits or leg.scenario.batch is not None:
        return
    since = callable_since(leg)
    by = any(each.by for each in leg.scenario.limits)
    open_items = [item for item in leg.records if item.pos not in leg.lost]
    for call in leg.calls:
        item = item_of(leg, call)
        if item is None or item.call is not call or item not in open_items:
            continue
        open_items.remove(item)
        for other in open_items:
            if other.pos > item.pos:
                break
            is_before = since[other] < since[item] if leg.key_ordered else True
            is_same = not by or _group(leg, other) == _group(leg, item)
            if is_before and is_same and since[other] <= call.at < other.decided_at:
                yield f"{item} was called before {other}, which waited", call.at
        if item.at < call.at:
            yield None


def _group(leg: LegHistory, item: Item) -> str:
    return leg.scenario.group(item.element.value)  # type: ignore[union-attr]


@leg_check("LIMIT-9")
def the_deadline_runs_from_the_first_call(leg: LegHistory) -> Iterator[Finding]:
    """No record that waited for its permit times out before its first call had its full time."""
    if leg.timeout == NEVER or not leg.scenario.limits:
        return
    blamed = blamed_for_timeout(leg)
    for item in leg.records:
        if item.call is not None and item.call.at == item.at:
            continue
        if (early := early_timeout(leg, item, blamed)) is not None:
            yield f"{item} timed out before its time since its call", early
        elif item.decided_at != NEVER:
            yield None


@leg_check("LIMIT-10")
def keys_have_room_of_their_own(leg: LegHistory) -> Iterator[Finding]:
    """The calls of a key exceed no limit, and no record waits for the room of another key."""
    yield from _is_kept(leg, "LIMIT-10")
    yield from _is_used(leg, "LIMIT-10")


no_more_calls_start_together = _no_more("LIMIT-11")


@leg_check("LIMIT-12")
def the_figure_tells_who_waits(leg: LegHistory) -> Iterator[Finding]:
    """The figure has one number for each limit, and counts the records that wait."""
    limits = len(leg.scenario.limits)
    for figures, least, most in leg.once(queues):
        read = figures.waiting_for_permits
        text = f"waiting_for_permits is {read}"
        if len(read) != limits:
            yield f"{text}, and there are {limits} limits", figures.at
        if sum(read) < least or max(read) > most:
            yield f"{text}, expected {span(least, most)} records", figures.at
        yield None


@leg_check("LIMIT-13")
def what_exceeds_a_limit_fails_at_once(leg: LegHistory) -> Iterator[Finding]:
    """A record whose call exceeds a limit fails without a call, as soon as it may be called."""
    large = [item for item in leg.records if is_too_large(leg, item)]
    since = callable_since(leg)
    for item in large:
        if item.call is not None:
            yield f"{item} was called, and its cost exceeds a limit", item.call.at
        cause = item.failure_cause or item.cause
        if item.decided_at < NEVER and cause != "CostTooLarge":
            yield f"{item} failed by {cause}, expected CostTooLarge", item.decided_at
        for rest in leg.waits if leg.scenario.batch is None else ():
            is_admitted = rest.present <= leg.capacity and item.seq <= rest.seq
            is_late = since[item] <= rest.at < item.decided_at
            if is_admitted and is_late:
                yield f"{item} waits, and its cost exceeds a limit", rest.at
        if item.decided_at < NEVER:
            yield None


@leg_check("LIMIT-14")
def a_budget_is_kept(leg: LegHistory) -> Iterator[Finding]:
    """No call begins unless each budget pays for it, by the known costs of all calls."""
    for each in leg.once(spendings):
        all_costs = each.charged + each.estimate
        if all_costs > each.budget.most:
            yield f"{each.run} makes {all_costs:g} of a budget of {each.budget.most}", each.run.at
        if each.budget.told and not (each.is_known or each.is_alone):
            yield f"{each.run} begins beside another one, and no cost is known", each.run.at
        yield None


@leg_check("LIMIT-15")
def what_a_budget_stops_is_told(leg: LegHistory) -> Iterator[Finding]:
    """A spent budget leaves out only records behind the last call, and `then` defines the end."""
    budgets = [each for each in leg.scenario.limits if each.kind == "budget"]
    is_spent = "BudgetSpent" in {leg.ending.error, leg.ending.cause}
    if not budgets or not (leg.ran_to_its_end or is_spent):
        return
    is_named = leg.ending.cause == "BudgetSpent"  # One error names one record.
    last = max((item.pos for item in leg.records if item.call is not None), default=-1)
    for item in leg.records:
        if item.decided_at > leg.end_at and item.pos <= last and not is_named:
            what = "was called before" if item.call is not None else "is in front of one called"
            yield f"{item} {what}, and is left out", leg.end_at
    left = [item for item in leg.records if item.call is None and not item.failure]
    rest = leg.source_ended is None or leg.source_ended.at > leg.end_at
    then = {each.then for each in budgets}
    if leg.ran_to_its_end and then == {"fail"} and (left or rest):
        yield "the budget is spent, and the stream just ended", leg.end_at
    elif leg.ending.error == "BudgetSpent" and then == {"stop"}:
        yield "the stream was to stop, and failed", leg.end_at
    elif left or rest or is_spent:
        yield None


@leg_check("LIMIT-16")
def an_open_breaker_lets_no_call_begin(leg: LegHistory) -> Iterator[Finding]:
    """After too many failures no call begins during the rest; then one call probes the service."""
    for breaker in leg.scenario.limits:
        found = pause(leg, breaker) if breaker.kind == "breaker" else None
        if found is None:
            continue
        at, seq, until = found
        rest_is_over = at + breaker.rest - ROUNDING
        later = [run for run in leg.once(runs) if run.seq > seq and run.at > at]
        early = [run for run in later if run.at < until - ROUNDING]
        beside = [run for run in later[1:] if run.seq < later[0].ended_seq]
        if early:
            text = f"{early[0]} begins, though {breaker.most} calls had failed by {at:g}"
            yield text, early[0].at
        if beside and later[0].at >= rest_is_over and until >= rest_is_over:
            yield f"{beside[0]} begins beside the call that probes", beside[0].at
        if later:
            yield None


@leg_check("LIMIT-17")
def no_record_waits_for_longer_than_it_may(leg: LegHistory) -> Iterator[Finding]:
    """A record fails when it has waited for its permit as long as it may, and not earlier."""
    most = {each.max_wait for each in leg.scenario.limits if each.max_wait is not None}
    if not most:
        return
    for item in leg.records:
        if (item.failure_cause or item.cause) == "PermitTimedOut":
            if item.decided_at < item.at + min(most) - ROUNDING:
                yield f"{item} failed before it had waited {min(most)} ms", item.decided_at
            yield None
    for item, since, until in leg.once(long_waits):
        if until > since + max(most) + ROUNDING:
            yield f"{item} waits for its permit since {since:g}", since + max(most)
