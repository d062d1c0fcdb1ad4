"""Counts of limits: the calls of windows, the costs of budgets, the failures of breakers."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from asyncwait.conformance.judging import NEVER, ROUNDING, Call, Item, LegHistory
from asyncwait.spec.scenario import PlannedLimit

Place: TypeAlias = tuple[int, str]
"""Number of a limit, and the key whose calls it bounds; "" for all calls together."""


class Run(Struct, frozen=True, eq=False):
    """One call of the function, for one record or for a batch.

    Args:
        calls: the call in the history, once for each record.
        is_retry: whether one of the records was called before.
        at: start, in ms since the leg began.
        seq: number of the start event.
        ended_at: end in ms; NEVER while the call runs.
        ended_seq: number of the end event; -1 without an event.
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
    first = {item.call for item in leg.records}
    found = []
    for batch, each in groupby(leg.calls, key=lambda call: call.batch):
        calls = tuple(each)
        shared = [calls] if batch is not None else [(call,) for call in calls]
        found += [_run(leg, some, is_retry=not first.issuperset(some)) for some in shared]
    return found


def _run(leg: LegHistory, calls: tuple[Call, ...], *, is_retry: bool) -> Run:
    ended_at, ended_seq = max((call.ended_at, call.ended_seq) for call in calls)
    if leg.scenario.form == "callback" and calls[0].until <= ended_at:
        ended_at, ended_seq = (
            calls[0].until,
            -1,
        )  # The record is decided, and so the call has ended.
    return Run(calls, is_retry, calls[0].at, calls[0].seq, ended_at, ended_seq)


class Window(NamedTuple):
    """Window of a limit for calls in any `per` ms, for calls at a time, or for a burst.

    Args:
        number: position of the limit in the scenario.
        limit: the limit itself.
        most: calls, or cost, that the window may hold.
        per: length in ms; None for calls at a time.
        latency: ms from the start of a call until the service has surely got it.
        is_burst: whether the window bounds the calls that start together.
    """

    number: int
    limit: PlannedLimit
    most: int
    per: float | None
    latency: float = 0
    is_burst: bool = False

    def until(self, run: Run) -> float:
        """Return until when the window counts a call, in ms."""
        if self.per is None:
            return run.ended_at
        return round(min(run.ended_at, run.at + self.latency) + self.per, 3)


def windows(leg: LegHistory) -> Sequence[Window]:
    """Return the windows of all limits except budgets and breakers, each burst after its limit."""
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
    """Return the place in which a call for a value needs room."""
    return window.number, leg.scenario.group(value) if window.limit.by else ""


def estimate(leg: LegHistory, limit: PlannedLimit, run: Run) -> float:
    """Return the size of a call as the operator knows it before the call."""
    if not limit.costs:
        return 1
    return sum(leg.scenario.cost(call.value) for call in run.calls)


def sizes(leg: LegHistory, limit: PlannedLimit, run: Run) -> tuple[float, float]:
    """Return the size of a call before its end, and the size after its end."""
    before = estimate(leg, limit, run)
    told = [leg.scenario.used(call.value, call.step) for call in run.calls]
    is_told = limit.kind != "in-flight" and limit.costs and run.ended_seq >= 0
    if not is_told or None in told or run.calls[0].ended is None:
        return before, before
    is_cancelled = run.calls[0].ended.how == "cancelled"
    return before, before if is_cancelled else sum(each or 0 for each in told)


class Load(NamedTuple):
    """A call, and the sizes that a window held when the call began.

    Args:
        window: the window.
        run: the call.
        held: sum of the sizes, the size of the call included.
        first: the same sum without retries.
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
    """Return the smallest possible load of each window when each call began."""
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
    if window.per is None:
        if before.ended_seq < 0:
            return before.ended_at > run.at
        return before.ended_seq > run.seq
    return window.until(before) > run.at + ROUNDING


def _least(leg: LegHistory, window: Window, before: Run, run: Run) -> float:
    known, told = sizes(leg, window.limit, before)
    return min(known, told) if before.ended_at <= run.at else known


def is_too_large(leg: LegHistory, item: Item) -> bool:
    """Whether the call for a single record exceeds a limit."""
    cost = leg.scenario.cost(item.element.value)  # type: ignore[union-attr]
    exceeded = [each for each in windows(leg) if each.limit.costs and cost > each.most]
    budgets = (each for each in leg.scenario.limits if each.kind == "budget" and each.costs)
    return bool(exceeded) or any(cost > each.most and not each.told for each in budgets)


class Spending(NamedTuple):
    """A call that begins, and the least costs charged to a budget by then.

    Args:
        run: the call.
        budget: the budget.
        charged: costs of the calls before it.
        estimate: estimate of its own cost.
        is_alone: whether no call runs beside it.
        is_known: whether an earlier call has reported its cost.
    """

    run: Run
    budget: PlannedLimit
    charged: float
    estimate: float
    is_alone: bool
    is_known: bool


def spendings(leg: LegHistory) -> Sequence[Spending]:
    """Return the least costs charged to each budget when each call begins."""
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
    """Return the cost that a call reported; None without one, or if the budget counts calls."""
    call = run.calls[0]
    if not (budget.costs or budget.told) or call.ended is None or call.ended.how == "cancelled":
        return None
    return leg.scenario.used(call.value, call.step)


def _charge(leg: LegHistory, budget: PlannedLimit, before: Run, own: float, run: Run) -> float:
    if before.ended_at > run.at or not (budget.costs or budget.told):
        return own
    told, call = _told(leg, budget, before), before.calls[0]
    if told is None and call.ended is not None and call.ended.how == "raised":
        told = 0 if call.step.error == "RetryAfter" else None
    final = own if told is None else told
    return min(own, final) if before.ended_at == run.at else final


def pause(leg: LegHistory, breaker: PlannedLimit) -> tuple[float, int, float] | None:
    """Return when a breaker first opened, the number of that event, and when its pause ended.

    A call that succeeds meanwhile closes the breaker. Return None if the breaker never opened, or
    if a call succeeded between the failures, which the operator may then count together or not.
    """
    ended = (run for run in leg.once(runs) if run.ended_at < NEVER)
    ends = sorted(ended, key=lambda run: (run.ended_at, run.ended_seq))
    failed: list[float] = []
    succeeded_at = -NEVER
    for number, run in enumerate(ends):
        if not _has_failed(run):
            succeeded_at = run.ended_at
            continue
        failed = [*(at for at in failed if at > run.ended_at - breaker.per), run.ended_at]
        if len(failed) >= breaker.most:
            if succeeded_at >= failed[-breaker.most]:
                return None
            closed = (each.ended_at for each in ends[number + 1 :] if not _has_failed(each))
            until = min(run.ended_at + breaker.rest, next(closed, NEVER))
            return run.ended_at, int(run.ended_seq), until
    return None


def _has_failed(run: Run) -> bool:
    ended, step = run.calls[0].ended, run.calls[0].step
    is_cut = run.ended_seq < 0  # In callback form the answer comes after the limit.
    if is_cut or ended is None or ended.how == "cancelled":
        return True
    return ended.how == "raised" and step.error == ""
