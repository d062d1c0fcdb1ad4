"""Who waits for room, and who for a key: of records of one leg that are not called, at each rest.

In key-ordered mode a record that is not called may be admitted. Records are admitted in input
order, so it is known of how many that can be true, by what has a slot for sure.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asyncwait.conformance.judging._observe import Item
from asyncwait.conformance.judging._stays import Stay


class Slots(NamedTuple):
    """What has a slot at one moment, but for records that are not called.

    Args:
        undecided: how many records are called and undecided.
        finished: how many others must have one still.
        possible: how many others may have one.
    """

    undecided: int
    finished: int
    possible: int


class Waiting(NamedTuple):
    """Who waits at one moment.

    Args:
        has_room: whether there is room for the record that could be called, or for one more.
        for_room: the first record that waits for room for sure.
        maybe_for_room: the first that may.
    """

    has_room: bool
    for_room: Item | None
    maybe_for_room: Item | None


def waiting(
    there: Sequence[Stay],
    callable_first: Sequence[Item | None],
    slots: Sequence[Slots],
    capacity: int,
    free: int,
) -> Iterator[Waiting]:
    """Yield for each moment who waits.

    Args:
        there: records and fences.
        callable_first: at each moment the first record that is not called although its key is free.
        slots: at each moment, what has one.
        capacity: of the operator.
        free: how many finished elements need no slot.
    """
    items = {stay.item.pos: stay.item for stay in there}
    changes = _changes(there, len(slots))
    places: list[int] = []
    for (begins, ends), first, taken in zip(changes, callable_first, slots, strict=True):
        for pos in begins:
            insort(places, pos)
        for pos in ends:
            del places[bisect_left(places, pos)]
        sure = taken.undecided + max(0, taken.finished - free)
        possible = taken.undecided + max(0, taken.possible - free)
        before = len(places) if first is None else bisect_right(places, first.pos) - 1
        yield Waiting(
            before + possible < capacity,
            _at(places, items, capacity - sure),
            _at(places, items, capacity - possible),
        )


def _changes(there: Sequence[Stay], moments: int) -> list[tuple[list[int], list[int]]]:
    """Return the places of the records whose wait begins, and ends, at each moment."""
    changes: list[tuple[list[int], list[int]]] = [([], []) for _ in range(moments)]
    for stay in there:
        until = min(stay.called, stay.until)
        if stay.item.is_record and stay.since < until:
            changes[stay.since][0].append(stay.item.pos)
            if until < moments:
                changes[until][1].append(stay.item.pos)
    return changes


def _at(places: Sequence[int], items: dict[int, Item], number: int) -> Item | None:
    """Return the record that waits behind so many others."""
    number = max(0, number)
    return items[places[number]] if number < len(places) else None
