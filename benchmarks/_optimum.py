"""The least time of a job: an ideal operator, played event by event.

Nothing in here knows the limits of the package. The rules are those of the documentation: a call
counts from its start until `per` after its end, or after `latency` seconds if those end sooner.
The ideal operator starts each call in the instant in which its key, the capacity and all limits
have room. Values start in the order of the source; a value passes an earlier one only where the
earlier one waits for its own key, or for a limit of its own key.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from _job import Job, Rule, Work

SLACK = 1e-6
"""Seconds by which times differ through rounding."""


class Gauge:
    """Calls or costs in one window, or in flight if `per` is None; time only goes forward."""

    def __init__(self, rule: Rule, most: float, per: float | None, latency: float = 0.0) -> None:
        self.rule, self.by, self._most, self._per, self._latency = rule, rule.by, most, per, latency
        self._costs = rule.kind == "cost" or rule.weight
        self._counted: defaultdict[int, float] = defaultdict(float)
        self._leaves: list[tuple[float, int, float]] = []

    def leaves(self, start: float, end: float) -> float:
        return end if self._per is None else min(end, start + self._latency) + self._per

    def has_room(self, now: float, works: Sequence[Work]) -> bool:
        while self._leaves and self._leaves[0][0] <= now + SLACK:
            _, owner, cost = heappop(self._leaves)
            self._counted[owner] -= cost
        owner, cost = self._of(works)
        return self._counted[owner] + cost <= self._most + SLACK

    def add(self, start: float, end: float, works: Sequence[Work]) -> float:
        (owner, cost), leaves = self._of(works), self.leaves(start, end)
        self._counted[owner] += cost
        heappush(self._leaves, (leaves, owner, cost))
        return leaves

    def _of(self, works: Sequence[Work]) -> tuple[int, int]:
        cost = sum(work.cost for work in works) if self._costs else 1
        return works[0].key if self.by else 0, cost


def gauges_of(rules: Iterable[Rule]) -> Iterator[Gauge]:
    """Yield a gauge for each window; a burst is a second window."""
    for rule in rules:
        if rule.kind in ("calls", "cost"):
            yield Gauge(rule, rule.most, rule.per, rule.arrives_in)
            if rule.burst is not None:
                yield Gauge(rule, rule.burst, rule.per * rule.burst / rule.most)
        elif rule.kind in ("in_flight", "adaptive"):
            yield Gauge(rule, rule.most, None)


class _Call(NamedTuple):
    end: float
    number: int
    works: tuple[Work, ...]
    is_cut: bool


class _Lane:
    """One ideal operator with its consumer."""

    def __init__(self, works: list[Work], play: "_Play") -> None:
        self.job, self.works, self.play = play.job, works, play
        self.held: dict[int, None] = {}  # decided and not read, by their places
        self.unstarted = dict(enumerate(works))
        self.place = {work.index: place for place, work in enumerate(works)}
        self.running: list[_Call] = []
        self.again: list[tuple[float, Work]] = []  # each with the end of its back-off
        self.busy, self.dropped = set[int](), set[int]()  # keys; places without a budget
        self.attempts = Counter[int]()
        self.first, self.seen = dict[int, float](), dict[int, float]()
        self.loads: dict[int, tuple[float, float]] = {}
        self.read, self.front, self.free_at = 0, 0, 0.0

    def step(self, now: float) -> bool:
        if self.running and self.running[0].end <= now + SLACK:
            self._end(heappop(self.running))
            return True
        for entry in self.again:
            if self._deadline(entry[1]) <= now + SLACK:
                self.again.remove(entry)
                self._decide(entry[1])
                return True
        while self.front in self.dropped:
            self.front += 1
        if self.held and self.free_at <= now + SLACK:
            place = self.front if self.job.mode == "ordered" else next(iter(self.held))
            if place in self.held:
                self.front += 1
                del self.held[place]
                self.free_at = now + self.job.reads[self.read % len(self.job.reads)]
                self.read += 1
                self.play.wake(self.free_at)
                return True
        if self.play.budget <= 0:
            self.dropped |= {*self.unstarted, *(self.place[work.index] for _, work in self.again)}
            self.unstarted, self.again = {}, []
            return False
        return self._start_batch(now) if self.job.batch else self._start_all(now)

    def _admitted(self, now: float) -> Iterator[Work]:
        room = self.job.capacity + self.read + min(self.job.max_held or 0, len(self.held))
        for place, work in self.unstarted.items():
            if place >= room or work.at > now + SLACK:
                return
            yield work

    def _waiting(self, now: float) -> list[Work]:
        """Return the values that wait for limits alone; of a key, the first one."""
        waiting = [work for ready, work in self.again if ready <= now + SLACK]
        if self.job.mode != "key-ordered":
            return [*waiting, *self._admitted(now)]
        first: dict[int, Work] = {}
        for work in self._admitted(now):
            first.setdefault(work.key, work)
        return waiting + [work for key, work in first.items() if key not in self.busy]

    def _start_all(self, now: float) -> bool:
        """Start all values that can start, in their order; return whether there was one."""
        has_started = False
        for work in self._waiting(now):
            if self._is_kept(work, now):
                return True
            full = [g for g in self.play.gauges if not g.has_room(now, (work,))]
            if not full and self.play.budget > 0:
                self._start(now, (work,))
                has_started = True
            elif not all(gauge.by for gauge in full):
                break
        return has_started

    def _is_kept(self, work: Work, now: float) -> bool:
        """Return whether the cache decides a value, now or when a load ends."""
        begun, end = self.loads.get(work.key, (-inf, 0))
        if not self.job.cache or now >= begun + self.job.cache["ttl"]:
            return False
        del self.unstarted[self.place[work.index]]
        self.attempts[work.index] = work.fails + 1
        heappush(self.running, _Call(max(end, now), work.index, (work,), is_cut=False))
        return True

    def _start_batch(self, now: float) -> bool:
        batch: Any = {"max_size": 25, "max_wait": 0.005, "in_flight": 4, **(self.job.batch or {})}
        waiting = self._waiting(now)
        for work in waiting:
            if work.index not in self.seen:
                self.seen[work.index] = now
                self.play.wake(now + batch["max_wait"])
        if not waiting or len(self.running) >= batch["in_flight"]:
            return False
        goes = tuple(waiting[: batch["max_size"]])
        more = len([*self._admitted(now)]) < len(self.unstarted) and self.works[-1].at > now
        waited = now + SLACK >= self.seen[goes[0].index] + batch["max_wait"]
        if len(goes) < batch["max_size"] and more and not waited:
            return False
        if not all(gauge.has_room(now, goes) for gauge in self.play.gauges):
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
        bound = min(now + self.job.longest, *map(self._deadline, works), inf)
        end = min(now + takes, bound)
        for work in works:
            self.attempts[work.index] += 1
            self.loads[work.key] = now, end
        heappush(self.running, _Call(end, works[0].index, works, is_cut=now + takes > bound))
        self.play.start(now, end, works)

    def _end(self, call: _Call) -> None:
        for work in call.works:
            done = self.attempts[work.index]
            is_late = work.index in self.first and call.end + SLACK >= self._deadline(work)
            fails = call.is_cut or done <= work.fails
            if fails and done < self.job.most_calls and not is_late:
                ready = call.end + self.job.back_off(done, is_cut=call.is_cut)
                self.again = sorted([*self.again, (ready, work)], key=lambda each: each[0])
                self.play.wake(ready)
                self.play.wake(self._deadline(work))
            else:
                self._decide(work)

    def _decide(self, work: Work) -> None:
        self.held[self.place[work.index]] = None
        self.busy.discard(work.key)


class _Play:
    def __init__(self, job: Job) -> None:
        self.job, self.gauges = job, [*gauges_of(job.limits)]
        self.budget = inf if job.budget is None else job.budget
        self.lanes = [_Lane(share, self) for share in job.shares()]
        self._times = sorted(work.at for work in job.work())

    def wake(self, at: float) -> None:
        if at < inf:
            heappush(self._times, at)

    def start(self, now: float, end: float, works: tuple[Work, ...]) -> None:
        self.budget -= 1
        self.wake(end)
        for gauge in self.gauges:
            self.wake(gauge.add(now, end, works))

    def run(self) -> None:
        while any(lane.read + len(lane.dropped) < len(lane.works) for lane in self.lanes):
            now = heappop(self._times)
            while sum(lane.step(now) for lane in self.lanes):
                pass  # each operator does one thing in turn


def best(job: Job) -> float:
    """Return when the last result of the best run is read."""
    play = _Play(job)
    play.run()
    return max(lane.free_at for lane in play.lanes)
