"""RES: what a call may give, and what becomes of it."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    Item,
    LegHistory,
    Output,
    Rest,
    failure_named,
    leg_check,
)
from asyncwait.spec import Record


@leg_check("RES-1")
def every_result_comes_out(leg: LegHistory) -> Iterator[Finding]:
    """When the stream ends, every result of every record is out."""
    if leg.ran_to_its_end:
        for item in leg.records:
            if item.results:
                if len(item.outputs) < len(item.results):
                    yield f"{item}: {item.results[len(item.outputs)]!r} never came out", leg.end_at
                else:
                    yield None


@leg_check("RES-2")
def a_record_without_results_holds_nothing_up(leg: LegHistory) -> Iterator[Finding]:
    """What stands behind a decided record without results does not wait for turn or room."""
    silent = [item for item in leg.records if item.results == ()]
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (held := _held_up(rest)) is not None:
            gone = [item for item in silent if item.pos < held.pos and item.decided_at <= rest.at]
            if gone:
                yield f"{held} is held up behind {gone[-1]}, which has no results", rest.at
                return
    for item in silent:
        if item.decided_at < leg.end_at:
            yield None


def _held_up(rest: Rest) -> Item | None:
    """Return what could come out, or be called, and does not."""
    emittable = rest.emittable()
    if emittable is None and rest.has_room():
        return next(iter(rest.uncalled()), None)
    return emittable


@leg_check("RES-3")
def what_is_no_collection_is_an_invalid_result(leg: LegHistory) -> Iterator[Finding]:
    """What is no collection, and decided first, fails the leg with an error that names it."""
    yield from failure_named(leg, "InvalidResult")


@leg_check("RES-4")
def the_first_completion_counts(leg: LegHistory) -> Iterator[Finding]:
    """A second completion neither comes out nor fails the operator, nor raises at the user."""
    if leg.leg.refused:
        yield f"a completion raised at the user: {leg.leg.refused}", leg.end_at
    if leg.scenario.form == "callback":
        again = _stray(leg, "again")
        for item in leg.records:
            if item.call is None or not item.call.step.twice or item.decided_at == NEVER:
                continue
            if again is not None:
                yield f"a second completion came out: {again.element}", again.at
            elif _is_failed_by_mistake(leg, item):
                yield f"a second completion failed {item}", leg.end_at
            else:
                yield None


def _is_failed_by_mistake(leg: LegHistory, item: Item) -> bool:
    """Whether the error blames `item`, and neither that nor one that is alike has failed."""
    ending = leg.leg.ending
    alike = [other for other in leg.records if other.element == item.element]
    blamed = ending.error == "CallFailed" and ending.record == item.element
    return blamed and not any(other.wrong for other in alike)


@leg_check("RES-5")
def an_answer_from_another_thread_counts_at_once(leg: LegHistory) -> Iterator[Finding]:
    """A waiting consumer has got what a thread gave, unless something else holds it up."""
    threaded = [item for item in leg.records if _is_from_a_thread(item)]
    for rest in leg.rests:
        if rest.waiting and not rest.failed and (item := rest.emittable()) in threaded:
            yield f"{item}: its answer from a thread was not noticed", rest.at
            return
    for item in threaded:
        if item.outputs:
            yield None


def _is_from_a_thread(item: Item) -> bool:
    own = item.call is not None and not item.timed_out
    return own and item.call.step.thread and bool(item.results)  # type: ignore[union-attr]


@leg_check("RES-6")
def a_collection_that_breaks_gives_nothing(leg: LegHistory) -> Iterator[Finding]:
    """The item that a broken collection gives before it raises does not come out."""
    part = _stray(leg, "x")
    for item in leg.records:
        if _is_broken(leg, item):
            if part is not None:
                yield f"{part.element} came out of a collection that broke", part.at
            else:
                yield None


def _is_broken(leg: LegHistory, item: Item) -> bool:
    """Whether `item` was decided by a collection that raised while it was read."""
    if item.call is None or not item.wrong:
        return False
    if not item.timed_out:
        return item.call.step.error == "broken"
    handler = leg.scenario.handler(item.call.value)
    return handler is not None and handler.error == "broken"


def _stray(leg: LegHistory, value: str) -> Output | None:
    """Return the first output with `value` that no decided record gave."""
    for output in leg.outputs:
        element = output.element
        if output.item is None and isinstance(element, Record) and element.value == value:
            return output
    return None
