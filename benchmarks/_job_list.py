"""Realistic jobs, each option alone, and every pair of options."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from _job import Job, Rule
from msgspec.structs import replace


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
HOSTS = random.Random(5).choices(range(300), [1 / (rank + 5) for rank in range(300)], k=600)
HOT = [0, 0, 1, 0, 2, 0, 3, 4, 0, 5]
"""Keys of changes: half of them are of one row."""

AGAIN = {"max_attempts": 5, "initial": 0.5}
BURSTS = [0.0] * 49 + [30.0]


def realistic() -> Iterator[Job]:  # noqa: PLR0915 - a table
    """Yield jobs as users have them."""
    yield Job(name="LLM, no limit", count=400, takes=LLM)
    yield Job(
        name="LLM, 20 calls a second", count=600, takes=LLM, capacity=400, limits=(calls(20, 1),)
    )
    llm = Job(name="LLM, 500 calls a minute", count=800, takes=LLM, capacity=300)
    llm = replace(llm, costs=PROMPTS, limits=MINUTE[:1])
    yield llm
    yield replace(llm, name="LLM, 200,000 tokens a minute", limits=MINUTE[1:])
    yield replace(llm, name="LLM, calls and tokens a minute", limits=MINUTE)
    yield replace(llm, name="LLM, the same unordered", limits=MINUTE, mode="unordered")
    yield replace(
        llm, name="LLM, the same, held results", limits=MINUTE, capacity=150, max_held=1000
    )
    yield replace(llm, name="LLM, the same and 64 at a time", limits=(*MINUTE, at_once(64)))
    yield replace(
        llm, name="LLM, large prompts", costs=(30_000, 500, 500, 500), count=200, limits=MINUTE
    )
    yield replace(llm, name="LLM, 3 calls a minute", count=20, limits=(calls(3, 60),))
    yield replace(llm, name="LLM, 1 call a second", count=120, limits=(calls(1, 1),))
    yield replace(llm, name="LLM, 10 calls per 100 ms", count=600, limits=(calls(10, 0.1),))
    yield replace(llm, name="LLM, no latency", count=400, limits=(calls(20, 1, latency=0),))
    yield replace(llm, name="LLM, 2 s latency", count=400, limits=(calls(20, 1, latency=2),))
    yield replace(
        llm,
        name="LLM, 429 now and then",
        count=500,
        fails=(0,) * 19 + (1,),
        after=20,
        again=6,
        retry=AGAIN,
        limits=MINUTE,
    )
    yield replace(
        llm, name="LLM, errors, back-off", count=500, fails=(0, 0, 2), retry=AGAIN, limits=MINUTE
    )
    yield replace(
        llm,
        name="LLM, one call hangs",
        count=300,
        takes=[*LLM, 3600.0],
        timeout=120,
        mode="unordered",
        limits=MINUTE,
    )
    yield replace(
        llm,
        name="LLM, a hang, attempts cut",
        count=300,
        takes=[*LLM, 3600.0],
        again=5,
        retry={"max_attempts": 3, "attempt_timeout": 90},
        mode="unordered",
        limits=(calls(20, 1),),
    )
    yield replace(
        llm,
        name="LLM, hang of an hour",
        count=97,
        takes=[3600.0, *LLM],
        mode="unordered",
        limits=(calls(5, 1),),
    )
    yield replace(
        llm, name="LLM, hedged", count=300, takes=(5,) * 29 + (60,), again=5, hedge=8, limits=MINUTE
    )
    yield replace(
        llm, name="LLM, budget of 150 calls", count=400, limits=(Rule(kind="budget", most=150),)
    )
    yield replace(
        llm,
        name="LLM, budget and calls",
        count=400,
        limits=(Rule(kind="budget", most=150), calls(20, 10)),
    )
    yield replace(
        llm, name="LLM, conversations", count=200, keys=range(25), mode="key-ordered", limits=MINUTE
    )
    yield replace(llm, name="LLM, two operators", count=600, operators=2, limits=MINUTE)
    yield replace(
        llm, name="LLM, two operators, 20 a second", count=400, operators=2, limits=(calls(20, 1),)
    )
    yield replace(llm, name="LLM, slow consumer", count=200, reads=(1,), limits=MINUTE)
    yield replace(llm, name="LLM, questions trickle in", count=200, gaps=(2, 5, 0.5), limits=MINUTE)
    yield replace(
        llm, name="LLM, questions in bursts", count=200, gaps=BURSTS, limits=(calls(20, 1),)
    )
    yield replace(llm, name="LLM, many answers each", count=200, many=True, limits=MINUTE)
    yield replace(
        llm,
        name="LLM, repeated questions",
        count=300,
        keys=range(60),
        cache={"max_keys": 100, "ttl": 3600},
        limits=(calls(20, 1),),
    )
    yield replace(
        llm, name="LLM, batches of prompts", count=400, batch={"max_size": 20}, limits=MINUTE
    )
    yield replace(llm, name="LLM, evenly, 5 together", count=200, limits=(calls(60, 60, burst=5),))
    yield replace(
        llm,
        name="LLM, limit of each customer",
        count=300,
        keys=range(10),
        limits=(calls(5, 10, by=True),),
    )
    yield replace(llm, name="LLM, adaptive", count=400, limits=(Rule(kind="adaptive", most=32),))
    yield replace(
        llm, name="LLM, max_wait never reached", count=100, limits=(calls(20, 1, max_wait=600),)
    )
    yield replace(
        llm,
        name="LLM, breaker never opens",
        count=100,
        limits=(calls(20, 1), Rule(kind="breaker", most=5, per=10, rest=30)),
    )
    web = Job(name="crawl, no limit", count=600, takes=WEB, keys=HOSTS)
    yield web
    yield replace(web, name="crawl, one call a host", mode="key-ordered", capacity=200)
    yield replace(
        web,
        name="crawl, one call a host, 50 at a time",
        mode="key-ordered",
        capacity=400,
        limits=(at_once(50),),
    )
    yield replace(
        web, name="crawl, 2 at a time a host", capacity=200, limits=(at_once(2, by=True),)
    )
    yield replace(
        web,
        name="crawl, 1 a second a host",
        capacity=200,
        limits=(calls(1, 1, by=True),),
        mode="unordered",
    )
    yield replace(
        web,
        name="crawl, both, 100 at a time",
        capacity=200,
        mode="unordered",
        limits=(calls(1, 1, by=True), at_once(2, by=True), at_once(100)),
    )
    yield replace(
        web, name="crawl, timeouts", takes=[*WEB, 300.0], timeout=10, limits=(at_once(50),)
    )
    yield replace(
        web, name="crawl, retries", fails=(0,) * 9 + (2,), retry=AGAIN, limits=(at_once(50),)
    )
    yield replace(web, name="crawl, adaptive", limits=(Rule(kind="adaptive", most=50),))
    yield replace(
        web, name="crawl, weighted", count=500, costs=(1, 1, 8), limits=(at_once(20, weight=True),)
    )
    short = Job(name="lookups, 100 at a time", count=10_000, takes=LOOKUP, limits=(at_once(100),))
    yield short
    yield replace(short, name="lookups, 10 at a time", count=3000, limits=(at_once(10),))
    yield replace(short, name="lookups, 1,000 a second", count=5000, limits=(calls(1000, 1),))
    yield replace(
        short, name="lookups, batches", limits=(at_once(4),), batch={"max_size": 25, "in_flight": 4}
    )
    yield replace(
        short,
        name="lookups, cache, hot keys",
        count=5000,
        keys=HOT,
        limits=(calls(100, 1),),
        cache={"max_keys": 1000, "ttl": 60},
    )
    yield replace(short, name="lookups, copies", count=2000, copy=True, limits=(at_once(10),))
    rows = Job(
        name="changes of rows, hot row",
        count=400,
        takes=(0.2, 0.5, 0.3),
        keys=HOT,
        mode="key-ordered",
    )
    yield rows
    yield replace(rows, name="changes, hot row, 3 at a time", limits=(at_once(3),))
    yield replace(rows, name="changes, hot row, 5 a second", limits=(calls(5, 1),))
    yield replace(
        rows,
        name="changes, retries hold the key",
        fails=(0, 0, 0, 1),
        retry=AGAIN,
        limits=(at_once(4),),
    )
    mail = Job(name="mail, 14 a second", count=500, takes=(0.3, 0.2, 1.5), limits=(calls(14, 1),))
    yield mail
    yield replace(mail, name="mail, pauses of a minute", gaps=(0.02,) * 99 + (60.0,))
    yield replace(mail, name="mail, fast consumer, small capacity", capacity=8)
    yield replace(
        mail, name="mail, slow consumer, small capacity", capacity=8, reads=(0.1,), count=300
    )
    yield replace(
        mail, name="mail, the consumer pauses", reads=(0.0,) * 99 + (45.0,), count=300, max_held=50
    )
    yield replace(mail, name="mail, Retry-After 0", fails=(0, 0, 0, 0, 1), after=0, retry=AGAIN)
    yield replace(mail, name="mail, short and long window", limits=(calls(14, 1), calls(300, 60)))
    yield replace(
        mail, name="payments, 25 a second, 10 at a time", limits=(calls(25, 1), at_once(10))
    )
    yield replace(
        mail, name="geocoding, 1 a second", count=90, takes=(0.15,), limits=(calls(1, 1),)
    )
    yield replace(
        mail,
        name="geocoding, 50,000 a day",
        count=300,
        takes=(0.15,),
        limits=(calls(50_000, 86_400),),
    )


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
    joins = (
        {"cache", "retry"},
        {"cache", "retry-after"},
        {"cache", "batch"},
        {"cache", "attempt_timeout"},
    )
    joins += {"batch", "hedge"}, {"retry", "retry-after"}
    return {first, second} <= modes or {first, second} in joins


def alone() -> list[Job]:
    """Return a job for each option."""
    return [combined(f"option: {name}", name) for name in OPTIONS]


def pairs() -> list[Job]:
    """Return a job for each pair of options."""
    both = (pair for pair in combinations(OPTIONS, 2) if not clash(*pair))
    return [combined(f"{first} + {second}", first, second) for first, second in both]
