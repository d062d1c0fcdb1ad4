"""Which records gather at each moment, for their call together with others, and since when."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from asyncwait.conformance.judging import NEVER, Call, Item, LegHistory, Rest, item_of
from asyncwait.spec.scenario import HookRun


class Wait(NamedTuple):
    """One time for which a record gathers, before one of its attempts.

    Args:
        maybe: when that may have begun, in ms.
        sure: when it surely had, in ms; NEVER if it is not known.
        call: with which it ended; None for none.
        most: how many records may share that call where batches are split; NEVER for no bound.
    """

    item: Item
    maybe: float
    sure: float
    call: Call | None
    most: float = NEVER

    def lasts_at(self, rest: Rest) -> bool:
        """Whether the record surely gathers at a moment of rest."""
        is_called = self.call is not None and self.call.seq <= rest.seq
        return self.sure <= rest.at < self.item.decided_at and not is_called


def moments(leg: LegHistory) -> Sequence[Rest]:
    """Return the moments of rest at which a batch that has to go has gone."""
    opened = _opened(leg)
    return [
        rest
        for rest in leg.rests
        if rest.waiting and not rest.failed and rest.at < leg.over_at and rest.seq >= opened[1]
    ]


def settled(leg: LegHistory) -> Sequence[Rest]:
    """Return those moments, and between them the instants at which a record surely was back.

    Nothing tells of the end of a back-off; if no batch goes then, nothing moves.
    """
    back = {wait.sure for wait in leg.once(waits) if wait.sure < NEVER}
    times = [*(event.at for event in leg.events), leg.end_at]
    found: list[Rest] = []
    for rest in moments(leg):
        until = min(times[rest.seq + 1], leg.may_be_over_at)
        found += [rest, *(replace(rest, at=at) for at in sorted(back) if rest.at < at < until)]
    return found


def _opened(leg: LegHistory) -> tuple[float, int]:
    if leg.scenario.hooks == "none":
        return 0.0, -1
    ran = ((event.at, seq) for seq, event in leg.seen(HookRun) if event.hook == "open")
    return next(ran, (NEVER, len(leg.events)))


def waits(leg: LegHistory) -> Sequence[Wait]:
    """Return all times for which a record of a leg gathers, in the order of its records."""
    admitted, opened = leg.once(_admitted), _opened(leg)[0]
    before = {item: earlier for earlier, item in leg.pairs_of_keys}
    found: list[Wait] = []
    for item in leg.records:
        free = before[item].decided_at if item in before else 0.0
        sure = max(admitted.get(item, NEVER), free)
        found.append(Wait(item, max(item.at, opened, free), sure, item.call))
        found += _between_attempts(leg, item)
    return found


def _between_attempts(leg: LegHistory, item: Item) -> Iterator[Wait]:
    for number, call in enumerate(item.attempts, 1):
        end = leg.outcome(call, number)
        if end is not None and not end.stands:
            following = item.attempts[number] if number < len(item.attempts) else None
            most = _bound(leg, call, number, by_limit=end.by_limit)
            yield Wait(item, end.since, end.until, following, most)


def _bound(leg: LegHistory, call: Call, number: int, *, by_limit: bool) -> float:
    """Return how many records may share the next call after an attempt; NEVER for no bound."""
    planned = leg.scenario.batch
    if planned is None or not planned.split:
        return NEVER
    if number + 1 >= most_attempts(leg):
        return 1
    is_split = by_limit or (call.batch is not None and raises(call))
    return max(1, len(leg.once(batches).get(call, ())) // 2) if is_split else NEVER


def batches(leg: LegHistory) -> Mapping[Call | None, Sequence[Call]]:
    """Return the batch of each call that shares one."""
    return {call: batch for batch in leg.batches for call in batch}


def raises(call: Call) -> bool:
    """Whether a call raises as one of a batch that does so as a whole."""
    return call.step.whole and (call.step.does == "raise" or call.step.error == "broken")


def _admitted(leg: LegHistory) -> dict[Item, float]:
    """Return when each record had found room for sure, in ms: at a moment of rest, so not before.

    What is there stands in line: the first have the room that there is.
    """
    admitted: dict[Item, float] = {}
    for rest in moments(leg):
        for item in present(leg, rest)[: leg.capacity]:
            if item.is_record:
                admitted.setdefault(item, rest.at)
    return admitted


def present(leg: LegHistory, rest: Rest) -> Sequence[Item]:
    """Return what may be in the operator at a moment of rest, but for what overtakes.

    A record without results is gone for sure when all before it are.
    """
    there: list[Item] = []
    for item in leg.items:
        if item.seq > rest.seq:
            break
        is_silent = item.results == () and item.decided_at <= rest.at and not there
        if item.is_stored and not (is_silent or item.is_out_before(rest.seq + 1)):
            there.append(item)
    return there


def waits_for(leg: LegHistory, call: Call, at: float) -> bool:
    """Whether the record of a call waits for it at some time, in ms."""
    item = item_of(leg, call)
    is_left = min(call.deadline, call.limit) <= at
    return item is not None and item.decided_at > at and not is_left and call.ended_at > at


def running(leg: LegHistory, rest: Rest) -> int:
    """Return how many batches run at a moment of rest for which a record waits."""
    begun = (batch for batch in leg.batches if batch[0].seq <= rest.seq)
    return sum(any(waits_for(leg, call, rest.at) for call in batch) for batch in begun)


def most_attempts(leg: LegHistory) -> int:
    """Return how many attempts a record has at most."""
    return 1 if leg.scenario.retry is None else leg.scenario.retry.max_attempts


def some_may_come(leg: LegHistory, at: float) -> bool:
    """Whether a record surely may gather once more, or one that waits for its key then."""
    admitted = leg.once(_admitted)
    behind = {before: item for before, item in leg.pairs_of_keys if admitted.get(item, NEVER) < at}
    for item in leg.records:
        begun = [call for call in item.attempts if call.at <= at]
        if not begun or begun[-1].at == at or min(item.decided_at, leg.deadline(item)) <= at:
            continue
        call, number = begun[-1], len(begun)
        runs = min(call.ended_at, call.limit) > at
        if runs and (number < most_attempts(leg) or item in behind):
            return True
        end = leg.outcome(call, number)
        if end is not None and at < end.since < NEVER:
            return True
    return False


def may_be_bounded(leg: LegHistory, batch: Sequence[Call]) -> bool:
    """Whether a batch may have had to go with fewer than `max_size` (BAT-14).

    So it is where a record is in it, or gathers behind it, that may share a call with no more.
    """
    bound = (wait for wait in leg.once(waits) if wait.most <= len(batch))
    return any(
        wait.maybe <= batch[0].at and (wait.call is None or wait.call.seq >= batch[0].seq)
        for wait in bound
    )
