"""BAT: start and contents of batches, and the outcome of each of their records."""

from collections.abc import Iterator, Sequence

from asyncwait.conformance.areas.batches._gathering import (
    Wait,
    batches,
    may_be_bounded,
    most_attempts,
    present,
    raises,
    running,
    settled,
    some_may_come,
    waits,
    waits_for,
)
from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Call,
    Finding,
    Item,
    LegHistory,
    Rest,
    failure_named,
    failures_asked,
    figures_hold,
    first_failures,
    holds,
    item_of,
    key_of,
    leg_check,
    lost_failure,
    misuses,
)
from asyncwait.spec import Record


def _gathered(leg: LegHistory) -> Iterator[tuple[Rest, Sequence[Wait]]]:
    planned = leg.scenario.batch
    if planned is None or leg.scenario.limits:  # A full batch may wait for its permit.
        return
    every = leg.once(waits)
    for rest in leg.once(settled):
        gathering = [wait for wait in every if wait.lasts_at(rest)]
        if gathering and running(leg, rest) < planned.in_flight:
            yield rest, gathering


@leg_check("BAT-1")
def a_full_batch_goes(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, fewer records gather than a batch may hold, or `in_flight` batches run."""
    planned = leg.scenario.batch
    for rest, gathering in _gathered(leg):
        bounds = (int(wait.most) for wait in gathering if wait.most < NEVER)
        most = min(bounds, default=NEVER if planned is None else planned.max_size)
        if len(gathering) >= most:
            yield f"{len(gathering)} records gather, and a batch holds {most}", rest.at
    yield from holds(
        planned is not None and len(batch) == planned.max_size for batch in leg.batches
    )


@leg_check("BAT-2")
def no_record_gathers_for_longer_than_it_may(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, no record has gathered for `max_wait`, or `in_flight` batches run."""
    planned = leg.scenario.batch
    if planned is None:
        return
    for rest, gathering in _gathered(leg):
        for wait in gathering:
            due = wait.sure + planned.max_wait
            if due < min(rest.until, leg.may_be_over_at, wait.item.decided_at) - ROUNDING:
                yield f"{wait.item} gathers since {wait.sure:g}, and did not go", due
    yield from holds(
        len(batch) < planned.max_size and batch[0].at > _earliest(leg, batch)
        for batch in leg.batches
    )


def _earliest(leg: LegHistory, batch: Sequence[Call]) -> float:
    """Return when the first record of a batch may have begun to gather, in ms."""
    calls = set(batch)
    return min((w.maybe for w in leg.once(waits) if w.call in calls), default=NEVER)


@leg_check("BAT-3")
def nobody_waits_where_nothing_more_can_join(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, no record gathers if no other record can join it."""
    ended = leg.source_ended
    for rest, gathering in _gathered(leg):
        if not _none_comes_back(leg, rest, gathering):
            continue
        if ended is not None and ended.at <= rest.at and rest.present <= leg.capacity:
            yield f"{gathering[0].item} gathers, and the input has ended", rest.at
        if _is_full(leg, rest):
            yield f"{gathering[0].item} gathers, and all that is in flight does", rest.at
    planned = leg.scenario.batch
    for batch in leg.batches:
        if planned is None or len(batch) == planned.max_size:
            continue
        if batch[0].at < _earliest(leg, batch) + planned.max_wait:
            yield None


def _is_full(leg: LegHistory, rest: Rest) -> bool:
    """Whether no room gets free before a batch starts: decided records wait for their turn."""
    if leg.scenario.max_held is not None or running(leg, rest) > 0:
        return False
    inside = _inside(leg, rest)
    is_stuck = rest.emittable is None or all(item.decided_at > rest.at for item in inside)
    return len(inside) == leg.capacity and is_stuck


def _inside(leg: LegHistory, rest: Rest) -> Sequence[Item]:
    """Return the records that have room; outside ordered mode a record without results is gone."""
    there = (item for item in present(leg, rest) if item.is_record)
    sure = [i for i in there if leg.ordered or i.results != () or i.decided_at > rest.at]
    return sure[: leg.capacity]


def _none_comes_back(leg: LegHistory, rest: Rest, gathering: Sequence[Wait]) -> bool:
    """Whether no undecided record can gather later.

    A record can't if it gathers now, waits for the key of a gathering record, or had its last
    attempt.
    """
    gather = {wait.item for wait in gathering}
    behind = {item: before for before, item in leg.pairs_of_keys}
    for item in _inside(leg, rest):
        begun = sum(call.seq <= rest.seq for call in item.attempts)
        if not begun and behind.get(item) in gather:
            gather.add(item)
        if item.decided_at > rest.at and item not in gather and begun < most_attempts(leg):
            return False
    return True


@leg_check("BAT-4")
def no_batch_goes_early(leg: LegHistory) -> Iterator[Finding]:
    """A batch that is not full starts when its first record has waited, or no record can join.

    With limits a batch may be smaller, so that it exceeds none of them.
    """
    planned = leg.scenario.batch
    if planned is None or leg.scenario.limits:
        return
    for batch in leg.batches:
        at = batch[0].at
        if len(batch) + _timed_out(leg, at) >= planned.max_size or may_be_bounded(leg, batch):
            continue
        since = _earliest(leg, batch)
        is_early = at < since + planned.max_wait - ROUNDING
        if is_early and (_goes_on(leg, batch) or some_may_come(leg, at)):
            gathered = f"{len(batch)} of {planned.max_size} records"
            yield f"a batch of {gathered} went {at - since:g} ms after the first came", at
        elif at > since:
            yield None


def _timed_out(leg: LegHistory, at: float) -> int:
    """Return how many records timed out at `at`: each may have been in the batch that started."""
    return sum(item.timed_out and at == leg.deadline(item) for item in leg.records)


def _goes_on(leg: LegHistory, batch: Sequence[Call]) -> bool:
    """Whether the input goes on and room is free, or may get free while the batch runs."""
    ended, at = leg.source_ended, batch[0].at
    if ended is not None and ended.at <= at:
        return False
    if any(waits_for(leg, call, at) for call in leg.calls if call.at < at):
        return True
    taken = [item for item in leg.items if item.is_stored and item.at <= at]
    gone = sum(item.emitted_at < at for item in taken)
    return len(taken) - gone < leg.capacity


@leg_check("BAT-5")
def a_batch_is_neither_empty_nor_too_large(leg: LegHistory) -> Iterator[Finding]:
    """Each batch holds at least one record, and at most `max_size`."""
    planned = leg.scenario.batch
    yield from misuses(leg, "batch-empty")
    for batch in leg.batches:
        if planned is not None and len(batch) > planned.max_size:
            yield f"a batch holds {len(batch)} records, at most {planned.max_size}", batch[0].at
        else:
            yield None


@leg_check("BAT-6")
def few_batches_run_at_once(leg: LegHistory) -> Iterator[Finding]:
    """When time goes on, at most `in_flight` batches run for which a record waits."""
    planned = leg.scenario.batch
    if planned is None:
        return
    for rest in leg.rests:
        if rest.failed or rest.at >= leg.over_at:
            return
        run = running(leg, rest)
        if run > planned.in_flight:
            yield f"{run} batches run, at most {planned.in_flight}", rest.at
        if run:
            yield None


@leg_check("BAT-7")
def a_batch_leaves_nobody_behind(leg: LegHistory) -> Iterator[Finding]:
    """A batch that is not full holds all records that gathered when time moved on to it.

    With limits a batch may be smaller, so that it exceeds none of them.
    """
    planned = leg.scenario.batch
    if planned is None or leg.scenario.limits:
        return
    every = leg.once(waits)
    for batch in leg.batches:
        first, last = batch[0], batch[-1]
        if len(batch) >= planned.max_size or may_be_bounded(leg, batch):
            continue
        behind = next((w for w in every if _is_left_behind(w, first, last)), None)
        if behind is not None:
            yield f"{behind.item} was left behind by a batch of {len(batch)}", first.at
        else:
            yield None


def _is_left_behind(wait: Wait, first: Call, last: Call) -> bool:
    if not wait.sure < first.at < wait.item.decided_at:
        return False
    return wait.call is None or wait.call.seq > last.seq


@leg_check("BAT-8")
def each_record_has_its_own_answer(leg: LegHistory) -> Iterator[Finding]:
    """The results of a batch for a record come out with the timestamp and key of that record."""
    shared = {call for batch in leg.batches if len(batch) > 1 for call in batch}
    for output in leg.outputs:
        item, element = output.item, output.element
        if item is None or item.last not in shared or item.timed_out or item.failure:
            continue
        assert isinstance(item.element, Record)
        own = item.element.timestamp, item.element.key
        if isinstance(element, Record) and (element.timestamp, element.key) != own:
            yield f"{element} came out, which its batch gave for {item}", output.at
        yield None


@leg_check("BAT-9")
def an_exception_fails_its_record_alone(leg: LegHistory) -> Iterator[Finding]:
    """If a batch gives an exception for one record, its other records keep their answers."""
    asked = leg.once(failures_asked)
    for batch in leg.batches:
        ends = {call.ended.how for call in batch if call.ended is not None}
        if not {"raised", "returned"} <= ends:
            continue
        for call in batch:
            if call.ended is None or call.ended.how != "returned":
                continue
            item = item_of(leg, call)
            if item is not None and item.last is call and item.results is not None:
                yield _failed_with_others(leg, item, is_asked=item in asked)


def _failed_with_others(leg: LegHistory, item: Item, *, is_asked: bool) -> Finding:
    if item.failure or item.timed_out:
        return None
    if is_asked:
        return (
            f"the failure handler was asked for {item}, which its batch answered",
            item.decided_at,
        )
    if leg.ending.how == "failed" and leg.named == frozenset({item}):
        return f"{item}, which its batch answered, failed the operator", leg.end_at
    return None


def _is_raised(batch: Sequence[Call]) -> bool:
    ended = batch[0].ended
    is_over = ended is not None and ended.how in {"raised", "misreturned"}
    return len(batch) > 1 and raises(batch[0]) and is_over


@leg_check("BAT-10")
def what_a_batch_raises_is_of_all_its_records(leg: LegHistory) -> Iterator[Finding]:
    """Each record that waited for a batch which raised is called again, or has failed."""
    asked = leg.once(failures_asked)
    for batch in leg.batches:
        if not _is_raised(batch):
            continue
        for call in batch:
            item = item_of(leg, call)
            if item is None or not waits_for(leg, call, call.ended_at - ROUNDING):
                continue
            yield lost_failure(leg, item, call, "batch", asked)


@leg_check("BAT-11")
def an_owed_answer_is_an_invalid_result(leg: LegHistory) -> Iterator[Finding]:
    """A missing answer of a batch fails its record, or goes to its handler, as `InvalidResult`."""
    owed = {call.number: call for call in leg.calls if call.batch is not None and call.step.whole}
    lasts = {item.last.number: item for item in leg.records if item.last is not None}
    items = [lasts[n] for n, call in owed.items() if call.step.does == "misreturn" and n in lasts]
    failed = first_failures(leg)
    if failed and all(item in items and item.wrong == "InvalidResult" for item in failed):
        yield from failure_named(leg, "InvalidResult")
    handled = leg.once(failures_asked)
    for item in items:
        if item.failure == "InvalidResult" and item in handled:
            event = handled[item][0]
            if event.error != "InvalidResult":
                yield f"expected InvalidResult for {item}, its handler got {event.error}", event.at
            else:
                yield None
        elif "InvalidResult" in {item.failure, item.wrong} and leg.ending.how in _WITHOUT_AN_ERROR:
            yield f"the batch of {item} owes an answer, and no error reported it", leg.end_at


_WITHOUT_AN_ERROR = {"finished", "hung", "livelock"}


@leg_check("BAT-12")
def a_record_leaves_its_batch_alone(leg: LegHistory) -> Iterator[Finding]:
    """If one record of a batch is late and another one waits, the call runs on."""
    over_at = min(leg.may_be_over_at, leg.end_at)
    for batch in leg.batches:
        first_left = min(min(call.deadline, call.limit) for call in batch)
        until = batch[0].until
        ended = batch[0].ended
        over = NEVER if ended is not None and ended.how == "cancelled" else batch[0].ended_at
        if not first_left < min(until, over, over_at):
            continue
        cancelled = min(call.cancelled_at for call in batch)
        if first_left <= cancelled < min(until, over_at):
            yield f"a batch was cancelled at {cancelled:g}, and others wait for it", cancelled
        else:
            yield None


@leg_check("BAT-13")
def a_batch_that_nobody_waits_for_is_cancelled(leg: LegHistory) -> Iterator[Finding]:
    """When its last record has left a running batch, the batch is cancelled."""
    over_at = min(leg.may_be_over_at, leg.end_at)
    for batch in leg.batches:
        until = batch[0].until
        if not until < over_at:
            continue
        cancelled = min(call.cancelled_at for call in batch)
        if cancelled <= until:
            yield None
        elif batch[0].ended_at > until:
            yield "all have left a batch, and it was not cancelled", until


@leg_check("BAT-14")
def a_poisonous_record_is_found_by_halves(leg: LegHistory) -> Iterator[Finding]:
    """Each batch holds no more records than each of its records may share a call with."""
    shared = leg.once(batches)
    for wait in leg.once(waits) if shared else ():
        call, size = wait.call, len(shared.get(wait.call, ()))
        if call is not None and size > wait.most:
            yield f"{wait.item} shares call {call.number} with {size}, at most {wait.most}", call.at
        if size and wait.most < NEVER:
            yield None


@leg_check("BAT-15")
def no_two_records_of_a_batch_have_one_key(leg: LegHistory) -> Iterator[Finding]:
    """In key-ordered mode the records of a batch have different keys."""
    if not leg.key_ordered:
        return
    for batch in leg.batches:
        items = [item for call in batch if (item := item_of(leg, call)) is not None]
        if len({key_of(item) for item in items}) < len(items):
            yield "two records of a batch have the same key", batch[0].at
        elif any(item in leg.behind_of_key for item in items):
            yield None


@leg_check("BAT-16")
def batches_are_counted(leg: LegHistory) -> Iterator[Finding]:
    """The figure `batches` equals the number of batches that were called."""
    if leg.scenario.batch is not None:
        yield from figures_hold(leg, "batches")
