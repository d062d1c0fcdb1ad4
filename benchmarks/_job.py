"""Jobs as data: realistic ones, each option alone, and every pair of options."""

import random
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, combinations, cycle
from math import inf
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace


class Rule(Struct, frozen=True, repr_omit_defaults=True):
    """A limit as data: operators get a limit object made of it, the optimum reads it directly.

    Args:
        most: calls or costs in a window; calls, or weights, at a time; calls in all; failures.
        latency: None for the documented default.
        by: whether each key has a limit of its own.
        weight: whether the cost of a value is its weight.
    """

    kind: Literal["calls", "cost", "in_flight", "adaptive", "budget", "breaker"]
    most: int
    per: float = 0.0
    latency: float | None = None
    by: bool = False
    burst: int | None = None
    weight: bool = False
    max_wait: float | None = None

    @property
    def arrives_in(self) -> float:
        default = min(max(0.25, self.per / 50), self.per / 10)
        return default if self.latency is None else self.latency


class Work(Struct, frozen=True):
    """A value, with what its calls do."""

    index: int
    at: float
    takes: float
    again: float
    key: int
    cost: int
    fails: int

    def seconds(self, attempt: int) -> float:
        return self.takes if attempt == 0 else self.again


class Job(Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """A job; sequences repeat themselves until each value has its number.

    Args:
        takes: seconds of the first call of each value.
        again: seconds of each further call, a hedge included; None for as long as the first.
        keys: none for a key of its own for each value.
        fails: failing calls of each value.
        after: seconds that a failing call names in a RetryAfter; None for another error.
        gaps: seconds in front of each value of the source.
        reads: seconds that the consumer spends on each result.
        operators: number of operators that share the limits, and the values in turn.
    """

    name: str
    count: int
    takes: Sequence[float]
    again: float | None = None
    keys: Sequence[int] = ()
    costs: Sequence[int] = (1,)
    fails: Sequence[int] = (0,)
    after: float | None = None
    gaps: Sequence[float] = ()
    reads: Sequence[float] = (0,)
    limits: tuple[Rule, ...] = ()
    mode: Literal["ordered", "unordered", "key-ordered"] = "ordered"
    capacity: int = 100
    timeout: float | None = None
    retry: dict[str, Any] | None = None
    max_held: int | None = None
    copy: bool = False
    batch: dict[str, Any] | None = None
    cache: dict[str, Any] | None = None
    many: bool = False
    hedge: float | None = None
    operators: int = 1

    def work(self) -> list[Work]:
        count, again, at = range(self.count), self.again, accumulate(cycle(self.gaps or (0,)))
        more = map(cycle, (self.keys or count, self.costs, self.fails))
        columns = zip(count, at, cycle(self.takes), *more, strict=False)
        return [Work(i, at, t, t if again is None else again, *rest) for i, at, t, *rest in columns]

    def shares(self) -> list[list[Work]]:
        work = self.work()
        return [work[place :: self.operators] for place in range(self.operators)]

    @property
    def budget(self) -> int | None:
        return min((rule.most for rule in self.limits if rule.kind == "budget"), default=None)

    @property
    def most_calls(self) -> int:
        return int((self.retry or {"max_attempts": 1}).get("max_attempts", 3))

    @property
    def longest(self) -> float:
        return float((self.retry or {}).get("attempt_timeout") or inf)

    def back_off(self, attempts: int, *, is_cut: bool = False) -> float:
        """Return the seconds to wait after so many calls; `is_cut`: the last one was too long."""
        if self.after is not None and not is_cut:
            return self.after
        return float(min((self.retry or {}).get("initial", 0.1) * 2.0 ** (attempts - 1), 60))


def tail(low: float, middle: float, high: float, seed: int) -> list[float]:
    """Return seconds with a long tail: half of them near `middle`, few up to `high`."""
    rng = random.Random(seed)
    drawn = (rng.lognormvariate(0, 0.8) * middle for _ in range(97))
    return [round(min(max(each, low), high), 3) for each in drawn]


calls, tokens, at_once = (partial(Rule, kind) for kind in ("calls", "cost", "in_flight"))
LLM, WEB, LOOKUP = tail(2, 9, 60, 1), tail(0.05, 0.4, 8, 3), tail(0.001, 0.004, 0.05, 4)
"""Seconds of a language model, a web server and a database."""
PROMPTS = [int(100 * each) for each in tail(1, 4, 40, 2)]
HOSTS = random.Random(5).choices(range(300), [1 / (rank + 5) for rank in range(300)], k=400)
HOT = [0, 0, 1, 0, 2, 0, 3, 4, 0, 5]
"""Keys of changes: half of them are of one row."""
MINUTE, HOST = (calls(500, 60), tokens(200_000, 60)), (calls(1, 1, by=True), at_once(2, by=True))
AGAIN, CUT = {"max_attempts": 5, "initial": 0.5}, {"max_attempts": 3, "attempt_timeout": 90}
HOUR, BURSTS, HANG = {"max_keys": 100, "ttl": 3600}, [0.0] * 49 + [30.0], [*LLM, 3600.0]


def job(name: str, *limits: Rule, **options: Any) -> Job:
    return Job(name=name, limits=limits, **options)


def realistic() -> list[Job]:
    llm = partial(job, count=500, takes=LLM, capacity=300, costs=PROMPTS)
    web = partial(job, count=300, takes=WEB, keys=HOSTS)
    lookups = partial(job, count=10000, takes=LOOKUP)
    rows = partial(job, count=400, takes=(0.2, 0.5, 0.3), keys=HOT, mode="key-ordered")
    mail = partial(job, count=500, takes=(0.3, 0.2, 1.5))
    free, by_key = {"mode": "unordered"}, {"mode": "key-ordered"}
    # fmt: off
    return [
        llm("LLM, no limit", count=400, capacity=100),
        llm("LLM, 20 calls a second", calls(20, 1), count=400, capacity=400),
        llm("LLM, 500 calls a minute", MINUTE[0]),
        llm("LLM, 200,000 tokens a minute", MINUTE[1]),
        llm("LLM, calls and tokens a minute", *MINUTE),
        llm("LLM, the same unordered", *MINUTE, **free),
        llm("LLM, the same, held results", *MINUTE, capacity=150, max_held=1000),
        llm("LLM, the same and 64 at a time", *MINUTE, at_once(64)),
        llm("LLM, large prompts", *MINUTE, costs=(30_000, 500, 500, 500), count=200),
        llm("LLM, 3 calls a minute", calls(3, 60), count=20),
        llm("LLM, 1 call a second", calls(1, 1), count=120),
        llm("LLM, 10 calls per 100 ms", calls(10, 0.1), count=400),
        llm("LLM, no latency", calls(20, 1, latency=0), count=400),
        llm("LLM, 2 s latency", calls(20, 1, latency=2), count=400),
        llm("LLM, 429 now and then", *MINUTE, fails=[0] * 19 + [1], after=20, again=6, retry=AGAIN),
        llm("LLM, errors, back-off", *MINUTE, count=200, fails=(0, 0, 2), retry=AGAIN),
        llm("LLM, one call hangs", *MINUTE, count=300, takes=HANG, timeout=120, **free),
        llm("LLM, a hang, cut", calls(20, 1), count=300, takes=HANG, again=5, retry=CUT, **free),
        llm("LLM, hang of an hour", calls(5, 1), count=97, takes=[3600, *LLM], **free),
        llm("LLM, hedged", *MINUTE, count=300, takes=[5] * 29 + [60], again=5, hedge=8),
        llm("LLM, budget of 150 calls", Rule("budget", 150), count=400),
        llm("LLM, budget and calls", Rule("budget", 150), calls(20, 10), count=400),
        llm("LLM, conversations", *MINUTE, count=200, keys=range(25), **by_key),
        llm("LLM, two operators", *MINUTE, count=400, operators=2),
        llm("LLM, two operators, 20 a second", calls(20, 1), count=400, operators=2),
        llm("LLM, slow consumer", *MINUTE, count=200, reads=(1,)),
        llm("LLM, questions trickle in", *MINUTE, count=200, gaps=(2, 5, 0.5)),
        llm("LLM, questions in bursts", calls(20, 1), count=200, gaps=BURSTS),
        llm("LLM, many answers each", *MINUTE, count=200, many=True),
        llm("LLM, repeated questions", calls(20, 1), count=300, keys=range(60), cache=HOUR),
        llm("LLM, batches of prompts", *MINUTE, count=400, batch={"max_size": 20}),
        llm("LLM, evenly, 5 together", calls(60, 60, burst=5), count=200),
        llm("LLM, limit of each customer", calls(5, 10, by=True), count=300, keys=range(10)),
        llm("LLM, adaptive", Rule("adaptive", 32), count=400),
        llm("LLM, max_wait never reached", calls(20, 1, max_wait=600), count=100),
        llm("LLM, breaker never opens", calls(20, 1), Rule("breaker", 5), count=100),
        web("crawl, no limit"),
        web("crawl, one call a host", capacity=200, **by_key),
        web("crawl, one call a host, 50 at a time", at_once(50), capacity=400, **by_key),
        web("crawl, 2 at a time a host", HOST[1], capacity=200),
        web("crawl, 1 a second a host", HOST[0], capacity=200, **free),
        web("crawl, both, 100 at a time", *HOST, at_once(100), capacity=200, **free),
        web("crawl, timeouts", at_once(50), takes=[*WEB, 300], timeout=10),
        web("crawl, retries", at_once(50), fails=[0] * 9 + [2], retry=AGAIN),
        web("crawl, adaptive", Rule("adaptive", 50)),
        web("crawl, weighted", at_once(20, weight=True), count=500, costs=(1, 1, 8)),
        lookups("lookups, 100 at a time", at_once(100)),
        lookups("lookups, 10 at a time", at_once(10), count=3000),
        lookups("lookups, 1,000 a second", calls(1000, 1), count=5000),
        lookups("lookups, batches", at_once(4), batch={"max_size": 25, "in_flight": 4}),
        lookups("lookups, cache, hot keys", calls(100, 1), count=5000, keys=HOT, cache=HOUR),
        lookups("lookups, copies", at_once(10), count=2000, copy=True),
        rows("changes of rows, hot row"),
        rows("changes, hot row, 3 at a time", at_once(3)),
        rows("changes, hot row, 5 a second", calls(5, 1)),
        rows("changes, retries hold the key", at_once(4), fails=(0, 0, 0, 1), retry=AGAIN),
        mail("mail, 14 a second", calls(14, 1)),
        mail("mail, pauses of a minute", calls(14, 1), gaps=[0.02] * 99 + [60]),
        mail("mail, fast consumer, capacity 8", calls(14, 1), capacity=8),
        mail("mail, slow consumer, capacity 8", calls(14, 1), capacity=8, reads=(0.1,), count=300),
        mail("mail, consumer pauses", calls(14, 1), reads=[0] * 99 + [45], count=300, max_held=50),
        mail("mail, Retry-After 0", calls(14, 1), fails=(0, 0, 0, 0, 1), after=0, retry=AGAIN),
        mail("mail, short and long window", calls(14, 1), calls(300, 60)),
        mail("payments, 25 a second, 10 at a time", calls(25, 1), at_once(10)),
        mail("geocoding, 1 a second", calls(1, 1), count=90, takes=(0.15,)),
        mail("geocoding, 50,000 a day", calls(50000, 86400), count=300, takes=(0.15,)),
    ]
    # fmt: on


KEYS, COSTS = (1, 2, 3, 1, 1, 4), (2, 5, 1, 3)
# fmt: off
OPTIONS: dict[str, dict[str, Any]] = {
    "timeout": {"timeout": 8},
    "retry": {"retry": {"max_attempts": 3, "initial": 0.5}, "fails": (0, 1, 0, 0, 2)},
    "attempt_timeout": {"again": 2, "retry": {"max_attempts": 3, "attempt_timeout": 5}},
    "retry-after": {"retry": {"max_attempts": 3}, "after": 7, "fails": (0, 0, 1)},
    "small capacity": {"capacity": 3},
    "max_held": {"max_held": 4, "capacity": 4},
    "copy": {"copy": True},
    "batch": {"batch": {"max_size": 3, "max_wait": 0.5, "in_flight": 3}},
    "cache": {"cache": {"max_keys": 20, "ttl": 300}, "keys": KEYS},
    "many": {"many": True},
    "key order": {"mode": "key-ordered", "keys": KEYS},
    "unordered": {"mode": "unordered"},
    "hedge": {"hedge": 12, "again": 1},
    "slow consumer": {"reads": (0.5,)},
    "trickle": {"gaps": (0.4, 0, 3)},
    "calls": {"limits": (calls(3, 2),)},
    "tokens": {"limits": (tokens(10, 3),), "costs": COSTS},
    "in flight": {"limits": (at_once(5),)},
    "adaptive": {"limits": (Rule("adaptive", 8),)},
    "budget": {"limits": (Rule("budget", 15),)},
    "calls of a key": {"limits": (calls(2, 6, by=True),), "keys": KEYS},
    "in flight of a key": {"limits": (at_once(2, by=True),), "keys": KEYS},
    "burst": {"limits": (calls(6, 6, burst=2),)},
    "weight": {"limits": (at_once(10, weight=True),), "costs": COSTS},
    "max_wait": {"limits": (calls(4, 2, max_wait=500),)},
    "breaker": {"limits": (Rule("breaker", 50),)},
    "two operators": {"operators": 2},
}
# fmt: on
"""Each option, in the smallest job that shows it."""


def clash(first: str, second: str) -> bool:
    """Return whether two options exclude each other."""
    # A failing load fails all values that wait for it, which the optimum does not model.
    joins = [{"cache", each} for each in ("retry", "retry-after", "attempt_timeout", "batch")]
    joins += [{"batch", "hedge"}, {"retry", "retry-after"}, {"key order", "unordered"}]
    return {first, second} in joins


def small(*names: str) -> Job:
    """Return a job that has all options: the limits of each, and one `retry` of all."""
    given: dict[str, Any] = {}
    for option in map(OPTIONS.__getitem__, names):
        limits = given.get("limits", ()) + option.get("limits", ())
        retry = {**given.get("retry", {}), **option.get("retry", {})}
        given = {**given, **option, "limits": limits, "retry": retry}
    given["retry"] = given["retry"] or None
    return Job(name=" + ".join(names), count=20, takes=(1, 4, 2, 9, 3), **given)


def alone() -> list[Job]:
    return [replace(small(name), name=f"option: {name}") for name in OPTIONS]


def pairs() -> list[Job]:
    return [small(*pair) for pair in combinations(OPTIONS, 2) if not clash(*pair)]
