"""Bounds of an operator's figures at each reading.

A figure counts past events; events in the very instant of a reading may count or not. So the checks
compare each figure with the least and the most that it can be.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging._calls import TURN
from asyncwait.conformance.judging._history import LegHistory
from asyncwait.conformance.judging._observe import NEVER, Call, Item, Load
from asyncwait.conformance.judging._rest import Span, count, first
from asyncwait.spec.scenario import Closed, FiguresRead

Bounds: TypeAlias = tuple[float, float]
"""The least and the most that a figure may be."""


class Reading(Struct, frozen=True, eq=False):
    """The figures that were read at one moment, and their bounds.

    Args:
        oldest_since: when the first of the records that may be in flight was called, in ms, and
            when the first of the records that must be in flight was. NEVER for none.
    """

    figures: FiguresRead
    bounds: Mapping[str, Bounds]
    oldest_since: Bounds

    def wrong(self, name: str) -> str:
        """Return what is wrong with a figure beyond its bounds; "" if it is within them."""
        figure, (least, most) = getattr(self.figures, name), self.bounds[name]
        return (
            "" if least <= figure <= most else f"{name} is {figure}, expected {span(least, most)}"
        )


def span(least: float, most: float) -> str:
    """Return bounds in words; one number if they are equal."""
    return f"{least:g}" if least >= most else f"{least:g} to {most:g}"


def figure_text(figure: float | tuple[int, ...]) -> str:
    """Return a figure as text; a program may report an integer that no float can hold."""
    if isinstance(figure, tuple):  # one for each limit
        return "+".join(map(str, figure))
    return str(figure) if isinstance(figure, int) else f"{figure:g}"


def readings(leg: LegHistory) -> tuple[Reading, ...]:
    """Return the readings of a leg while its operator worked, in order.

    If the stream has ended, the reading after the operator was left is included.
    """
    if not leg.seen(FiguresRead):
        return ()
    over_at = leg.may_be_over_at
    figures = [each for each in figures_read(leg) if each.at < over_at]
    if leg.ran_to_its_end:
        figures += figures_at_the_end(leg)
    if not figures:
        return ()
    stays = tuple(_stays(leg))
    line = _Line([each.at for each in figures])
    columns = {
        **_present(leg, stays, line),
        **_totals(leg, line),
        "max_in_flight": _highest(leg, stays, figures, "in_flight"),
        "max_held": _highest(leg, stays, figures, "held"),
    }
    rows = zip(figures, zip(*columns.values(), strict=True), _oldest(stays, line), strict=True)
    return tuple(Reading(f, dict(zip(columns, row, strict=True)), since) for f, row, since in rows)


def figures_read(leg: LegHistory) -> list[FiguresRead]:
    """Return the figures that were read before the operator was left."""
    closed = leg.seen(Closed)
    until = closed[0][0] if closed else NEVER
    return [event for seq, event in leg.seen(FiguresRead) if seq < until]


def figures_at_the_end(leg: LegHistory) -> list[FiguresRead]:
    """Return the figures that were read after the operator had been left, if any."""
    return [event for _, event in leg.seen(FiguresRead)[len(figures_read(leg)) :]]


class _Line:
    """Moments in order; finds the first moment at which an event may or must count."""

    def __init__(self, ats: Sequence[float]) -> None:
        self.ats = ats
        self.never = len(ats)

    def maybe(self, at: float) -> int:
        """Return the first moment at which an event at `at` ms may count."""
        return bisect_left(self.ats, at)

    def surely(self, at: float) -> int:
        """Return the first moment at which it must count."""
        return bisect_right(self.ats, at)

    def bounds(self, least: Iterable[Span], most: Iterable[Span]) -> list[Bounds]:
        """Return the number of spans that surely contain each moment, and the number that may."""
        return list(zip(count(least, self.never), count(most, self.never), strict=True))

    def total(self, times: Iterable[Bounds]) -> list[Bounds]:
        """Return the bounds of the number of events up to each moment."""
        every = [(self.maybe(may), self.surely(must)) for may, must in times]
        return self.bounds(
            ((must, self.never) for _, must in every), ((may, self.never) for may, _ in every)
        )


class _Stay(NamedTuple):
    """A record that may be in flight: when it may and must be admitted, decided, gone, in ms.

    The record has a call; in key-ordered mode it may wait for its key instead.
    """

    item: Item
    admitted: Bounds
    decided: float
    gone: Bounds


def _stays(leg: LegHistory) -> Iterator[_Stay]:
    """Yield the stay of each record that is in flight at some time, in input order.

    A record without results may go from its decision on, in ordered mode from its turn on. It must
    be gone when its turn has come and the consumer has waited.
    """
    waits = [rest.at for rest in leg.rests if rest.waiting]
    turn = (-NEVER, -NEVER)
    gone_of: dict[Item, float] = {}
    before = {item: earlier for earlier, item in leg.pairs_of_keys}
    for item in leg.items:
        if not item.is_stored:
            continue
        decided = item.decided_at
        gone = item.emitted_at, item.emitted_at
        if item.results == ():
            own = gone_of[before[item]] if item in before else -NEVER
            known = bisect_left(waits, max(decided, turn[1], own))
            must = waits[known] if known < len(waits) else NEVER
            gone = max(decided, turn[0]) if leg.ordered else decided, must
        if item.is_fence or leg.ordered:
            turn = max(turn[0], gone[0]), max(turn[1], gone[1])
        gone_of[item] = gone[1] if item not in before else max(gone[1], gone_of[before[item]])
        if item.is_record and (admitted := _admitted(leg, item))[0] < NEVER:
            yield _Stay(item, admitted, decided, gone)


def _admitted(leg: LegHistory, item: Item) -> Bounds:
    """Return when a record may be admitted at the earliest, and when it must be, in ms.

    No event shows when it begins to wait: for its key in key-ordered mode, for other records in a
    batch, for its permit with limits. If the operator is over when the record arrives, no call
    follows.
    """
    called_at = NEVER if item.call is None else item.call.at
    waits = leg.key_ordered or leg.scenario.batch is not None or leg.scenario.limits
    if waits or (item.call is None and leg.may_be_over_at <= item.at):
        return item.at, called_at
    return called_at, called_at


def _present(
    leg: LegHistory, stays: Sequence[_Stay], line: _Line
) -> Mapping[str, Sequence[Bounds]]:
    surely, maybe = line.surely, line.maybe
    gone = [(maybe(stay.gone[0]), surely(stay.gone[1])) for stay in stays]
    admitted = [(maybe(stay.admitted[0]), surely(stay.admitted[1])) for stay in stays]
    decided = [(maybe(stay.decided), surely(stay.decided)) for stay in stays]
    both = list(zip(admitted, gone, strict=True))
    held = list(zip(decided, gone, strict=True))
    return {
        "in_flight": line.bounds(((c[1], g[0]) for c, g in both), ((c[0], g[1]) for c, g in both)),
        "held": line.bounds(((d[1], g[0]) for d, g in held), ((d[0], g[1]) for d, g in held)),
        "waiting": line.bounds(*zip(*_waiting(leg, line), strict=True)),
    }


def _waiting(leg: LegHistory, line: _Line) -> Iterator[tuple[Span, Span]]:
    """Yield when elements of the source surely wait for room, and when they may.

    No event shows when a fence finds room: it has found room when it is out, or when the next
    element is read.
    """
    nowhere = (0, 0)
    yield nowhere, nowhere
    stored = [item for item in leg.items if item.is_stored]
    following = [*(item.at for item in stored[1:]), NEVER]
    for item, then in zip(stored, following, strict=False):
        if item.index is None:
            continue
        if item.is_record:
            may, must = _admitted(leg, item)
            yield (
                (line.surely(item.at), line.maybe(may)),
                (line.maybe(item.at), line.surely(must)),
            )
        else:
            until = line.surely(min(item.emitted_at, then))
            yield nowhere, (line.maybe(item.at), until)


def _totals(leg: LegHistory, line: _Line) -> Mapping[str, Sequence[Bounds]]:
    repeated = [call for item in leg.records for call in item.attempts[1:]]
    late = [item for item in leg.records if item.timed_out]
    failed = (item for item in leg.records if item.failure and not item.cause)
    spared = [item for item in failed if item.results is not None]

    def decided(items: Iterable[Item]) -> list[Bounds]:
        return [(item.decided_at, item.decided_at) for item in items]

    # Calls without a reason may count as retries.
    needless = [(call.at, NEVER) for call in leg.extra_calls]
    return {
        "calls": line.total((call.at, call.at) for call in leg.calls),
        "batches": line.total((batch[0].at, batch[0].at) for batch in leg.batches),
        "retries": line.total([*((call.at, call.at) for call in repeated), *needless]),
        "timeouts": line.total(decided(late)),
        "failures_handled": line.total(decided(spared)),
        "abandoned": line.total(_abandoned(leg)),
        **_kept(leg, line),
    }


def _kept(leg: LegHistory, line: _Line) -> Mapping[str, Sequence[Bounds]]:
    """Count the calls with a cache by kind; a call with stale results counts only as stale.

    A call in the very instant in which a load of its key ended may share the load, or get its
    results from the cache.
    """
    if leg.scenario.cache is None:
        return dict.fromkeys(_OF_A_CACHE, [(0, 0)] * line.never)
    times: dict[str, list[Bounds]] = {
        name: [] for name in (*_OF_A_CACHE, "old loads", "old shared")
    }
    for load in leg.loads:
        for call in load.calls:
            kinds = _kinds(load, call)
            for kind in kinds:
                times[kind].append((call.at, call.at if len(kinds) == 1 else NEVER))
            if call.is_stale and (left_at := min(call.deadline, call.limit)) >= load.ended_at:
                given = load.ended_at, load.ended_at if left_at > load.ended_at else NEVER
                times["stale"].append(given)
                times[f"old {kinds[0]}"].append(given)
            if call.at >= leg.end_at:  # A load ahead of time may not have started.
                times["refreshes"].append((call.at, NEVER))
    times["hits"] += [(call.at, call.at) for call in leg.calls if call.batch is None]
    totals = {name: line.total(each) for name, each in times.items()}
    for name in ("loads", "shared"):
        both = zip(totals[name], totals.pop(f"old {name}"), strict=True)
        totals[name] = [(each[0] - old[1], each[1] - old[0]) for each, old in both]
    return {**totals, "evictions": [leg.kept.evictions(at) for at in line.ats]}


_OF_A_CACHE = ("hits", "shared", "loads", "stale", "null_keys", "refreshes", "evictions")


def _kinds(load: Load, call: Call) -> Sequence[str]:
    if load.is_null:
        return ("null_keys",)
    if call is load.calls[0]:
        return ("refreshes",) if load.is_background else ("loads",)
    if call.at == load.ended_at and load.results is not None:
        return "shared", "hits"
    if call.at > load.ended_at and call.at >= call.deadline:
        return "hits", "loads"  # The operator may be left before the call's own load starts.
    return ("hits",) if call.at > load.ended_at else ("shared",)


def _abandoned(leg: LegHistory) -> Iterator[Bounds]:
    """Yield when calls that ran on may count as abandoned, and when they must."""
    for call in leg.runs:
        if call.ended_at > call.cancelled_at:
            known = min(call.cancelled_at + TURN, leg.overtaken.get(call, NEVER))
            # A consumer that has seen the end of the stream only waits for clean-ups.
            yield call.cancelled_at, known if known < min(call.ended_at, leg.end_at) else NEVER


def _highest(
    leg: LegHistory, stays: Sequence[_Stay], figures: Sequence[FiguresRead], name: str
) -> list[Bounds]:
    """Return the bounds of a figure's high-water mark at each reading.

    The mark is not lower than the figure at any earlier rest or reading. It is not higher than if
    in each instant all arrivals came before all departures.
    """
    rests = _Line([rest.at for rest in leg.rests])
    at_rests = [least for least, _ in _present(leg, stays, rests)[name]]
    reached = [0, *accumulate(at_rests, max)]
    own = accumulate((getattr(each, name) for each in figures), max)
    comes = sorted(stay.admitted[0] if name == "in_flight" else stay.decided for stay in stays)
    goes = sorted(stay.gone[1] for stay in stays)
    there = [number - bisect_left(goes, at) for number, at in enumerate(comes, start=1)]
    peaks = [0, *accumulate(there, max)]
    return [
        (
            max(reached[rests.maybe(each.at)], shown),
            min(leg.room, peaks[bisect_right(comes, each.at)]),
        )
        for each, shown in zip(figures, own, strict=True)
    ]


def _oldest(stays: Sequence[_Stay], line: _Line) -> Iterator[Bounds]:
    """Yield when the oldest record that may be in flight began, and the oldest that must be."""
    called = sorted((stay.admitted[1], *stay.gone) for stay in stays)
    may = [((line.maybe(at), line.surely(must)), at) for at, _, must in called]
    must = [((line.surely(at), line.maybe(may)), at) for at, may, _ in called]
    for earliest, latest in zip(first(may, line.never), first(must, line.never), strict=True):
        yield NEVER if earliest is None else earliest, NEVER if latest is None else latest
