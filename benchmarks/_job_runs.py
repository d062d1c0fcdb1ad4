"""Jobs on operators, on a virtual clock, and by a loop as people write it by hand."""

import asyncio
import copy
import multiprocessing
import operator
import signal
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from _job import Job, Rule, Work
from msgspec import Struct, field

from asyncwait import reference
from asyncwait.backends import pool, services
from asyncwait.backends.threads._operator import open_plain
from asyncwait.backends.threads._plain import threads_wait
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import Hired, Server
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry, RetryAfter

PATIENCE = 30.0
"""Real seconds for a run."""

STAGGER = 2e-9
"""Seconds between the ends of calls in threads: those of one instant would end in any order."""

LONGEST = 1e7
"""Virtual seconds after which a run counts as hanging."""


class Call(Struct):
    """A call as its function saw it; without an end, it ran on when the operator was left."""

    works: tuple[Work, ...]
    start: float
    end: float = inf

    @property
    def costs(self) -> int:
        return sum(work.cost for work in self.works)


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
    calls: list[Call] = field(default_factory=list)
    results: list[list[tuple[float, int, bool]]] = field(default_factory=list)
    refused: str = ""
    error: str = ""
    in_threads: bool = False


def limit(rule: Rule) -> Any:
    """Return a rule as a limit of the package.

    Raises:
        TypeError, AttributeError: the package does not have that form.
    """
    options: dict[str, Any] = {"max_wait": rule.max_wait, "burst": rule.burst}
    options |= {"by": operator.attrgetter("key") if rule.by else None}
    options |= {"weight": operator.attrgetter("cost") if rule.weight else None}
    if rule.kind in ("calls", "cost"):
        options |= {"per": rule.per, "latency": rule.latency}
    given = {name: value for name, value in options.items() if value is not None}
    match rule.kind:
        case "calls":
            return services.Limit(calls=int(rule.most), **given)
        case "cost":
            return services.Limit(cost=operator.attrgetter("cost"), up_to=rule.most, **given)
        case "in_flight":
            return services.InFlight(int(rule.most), **given)
        case "adaptive":
            return services.Adaptive(int(rule.most))
        case "budget":
            return services.Budget(rule.most, then="stop")
        case "breaker":
            new: Any = services  # a later release has it
            rest = {"rest": rule.rest, "longest": rule.rest}
            return new.Breaker(failures=int(rule.most), over=rule.per, **rest)


class _Service:
    """The function of a job, which records its calls."""

    def __init__(self, job: Job, run: Run) -> None:
        self._job, self._run = job, run
        self._attempts: Counter[int] = Counter()

    async def one(self, work: Work) -> Any:
        attempt = await self._call(work)
        if attempt < work.fails:
            raise self._error()
        return self._result(work)

    async def together(self, works: list[Work]) -> list[Any]:
        await self._call(*works)
        return [
            self._error() if self._attempts[work.index] - 1 < work.fails else self._result(work)
            for work in works
        ]

    async def _call(self, *works: Work) -> int:
        now = asyncio.get_running_loop().time
        call = Call(works, now())
        self._run.calls.append(call)
        attempt = self._attempts[works[0].index]
        seconds = max(work.seconds(self._attempts[work.index]) for work in works)
        self._attempts.update(work.index for work in works)
        if self._run.in_threads:
            seconds += STAGGER * (1 + works[0].index % 400)
        try:
            await asyncio.sleep(seconds)
        finally:
            call.end = now()
        return attempt

    def _error(self) -> Exception:
        return ConnectionError() if self._job.after is None else RetryAfter(self._job.after)

    def _result(self, work: Work) -> Any:
        result = work.key if self._job.cache else work.index  # values of a key share a result
        return [result, result] if self._job.many else result


def options(job: Job) -> dict[str, Any]:
    """Return the arguments of the operator, except its limits."""
    given: dict[str, Any] = {"capacity": job.capacity, "timeout": job.timeout}
    given["max_held"] = job.max_held
    given["retry"] = job.retry and Retry(**job.retry)
    given["batch"] = job.batch and Batch(**job.batch)
    given["cache"] = job.cache and Cache(**job.cache, key=operator.attrgetter("key"))
    given |= {"copy": copy.copy} if job.copy else {}
    given |= {"many": True} if job.many else {}
    given |= {"key": operator.attrgetter("key")} if job.mode == "key-ordered" else {}
    failed = (lambda work, _: [~work.index] * 2) if job.many else (lambda work, _: ~work.index)
    given["on_error"] = failed
    return {name: value for name, value in given.items() if value is not None}


async def _source(works: list[Work]) -> AsyncIterator[Work]:
    loop = asyncio.get_running_loop()
    for work in works:
        if work.at > loop.time():
            await asyncio.sleep(work.at - loop.time())
        yield work


async def _read(job: Job, works: list[Work], opens: Callable[[Any], Any], to: list[Any]) -> None:
    loop = asyncio.get_running_loop()
    async with opens(_source(works) if job.gaps else works) as results:
        count = 0
        async for result in results:
            count += 1
            if job.many and count % 2:
                continue  # a value has two results, and is read with the second one
            to.append((loop.time(), ~result if result < 0 else result, result >= 0))
            if pause := job.reads[(len(to) - 1) % len(job.reads)]:
                await asyncio.sleep(pause)


WAITS = {"ordered": "ordered_wait", "unordered": "unordered_wait"}
WAITS |= {"key-ordered": "key_ordered_wait"}


async def _run(job: Job, run: Run, operators: Any, wrap: Callable[[Any], Any]) -> None:
    service = _Service(job, run)
    given = options(job)
    if job.limits:
        given["limits"] = [limit(rule) for rule in job.limits]
    wrapped: list[Any] = []
    for _ in range(job.operators):
        fn: Any = service.together if job.batch else service.one
        if job.hedge is not None:
            fn = services.StandIns(fn, hedge=services.Hedge(after=job.hedge, at_most=0.05))
        wrapped.append(wrap(fn))
    taken: list[Any] = [[] for _ in wrapped]
    reads = [
        _read(job, works, partial(operators(fn), fn=fn, **given), to)
        for works, fn, to in zip(job.shares(), wrapped, taken, strict=True)
    ]
    try:
        await asyncio.wait_for(asyncio.gather(*reads), LONGEST)
        run.seconds = asyncio.get_running_loop().time()
    finally:
        run.results = taken


def _threaded(job: Job, fn: Any) -> Any:
    """Return the wait of threads whose calls a server answers on the loop."""
    loop: Any = asyncio.get_running_loop()

    def hire() -> Any:
        hired = Hired(loop, fn)
        loop.crews.append(hired)
        return hired

    loop.servers.append(fn)
    build: Any = threads_wait
    return build(job.mode, partial(open_plain, hire=hire))


def play(job: Job, backend: str) -> Run:
    """Run a job on "pool", "threads" or "reference"; return what happened.

    Threads run in a child process: nothing else ends a thread that waits for ever.
    """
    if backend != "threads":
        return _play(job, backend)
    forks = multiprocessing.get_context("fork")
    here, there = forks.Pipe()
    child = forks.Process(target=lambda: there.send(_play(job, backend)), daemon=True)
    child.start()
    run: Run = here.recv() if here.poll(PATIENCE + 5) else Run(error="hangs: threads block")
    child.kill()
    child.join()
    return run


def _play(job: Job, backend: str) -> Run:
    run = Run(in_threads=backend == "threads")
    makes: Any = PatientLoop if backend == "threads" else VirtualLoop

    def note(_: Any, context: dict[str, Any]) -> None:
        run.error = f"raised: {context.get('exception')!r} in a callback"

    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loop.set_exception_handler(note)
        if backend == "threads":
            if job.hedge is None:
                await _run(job, run, partial(_threaded, job), lambda fn: Server(fn, loop))
            else:
                run.refused = "nothing ends a call in a thread, so there are no hedges"
            return
        module: Any = pool if backend == "pool" else reference
        await _run(job, run, lambda fn: getattr(module, WAITS[job.mode]), lambda fn: fn)

    try:
        for rule in job.limits:
            limit(rule)
    except (TypeError, AttributeError, InvalidConfig) as error:
        run.refused = f"not available: {error}"
        return run
    before = signal.signal(signal.SIGALRM, _block)
    alarm = signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1)
    try:
        with asyncio.Runner(loop_factory=makes) as runner:
            runner.run(main())
    except Blocked as error:
        run.error = f"hangs: blocked in {error}"
    except InvalidConfig as error:
        run.refused = f"{error}".splitlines()[0]
    except TimeoutError:
        run.error = f"hangs: {sum(map(len, run.results))} of {job.count} results"
    except Exception as error:
        run.error = f"raised: {type(error).__name__}: {error}"
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *alarm)  # a test has an alarm of its own
    return run


class Blocked(KeyboardInterrupt):
    """A run blocks its loop for real; a loop lets no other kind of error out of a callback."""


def _block(_: int, frame: Any) -> None:
    raise Blocked(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")


class Window:
    """A window limiter as people write it: a lock, and the times at which costs leave it."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._locks: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._times: defaultdict[int, deque[tuple[float, float]]] = defaultdict(deque)

    async def enter(self, work: Work) -> None:
        owner = work.key if self._rule.by else 0
        cost = work.cost if self._rule.kind == "cost" else 1
        times, loop = self._times[owner], asyncio.get_running_loop()
        async with self._locks[owner]:
            while True:
                while times and times[0][0] <= loop.time():
                    times.popleft()
                if sum(each for _, each in times) + cost <= self._rule.most:
                    break
                await asyncio.sleep(times[0][0] - loop.time())
            times.append((loop.time() + self._rule.arrives_in + self._rule.per, cost))


def by_hand(job: Job) -> float | None:
    """Return the seconds of workers with semaphores and windows; None for what they can't do."""
    if job.batch or job.cache or job.hedge or job.operators > 1 or job.timeout or any(job.reads):
        return None
    kinds = {rule.kind for rule in job.limits if rule.burst is None and not rule.weight}
    if len(kinds) < len(job.limits) or not kinds <= {"calls", "cost", "in_flight"}:
        return None

    async def work_on(source: Any, service: _Service, windows: Any, flight: Any, keys: Any) -> None:
        async for work in source:
            async with keys[work.key if job.mode == "key-ordered" else -1 - work.index]:
                for attempt in range(1, job.most_calls + 1):
                    for window in windows:
                        await window.enter(work)
                    async with flight[work.key if shared else 0]:
                        try:
                            await asyncio.wait_for(service.one(work), job.longest)
                            break
                        except (OSError, RetryAfter, TimeoutError):
                            pass
                    await asyncio.sleep(job.back_off(attempt))

    shared = any(rule.by for rule in job.limits if rule.kind == "in_flight")

    async def main() -> float:
        service, lock = _Service(job, Run()), asyncio.Lock()
        windows = [Window(rule) for rule in job.limits if rule.kind != "in_flight"]
        most = min([int(r.most) for r in job.limits if r.kind == "in_flight"] + [job.capacity])
        flight: Any = defaultdict(partial(asyncio.Semaphore, most))
        keys: Any = defaultdict(asyncio.Lock)
        works = _source(job.work())

        async def source() -> AsyncIterator[Work]:
            while True:
                async with lock:
                    try:
                        work = await anext(works)
                    except StopAsyncIteration:
                        return
                yield work

        workers = (work_on(source(), service, windows, flight, keys) for _ in range(job.capacity))
        await asyncio.gather(*workers)
        return asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())
