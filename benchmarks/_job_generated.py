"""Jobs of two to four options by chance, and the smallest of those that fail, as code."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from _job import Job, Kind, Rule
from _job_checks import problems
from _job_list import clash, merged
from _job_runs import WAITS, limit, play
from msgspec.structs import replace

SECONDS = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 9.0, 30.0)

Draw = Callable[[random.Random], dict[str, Any]]


def some(rng: random.Random, choices: Sequence[Any], most: int = 6) -> tuple[Any, ...]:
    return tuple(rng.choice(choices) for _ in range(rng.randint(1, most)))


def keyed(rng: random.Random, **more: Any) -> dict[str, Any]:
    return {"keys": some(rng, range(5)), **more}


def rule(rng: random.Random, kind: Kind, **more: Any) -> dict[str, Any]:
    if kind == "in_flight":
        return {
            "limits": (
                Rule(
                    kind=kind,
                    most=rng.randint(20, 40) if "weight" in more else rng.randint(1, 12),
                    **more,
                ),
            )
        }
    window: dict[str, Any] = {
        "per": rng.choice((0.5, 1.0, 3.0, 10.0)),
        "latency": rng.choice((None, None, 0.0, 1.0)),
    }
    most = rng.randint(20, 40) if kind == "cost" else rng.randint(1, 8)
    return {"limits": (Rule(kind=kind, most=most, **window, **more),)}


def retries(rng: random.Random, **more: Any) -> dict[str, Any]:
    retry = {"max_attempts": rng.randint(2, 4), "initial": rng.choice((0.1, 1.0, 5.0))}
    return {"retry": retry, "fails": some(rng, (0, 0, 1, 2, 4)), **more}


COSTS = (1, 2, 3, 5)

DRAWS: dict[str, Draw] = {
    "timeout": lambda rng: {"timeout": rng.choice((1.5, 8.0, 25.0))},
    "retry": retries,
    "attempt_timeout": lambda rng: {
        "retry": {"max_attempts": 3, "attempt_timeout": rng.choice((0.7, 3.0, 10.0))},
        "again": rng.choice(SECONDS),
    },
    "retry-after": lambda rng: retries(rng, after=rng.choice((0.0, 1.0, 20.0))),
    "small capacity": lambda rng: {"capacity": rng.randint(1, 6)},
    "max_held": lambda rng: {"max_held": rng.randint(1, 9), "capacity": rng.randint(1, 9)},
    "copy": lambda rng: {"copy": True},
    "batch": lambda rng: {"batch": {"max_size": rng.randint(1, 4), "in_flight": rng.randint(1, 4)}},
    "cache": lambda rng: keyed(rng, cache={"max_keys": 20, "ttl": rng.choice((1.0, 300.0))}),
    "many": lambda rng: {"many": True},
    "key order": lambda rng: keyed(rng, mode="key-ordered"),
    "unordered": lambda rng: {"mode": "unordered"},
    "slow consumer": lambda rng: {"reads": some(rng, (0, 0.3, 2.0, 20.0))},
    "trickle": lambda rng: {"gaps": some(rng, (0, 0, 0.3, 2.0, 20.0))},
    "two operators": lambda rng: {"operators": 2},
    "budget": lambda rng: {"limits": (Rule(kind="budget", most=rng.randint(3, 25)),)},
    "calls": lambda rng: rule(rng, "calls"),
    "tokens": lambda rng: {**rule(rng, "cost"), "costs": some(rng, COSTS)},
    "in flight": lambda rng: rule(rng, "in_flight"),
    "burst": lambda rng: rule(rng, "calls", burst=1),
    "calls of a key": lambda rng: keyed(rng, **rule(rng, "calls", by=True)),
    "in flight of a key": lambda rng: keyed(rng, **rule(rng, "in_flight", by=True)),
    "weight": lambda rng: {**rule(rng, "in_flight", weight=True), "costs": some(rng, COSTS)},
}


class Drawn:
    """A job by chance, as its parts."""

    def __init__(self, number: str, parts: dict[str, dict[str, Any]], base: dict[str, Any]) -> None:
        self.number, self.parts, self.base = number, parts, base

    @property
    def size(self) -> tuple[int, int]:
        return self.base["count"], len(self.parts)

    def job(self) -> Job:
        job = merged(f"{self.number}: {' + '.join(self.parts)}", *self.parts.values(), **self.base)
        if job.batch:
            job = replace(job, capacity=max(job.capacity, job.batch["max_size"]))
        return job

    def smaller(self) -> Iterator["Drawn"]:
        count, takes = self.base["count"], self.base["takes"]
        for fewer in (count // 2, count - 1):
            if 0 < fewer < count:
                yield Drawn(self.number, self.parts, {"count": fewer, "takes": takes})
        for name in self.parts:
            rest = {each: part for each, part in self.parts.items() if each != name}
            yield Drawn(self.number, rest, self.base)
        if len(takes) > 1:
            yield Drawn(self.number, self.parts, {"count": count, "takes": takes[:-1]})
            yield Drawn(self.number, self.parts, {"count": count, "takes": takes[1:]})


def draw(seed: int, number: int) -> Drawn:
    """Return a job by its number."""
    rng = random.Random(f"{seed} {number}")
    names: list[str] = []
    wanted = rng.randint(2, 4)
    while len(names) < wanted:
        name = rng.choice(list(DRAWS))
        if name not in names and not any(clash(name, each) for each in names):
            names.append(name)
    parts = {name: DRAWS[name](rng) for name in names}
    return Drawn(
        f"{seed}/{number}", parts, {"count": rng.randint(4, 30), "takes": some(rng, SECONDS)}
    )


def wrong(drawn: Drawn, backend: str) -> tuple[str, str]:
    """Return why a job was refused, and what was wrong with its run."""
    job = drawn.job()
    run = play(job, backend)
    return run.refused, "" if run.refused else "; ".join(problems(job, run))


def smallest(drawn: Drawn, backend: str, problem: str) -> tuple[Drawn, str]:
    """Return the job with as little as possible around the same kind of problem."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for each in drawn.smaller():
            refused, found = wrong(each, backend)
            if not refused and found.split(":")[0] == problem.split(":", maxsplit=1)[0]:
                drawn, problem, is_smaller = each, found, True
                break
    return drawn, problem


CODE = '''"""{name}: {problem}"""
import asyncio, copy, itertools, operator
from typing import NamedTuple
from asyncwait.backends.pool import {wait}
from asyncwait.backends.services import *
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Batch, Cache, Retry, RetryAfter

class Work(NamedTuple):
    index: int; at: float; takes: float; again: float; key: int; cost: int; fails: int

VALUES = [
{values}
]
LIMITS = {limits}
attempts = dict.fromkeys(VALUES, 0)

async def source(values):
    for work in values:
        await asyncio.sleep(work.at - asyncio.get_running_loop().time())
        yield work

async def call(work):
    attempts[work] += 1
    print(f"{{asyncio.get_running_loop().time():8.2f}} call {{attempts[work]}} of {{work.index}}")
    await asyncio.sleep(work.takes if attempts[work] == 1 else work.again)
    if attempts[work] <= work.fails:
        raise {error}
    return {result}

async def together(works):
    return await asyncio.gather(*map(call, works), return_exceptions=True)

async def main(values):
    async with {wait}({source}, {fn}, {options}) as results:
        pauses = itertools.cycle({reads})
        async for result in results:
            print(f"{{asyncio.get_running_loop().time():8.2f}} result {{result}}")
            await asyncio.sleep(next(pauses))

async def all():
    await asyncio.gather(*(main(VALUES[n::{operators}]) for n in range({operators})))

with asyncio.Runner(loop_factory=VirtualLoop) as runner:
    runner.run(all())
'''


def code(job: Job, problem: str) -> str:
    """Return a job as a program that prints its calls and results."""
    given = {"capacity": job.capacity, "timeout": job.timeout, "max_held": job.max_held}
    texts = [f"{name}={value}" for name, value in given.items() if value is not None]
    for name, value in {"Retry": job.retry, "Batch": job.batch, "Cache": job.cache}.items():
        if value:
            by = ", key=operator.attrgetter('key')" if name == "Cache" else ""
            listed = ", ".join(f"{each}={number}" for each, number in value.items())
            texts.append(f"{name.lower()}={name}({listed}{by})")
    texts += ["copy=copy.copy"] if job.copy else []
    texts += ["many=True"] if job.many else []
    texts += ["key=operator.attrgetter('key')"] if job.mode == "key-ordered" else []
    failed = "[work.index, error]" if job.many else "(work.index, error)"
    texts.append(f"on_error=lambda work, error: {failed}")
    texts += ["limits=LIMITS"] if job.limits else []
    return CODE.format(
        name=job.name,
        problem=problem,
        wait=WAITS[job.mode],
        values="\n".join(f"    {work}," for work in job.work()),
        limits=[limit(rule) for rule in job.limits],
        error="ConnectionError" if job.after is None else f"RetryAfter({job.after})",
        result="[work.index] * 2" if job.many else "work.index",
        source="source(values)" if job.gaps else "values",
        fn="together" if job.batch else "call",
        options=", ".join(texts),
        reads=[each for pause in job.reads for each in ([0, pause] if job.many else [pause])],
        operators=job.operators,
    )
