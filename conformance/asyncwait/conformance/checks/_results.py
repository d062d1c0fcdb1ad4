"""RES: what a call may give, and what becomes of it."""

from collections.abc import Iterator

from asyncwait.conformance.judging import Finding, Item, LegHistory, leg_check


@leg_check("RES-1")
def every_result_comes_out(leg: LegHistory) -> Iterator[Finding]:
    if leg.ran_to_its_end:
        for item in leg.records:
            if item.results:
                if len(item.outputs) < len(item.results):
                    yield f"{item}: {item.results[len(item.outputs)]!r} never came out", leg.end_at
                else:
                    yield None


@leg_check("RES-2")
def a_record_without_results_holds_nothing_up(leg: LegHistory) -> Iterator[Finding]:
    silent = [item for item in leg.records if item.results == ()]
    if not silent:
        return
    for rest in leg.rests:
        if rest.waiting and not rest.failed and _is_held_up(leg, rest.emittable(), silent):
            yield f"{rest.emittable()} waits behind a record without results", rest.at
            return
    for _ in silent:
        yield None


def _is_held_up(leg: LegHistory, item: Item | None, silent: list[Item]) -> bool:
    return item is not None and any(i.pos < item.pos for i in silent)


@leg_check("RES-3")
def what_is_no_collection_is_an_invalid_result(leg: LegHistory) -> Iterator[Finding]:
    yield from failure_named(leg, "InvalidResult")


@leg_check("RES-4")
def the_first_completion_counts(leg: LegHistory) -> Iterator[Finding]:
    if leg.scenario.form != "callback":
        return
    twice = [i for i in leg.records if i.call is not None and i.call.step.twice]
    again = next((o for o in leg.outputs if getattr(o.element, "value", None) == "again"), None)
    for item in twice:
        if item.decided_at != float("inf"):
            if again is not None:
                yield f"a second completion came out: {again.element}", again.at
            elif leg.leg.ending.error == "CallFailed" and not item.wrong and (
                leg.leg.ending.record == item.element
            ):
                yield f"a second completion failed {item}", leg.end_at
            else:
                yield None


@leg_check("RES-5")
def an_answer_from_another_thread_counts_at_once(leg: LegHistory) -> Iterator[Finding]:
    threaded = [
        i
        for i in leg.records
        if i.call is not None and i.call.step.thread and not i.timed_out and i.results
    ]
    for rest in leg.rests:
        if rest.waiting and not rest.failed and rest.emittable() in threaded:
            yield f"{rest.emittable()}: its answer from a thread was not noticed", rest.at
            return
    for item in threaded:
        if item.outputs:
            yield None


@leg_check("RES-6")
def a_collection_that_breaks_gives_nothing(leg: LegHistory) -> Iterator[Finding]:
    for item in leg.records:
        if item.call is None or item.call.step.error != "broken" or item.timed_out or not item.wrong:
            continue
        part = next((o for o in leg.outputs if getattr(o.element, "value", None) == "x"), None)
        if part is not None:
            yield f"{part.element} came out of a collection that broke", part.at
        else:
            yield None


def failure_named(leg: LegHistory, name: str) -> Iterator[Finding]:
    """The leg fails with the error `name` if a record that was decided first has it coming."""
    blamed = [i for i in leg.records if i.wrong and i.decided_at == leg.fail_at]
    ending = leg.leg.ending
    if not blamed or any(i.wrong != name for i in blamed):
        return
    if ending.how == "finished":
        yield f"expected {name} for {blamed[0].element}, and the stream just ended", ending.at
    if ending.how != "failed":
        return
    if ending.error != name:
        yield f"expected {name}, got {ending.error}: {ending.detail}", ending.at
    elif ending.record not in [item.element for item in blamed]:
        yield f"expected the record {blamed[0].element} in the error, got {ending.record}", ending.at
    else:
        yield None
