"""RETRY: which calls are repeated, and when; the use of their outcomes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from asyncwait.conformance.areas.retry._repetitions import (
    Repetition,
    Waits,
    not_repeated,
    owed,
    repetitions,
)
from asyncwait.conformance.judging import (
    NEVER,
    TURN,
    Call,
    Finding,
    Item,
    LegHistory,
    first_failures,
    first_stray,
    leg_check,
)
from asyncwait.spec.scenario import FailureAsked, Misuse, SnapshotAsked, SourceEnded, identity
from asyncwait.spec.texts import counted


@leg_check("RETRY-1")
def a_call_that_failed_is_repeated(leg: LegHistory) -> Iterator[Finding]:
    """No record that must be called again lacks its call."""
    for item, how, at in not_repeated(leg):
        yield f"{item} {how}", at
    for _ in repetitions(leg):
        yield None


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


@leg_check("RETRY-8")
def what_was_repeated_does_not_come_out(leg: LegHistory) -> Iterator[Finding]:
    """Results after which a record was called again do not come out."""
    for each in repetitions(leg):
        ended = each.before.ended
        if ended is not None and ended.results:
            stray = first_stray(leg, ended.results, after=each.before.ended_seq)
            if stray is not None:
                yield f"{stray.element} came out, and {each.item} was called again", stray.at
            else:
                yield None


@leg_check("RETRY-9")
def outcomes_of_older_attempts_do_not_count(leg: LegHistory) -> Iterator[Finding]:
    """Results of an attempt that is over do not come out, nor fail the operator."""
    for each in repetitions(leg):
        late = _late_results(each)
        if late:
            own = {identity(result) for result in each.item.results or ()}
            stray = first_stray(leg, [each for each in late if identity(each) not in own])
            if stray is not None:
                yield (
                    f"{stray.element} came out of an attempt at {each.item} that was over",
                    stray.at,
                )
            elif (
                leg.ending.cause == "Planned"
                and leg.named == frozenset({each.item})
                and not each.item.wrong
            ):
                yield f"an attempt at {each.item} that was over failed the operator", leg.end_at
            else:
                yield None


def _late_results(repetition: Repetition) -> Sequence[object]:
    before = repetition.before
    late: list[object] = ["again"] if before.step.twice else []
    if before.ended is not None and before.ended_at > before.limit:
        late += before.ended.results
    return late


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


@leg_check("RETRY-14")
def leaving_ends_a_back_off(leg: LegHistory) -> Iterator[Finding]:
    """No repeated call begins after the operator was over."""
    if leg.over_at == NEVER:
        return
    if leg.ending.how == "interrupted" and leg.scenario.source_error == "interrupt":
        return  # An interrupt raised by a source comes out when the source is closed.
    over = leg.over_at
    if leg.overloaded_at <= over:  # The operator knows it one TURN after the cancellations.
        over += TURN
    late = next(
        (call for calls in _calls_of(leg).values() for call in calls[1:] if call.at > over), None
    )
    if late is not None:
        yield f"call {late.number} of {late.value!r} began when all was over", late.at
    else:
        for _ in owed(leg):
            yield None


@leg_check("RETRY-15")
def retries_go_on_at_the_end_of_input_and_at_barriers(leg: LegHistory) -> Iterator[Finding]:
    """The end of input and requests for snapshots change no back-off."""
    ended = min((seq for seq, _ in leg.seen(SourceEnded)), default=NEVER)
    asked = [seq for seq, _ in leg.seen(SnapshotAsked)] + [item.seq for item in leg.barriers]
    for item, how, at in not_repeated(leg):
        if item.last is not None and ended < item.last.ended_seq:
            yield f"{item} {how}, behind the end of input", at
    for each in repetitions(leg):
        between = [seq for seq in [*asked, ended] if each.before.seq < seq < each.call.seq]
        if between and each.call.at < each.since:
            yield f"{each} begins before {each.since:g}, for all that came meanwhile", each.call.at
        elif between or ended < each.before.seq:
            yield None


@leg_check("RETRY-16")
def after_a_restore_attempts_begin_anew(leg: LegHistory) -> Iterator[Finding]:
    """A restored record is repeated like a record that was read."""
    if leg.observed.restored is None:
        return
    for item, how, at in not_repeated(leg):
        if item.index is None:
            yield f"{item} {how}", at
    waits = Waits(leg)
    for each in repetitions(leg):
        if each.item.index is None:
            if waits.beyond(each.until, each.call.seq) < NEVER:
                yield (
                    f"{each} was to begin at {each.until:g}, as with a first failure",
                    each.call.at,
                )
            else:
                yield None


@leg_check("RETRY-17")
def a_call_that_raises_at_once_is_like_any_other(leg: LegHistory) -> Iterator[Finding]:
    """A record whose call raised before it waited is called again."""
    for item, how, at in not_repeated(leg):
        if item.last is not None and _raises_at_once(item.last):
            yield f"{item} {how}: it raised at once", at
    for each in repetitions(leg):
        if _raises_at_once(each.before):
            yield None


def _raises_at_once(call: Call) -> bool:
    step = call.step
    return step.does == "raise" and step.after == 0 and not step.thread and not step.blocks


@leg_check("RETRY-18", needs_times=False)
def the_deadline_spans_all_attempts(leg: LegHistory) -> Iterator[Finding]:
    """No call begins later than the deadline of its record."""
    for item, calls in _calls_of(leg).items():
        due = leg.deadline(item)
        late = next((call for call in calls[1:] if call.at > due), None)
        if late is not None:
            yield f"call {late.number} of {item} began after its deadline", late.at
        elif len(calls) > 1 and leg.scenario.handled and _is_not_asked(leg, item):
            yield f"the handler was not asked for {item}, which was called again", due
        elif item.timed_out and (len(item.attempts) > 1 or leg.outcome(calls[-1], len(calls))):
            yield None


def _is_not_asked(leg: LegHistory, item: Item) -> bool:
    return item.timed_out and item.asked_at == NEVER and leg.due(item) < leg.may_be_over_at


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


@leg_check("RETRY-20")
def a_timeout_has_the_last_error_as_its_cause(leg: LegHistory) -> Iterator[Finding]:
    """At a deadline the cause is the error of the previous attempt, unless a handler raised."""
    if leg.scenario.retry is None:
        return
    for item, cause, at in _timeouts(leg):
        handler = None if item.call is None else leg.scenario.handler(item.call.value)
        error = _error_before(leg, item)
        if error and (handler is None or handler.does != "raise"):
            got = cause or "none"
            text = f"{item}: an attempt raised {error}, the timeout has as its cause: {got}"
            yield (text, at) if cause != error else None


def _timeouts(leg: LegHistory) -> Iterator[tuple[Item, str, float]]:
    """Yield each record whose `CallTimedOut` is seen, with the cause and the time of the error."""
    for _, event in leg.seen(FailureAsked):
        number = leg.numbers.of(event, identity(event.value))
        if event.error == "CallTimedOut" and number is not None and number < len(leg.records):
            yield leg.records[number], event.cause, event.at
    if leg.ending.error == "CallTimedOut" and len(leg.named) == 1:
        yield from ((item, leg.ending.cause, leg.end_at) for item in leg.named)


def _error_before(leg: LegHistory, item: Item) -> str:
    """Return the class of the error of the attempt before the last; "" if it is not known."""
    if len(item.attempts) < 2 or not item.timed_out:  # noqa: PLR2004 - the last, and one before
        return ""
    before, last = item.attempts[-2:]
    is_plain = before.step.does == "raise" and not (before.step.throws or before.step.supplied)
    is_cut = last.cancelled_at < NEVER or last.ended_at > leg.deadline(item)
    if (
        not is_plain
        or not is_cut
        or last.limit <= leg.deadline(item)
        or before.ended_at >= before.limit
    ):
        return ""
    return {"": "Planned", "ValueError": "ValueError"}.get(before.step.error, "")


@leg_check("RETRY-21", needs_times=False)
def a_predicate_is_asked_once(leg: LegHistory) -> Iterator[Finding]:
    """No predicate is asked a second time about the outcome of an attempt."""
    retry = leg.scenario.retry
    if retry is None or (retry.on_error in {"any", "some"} and retry.on_result == "never"):
        return
    for _, event in leg.seen(Misuse):
        if event.what == "predicate-again":
            yield f"{event.detail} was asked a second time", event.at
            return
    for _ in repetitions(leg):
        yield None
