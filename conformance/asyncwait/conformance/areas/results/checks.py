"""RES: the results that a call may give, and their use."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    Item,
    LegHistory,
    Rest,
    failure_named,
    first_stray,
    holds,
    leg_check,
    misuses,
)


@leg_check("RES-1", needs_times=False)
def every_result_comes_out(leg: LegHistory) -> Iterator[Finding]:
    """When the stream ends, every result of every record is out."""
    for item in leg.records if leg.ran_to_its_end else ():
        if item.results and not leg.may_be_left_out(item):
            missing = item.results[item.given :]
            yield (f"{item}: {missing[0]!r} never came out", leg.end_at) if missing else None


@leg_check("RES-2")
def a_record_without_results_holds_nothing_up(leg: LegHistory) -> Iterator[Finding]:
    """No element behind a decided record without results waits for its turn or for room."""
    silent = [item for item in leg.records if item.results == ()]
    places = [item.pos for item in silent]
    earliest = [NEVER, *accumulate((item.decided_at for item in silent), min)]
    for rest in leg.waits:
        if (held := _held_up(rest)) is not None:
            before = bisect_left(places, held.pos)
            if earliest[before] <= rest.at:
                gone = [item for item in silent[:before] if item.decided_at <= rest.at]
                yield f"{held} is held up behind {gone[-1]}, which has no results", rest.at
    yield from holds(item.decided_at < leg.end_at for item in silent)


def _held_up(rest: Rest) -> Item | None:
    """Return an element that could come out, or be called, and is not."""
    if rest.emittable is None and rest.has_room:
        return rest.first_uncalled
    return rest.emittable


@leg_check("RES-3")
def what_is_no_collection_is_an_invalid_result(leg: LegHistory) -> Iterator[Finding]:
    """If a call first returns no collection, the leg fails with an error that names its record."""
    yield from failure_named(leg, "InvalidResult")


@leg_check("RES-4")
def the_first_completion_counts(leg: LegHistory) -> Iterator[Finding]:
    """A second completion neither comes out nor fails the operator, nor raises in user code."""
    if leg.observed.refused:
        yield f"a completion raised at the user: {leg.observed.refused}", leg.end_at
    if leg.scenario.form == "callback":
        again, mistaken = first_stray(leg, ["again"]), _failed_by_mistake(leg)
        for item in leg.records:
            if item.last is None or not item.last.step.twice or item.decided_at == NEVER:
                continue
            if again is not None:
                yield f"a second completion came out: {again.element}", again.at
            elif item in mistaken:
                yield f"a second completion failed {item}", leg.end_at
            else:
                yield None


def _failed_by_mistake(leg: LegHistory) -> frozenset[Item]:
    """Return the records that the error may mean; empty if one of them failed."""
    if leg.ending.error != "CallFailed" or any(item.wrong for item in leg.named):
        return frozenset()
    return leg.named


@leg_check("RES-5")
def an_answer_from_another_thread_counts_at_once(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got the results of a thread, unless an earlier element blocks them."""
    for rest in leg.waits:
        if rest.emittable is not None and _is_from_a_thread(rest.emittable):
            yield f"{rest.emittable}: its answer from a thread was not noticed", rest.at
    yield from holds(item.given and _is_from_a_thread(item) for item in leg.records)


def _is_from_a_thread(item: Item) -> bool:
    call = None if item.timed_out else item.last
    return call is not None and call.step.thread and bool(item.results)


@leg_check("RES-6")
def a_collection_that_breaks_gives_nothing(leg: LegHistory) -> Iterator[Finding]:
    """The item that a broken collection gives before it raises does not come out."""
    part = first_stray(leg, ["x"])
    for item in leg.records:
        if _is_broken(leg, item):
            if part is not None:
                yield f"{part.element} came out of a collection that broke", part.at
            else:
                yield None


def _is_broken(leg: LegHistory, item: Item) -> bool:
    """Whether `item` was decided by a collection that raised while it was read."""
    if item.last is None or not (item.wrong or item.failure):
        return False
    value = item.last.value
    handlers = [
        leg.scenario.handler(value) if item.timed_out else None,
        leg.scenario.failure_handler(value) if item.failure else None,
    ]
    errors = {handler.error for handler in handlers if handler is not None}
    if not item.timed_out:
        errors.add(item.last.step.error)
    return "broken" in errors


@leg_check("RES-7", needs_times=False)
def a_supplier_is_asked_on_the_loop(leg: LegHistory) -> Iterator[Finding]:
    """Suppliers run on the thread of the function's call, and only when they are needed."""
    for said, at in misuses(leg, "supplier-thread"):
        yield f"{said} was asked on another thread", at
    for said, at in misuses(leg, "supplier-needless"):
        yield f"{said} was asked after the first completion", at
    yield from holds(
        (call.step.supplied or call.step.twice)
        and call.ended is not None
        and leg.scenario.form == "callback"
        for call in leg.calls
    )
