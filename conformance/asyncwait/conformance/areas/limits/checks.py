"""LIMIT: when calls may begin, which record is next, and what becomes of the others."""

from collections.abc import Callable, Iterator

from asyncwait.conformance.areas.limits._permits import (
    Load,
    callable_since,
    idles,
    loads,
    pending_retry,
    queues,
    runs,
    waited,
)
from asyncwait.conformance.judging import (
    NEVER,
    Check,
    Finding,
    LegHistory,
    blamed_for_timeout,
    early_timeout,
    item_of,
    leg_check,
    span,
)


def _no_more(rule: str, applies: Callable[[Load], bool]) -> Check:
    """Compare what some windows hold with their limits, each time a call begins."""

    def look(leg: LegHistory) -> Iterator[Finding]:
        for load in leg.once(loads):
            if not applies(load):
                continue
            if load.first > load.window.most:
                yield str(load), load.run.at
                return
            yield None

    return leg_check(rule)(look)


def _is_plain(load: Load) -> bool:
    return not (load.window.limit.by or load.window.is_burst)


no_window_holds_more_calls = _no_more(
    "LIMIT-1",
    lambda load: _is_plain(load) and load.window.per is not None and not load.window.limit.costs,
)
no_window_holds_more_cost = _no_more(
    "LIMIT-2",
    lambda load: _is_plain(load) and load.window.per is not None and load.window.limit.costs,
)
no_more_calls_run_at_a_time = _no_more(
    "LIMIT-3", lambda load: _is_plain(load) and load.window.per is None
)


def _is_used(leg: LegHistory, rule: str) -> Iterator[Finding]:
    """Find a record that waits although all limits have room for it."""
    for idle in leg.once(idles):
        if idle.rule != rule:
            continue
        if idle.unused is not None:
            yield f"{idle.unused} is not called, and all limits have room", idle.rest.at
            return
        yield None


@leg_check("LIMIT-4")
def room_is_used(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, no record waits for a permit that it could have."""
    yield from _is_used(leg, "LIMIT-4")


@leg_check("LIMIT-5")
def what_can_not_be_called_holds_no_permit(leg: LegHistory) -> Iterator[Finding]:
    """The same while other records wait for their keys, or back off."""
    yield from _is_used(leg, "LIMIT-5")


@leg_check("LIMIT-6")
def a_permit_without_a_call_is_free(leg: LegHistory) -> Iterator[Finding]:
    """The same when a record was decided that waited for its permit."""
    yield from _is_used(leg, "LIMIT-6")


@leg_check("LIMIT-7")
def repeated_calls_count_and_go_first(leg: LegHistory) -> Iterator[Finding]:
    """No limit is exceeded by repeated calls, and no first call begins while such a call waits."""
    if leg.scenario.retry is None:
        return
    for load in leg.once(loads):
        if load.held > load.window.most >= load.first:
            yield f"{load}, repeated calls among them", load.run.at
            return
        if load.held > load.first:
            yield None
    if leg.scenario.batch is not None or any(each.by for each in leg.scenario.limits):
        return
    for run in leg.once(runs):
        if not run.is_retry and (item := pending_retry(leg, run)) is not None:
            yield f"{run} began while {item} waited to be called again", run.at
            return


@leg_check("LIMIT-8")
def no_record_passes_another(leg: LegHistory) -> Iterator[Finding]:
    """First calls begin in the order in which records wait, but for other keys of limits."""
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
                return
        if waited(leg, call):
            yield None


def _group(leg: LegHistory, item: object) -> str:
    return leg.scenario.group(item.element.value)  # type: ignore[attr-defined,no-any-return]


@leg_check("LIMIT-9")
def the_deadline_runs_from_the_first_call(leg: LegHistory) -> Iterator[Finding]:
    """A record that waited for its permit is not decided by time before its call had its time."""
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
    """No limit is exceeded for a key, and no record waits for the room of another key."""
    for load in leg.once(loads):
        if load.window.limit.by and not load.window.is_burst:
            if load.first > load.window.most:
                yield str(load), load.run.at
                return
            yield None
    yield from _is_used(leg, "LIMIT-10")


no_more_calls_start_together = _no_more("LIMIT-11", lambda load: load.window.is_burst)


@leg_check("LIMIT-12")
def the_figure_tells_who_waits(leg: LegHistory) -> Iterator[Finding]:
    """There is one number for each limit; in all they are as many as there are records waiting."""
    limits = len(leg.scenario.limits)
    for figures, least, most in leg.once(queues):
        read = figures.waiting_for_permits
        text = f"waiting_for_permits is {read}"
        if len(read) != limits:
            yield f"{text}, and there are {limits} limits", figures.at
            return
        if sum(read) < least or max(read) > most:
            yield f"{text}, expected {span(least, most)} records", figures.at
            return
        yield None
