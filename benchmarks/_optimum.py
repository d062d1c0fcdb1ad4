"""The least time of a job: an ideal operator, played event by event, and closed bounds below it.

Nothing in here knows the limits of the package. The rules are those of the documentation: a call
counts from its start until `per` after its end, or after `latency` seconds if those end sooner.
The ideal operator starts each call in the instant in which its key, the capacity and all limits
have room. Values start in the order of the source; a value passes an earlier one only where the
earlier one waits for its own key, or for a limit of its own key.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any

from _job import Job, Rule, Work
from msgspec import Struct

SLACK = 1e-6
"""Seconds by which times differ through rounding."""


class Gauge:
    """What counts in one window, or is in flight, at a time that only goes forward."""

    def __init__(self, rule: Rule, most: float, per: float | None, latency: float) -> None:
        self.rule, self.by = rule, rule.by
        self._costs = rule.kind == "cost" or rule.weight
        self._most, self._per, self._latency = most, per, latency
        self._counted: defaultdict[int, float] = defaultdict(float)
        self._leaves: list[tuple[float, int, float]] = []

    @classmethod
    def of(cls, rules: Iterable[Rule], *, nominal: bool = False) -> "list[Gauge]":
        """Return a gauge for each window; a burst is a second, shorter window of starts.

        Args:
            rules: of the job; adaptive ones, budgets and breakers have no window.
            nominal: windows count from the start of a call, as if `latency` were 0.
        """
        gauges = []
        for rule in rules:
            latency = 0.0 if nominal else rule.arrives_in
            if rule.kind in ("calls", "cost"):
                gauges.append(cls(rule, rule.most, rule.per, latency))
                if rule.burst is not None:
                    per = rule.per * rule.burst / rule.most
                    gauges.append(cls(rule, rule.burst, per, 0.0))
            elif rule.kind in ("in_flight", "adaptive"):
                gauges.append(cls(rule, rule.most, None, 0.0))
        return gauges

    def leaves(self, start: float, end: float) -> float:
        """Return when a call counts no more."""
        return end if self._per is None else min(end, start + self._latency) + self._per

    def has_room(self, now: float, key: int, costs: float, *, share: bool = False) -> bool:
        """Return whether a call may start; with `share`, whether it exceeds nothing."""
        while self._leaves and self._leaves[0][0] <= now + SLACK:
            _, owner, cost = heappop(self._leaves)
            self._counted[owner] -= cost
        asked = 0 if share else (costs if self._costs else 1)
        return self._counted[key if self.by else 0] + asked <= self._most + SLACK

    def add(self, start: float, end: float, key: int, costs: float) -> float:
        """Count a call; return when it counts no more."""
        owner, cost = (key if self.by else 0), (costs if self._costs else 1)
        leaves = self.leaves(start, end)
        self._counted[owner] += cost
        heappush(self._leaves, (leaves, owner, cost))
        return leaves


class Plan(Struct, frozen=True):
    """The best run of a job.

    Args:
        seconds: until the consumer has dealt with the last result.
        starts: of all calls.
    """

    seconds: float
    starts: list[float]


class _Call(Struct, order=True):
    end: float
    number: int
    works: tuple[Work, ...]
    cut: bool
    """A timeout ends the call."""


class _Lane:
    """One ideal operator with its consumer."""

    def __init__(self, job: Job, works: list[Work], gauges: list[Gauge], plan: "_Play") -> None:
        self.job, self.works, self.gauges, self.play = job, works, gauges, plan
        self.held: dict[int, None] = {}  # decided, not read by the consumer; in this order
        self.unstarted: dict[int, Work] = dict(enumerate(works))
        self.running: list[_Call] = []
        self.again: list[tuple[float, Work]] = []
        self.busy: set[int] = set()
        self.attempts: Counter[int] = Counter()
        self.first: dict[int, float] = {}
        self.seen: dict[int, float] = {}
        self.loads: dict[int, tuple[float, float]] = {}
        self.place = {work.index: place for place, work in enumerate(works)}
        self.read, self.front, self.free_at = 0, 0, 0.0
        self.dropped: set[int] = set()  # left without a further call by a spent budget

    @property
    def is_over(self) -> bool:
        return self.read + len(self.dropped) == len(self.works)

    def step(self, now: float) -> bool:
        """Do one thing that can be done now; return whether there was one."""
        if self.running and self.running[0].end <= now + SLACK:
            self._end(heappop(self.running))
            return True
        for entry in self.again:
            if self._deadline(entry[1]) <= now + SLACK:
                self.again.remove(entry)
                self._decide(entry[1])
                return True
        if self.held and self.free_at <= now + SLACK:
            while self.front in self.dropped:
                self.front += 1
            place = self.front if self.job.mode == "ordered" else next(iter(self.held))
            if place in self.held:
                self.front += 1
                del self.held[place]
                reads = self.job.reads
                self.free_at = now + reads[self.read % len(reads)]
                self.read += 1
                self.play.wake(self.free_at)
                return True
        if self.play.budget <= 0:
            self.dropped |= {*self.unstarted, *(self.place[work.index] for _, work in self.again)}
            self.unstarted, self.again = {}, []
            return False
        return self._start_batch(now) if self.job.batch else self._start_one(now)

    def _admitted(self, now: float) -> Iterable[Work]:
        room = self.job.capacity + self.read + min(self.job.max_held or 0, len(self.held))
        for place, work in self.unstarted.items():
            if place >= room or work.at > now + SLACK:
                return
            yield work

    def _waiting(self, now: float) -> Iterable[Work]:
        yield from (work for ready, work in self.again if ready <= now + SLACK)
        for work in self._admitted(now):
            if self.job.mode != "key-ordered" or work.key not in self.busy:
                yield work

    def _start_one(self, now: float) -> bool:
        """Start all values that can start, in their order; return whether there was one."""
        tried: set[int] = set()
        full_keys: set[int] = set()
        has_started = False
        is_keyed = self.job.mode == "key-ordered"
        for work in list(self._waiting(now)):
            if is_keyed and self.place[work.index] in self.unstarted:
                if work.key in tried:
                    continue  # behind an earlier value of its key
                tried.add(work.key)
            if work.key in full_keys:
                continue
            if self._is_kept(work, now):
                return True
            full = [g for g in self.gauges if not g.has_room(now, work.key, work.cost)]
            if not full and self.play.budget > 0:
                self._start(now, (work,))
                has_started = True
            elif not all(gauge.by for gauge in full):
                break
            elif len(self.job.costs) == 1:
                full_keys.add(work.key)
        return has_started

    def _is_kept(self, work: Work, now: float) -> bool:
        """Return whether the cache decides a value, now or when a load ends."""
        begun, end = self.loads.get(work.key, (-inf, 0))
        if not self.job.cache or now >= begun + self.job.cache["ttl"]:
            return False
        del self.unstarted[self.place[work.index]]
        self.attempts[work.index] = work.fails + 1
        heappush(self.running, _Call(max(end, now), self.play.number(), (work,), cut=False))
        return True

    def _start_batch(self, now: float) -> bool:
        batch: Any = {"max_size": 25, "max_wait": 0.005, "in_flight": 4, **(self.job.batch or {})}
        waiting, keys = [], set()
        for work in self._waiting(now):
            if self.job.mode == "key-ordered" and work.key in keys:
                continue
            keys.add(work.key)
            if work.index not in self.seen:
                self.seen[work.index] = now
                self.play.wake(now + batch["max_wait"])
            waiting.append(work)
        if not waiting or len(self.running) >= batch["in_flight"]:
            return False
        goes = tuple(waiting[: batch["max_size"]])
        admitted = sum(1 for _ in self._admitted(now))
        more = admitted < len(self.unstarted) and self.works[-1].at > now
        waited = now + SLACK >= self.seen[goes[0].index] + batch["max_wait"]
        if len(goes) < batch["max_size"] and more and not waited:
            return False
        costs = sum(work.cost for work in goes)
        if not all(gauge.has_room(now, goes[0].key, costs) for gauge in self.gauges):
            return False
        self._start(now, goes)
        return True

    def _deadline(self, work: Work) -> float:
        return self.first[work.index] + (self.job.timeout or inf)

    def _start(self, now: float, works: tuple[Work, ...]) -> None:
        for work in works:
            if self.unstarted.pop(self.place[work.index], None) is None:
                self.again = [each for each in self.again if each[1] is not work]
            self.first.setdefault(work.index, now)
            self.busy.add(work.key)
        takes = max(work.seconds(self.attempts[work.index]) for work in works)
        if self.job.hedge is not None:
            takes = min(takes, self.job.hedge + works[0].again)
        bound = min(now + self.job.longest, *(self._deadline(work) for work in works), inf)
        end = min(now + takes, bound)
        for work in works:
            self.attempts[work.index] += 1
            self.loads[work.key] = (now, end)
        heappush(self.running, _Call(end, self.play.number(), works, cut=now + takes > bound))
        self.play.start(now, end, works, self.gauges)

    def _end(self, call: _Call) -> None:
        most = self.job.most_calls
        for work in call.works:
            done = self.attempts[work.index]
            is_late = work.index in self.first and call.end + SLACK >= self._deadline(work)
            if (call.cut or done <= work.fails) and done < most and not is_late:
                ready = call.end + self.job.back_off(done, is_cut=call.cut)
                self.again.append((ready, work))
                self.again.sort(key=lambda entry: entry[0])
                self.play.wake(ready)
                self.play.wake(self._deadline(work))
            else:
                self._decide(work)

    def _decide(self, work: Work) -> None:
        self.held[self.place[work.index]] = None
        self.busy.discard(work.key)


class _Play:
    """All operators of a job, and the time."""

    def __init__(self, job: Job, *, nominal: bool) -> None:
        gauges = Gauge.of(job.limits, nominal=nominal)
        self.budget = min((r.most for r in job.limits if r.kind == "budget"), default=inf)
        self.lanes = [_Lane(job, share, gauges, self) for share in job.shares()]
        self._times = [work.at for work in job.work()]
        self._times.sort()
        self._numbers = 0
        self.starts: list[float] = []

    def wake(self, at: float) -> None:
        if at < inf:
            heappush(self._times, at)

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def start(self, now: float, end: float, works: Sequence[Work], gauges: list[Gauge]) -> None:
        self.starts.append(now)
        self.budget -= 1
        self.wake(end)
        for gauge in gauges:
            self.wake(gauge.add(now, end, works[0].key, sum(work.cost for work in works)))

    def run(self) -> Plan:
        now = 0.0
        while not all(lane.is_over for lane in self.lanes):
            now = heappop(self._times)
            while sum(lane.step(now) for lane in self.lanes):
                pass  # each operator does one thing in turn
        return Plan(max(lane.free_at for lane in self.lanes), self.starts)


def best(job: Job, *, nominal: bool = False) -> Plan:
    """Return the best run of a job."""
    return _Play(job, nominal=nominal).run()


def bound(job: Job) -> float:
    """Return seconds that no run can go below; weak where values share calls or are cut."""
    works = job.work()
    if (
        job.budget is not None
        or job.batch
        or job.cache
        or job.timeout
        or job.hedge
        or job.longest < inf
    ):
        return 0.0
    attempts = {work.index: min(work.fails + 1, job.most_calls) for work in works}
    calls = [(work, work.seconds(n)) for work in works for n in range(attempts[work.index])]
    chains = {
        work.index: sum(work.seconds(n) for n in range(attempts[work.index]))
        + sum(job.back_off(n) for n in range(1, attempts[work.index]))
        for work in works
    }
    busy = sum(seconds for _, seconds in calls) / job.capacity / job.operators
    bounds = [busy if job.max_held is None else 0.0, _longest(job, works, chains)]
    spent = sum(job.reads[n % len(job.reads)] for n in range(len(works) // job.operators))
    bounds.append(spent + min(work.at + chains[work.index] for work in works))
    for rule in job.limits:
        groups: defaultdict[int, list[tuple[Work, float]]] = defaultdict(list)
        for work, seconds in calls:
            groups[work.key if rule.by else 0].append((work, seconds))
        bounds += [_rate(rule, group) for group in groups.values()]
    return max(bounds)


def _rate(rule: Rule, calls: list[tuple[Work, float]]) -> float:
    costs = [work.cost if rule.kind == "cost" or rule.weight else 1 for work, _ in calls]
    if rule.kind in ("in_flight", "adaptive"):
        return sum(c * s for c, (_, s) in zip(costs, calls, strict=True)) / rule.most
    if rule.kind not in ("calls", "cost"):
        return 0.0
    counts = [min(seconds, rule.arrives_in) + rule.per for _, seconds in calls]
    total = sum(cost * count for cost, count in zip(costs, counts, strict=True)) / rule.most
    return total - max(count - s for count, (_, s) in zip(counts, calls, strict=True))


def _longest(job: Job, works: list[Work], chains: dict[int, float]) -> float:
    ends: defaultdict[tuple[int, int], float] = defaultdict(float)
    for work in works:
        line = work.index % job.operators, work.key
        key = line if job.mode == "key-ordered" else (work.index, -1)
        ends[key] = max(ends[key], work.at) + chains[work.index]
    return max(ends.values())
