"""Results that an operator with a cache may hold at each moment, and the evictions it may count.

A cache changes when a load ends; and a request for a key makes that key the most recently used. The
trace does not show when, within an instant, the operator notices the end of a load. Several stores
may therefore be possible: this module follows all of them. If they become too many, the contents of
the cache are unknown from then on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._observe import NEVER, ROUNDING, Call, Facts, Load
from asyncwait.spec.scenario import PlannedCache

MOST_STORES = 200
"""Largest number of possible stores that this module follows."""

MOST_ENDS = 5
"""Largest number of loads ending in one instant whose orders this module tries."""

Store: TypeAlias = tuple[tuple[str, int], ...]
"""Keys in order of use, the most recently used last, each with the load that gave its results."""

State: TypeAlias = tuple[Store, int]
"""A store, and the number of keys evicted by then."""


class _Ask(Struct, frozen=True, eq=False):
    call: Call


class _End(Struct, frozen=True, eq=False):
    """End of a load; its results are kept, not kept, or either."""

    load: Load
    are_kept: Sequence[bool]


class Kept(Struct, frozen=True, eq=False):
    """Possible contents of the cache of a leg.

    Args:
        known: by the number of a call, what the cache may have had for its key: numbers of loads,
            and None for no entry. Calls whose lookup is unknown are missing.
        ats: the instants at which the cache changed, in ms, in order.
        gone: the least and the most evictions by the end of each instant; the most may be NEVER.
    """

    known: Mapping[int, frozenset[int | None]]
    ats: Sequence[float]
    gone: Sequence[tuple[float, float]]

    def evictions(self, at: float) -> tuple[float, float]:
        """Return the least and the most evictions by `at` ms."""
        before, by_then = bisect_left(self.ats, at), bisect_right(self.ats, at)
        least = self.gone[before - 1][0] if before else 0
        return least, self.gone[by_then - 1][1] if by_then else 0


def kept(facts: Facts) -> Kept:
    """Return the possible contents of the cache of a leg."""
    planned = facts.scenario.cache
    if planned is None:
        return Kept({}, (), ())
    known: dict[int, frozenset[int | None]] = {}
    ats: list[float] = []
    gone: list[tuple[float, float]] = []
    states: frozenset[State] = frozenset({((), 0)})
    for at, actions in groupby(_actions(facts, planned), key=_at):
        states = _instant(planned, states, list(actions), known)
        ats.append(at)
        counts = [count for _, count in states]
        before = gone[-1][0] if gone else 0
        gone.append((min(counts), max(counts)) if counts else (before, NEVER))
    return Kept(known, ats, gone)


_UNKNOWN: frozenset[State] = frozenset()


def _at(action: _Ask | _End) -> float:
    return action.call.at if isinstance(action, _Ask) else action.load.ended_at


def _seq(action: _Ask | _End) -> int:
    return action.call.seq if isinstance(action, _Ask) else action.load.ended_seq


def _actions(facts: Facts, planned: PlannedCache) -> Sequence[_Ask | _End]:
    nulls = {call.number for load in facts.loads if load.is_null for call in load.calls}
    asks = [_Ask(call) for call in facts.calls if call.number not in nulls]
    ends = [_End(load, _are_kept(load, planned)) for load in facts.loads if _is_kept(load)]
    return sorted([*asks, *ends], key=_seq)


def _is_kept(load: Load) -> bool:
    return load.results is not None and not load.is_null


def _are_kept(load: Load, planned: PlannedCache) -> Sequence[bool]:
    until = planned.stale_until(load.at, load.results or ())
    if abs(until - load.ended_at) <= ROUNDING:
        return True, False
    return (load.ended_at < until,)


def _instant(
    planned: PlannedCache,
    states: frozenset[State],
    actions: Sequence[_Ask | _End],
    known: dict[int, frozenset[int | None]],
) -> frozenset[State]:
    """Return the possible stores after an instant; record in `known` what each lookup may find."""
    asks = [action for action in actions if isinstance(action, _Ask)]
    ends = [action for action in actions if isinstance(action, _End)]
    if len(ends) > MOST_ENDS or not states:
        return _UNKNOWN
    since = [sum(_seq(ask) < _seq(end) for ask in asks) for end in ends]
    met: list[set[int | None]] = [set() for _ in asks]
    nodes: dict[tuple[int, frozenset[int]], frozenset[State]] = {(0, frozenset()): states}
    for place in range(len(asks) + 1):
        for done in _subsets(len(ends)):
            here = nodes.get((place, done), _UNKNOWN)
            if len(here) > MOST_STORES:
                return _UNKNOWN
            for number, end in enumerate(ends):
                if here and number not in done and since[number] <= place:
                    _add(nodes, (place, done | {number}), _after_end(planned, here, end))
            if here and place < len(asks):
                key = asks[place].call.identity
                met[place].update(dict(store).get(key) for store, _ in here)
                _add(nodes, (place + 1, done), {(_used(store, key), n) for store, n in here})
    known.update({ask.call.number: frozenset(each) for ask, each in zip(asks, met, strict=True)})
    return nodes.get((len(asks), frozenset(range(len(ends)))), _UNKNOWN)


def _subsets(size: int) -> Iterator[frozenset[int]]:
    for bits in range(1 << size):
        yield frozenset(number for number in range(size) if bits >> number & 1)


def _add(
    nodes: dict[tuple[int, frozenset[int]], frozenset[State]],
    node: tuple[int, frozenset[int]],
    states: Iterable[State],
) -> None:
    nodes[node] = nodes.get(node, _UNKNOWN) | frozenset(states)


def _used(store: Store, key: str) -> Store:
    own = [each for each in store if each[0] == key]
    return (*(each for each in store if each[0] != key), *own)


def _after_end(planned: PlannedCache, states: Iterable[State], end: _End) -> Iterator[State]:
    key, number = end.load.identity, end.load.number
    for store, gone in states:
        others = tuple(each for each in store if each[0] != key)
        may_be_left = end.load.ended_at >= end.load.calls[0].left_at
        if may_be_left:  # The last call may have stopped waiting for the load before.
            yield store, gone
        for is_kept in end.are_kept:
            if not is_kept:
                yield others, gone
            elif len(store) == len(others) == planned.max_keys:
                yield (*others[1:], (key, number)), gone + 1
            else:
                yield (*others, (key, number)), gone
