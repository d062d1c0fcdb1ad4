"""The calls that limits count, the room that they leave, and the records that wait for permits."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging import (
    NEVER,
    ROUNDING,
    Call,
    Item,
    LegHistory,
    Rest,
    figures_read,
    item_of,
)
from asyncwait.spec.scenario import FiguresRead, PlannedLimit

Place: TypeAlias = tuple[int, str]
"""Number of a limit, and the key for which it has room of its own."""


class Run(Struct, frozen=True, eq=False):
    """One call of the function, of one record or of a batch.

    Args:
        calls: one for each record.
        is_retry: whether one of its records was called before.
        at: ms since the leg began.
        ended_at: ms; NEVER while it runs.
    """

    calls: tuple[Call, ...]
    is_retry: bool
    at: float
    seq: int
    ended_at: float
    ended_seq: float

    def __str__(self) -> str:
        numbers = ", ".join(str(call.number) for call in self.calls)
        return f"call {numbers} of {', '.join(repr(call.value) for call in self.calls)}"


def runs(leg: LegHistory) -> Sequence[Run]:
    """Return the calls of the function, in the order of their start."""
    shared = [
        calls
        for batch, each in groupby(leg.calls, key=lambda call: call.batch)
        for calls in ([tuple(each)] if batch is not None else [(call,) for call in each])
    ]
    first = {item.call for item in leg.records}
    return [_run(leg, calls, is_retry=not first.issuperset(calls)) for calls in shared]


def _run(leg: LegHistory, calls: tuple[Call, ...], *, is_retry: bool) -> Run:
    ended_at, ended_seq = max(((c.ended_at, c.ended_seq) for c in calls), default=(NEVER, -1))
    if leg.scenario.form == "callback" and calls[0].until <= ended_at:
        ended_at, ended_seq = calls[0].until, -1  # Nothing more is known of it.
    return Run(calls, is_retry, calls[0].at, calls[0].seq, ended_at, ended_seq)


class Window(NamedTuple):
    """A limit, or the burst of one: calls in any `per` ms, or at a time where that is None.

    Args:
        number: of the limit in the scenario.
        latency: ms from the start of a call until the service counts it.
    """

    number: int
    limit: PlannedLimit
    most: int
    per: float | None
    latency: float = 0
    is_burst: bool = False

    def until(self, run: Run) -> float:
        """Return until when a call counts, in ms."""
        if self.per is None:
            return run.ended_at
        return round(min(run.ended_at, run.at + self.latency) + self.per, 3)


def windows(leg: LegHistory) -> Sequence[Window]:
    """Return all limits but budgets and breakers, bursts behind their limits."""
    found = []
    for number, limit in enumerate(leg.scenario.limits):
        if limit.kind == "in-flight":
            found.append(Window(number, limit, limit.most, None))
        if limit.kind == "window":
            found.append(Window(number, limit, limit.most, limit.per, limit.latency))
        if limit.burst is not None:
            per = limit.per * limit.burst / limit.most
            found.append(Window(number, limit, limit.burst, per, is_burst=True))
    return found


def place_of(leg: LegHistory, window: Window, value: object) -> Place:
    """Return which room a call for a value needs."""
    return window.number, leg.scenario.group(value) if window.limit.by else ""


def estimate(leg: LegHistory, limit: PlannedLimit, run: Run) -> float:
    """Return the size of a call as it is known before the call."""
    if not limit.costs:
        return 1
    return sum(leg.scenario.cost(call.value) for call in run.calls)


def sizes(leg: LegHistory, limit: PlannedLimit, run: Run) -> tuple[float, float]:
    """Return the size of a call before and behind its end."""
    before = estimate(leg, limit, run)
    told = [leg.scenario.used(call.value, call.step) for call in run.calls]
    is_told = limit.kind != "in-flight" and limit.costs and run.ended_seq >= 0
    if not is_told or None in told or run.calls[0].ended is None:
        return before, before
    is_cancelled = run.calls[0].ended.how == "cancelled"
    return before, before if is_cancelled else sum(each or 0 for each in told)


class Load(NamedTuple):
    """A call, and what a window held when it began.

    Args:
        held: its own size included.
        first: the same without calls of records that were called before.
    """

    window: Window
    run: Run
    held: float
    first: float

    def __str__(self) -> str:
        unit = "cost" if self.window.limit.costs else "calls"
        text = f"{self.run} makes {unit} of {self.held:g}, at most {self.window.most}"
        return f"{text} {'run' if self.window.per is None else f'start in {self.window.per:g} ms'}"


def loads(leg: LegHistory) -> Sequence[Load]:
    """Return what each window held, at the least, when each call began."""
    return [load for window in windows(leg) for load in _loads(leg, window)]


def _loads(leg: LegHistory, window: Window) -> Iterator[Load]:
    open_runs: dict[Place, list[Run]] = defaultdict(list)
    for run in leg.once(runs):
        place = place_of(leg, window, run.calls[0].value)
        held = [each for each in open_runs[place] if _counts(window, each, run)]
        open_runs[place] = [*held, run]
        taken = [(_least(leg, window, each, run), each) for each in held]
        own = estimate(leg, window.limit, run)
        first = sum(size for size, each in taken if not each.is_retry)
        is_first = not run.is_retry
        yield Load(window, run, own + sum(size for size, _ in taken), first + own * is_first)


def _counts(window: Window, before: Run, run: Run) -> bool:
    """Whether a call still counts when a later one begins."""
    if window.per is None:
        if before.ended_seq < 0:
            return before.ended_at > run.at
        return before.ended_seq > run.seq
    return window.until(before) > run.at + ROUNDING


def _least(leg: LegHistory, window: Window, before: Run, run: Run) -> float:
    """Return the least size of a call when a later one begins."""
    known, told = sizes(leg, window.limit, before)
    return min(known, told) if before.ended_at <= run.at else known


# Who waits


class Waiter(Struct, frozen=True, eq=False):
    """A record that may wait for a permit at a moment of rest.

    Args:
        is_retry: it was called before.
        is_sure: it may surely be called.
    """

    item: Item
    is_retry: bool
    is_sure: bool


class Idle(NamedTuple):
    """A moment of rest at which records wait for permits.

    Args:
        unused: a record that is not called although all limits have room for it; None for none.
        rule: that says so, as it is for the reason why some may wait.
    """

    rest: Rest
    unused: Item | None
    rule: str


def idles(leg: LegHistory) -> Sequence[Idle]:
    """Return the moments of rest at which records wait that may surely be called."""
    scenario = leg.scenario
    has_others = any(each.kind not in {"window", "in-flight"} for each in scenario.limits)
    if not scenario.limits or has_others or scenario.batch is not None:
        return []
    return list(_idles(leg))


def _idles(leg: LegHistory) -> Iterator[Idle]:
    times = [*(event.at for event in leg.events), leg.end_at]
    for rest in leg.rests:
        until = times[rest.seq + 1]
        if rest.failed or not rest.waiting or until > leg.may_be_over_at:
            continue
        waiters = list(_waiters(leg, rest, until))
        sure = [each for each in waiters if each.is_sure]
        if not sure:
            continue
        room = _Room(leg, rest, until)
        unused = (
            w for w in sure if room.is_there(w.item) and not _is_reserved(leg, room, w, waiters)
        )
        found = next(unused, None)
        yield Idle(rest, None if found is None else found.item, _rule(leg, rest, until))


def _waiters(leg: LegHistory, rest: Rest, until: float) -> Iterator[Waiter]:
    """Yield the records that may wait for a permit just before the next instant."""
    behind = {item: before for before, item in leg.pairs_of_keys}
    is_admitted = rest.present <= leg.capacity
    for item in leg.records:
        if item.seq > rest.seq:
            return
        if item.decided_at <= rest.at or item.is_begun_before(rest.seq) or is_too_large(leg, item):
            continue
        begun = [call for call in item.attempts if call.seq <= rest.seq]
        if not begun:
            before = behind.get(item)
            is_free = before is None or before.decided_at <= rest.at
            if is_free:
                yield Waiter(item, is_retry=False, is_sure=is_admitted)
            continue
        ends = leg.outcomes(begun[-1], len(begun))
        if ends and any(not each.stands and each.since <= until for each in ends):
            is_sure = all(each.due < until - ROUNDING for each in ends)
            yield Waiter(item, is_retry=True, is_sure=is_sure and leg.deadline(item) >= until)


def queues(leg: LegHistory) -> Sequence[tuple[FiguresRead, int, int]]:
    """Return each reading of the figures with the least and the most records that wait then.

    In an instant in which something else happens, nobody can tell.
    """
    if not leg.scenario.limits or leg.scenario.batch is not None or leg.may_stop:
        return []
    alone = Counter(event.at for event in leg.events)
    rests = [rest for rest in leg.rests if not rest.failed]
    found = []
    for figures in figures_read(leg):
        number = bisect_left(rests, figures.at, key=lambda rest: rest.at)
        if number and alone[figures.at] == 1 and figures.at < leg.may_be_over_at:
            waiters = list(_waiters(leg, rests[number - 1], figures.at))
            found.append((figures, sum(each.is_sure for each in waiters), len(waiters)))
    return found


class _Room:
    """Room that limits have at a moment of rest, at the least."""

    def __init__(self, leg: LegHistory, rest: Rest, until: float) -> None:
        self._leg = leg
        self._taken: dict[Window, dict[Place, float]] = {}
        begun = [run for run in leg.once(runs) if run.seq <= rest.seq]
        for window in windows(leg):
            taken: dict[Place, float] = defaultdict(float)
            for run in begun:
                if _may_count(window, run, rest, until):
                    taken[place_of(leg, window, run.calls[0].value)] += max(
                        sizes(leg, window.limit, run)
                    )
            self._taken[window] = taken

    def lacks(self, item: Item) -> set[Place]:
        """Return the places in which a record may lack room."""
        value = item.element.value  # type: ignore[union-attr]
        found = set()
        for window, taken in self._taken.items():
            place = place_of(self._leg, window, value)
            size = self._leg.scenario.cost(value) if window.limit.costs else 1
            if taken[place] + size > window.most:
                found.add(place)
        return found

    def is_there(self, item: Item) -> bool:
        """Whether all limits surely have room for a record."""
        return not self.lacks(item)

    def places(self, item: Item) -> set[Place]:
        """Return all places that a record needs."""
        value = item.element.value  # type: ignore[union-attr]
        return {place_of(self._leg, window, value) for window in self._taken}


def _may_count(window: Window, run: Run, rest: Rest, until: float) -> bool:
    if window.per is None:
        return not -1 < run.calls[0].ended_seq <= rest.seq
    return window.until(run) >= until - ROUNDING


def _is_reserved(leg: LegHistory, room: _Room, waiter: Waiter, waiters: Sequence[Waiter]) -> bool:
    """Whether a record that may be in front lacks what another one needs."""
    places = room.places(waiter.item)
    return any(
        places & room.lacks(other.item)
        for other in waiters
        if other is not waiter and _may_be_before(leg, other, waiter)
    )


def _may_be_before(leg: LegHistory, other: Waiter, waiter: Waiter) -> bool:
    if other.is_retry or waiter.is_retry:
        return other.is_retry
    return leg.key_ordered or other.item.pos < waiter.item.pos


def _rule(leg: LegHistory, rest: Rest, until: float) -> str:
    """Return the rule that says why a record has to be called at a moment of rest."""
    there = [item for item in leg.records if item.seq <= rest.seq]
    if any(is_too_large(leg, item) and item.decided_at > rest.at for item in there):
        return "LIMIT-13"
    if any(_was_given_up(leg, item, rest) for item in there):
        return "LIMIT-6"
    if _some_can_not_be_called(leg, rest, until):
        return "LIMIT-5"
    return "LIMIT-10" if any(each.by for each in leg.scenario.limits) else "LIMIT-4"


def _was_given_up(leg: LegHistory, item: Item, rest: Rest) -> bool:
    """Whether a record was decided while it may have waited for a permit."""
    if not item.attempts or item.decided_at > rest.at:
        return False
    ends = leg.outcomes(item.attempts[-1], len(item.attempts))
    return any(not each.stands and each.since <= item.decided_at for each in ends)


def _some_can_not_be_called(leg: LegHistory, rest: Rest, until: float) -> bool:
    """Whether a record waits for its key, or backs off."""
    behind = {item: before for before, item in leg.pairs_of_keys}
    for item in leg.records:
        if item.seq > rest.seq or item.decided_at <= rest.at:
            continue
        begun = [call for call in item.attempts if call.seq <= rest.seq]
        if not begun and item in behind and behind[item].decided_at > rest.at:
            return True
        ends = leg.outcomes(begun[-1], len(begun)) if begun else ()
        if any(not each.stands and each.at <= rest.at and each.since >= until for each in ends):
            return True
    return False


def callable_since(leg: LegHistory) -> Mapping[Item, float]:
    """Return from when on each record may have been called, in ms: its key is free."""
    behind = {item: before for before, item in leg.pairs_of_keys}
    return {
        item: max(item.at, behind[item].decided_at if item in behind else -NEVER)
        for item in leg.records
    }


def pending_retry(leg: LegHistory, run: Run) -> Item | None:
    """Return a record that surely waited to be called again when a call began; None for none."""
    for item in leg.records:
        if item.seq > run.seq:
            return None
        begun = [call for call in item.attempts if call.seq < run.seq]
        if not begun or item.decided_at <= run.at or leg.deadline(item) <= run.at:
            continue
        ends = leg.outcomes(begun[-1], len(begun))
        if ends and all(not each.stands and each.due < run.at - ROUNDING for each in ends):
            return item
    return None


def waited(leg: LegHistory, call: Call) -> bool:
    """Whether the record of a call was there before the call began."""
    item = item_of(leg, call)
    return item is not None and item.at < call.at


def is_too_large(leg: LegHistory, item: Item) -> bool:
    """Whether a call for a record exceeds a limit alone."""
    cost = leg.scenario.cost(item.element.value)  # type: ignore[union-attr]
    exceeded = [each for each in windows(leg) if each.limit.costs and cost > each.most]
    budgets = (each for each in leg.scenario.limits if each.kind == "budget" and each.costs)
    return bool(exceeded) or any(cost > each.most and not each.told for each in budgets)


class Spending(NamedTuple):
    """A call that begins, and what a budget is charged with then, at the least.

    Args:
        estimate: its own.
        is_alone: no call runs beside it.
        is_known: a call has told its cost before.
    """

    run: Run
    budget: PlannedLimit
    charged: float
    estimate: float
    is_alone: bool
    is_known: bool


def spendings(leg: LegHistory) -> Sequence[Spending]:
    """Return what each budget is charged with when each call begins."""
    budgets = [each for each in leg.scenario.limits if each.kind == "budget"]
    return [each for budget in budgets for each in _spendings(leg, budget)]


def _spendings(leg: LegHistory, budget: PlannedLimit) -> Iterator[Spending]:
    begun: list[tuple[Run, float]] = []
    for run in leg.once(runs):
        ended = [each for each, _ in begun if each.ended_at < run.at]
        told = [cost for cost in map(partial(_told, leg, budget), ended) if cost is not None]
        estimate_now = max(told, default=0.0) if budget.told else estimate(leg, budget, run)
        charged = sum(_charge(leg, budget, each, own, run) for each, own in begun)
        running = [each for each, _ in begun if each.ended_at > run.at]
        before = [each for each, _ in begun if -1 < each.ended_seq < run.seq]
        is_known = any(_told(leg, budget, each) is not None for each in before)
        yield Spending(run, budget, charged, estimate_now, not running, is_known)
        begun.append((run, estimate_now))


def _told(leg: LegHistory, budget: PlannedLimit, run: Run) -> float | None:
    """Return the cost that a call told; None for no cost, and where calls are counted."""
    call = run.calls[0]
    if not (budget.costs or budget.told) or call.ended is None or call.ended.how == "cancelled":
        return None
    return leg.scenario.used(call.value, call.step)


def _charge(leg: LegHistory, budget: PlannedLimit, before: Run, own: float, run: Run) -> float:
    """Return the least that a budget is charged for a call, when a later one begins."""
    if before.ended_at > run.at or not (budget.costs or budget.told):
        return own
    told, call = _told(leg, budget, before), before.calls[0]
    if told is None and call.ended is not None and call.ended.how == "raised":
        told = 0 if call.step.error == "RetryAfter" else None
    final = own if told is None else told
    return min(own, final) if before.ended_at == run.at else final


def pauses(leg: LegHistory, breaker: PlannedLimit) -> Iterator[tuple[float, int, float]]:
    """Yield when a breaker opened, the number of that event, and until when no call may begin.

    A call that ends well closes it.
    """
    ends = sorted(
        (r for r in leg.once(runs) if r.ended_at < NEVER), key=lambda r: (r.ended_at, r.ended_seq)
    )
    failed: list[float] = []
    for run in ends:
        if not _has_failed(run):
            failed.clear()
            continue
        failed = [*(at for at in failed if at > run.ended_at - breaker.per), run.ended_at]
        if len(failed) >= breaker.most:
            later = (each for each in ends if each.ended_seq > run.ended_seq)
            closed = next((each.ended_at for each in later if not _has_failed(each)), NEVER)
            yield run.ended_at, int(run.ended_seq), min(run.ended_at + breaker.rest, closed)
            return


def _has_failed(run: Run) -> bool:
    """Whether a call has failed by a fault of the service."""
    ended, step = run.calls[0].ended, run.calls[0].step
    if ended is None or ended.how == "cancelled":
        return True
    return ended.how == "raised" and step.error == ""


def long_waits(leg: LegHistory) -> Sequence[tuple[Item, float, float]]:
    """Return who surely waits, since when and until when; for one limit, without retries."""
    if (
        leg.scenario.retry is not None
        or len(leg.scenario.limits) != 1
        or leg.scenario.batch is not None
    ):
        return []
    since: dict[Item, float] = {}
    found = []
    times = [*(event.at for event in leg.events), leg.end_at]
    for rest in leg.rests:
        until = times[rest.seq + 1]
        if not rest.failed and rest.waiting and until <= leg.may_be_over_at:
            waiters = [each.item for each in _waiters(leg, rest, until) if each.is_sure]
            found += [(item, since.setdefault(item, rest.at), until) for item in waiters]
    return found
