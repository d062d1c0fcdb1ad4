"""What is wrong with a recorded run, found from its calls and results alone."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import inf

from _job import Job, Work
from _job_runs import Call, Run
from _optimum import SLACK, Gauge

IDLE = 1e-3
"""Seconds for which room may stay unused: timers are no more exact on every loop."""


def problems(job: Job, run: Run) -> list[str]:
    """Return each kind of problem once, with its first instance."""
    if run.error:
        return [run.error]
    results = _wrong_shared if job.cache else _wrong_results
    found = [*results(job, run), *_wrong_calls(job, run), *_exceeded(job, run)]
    return found or [*_unused(job, run)]


def _wrong_results(job: Job, run: Run) -> Iterator[str]:
    works = {work.index: work for work in job.work()}
    is_cut = job.timeout or job.longest < inf
    given = [index for results in run.results for _, index, _ in results]
    wanted = set(works)
    if job.budget is not None:
        counts = Counter(work.index for call in run.calls for work in call.works)
        ended = (i for i, n in counts.items() if n == min(works[i].fails + 1, job.most_calls))
        wanted = set(given) if is_cut else set(ended)
        if len(run.calls) > job.budget or (len(given) < job.count and len(run.calls) < job.budget):
            yield f"budget: {len(run.calls)} calls were made of {job.budget}"
    if wanted - set(given):
        yield f"lost: {sorted(wanted - set(given))[:5]} of {job.count}, {len(given)} came"
    if len(given) > len(set(given)):
        yield f"repeated: {[i for i, times in Counter(given).items() if times > 1][:5]}"
    for number, results in enumerate(run.results):
        lines: defaultdict[int, list[int]] = defaultdict(list)
        for _, index, is_good in results:
            if index % job.operators != number:
                yield f"crossed: operator {number} gave the result of {index}"
            is_left = job.budget is not None and not is_good  # a value without its next call
            if not is_cut and not is_left and is_good is not (works[index].fails < job.most_calls):
                yield f"outcome: value {index} counts as {'decided' if is_good else 'failed'}"
            lines[works[index].key if job.mode == "key-ordered" else 0].append(index)
        if job.mode != "unordered" and any(line != sorted(line) for line in lines.values()):
            yield "disorder: results are out of order"


def _wrong_shared(job: Job, run: Run) -> Iterator[str]:
    """Check the results of values that share them: each is the key of its value, or failed."""
    for works, results in zip(job.shares(), run.results, strict=True):
        keys = [work.key for work in works]
        given = [
            index if is_good else works[index // job.operators].key for _, index, is_good in results
        ]
        if job.mode == "ordered" and given != keys[: len(given)]:
            yield "disorder: results are out of order"
        if job.budget is None and Counter(given) != Counter(keys):
            lost, more = Counter(keys) - Counter(given), Counter(given) - Counter(keys)
            yield f"lost: {dict(lost)}, repeated: {dict(more)}"


def _wrong_calls(job: Job, run: Run) -> Iterator[str]:
    most = job.most_calls
    is_exact = not (job.timeout or job.cache or job.longest < inf or job.budget is not None)
    counts = Counter(work.index for call in run.calls for work in call.works)
    for work in job.work():
        times = counts[work.index]
        is_wrong = times not in (0, min(work.fails + 1, most)) if is_exact else times > most
        if job.hedge is None and is_wrong:
            yield f"calls: value {work.index} was called {times} times"
    last: dict[tuple[int, int], float] = {}
    runs_on = run.in_threads and (job.timeout or job.longest < inf)
    for call in run.calls:
        for work in call.works if job.mode == "key-ordered" and not runs_on else ():
            line = work.index % job.operators, work.key
            if call.start + SLACK < last.get(line, 0):
                yield f"overlapping: two calls of key {work.key} at {call.start:.6g} s"
            last[line] = call.end


def _exceeded(job: Job, run: Run) -> Iterator[str]:
    if any(rule.kind == "adaptive" for rule in job.limits):
        return
    for gauge in Gauge.of(job.limits):
        for call in sorted(run.calls, key=lambda call: call.start):
            if not gauge.has_room(call.start, call.works[0].key, call.costs):
                yield f"exceeded: at {call.start:.6g} s: {gauge.rule}"
                break
            gauge.add(call.start, call.end, call.works[0].key, call.costs)


def _unused(job: Job, run: Run) -> Iterator[str]:
    """Find the first call that could have started earlier."""
    kinds = {rule.kind for rule in job.limits}
    shares_calls = job.batch or job.cache or job.hedge or job.copy
    if not shares_calls and not kinds & {"adaptive", "breaker"} and run.calls:
        yield from _Replay(job, run).idle()


class _Item:
    """A call that was made: from when on it could be made, and its place in the line."""

    def __init__(self, work: Work, call: Call, ready: float, *, is_first: bool) -> None:
        self.work, self.call, self.ready, self.is_first = work, call, ready, is_first

    def line(self) -> tuple[bool, float]:
        return self.is_first, self.work.index if self.is_first else self.ready


class _Replay:
    """A run that is played again, to look at each instant at which room came up."""

    def __init__(self, job: Job, run: Run) -> None:
        self.job, self.gauges = job, Gauge.of(job.limits)
        self.calls = sorted(run.calls, key=lambda call: call.start)
        self.read = {i: at for results in run.results for at, i, _ in results}
        self.decided = {call.works[0].index: call.end for call in self.calls}
        if job.timeout is not None:
            self.decided = {i: max(self.read.get(i, inf), d) for i, d in self.decided.items()}
        self.before: dict[int, int] = {}  # the value of the same key in front of a value
        last: dict[tuple[int, int], int] = {}
        for work in job.work() if job.mode == "key-ordered" else ():
            line = work.index % job.operators, work.key
            if line in last:
                self.before[work.index] = last[line]
            last[line] = work.index
        self.items = sorted(self._items(), key=_Item.line)
        self.waiting: dict[bool, dict[int, _Item]] = {False: {}, True: {}}
        for item in self.items:
            self.waiting[item.is_first][id(item)] = item
        self.reads: list[list[float]] = []
        self.ends: list[list[float]] = []
        for number in range(job.operators):
            own = [i for i in self.decided if i % job.operators == number]
            self.reads.append(sorted(self.read.get(i, inf) for i in own))
            self.ends.append(sorted(self.decided[i] for i in own))

    def _items(self) -> Iterator[_Item]:
        calls: defaultdict[int, list[Call]] = defaultdict(list)
        for call in self.calls:
            calls[call.works[0].index].append(call)
        for own in calls.values():
            work = own[0].works[0]
            for number, call in enumerate(own):
                ready = work.at
                if number:
                    is_cut = work.seconds(number - 1) > self.job.longest
                    ready = own[number - 1].end + self.job.back_off(number, is_cut=is_cut)
                yield _Item(work, call, ready, is_first=number == 0)

    def idle(self) -> Iterator[str]:
        times = {item.ready for item in self.items} | {call.end for call in self.calls}
        times |= {g.leaves(call.start, call.end) for call in self.calls for g in self.gauges}
        times |= set(self.read.values())
        by_start = sorted(self.items, key=lambda item: item.call.start)
        started = 0
        for now in sorted(times):
            while started < len(by_start) and by_start[started].call.start <= now + IDLE:
                item = by_start[started]
                del self.waiting[item.is_first][id(item)]
                for gauge in self.gauges:
                    gauge.add(item.call.start, item.call.end, item.work.key, item.work.cost)
                started += 1
            if started == len(by_start):
                return
            if (idle := self._could_start(now)) is not None:
                waited = f"started at {idle.call.start:.6g} s, room since {now:.6g} s"
                yield f"idle: value {idle.work.index} {waited}"
                return

    def _could_start(self, now: float) -> _Item | None:
        """Return a call that waits in vain: its operator's first, and no first call lacks room."""
        rooms = [self._room(now, number) for number in range(self.job.operators)]
        first: dict[int, _Item] = {}
        for item in self._in_line(now, rooms):
            full = self._full(item, now)
            # Further attempts that become ready in one instant have no order.
            ties = [] if item.is_first else [*self.waiting[False].values()]
            for other in ties:
                if abs(other.ready - item.ready) <= SLACK:
                    full += [gauge for gauge in self._full(other, now) if not gauge.by]
            number = item.work.index % self.job.operators
            if number not in first and not all(gauge.by for gauge in full):
                return None
            if not full:
                first.setdefault(number, item)
            if len(first) == self.job.operators:
                break
        return next(iter(first.values()), None)

    def _full(self, item: _Item, now: float) -> list[Gauge]:
        key, cost = item.work.key, item.work.cost
        return [gauge for gauge in self.gauges if not gauge.has_room(now, key, cost)]

    def _in_line(self, now: float, rooms: list[int]) -> Iterator[_Item]:
        """Yield the calls that wait for limits alone: further attempts first."""
        for item in self.waiting[False].values():
            if item.ready > now:
                break
            yield item
        for item in self.waiting[True].values():
            place, number = divmod(item.work.index, self.job.operators)
            if item.ready > now or place >= max(rooms):
                break
            before = self.before.get(item.work.index)
            is_free = before is None or self.decided.get(before, inf) <= now
            if place < rooms[number] and is_free:
                yield item

    def _room(self, now: float, number: int) -> int:
        """Return how many values of an operator the capacity has let in."""
        read = bisect_right(self.reads[number], now)
        held = bisect_right(self.ends[number], now) - read
        return self.job.capacity + read + min(self.job.max_held or 0, max(held, 0))
