"""Records that gather for a batch at each moment, and the start of their waits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from asyncwait.conformance.judging import NEVER, Call, Item, LegHistory, Rest, item_of
from asyncwait.spec.scenario import HookRun


class Wait(NamedTuple):
    """One wait of a record for a batch, before one of its attempts.

    Args:
        item: the record.
        maybe: earliest start of the wait, in ms.
        sure: latest start of the wait, in ms; NEVER if unknown.
        call: the call that ended the wait; None for no call.
        most: how many records may share that call if batches are split; NEVER for no bound.
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
    """Return the moments of rest at which a batch that was due has started."""
    opened = _opened(leg)
    return [rest for rest in leg.waits if rest.at < leg.over_at and rest.seq >= opened[1]]


def settled(leg: LegHistory) -> Sequence[Rest]:
    """Return these moments, and between them the instants at which a record surely gathers again.

    No event shows the end of a back-off: if no batch starts then, the clock does not stop there.
    """
    back = {wait.sure for wait in leg.once(waits) if wait.sure < NEVER}
    found: list[Rest] = []
    for rest in moments(leg):
        until = min(rest.until, leg.may_be_over_at)
        found += [rest, *(replace(rest, at=at) for at in sorted(back) if rest.at < at < until)]
    return found


def _opened(leg: LegHistory) -> tuple[float, int]:
    if leg.scenario.hooks == "none":
        return 0.0, -1
    ran = ((event.at, seq) for seq, event in leg.seen(HookRun) if event.hook == "open")
    return next(ran, (NEVER, len(leg.events)))


def waits(leg: LegHistory) -> Sequence[Wait]:
    """Return all waits of a leg, in the order of its records."""
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
    """Return the batch of each call that has one."""
    return {call: batch for batch in leg.batches for call in batch}


def raises(call: Call) -> bool:
    """Whether a call raises together with its whole batch."""
    return call.step.whole and (call.step.does == "raise" or call.step.error == "broken")


def _admitted(leg: LegHistory) -> dict[Item, float]:
    """Return the first moment of rest, in ms, at which each record surely had room.

    Records get room in their order, until `capacity` records have room.
    """
    admitted: dict[Item, float] = {}
    for rest in moments(leg):
        for item in present(leg, rest)[: leg.capacity]:
            if item.is_record:
                admitted.setdefault(item, rest.at)
    return admitted


def present(leg: LegHistory, rest: Rest) -> Sequence[Item]:
    """Return the records and fences that may be in the operator at a moment of rest.

    A record without results is surely gone when all elements before it are.
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
    """Whether the record of a call still waits for it at `at` ms."""
    item = item_of(leg, call)
    is_left = min(call.deadline, call.limit) <= at
    return item is not None and item.decided_at > at and not is_left and call.ended_at > at


def running(leg: LegHistory, rest: Rest) -> int:
    """Return the number of batches that run at a moment of rest with a record that waits."""
    begun = (batch for batch in leg.batches if batch[0].seq <= rest.seq)
    return sum(any(waits_for(leg, call, rest.at) for call in batch) for batch in begun)


def most_attempts(leg: LegHistory) -> int:
    """Return the largest number of attempts at a record."""
    return 1 if leg.scenario.retry is None else leg.scenario.retry.max_attempts


def some_may_come(leg: LegHistory, at: float) -> bool:
    """Whether a record that runs or backs off, or its successor by key, may gather later."""
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
    """Whether a batch may have had to start with fewer than `max_size` records (BAT-14).

    A batch had to if it contains a record that may share a call with no more records, or if such a
    record gathers behind it.
    """
    bound = (wait for wait in leg.once(waits) if wait.most <= len(batch))
    return any(
        wait.maybe <= batch[0].at and (wait.call is None or wait.call.seq >= batch[0].seq)
        for wait in bound
    )
