"""Jobs on operators, on a virtual clock; and the problems of a recorded run."""

import asyncio
import copy
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from math import inf
from operator import attrgetter
from typing import Any

from _job import Job, Rule, Work
from _optimum import gauges_of
from msgspec import Struct

from asyncwait import reference
from asyncwait.backends import pool, services
from asyncwait.backends.threads import open_operator, open_plain
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import Hired, Server
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry, RetryAfter, TooManyAbandonedCalls
from asyncwait.toolkit import plain_wait

LONGEST = 1e7
"""Seconds after which a run counts as hanging."""

STAGGER = 2e-9
"""Seconds between the ends of calls in threads: those of one instant would end in any order."""


class Call(Struct, eq=False):
    """A call as its function saw it; without an end, it ran on when the operator was left."""

    works: tuple[Work, ...]
    start: float
    end: float = inf


class Run(Struct):
    """A recorded run.

    Args:
        seconds: until the consumer has dealt with the last result.
        results: of each operator: when the consumer got a result, its value, whether it succeeded.
        refused: why the operator did not take the job.
        error: how the run ended before its last result.
        in_threads: whether calls run on when their time is over.
    """

    seconds: float = inf
    calls: list[Call] = []
    results: list[list[tuple[float, int, bool]]] = []
    refused: str = ""
    error: str = ""
    in_threads: bool = False


def limit(rule: Rule) -> Any:
    given: dict[str, Any] = {"by": attrgetter("key")} if rule.by else {}
    given |= {} if rule.max_wait is None else {"max_wait": rule.max_wait}
    cost = attrgetter("cost")
    if rule.kind in ("calls", "cost"):
        most = {"cost": cost, "up_to": rule.most} if rule.kind == "cost" else {"calls": rule.most}
        given |= {"per": rule.per, "latency": rule.latency, "burst": rule.burst, **most}
        return services.Limit(**given)
    if rule.kind == "in_flight":
        return services.InFlight(rule.most, weight=cost if rule.weight else None, **given)
    budget, breaker = services.Budget(rule.most, then="stop"), services.Breaker(failures=rule.most)
    return {"budget": budget, "breaker": breaker}.get(rule.kind) or services.Adaptive(rule.most)


class Service:
    def __init__(self, job: Job, run: Run) -> None:
        self._job, self._run = job, run
        self._attempts: Counter[int] = Counter()

    async def one(self, work: Work) -> Any:
        [result] = await self.together([work])
        if isinstance(result, Exception):
            raise result
        return result

    async def together(self, works: list[Work]) -> list[Any]:
        now = asyncio.get_running_loop().time
        call = Call(tuple(works), now())
        self._run.calls.append(call)
        attempts = [self._attempts[work.index] for work in works]
        self._attempts.update(work.index for work in works)
        seconds = max(map(Work.seconds, works, attempts))
        if self._run.in_threads:
            seconds += STAGGER * (1 + works[0].index % 400)
        try:
            await asyncio.sleep(seconds)
        finally:
            call.end = now()
        return [*map(self._outcome, works, attempts)]

    def _outcome(self, work: Work, attempt: int) -> Any:
        if attempt < work.fails:
            after = self._job.after
            return ConnectionError() if after is None else RetryAfter(after)
        result = work.key if self._job.cache else work.index  # values of a key share a result
        return [result, result] if self._job.many else result


def options(job: Job) -> dict[str, Any]:
    failed = (lambda work, _: [~work.index] * 2) if job.many else (lambda work, _: ~work.index)
    given = {name: getattr(job, name) for name in ("capacity", "timeout", "max_held", "many")}
    given["retry"] = job.retry and Retry(**{"jitter": 0, **job.retry})
    given["batch"] = job.batch and Batch(**job.batch)
    given["cache"] = job.cache and Cache(**job.cache, key=attrgetter("key"))
    given["copy"] = copy.copy if job.copy else None
    given["key"] = attrgetter("key") if job.mode == "key-ordered" else None
    given["limits"] = [*map(limit, job.limits)]
    return {name: value for name, value in given.items() if value} | {"on_error": failed}


async def _source(works: list[Work]) -> AsyncIterator[Work]:
    loop = asyncio.get_running_loop()
    for work in works:
        if work.at > loop.time():
            await asyncio.sleep(work.at - loop.time())
        yield work


async def _read(job: Job, works: list[Work], opens: Callable[[Any], Any], to: list[Any]) -> None:
    loop, waiting = asyncio.get_running_loop(), [*works]
    async with opens(_source(works) if job.gaps else works) as results:
        async for first in results:
            result = await anext(results) if job.many else first  # A value has two results then.
            index = ~result if result < 0 else result
            if job.cache:  # The result of several values is their key.
                own = [w for w in waiting if (w.index == index if result < 0 else w.key == index)]
                waiting.remove(own[0])
                index = own[0].index
            to.append((loop.time(), index, result >= 0))
            if pause := job.reads[(len(to) - 1) % len(job.reads)]:
                await asyncio.sleep(pause)


def _threaded(job: Job, fn: Any, loop: Any) -> tuple[Any, Any]:
    """Return the wait of threads whose calls a server answers on the loop, and its function."""
    server = Server(fn, loop)

    def hire() -> Any:
        loop.pools.append(Hired(loop, server))
        return loop.pools[-1]

    loop.servers.append(server)
    opens: Any = partial(open_plain, hire=hire)
    return plain_wait(open_operator, job.mode, opens, blocks=True), server


async def _run(job: Job, run: Run, backend: str) -> None:
    def note(_: Any, context: dict[str, Any]) -> None:
        run.error = f"raised: {context.get('exception')!r} in a callback"

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(note)
    service, given, reads = Service(job, run), options(job), []
    run.results = [[] for _ in range(job.operators)]
    module: Any = reference if backend == "reference" else pool
    for works, to in zip(job.shares(), run.results, strict=True):
        fn: Any = service.together if job.batch else service.one
        wait = getattr(module, f"{job.mode.replace('-', '_')}_wait")
        if job.hedge is not None:
            fn = services.StandIns(fn, hedge=services.Hedge(after=job.hedge, at_most=0.05))
        if run.in_threads:
            wait, fn = _threaded(job, fn, loop)
        reads.append(_read(job, works, partial(wait, fn=fn, **given), to))
    await asyncio.wait_for(asyncio.gather(*reads), LONGEST)
    run.seconds = loop.time()


def play(job: Job, backend: str) -> Run:
    """Run a job on "pool", "threads" or "reference"; return what happened."""
    run = Run(in_threads=backend == "threads")
    makes: Any = PatientLoop if run.in_threads else VirtualLoop
    if run.in_threads and job.hedge is not None:
        return Run(refused="threads have no hedges: nothing ends a call")
    try:
        with asyncio.Runner(loop_factory=makes) as runner:
            runner.run(_run(job, run, backend))
    except TimeoutError:
        run.error = f"hangs: {sum(map(len, run.results))} of {job.count} results"
    except Exception as error:
        # Threads run on when their time is over, and only so many may.
        refusals = (InvalidConfig, TooManyAbandonedCalls)[: 1 + run.in_threads]
        name = "refused" if isinstance(error, refusals) else "error"
        setattr(run, name, f"raised: {type(error).__name__}: {error}".splitlines()[0])
    return run


def problems(job: Job, run: Run) -> list[str]:
    """Return each kind of problem once, with its first instance."""
    return [run.error] if run.error else [*_wrong_results(job, run), *_exceeded(job, run)]


def _wrong_results(job: Job, run: Run) -> Iterator[str]:
    works = job.work()
    given = Counter(index for results in run.results for _, index, _ in results)
    if job.budget is not None and len(run.calls) > job.budget:
        yield f"budget: {len(run.calls)} calls were made of {job.budget}"
    missing = sorted({*range(job.count)} - {*given})
    if missing and job.budget is None:
        yield f"lost: {missing[:5]} of {job.count}, {len(given)} came"
    if repeated := [index for index, times in given.items() if times > 1]:
        yield f"repeated: {repeated[:5]}"
    for results in run.results:
        lines: defaultdict[int, list[int]] = defaultdict(list)
        for _, index, _ in results:
            lines[works[index].key if job.mode == "key-ordered" else 0].append(index)
        if job.mode != "unordered" and any(line != sorted(line) for line in lines.values()):
            yield "disorder: results are out of order"


def _exceeded(job: Job, run: Run) -> Iterator[str]:
    for gauge in gauges_of(job.limits):
        for call in sorted(run.calls, key=lambda call: call.start):
            if gauge.rule.kind != "adaptive" and not gauge.has_room(call.start, call.works):
                yield f"exceeded: at {call.start:.6g} s: {gauge.rule}"
                break
            gauge.add(call.start, call.end, call.works)
