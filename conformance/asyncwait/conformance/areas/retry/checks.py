"""RETRY: which calls are repeated, and when; the use of their outcomes."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from asyncwait.conformance.areas.retry._repetitions import (
    Waits,
    not_repeated,
    repetitions,
)
from asyncwait.conformance.judging import (
    NEVER,
    Call,
    Finding,
    Item,
    LegHistory,
    first_failures,
    holds,
    leg_check,
)
from asyncwait.spec.scenario import identity
from asyncwait.spec.texts import counted


@leg_check("RETRY-1")
def a_call_that_failed_is_repeated(leg: LegHistory) -> Iterator[Finding]:
    """No record that must be called again lacks its call."""
    for item, how, at in not_repeated(leg):
        yield f"{item} {how}", at
    yield from holds(repetitions(leg))


@leg_check("RETRY-2", needs_times=False)
def there_are_no_more_attempts_than_allowed(leg: LegHistory) -> Iterator[Finding]:
    """No record has more calls than `max_attempts`, with reason or without."""
    if leg.scenario.retry is None:
        return
    most, calls = leg.scenario.retry.max_attempts, _calls_of(leg)
    for item in leg.records:
        for call in calls[item][most : most + 1]:
            yield f"call {call.number} of {item} is one more than {most}", call.at
        if len(item.attempts) == most and item.decided_at != NEVER:
            yield None


def _calls_of(leg: LegHistory) -> dict[Item, list[Call]]:
    calls: dict[Item, list[Call]] = defaultdict(list)
    for item in leg.records:
        calls[item] += item.attempts
    for call in leg.extra_calls:
        if call.record is not None and call.record < len(leg.records):
            calls[leg.records[call.record]].append(call)
    return calls


@leg_check("RETRY-3")
def a_back_off_is_not_cut_short(leg: LegHistory) -> Iterator[Finding]:
    """No call begins before the back-off of its record is over."""
    for each in repetitions(leg):
        if each.call.at < each.since:
            yield f"{each} begins before {each.since:g}", each.call.at
        else:
            yield None


@leg_check("RETRY-4")
def a_back_off_is_no_longer_than_it_should_be(leg: LegHistory) -> Iterator[Finding]:
    """While the consumer waits, each call begins when the back-off of its record is over."""
    waits = Waits(leg)
    for each in repetitions(leg):
        if waits.beyond(each.until, each.call.seq) < NEVER:
            yield f"{each} was to begin at {each.until:g}", each.call.at
        else:
            yield None


@leg_check("RETRY-5")
def retry_after_sets_one_back_off(leg: LegHistory) -> Iterator[Finding]:
    """A raised RetryAfter leads to another call; a raised or returned one sets its start."""
    for item, how, at in not_repeated(leg):
        if item.last is not None and item.last.step.error == "RetryAfter" and item.last.ended:
            yield f"{item} {how}, as it raised RetryAfter", at
    waits, retry = Waits(leg), leg.scenario.retry
    for each in repetitions(leg):
        pause = None if retry is None else retry.told_after(each.before.step)
        if pause is None or each.reason.by_limit:
            continue
        if each.call.at < each.since or waits.beyond(each.until, each.call.seq) < NEVER:
            yield f"{each} begins at {each.call.at:g}, not after {pause} ms", each.call.at
        else:
            yield None


@leg_check("RETRY-6")
def only_what_is_a_reason_is_repeated(leg: LegHistory) -> Iterator[Finding]:
    """No record is called again if its outcome stands."""
    retry = leg.scenario.retry
    if retry is None:
        return
    for item, calls in _calls_of(leg).items():
        number = len(item.attempts)
        if not 0 < number < retry.max_attempts:
            continue
        end = leg.outcome(item.attempts[-1], number)
        for call in calls[number : number + 1]:
            if end is not None and end.stands and end.at <= call.at:
                yield f"call {call.number} of {item} repeats what stands", call.at
        if item.decided_at != NEVER and not item.timed_out:
            yield None


@leg_check("RETRY-7")
def an_error_tells_the_attempts(leg: LegHistory) -> Iterator[Finding]:
    """An error that names a record gives the number of calls of that record."""
    ending = leg.ending
    blamed = [item for item in leg.named if item.wrong and item.decided_at <= ending.at]
    if leg.scenario.retry is None or ending.how != "failed" or not blamed:
        return
    counts = {count for item in blamed for count in _counts(leg, item)}
    if ending.attempts not in counts:
        most = max(len(item.attempts) for item in blamed)
        told, there = counted(ending.attempts, "attempt"), "was" if most == 1 else "were"
        yield f"the error tells of {told}, there {there} {most}", ending.at
    else:
        yield None


def _counts(leg: LegHistory, item: Item) -> Iterator[int]:
    """Yield the possible numbers of attempts: an attempt may be cancelled before it is seen."""
    yield max(1, len(item.attempts))
    if item.timed_out and item.last is not None:
        end = leg.outcome(item.last, len(item.attempts))
        if end is not None and end.since <= item.decided_at:
            yield len(item.attempts) + 1


@leg_check("RETRY-10")
def a_record_is_never_called_twice_at_once(leg: LegHistory) -> Iterator[Finding]:
    """Whenever a call begins, the call of its record before it is over."""
    if leg.scenario.retry is None:
        return
    for item, calls in _calls_of(leg).items():
        for before, call in pairwise(sorted(calls, key=lambda call: call.seq)):
            if leg.has_left(before, call):
                continue
            if before.runs_before(call.seq) and not _may_be_abandoned(leg, before, call):
                yield f"call {call.number} of {item} began, call {before.number} ran", call.at
            else:
                yield None
    least = len({call.number if call.batch is None else -1 - call.batch for call in leg.overtaken})
    told = leg.observed.abandoned
    if leg.ending.how in {"finished", "left", "failed"} and told < least:
        ran = counted(least, "call ran", "calls ran")
        yield f"{ran} when the next began, statistics say {told} abandoned", leg.end_at


def _may_be_abandoned(leg: LegHistory, before: Call, call: Call) -> bool:
    """Whether `before` may have been abandoned when `call` began: cancelled, and still running.

    Both may happen within one instant. In callback form nothing can end a call.
    """
    if leg.scenario.form == "callback":
        return before.limit <= call.at
    return -1 < before.cancelled_seq < call.seq and before.ended_at > before.cancelled_at


@leg_check("RETRY-12")
def an_attempt_that_takes_too_long_is_cancelled(leg: LegHistory) -> Iterator[Finding]:
    """A call that runs at its limit is cancelled then, if possible, and not before."""
    if leg.scenario.form == "callback":
        return
    over_at = min(leg.may_be_over_at, leg.end_at)
    failed = first_failures(leg) if leg.over_at == leg.fail_at else []
    for item in leg.records:
        for call in item.attempts:
            if call.cancelled_at < min(call.until, over_at) and call.limit < NEVER:
                yield f"call {call.number} of {item} was cancelled early", call.cancelled_at
            is_its_failure = failed == [item] and call is item.last and call.limit == leg.fail_at
            works = is_its_failure or call.limit < over_at
            if not (works and call.limit < leg.deadline(item)):
                continue
            if call.until > call.limit:  # Other records wait for the shared call.
                continue
            if call.cancelled_at <= call.limit:
                yield None
            elif call.ended_at > call.limit:
                yield f"call {call.number} of {item} was not cancelled at its limit", call.limit


@leg_check("RETRY-13")
def a_predicate_that_raises_fails_its_record_at_once(leg: LegHistory) -> Iterator[Finding]:
    """If a predicate raised about the first failure, the leg fails with that error."""
    blamed = first_failures(leg)
    if not blamed or any(item.cause != "LookupError" for item in blamed):
        return
    ending = leg.ending
    if ending.how == "failed" and (ending.error, ending.cause) == ("CallFailed", "LookupError"):
        yield None
    elif ending.how == "failed":
        yield f"a predicate raised, and the leg failed with {ending.error}", ending.at
    elif ending.how in {"finished", "hung", "livelock"}:
        yield f"a predicate raised, and the leg {ending.how}", leg.fail_at


@leg_check("RETRY-18", needs_times=False)
def the_deadline_spans_all_attempts(leg: LegHistory) -> Iterator[Finding]:
    """No call begins later than the deadline of its record."""
    for item, calls in _calls_of(leg).items():
        due = leg.deadline(item)
        late = next((call for call in calls[1:] if call.at > due), None)
        is_unasked = item.timed_out and item.asked_at == NEVER and leg.scenario.handled
        if late is not None:
            yield f"call {late.number} of {item} began after its deadline", late.at
        elif len(calls) > 1 and is_unasked and leg.due(item) < leg.may_be_over_at:
            yield f"the handler was not asked for {item}, which was called again", due
        elif item.timed_out and (len(item.attempts) > 1 or leg.outcome(calls[-1], len(calls))):
            yield None


@leg_check("RETRY-19")
def no_back_off_outlasts_the_deadline(leg: LegHistory) -> Iterator[Finding]:
    """An outcome whose back-off would not end before the deadline is final at once."""
    late = {id(item) for item in leg.named} if leg.ending.error == "CallTimedOut" else set()
    for item in leg.records:
        end = None if item.last is None else leg.outcome(item.last, len(item.attempts))
        if end is None or not end.is_beyond or end.at >= leg.deadline(item):
            continue
        waited = id(item) in late or any(
            leg.numbers.of(asked, identity(asked.value)) == leg.records.index(item)
            for asked in leg.untimely_handlers
        )
        if waited:
            yield f"{item} waited for its deadline, although no further call could begin", end.at
        elif item.decided_at != NEVER:
            yield None
