"""POLICY: the requests to the failure handler, and the use of its results."""

from collections.abc import Iterator

from asyncwait.conformance.judging import (
    NEVER,
    Finding,
    Item,
    LegHistory,
    causes_of,
    either,
    failures_asked,
    first_failures,
    leg_check,
)
from asyncwait.spec import Record
from asyncwait.spec.texts import counted


@leg_check("POLICY-1")
def the_failure_handler_is_asked_once(leg: LegHistory) -> Iterator[Finding]:
    """The operator asks the handler once about each record that failed while the stream went on."""
    requests = leg.once(failures_asked)
    for item in leg.records:
        asked = requests.get(item, ())
        if item.failure and not asked and _must_have_asked(leg, item):
            yield f"{item} failed with {item.failure}, the handler was not asked", leg.end_at
        elif item.failure and len(asked) > 1:
            yield f"the failure handler was asked about {item} again", asked[1].at
        elif item.failure and asked:
            yield None


def _must_have_asked(leg: LegHistory, item: Item) -> bool:
    """Whether the operator surely noticed a failure: the stream went on, or ended by it."""
    if leg.ran_to_its_end:
        return True
    is_blamed = leg.ending.how == "failed" and leg.named == frozenset({item})
    return is_blamed and leg.ending.error == item.failure


@leg_check("POLICY-2", needs_times=False)
def what_it_gives_takes_the_place_of_the_results(leg: LegHistory) -> Iterator[Finding]:
    """A record whose failure was handled comes out, and does not fail the operator."""
    for item in leg.records:
        if not item.failure or item.results is None or item.wrong:  # It raised after completion.
            continue
        if leg.may_be_left_out(item):
            continue
        if leg.ending.how == "failed" and leg.named == frozenset({item}):
            yield f"{item} failed the operator, its failure was handled", leg.end_at
        elif leg.ran_to_its_end and item.given < len(item.results):
            yield f"{item}: the failure handler's {item.results} did not come out", leg.end_at
        elif leg.ran_to_its_end or item.given:
            yield None


def _planned(leg: LegHistory, item: Item) -> str:
    assert isinstance(item.element, Record)
    handler = leg.scenario.failure_handler(item.element.value)
    does = "none" if handler is None else handler.does
    is_none = handler is not None and does == "misreturn" and handler.error == "none"
    return "none" if is_none else does


def _fails_as(leg: LegHistory, does: str) -> Iterator[Finding]:
    """The leg fails by the first record whose failure handler did what `does` says."""
    blamed = first_failures(leg)
    if not blamed or any(not each.failure or _planned(leg, each) != does for each in blamed):
        return
    ending, errors = leg.ending, {each.wrong for each in blamed}
    if ending.how in {"finished", "hung", "livelock"}:
        yield f"{blamed[0]} was not spared by its failure handler, the leg {ending.how}", ending.at
    elif ending.how == "failed":
        meant = [each for each in blamed if each in leg.named and each.wrong == ending.error]
        causes = {cause for each in meant for cause in causes_of(each, each.wrong, each.cause)}
        if ending.error not in errors:
            yield f"expected {either(errors)}, got {ending.error}", ending.at
        elif leg.named.isdisjoint(blamed):
            yield f"expected {blamed[0].element} in the error, got {ending.record}", ending.at
        elif causes and ending.cause not in causes:
            got = ending.cause or "none"
            yield f"expected {either(causes)} as the cause, got {got}", ending.at
        else:
            yield None


@leg_check("POLICY-3")
def none_leaves_the_failure_as_it_is(leg: LegHistory) -> Iterator[Finding]:
    """If the handler gave None, the leg fails with the error of its record."""
    yield from _fails_as(leg, "none")


@leg_check("POLICY-4")
def a_handler_that_raises_fails_the_operator(leg: LegHistory) -> Iterator[Finding]:
    """If the handler raised, the leg fails with the record's error, caused by the handler's."""
    yield from _fails_as(leg, "raise")


@leg_check("POLICY-5")
def it_is_asked_about_nothing_else(leg: LegHistory) -> Iterator[Finding]:
    """Each request is about a record that had failed by then."""
    requests = leg.once(failures_asked)
    for item in leg.records if leg.scenario.failures_handled else ():
        if item.failure or _is_repeated(leg, item) or _is_due(leg, item):
            continue
        if item in requests:
            text = f"the failure handler was asked about {item}, which had not failed"
            yield text, requests[item][0].at
        elif item.decided_at != NEVER:
            yield None


def _is_repeated(leg: LegHistory, item: Item) -> bool:
    """Whether the outcome of a record's last call leads to another attempt."""
    if item.last is None or item.decided_at != NEVER:
        return False
    end = leg.outcome(item.last, len(item.attempts))
    return end is not None and not end.stands


def _is_due(leg: LegHistory, item: Item) -> bool:
    """Whether the leg ended when a deadline or limit was due, before the trace shows it."""
    if item.last is None or item.decided_at != NEVER:
        return False
    return min(leg.deadline(item), item.last.limit) <= leg.end_at


@leg_check("POLICY-7")
def it_is_given_the_error(leg: LegHistory) -> Iterator[Finding]:
    """The error has the class, the cause and the attempts of the failure."""
    for item, asked in leg.once(failures_asked).items():
        if not item.failure:
            continue
        event, causes = asked[0], causes_of(item, item.failure, item.failure_cause)
        attempts = {max(1, len(item.attempts)), len(item.attempts) + item.timed_out}
        if event.error != item.failure:
            yield f"{item} failed with {item.failure}, the handler got {event.error}", event.at
        elif causes and event.cause not in causes:
            got = event.cause or "none"
            yield f"{item}: the cause is {either(causes)}, the handler got {got}", event.at
        elif event.attempts not in attempts:
            had = counted(len(item.attempts), "attempt")
            yield f"{item} had {had}, the handler was told {event.attempts}", event.at
        else:
            yield None
