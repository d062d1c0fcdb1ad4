"""Realistic jobs, each option alone, and every pair of options."""

import random
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

from _job import Job, Rule


def tail(low: float, middle: float, high: float, *, seed: int = 1, count: int = 97) -> list[float]:
    """Return seconds with a long tail: half of them near `middle`, few up to `high`."""
    rng = random.Random(seed)
    drawn = (rng.lognormvariate(0, 0.8) * middle for _ in range(count))
    return [round(min(max(each, low), high), 3) for each in drawn]


def calls(most: int, per: float, **more: Any) -> Rule:
    return Rule(kind="calls", most=most, per=per, **more)


def tokens(most: int, per: float, **more: Any) -> Rule:
    return Rule(kind="cost", most=most, per=per, **more)


def at_once(most: int, **more: Any) -> Rule:
    return Rule(kind="in_flight", most=most, **more)


LLM = tail(2, 9, 60)
"""Seconds of a language model."""

PROMPTS = [int(100 * each) for each in tail(1, 4, 40, seed=2)]
"""Tokens."""

WEB = tail(0.05, 0.4, 8, seed=3)
"""Seconds of a web server."""

LOOKUP = tail(0.001, 0.004, 0.05, seed=4)
"""Seconds of a database."""

MINUTE = (calls(500, 60), tokens(200_000, 60))
HOSTS = random.Random(5).choices(range(300), [1 / (rank + 5) for rank in range(300)], k=400)
HOT = [0, 0, 1, 0, 2, 0, 3, 4, 0, 5]
"""Keys of changes: half of them are of one row."""

AGAIN = {"max_attempts": 5, "initial": 0.5}
BURSTS = [0.0] * 49 + [30.0]


def job(name: str, *limits: Rule, **options: Any) -> Job:
    return Job(name=name, limits=limits, **options)


def realistic() -> Iterator[Job]:  # noqa: PLR0915 - a table
    """Yield jobs as users have them."""
    yield job("LLM, no limit", count=400, takes=LLM)
    yield job("LLM, 20 calls a second", calls(20, 1), count=400, takes=LLM, capacity=400)
    llm = partial(job, count=500, takes=LLM, capacity=300, costs=PROMPTS)
    yield llm("LLM, 500 calls a minute", *MINUTE[:1])
    yield llm("LLM, 200,000 tokens a minute", *MINUTE[1:])
    yield llm("LLM, calls and tokens a minute", *MINUTE)
    yield llm("LLM, the same unordered", *MINUTE, mode="unordered")
    yield llm("LLM, the same, held results", *MINUTE, capacity=150, max_held=1000)
    yield llm("LLM, the same and 64 at a time", *MINUTE, at_once(64))
    yield llm("LLM, large prompts", *MINUTE, costs=(30_000, 500, 500, 500), count=200)
    yield llm("LLM, 3 calls a minute", calls(3, 60), count=20)
    yield llm("LLM, 1 call a second", calls(1, 1), count=120)
    yield llm("LLM, 10 calls per 100 ms", calls(10, 0.1), count=400)
    yield llm("LLM, no latency", calls(20, 1, latency=0), count=400)
    yield llm("LLM, 2 s latency", calls(20, 1, latency=2), count=400)
    yield llm(
        "LLM, 429 now and then",
        *MINUTE,
        count=500,
        fails=(0,) * 19 + (1,),
        after=20,
        again=6,
        retry=AGAIN,
    )
    yield llm("LLM, errors, back-off", *MINUTE, count=200, fails=(0, 0, 2), retry=AGAIN)
    yield llm(
        "LLM, one call hangs",
        *MINUTE,
        count=300,
        takes=[*LLM, 3600.0],
        timeout=120,
        mode="unordered",
    )
    yield llm(
        "LLM, a hang, attempts cut",
        calls(20, 1),
        count=300,
        takes=[*LLM, 3600.0],
        again=5,
        retry={"max_attempts": 3, "attempt_timeout": 90},
        mode="unordered",
    )
    yield llm("LLM, hang of an hour", calls(5, 1), count=97, takes=[3600.0, *LLM], mode="unordered")
    yield llm("LLM, hedged", *MINUTE, count=300, takes=(5,) * 29 + (60,), again=5, hedge=8)
    yield llm("LLM, budget of 150 calls", Rule(kind="budget", most=150), count=400)
    yield llm("LLM, budget and calls", Rule(kind="budget", most=150), calls(20, 10), count=400)
    yield llm("LLM, conversations", *MINUTE, count=200, keys=range(25), mode="key-ordered")
    yield llm("LLM, two operators", *MINUTE, count=400, operators=2)
    yield llm("LLM, two operators, 20 a second", calls(20, 1), count=400, operators=2)
    yield llm("LLM, slow consumer", *MINUTE, count=200, reads=(1,))
    yield llm("LLM, questions trickle in", *MINUTE, count=200, gaps=(2, 5, 0.5))
    yield llm("LLM, questions in bursts", calls(20, 1), count=200, gaps=BURSTS)
    yield llm("LLM, many answers each", *MINUTE, count=200, many=True)
    yield llm(
        "LLM, repeated questions",
        calls(20, 1),
        count=300,
        keys=range(60),
        cache={"max_keys": 100, "ttl": 3600},
    )
    yield llm("LLM, batches of prompts", *MINUTE, count=400, batch={"max_size": 20})
    yield llm("LLM, evenly, 5 together", calls(60, 60, burst=5), count=200)
    yield llm("LLM, limit of each customer", calls(5, 10, by=True), count=300, keys=range(10))
    yield llm("LLM, adaptive", Rule(kind="adaptive", most=32), count=400)
    yield llm("LLM, max_wait never reached", calls(20, 1, max_wait=600), count=100)
    yield llm(
        "LLM, breaker never opens",
        calls(20, 1),
        Rule(kind="breaker", most=5, per=10, rest=30),
        count=100,
    )
    web = partial(job, count=300, takes=WEB, keys=HOSTS)
    yield web("crawl, no limit")
    yield web("crawl, one call a host", mode="key-ordered", capacity=200)
    yield web("crawl, one call a host, 50 at a time", at_once(50), mode="key-ordered", capacity=400)
    yield web("crawl, 2 at a time a host", at_once(2, by=True), capacity=200)
    yield web("crawl, 1 a second a host", calls(1, 1, by=True), capacity=200, mode="unordered")
    yield web(
        "crawl, both, 100 at a time",
        calls(1, 1, by=True),
        at_once(2, by=True),
        at_once(100),
        capacity=200,
        mode="unordered",
    )
    yield web("crawl, timeouts", at_once(50), takes=[*WEB, 300.0], timeout=10)
    yield web("crawl, retries", at_once(50), fails=(0,) * 9 + (2,), retry=AGAIN)
    yield web("crawl, adaptive", Rule(kind="adaptive", most=50))
    yield web("crawl, weighted", at_once(20, weight=True), count=500, costs=(1, 1, 8))
    short = partial(job, count=10000, takes=LOOKUP)
    yield short("lookups, 100 at a time", at_once(100))
    yield short("lookups, 10 at a time", at_once(10), count=3000)
    yield short("lookups, 1,000 a second", calls(1000, 1), count=5000)
    yield short("lookups, batches", at_once(4), batch={"max_size": 25, "in_flight": 4})
    yield short(
        "lookups, cache, hot keys",
        calls(100, 1),
        count=5000,
        keys=HOT,
        cache={"max_keys": 1000, "ttl": 60},
    )
    yield short("lookups, copies", at_once(10), count=2000, copy=True)
    rows = partial(job, count=400, takes=(0.2, 0.5, 0.3), keys=HOT, mode="key-ordered")
    yield rows("changes of rows, hot row")
    yield rows("changes, hot row, 3 at a time", at_once(3))
    yield rows("changes, hot row, 5 a second", calls(5, 1))
    yield rows("changes, retries hold the key", at_once(4), fails=(0, 0, 0, 1), retry=AGAIN)
    mail = partial(job, count=500, takes=(0.3, 0.2, 1.5))
    yield mail("mail, 14 a second", calls(14, 1))
    yield mail("mail, pauses of a minute", calls(14, 1), gaps=(0.02,) * 99 + (60.0,))
    yield mail("mail, fast consumer, small capacity", calls(14, 1), capacity=8)
    yield mail(
        "mail, slow consumer, small capacity", calls(14, 1), capacity=8, reads=(0.1,), count=300
    )
    yield mail(
        "mail, the consumer pauses",
        calls(14, 1),
        reads=(0.0,) * 99 + (45.0,),
        count=300,
        max_held=50,
    )
    yield mail("mail, Retry-After 0", calls(14, 1), fails=(0, 0, 0, 0, 1), after=0, retry=AGAIN)
    yield mail("mail, short and long window", calls(14, 1), calls(300, 60))
    yield mail("payments, 25 a second, 10 at a time", calls(25, 1), at_once(10))
    yield mail("geocoding, 1 a second", calls(1, 1), count=90, takes=(0.15,))
    yield mail("geocoding, 50,000 a day", calls(50000, 86400), count=300, takes=(0.15,))


OPTIONS: dict[str, dict[str, Any]] = {
    "timeout": {"timeout": 8},
    "retry": {"retry": {"max_attempts": 3, "initial": 0.5}, "fails": (0, 1, 0, 0, 2)},
    "attempt_timeout": {"retry": {"max_attempts": 3, "attempt_timeout": 5}, "again": 2},
    "retry-after": {"retry": {"max_attempts": 3}, "fails": (0, 0, 1), "after": 7},
    "small capacity": {"capacity": 3},
    "max_held": {"max_held": 4, "capacity": 4},
    "copy": {"copy": True},
    "batch": {"batch": {"max_size": 3, "max_wait": 0.5, "in_flight": 3}},
    "cache": {"cache": {"max_keys": 20, "ttl": 300}, "keys": (1, 2, 3, 1, 1, 4)},
    "many": {"many": True},
    "key order": {"mode": "key-ordered", "keys": (1, 2, 3, 1, 1, 4)},
    "unordered": {"mode": "unordered"},
    "hedge": {"hedge": 12, "again": 1},
    "slow consumer": {"reads": (0.5,)},
    "trickle": {"gaps": (0.4, 0, 3)},
    "calls": {"limits": (calls(3, 2),)},
    "tokens": {"limits": (tokens(10, 3),), "costs": (2, 5, 1, 3)},
    "in flight": {"limits": (at_once(5),)},
    "adaptive": {"limits": (Rule(kind="adaptive", most=8),)},
    "budget": {"limits": (Rule(kind="budget", most=15),)},
    "calls of a key": {"limits": (calls(2, 6, by=True),), "keys": (1, 2, 3, 1, 1, 4)},
    "in flight of a key": {"limits": (at_once(2, by=True),), "keys": (1, 2, 3, 1, 1, 4)},
    "burst": {"limits": (calls(6, 6, burst=2),)},
    "weight": {"limits": (at_once(10, weight=True),), "costs": (2, 5, 1, 3)},
    "max_wait": {"limits": (calls(4, 2, max_wait=500),)},
    "breaker": {"limits": (Rule(kind="breaker", most=50, per=10, rest=30),)},
    "two operators": {"operators": 2},
}
"""Each option, in the least job that shows it."""


def merged(name: str, *parts: dict[str, Any], **more: Any) -> Job:
    """Return a job that has all parts: the limits of each, and one `retry` of all."""
    given: dict[str, Any] = dict(more)
    for part in parts:
        for option, value in part.items():
            if option == "limits":
                given["limits"] = given.get("limits", ()) + value
            elif option == "retry":
                given["retry"] = {**given.get("retry", {}), **value}
            else:
                given[option] = value
    return Job(name=name, **given)


def combined(name: str, *names: str) -> Job:
    """Return a job that has several options."""
    return merged(name, *(OPTIONS[each] for each in names), count=20, takes=(1, 4, 2, 9, 3))


def clash(first: str, second: str) -> bool:
    """Return whether two options exclude each other."""
    modes = {"key order", "unordered"}
    # A failing load fails all values that wait for it, which the optimum does not model.
    joins = [{"cache", each} for each in ("retry", "retry-after", "attempt_timeout", "batch")]
    joins += [{"batch", "hedge"}, {"retry", "retry-after"}]
    return {first, second} <= modes or {first, second} in joins


def alone() -> list[Job]:
    """Return a job for each option."""
    return [combined(f"option: {name}", name) for name in OPTIONS]


def pairs() -> list[Job]:
    """Return a job for each pair of options."""
    both = (pair for pair in combinations(OPTIONS, 2) if not clash(*pair))
    return [combined(f"{first} + {second}", first, second) for first, second in both]
