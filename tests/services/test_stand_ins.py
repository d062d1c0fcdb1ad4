"""Functions with stand-ins as operators call them, on the virtual clock."""

import asyncio
import pickle
from typing import Any

import anyio
import pytest
from counting import run

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Budget,
    BudgetSpent,
    Hedge,
    HedgeFigures,
    InFlight,
    Limit,
    StandIns,
)
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import CallFailed, Retry, Statistics

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


class Service:
    def __init__(self, slow: set[int]) -> None:
        self._slow = slow
        self.begun: list[int] = []
        self.cancelled: list[int] = []
        self.closed = False

    async def __call__(self, value: int) -> int:
        is_first = value not in self.begun
        self.begun.append(value)
        try:
            await anyio.sleep(10 if is_first and value in self._slow else 0.1)
        except BaseException:
            self.cancelled.append(value)
            raise
        return value

    async def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("when", ["the second wins", "its deadline passes", "it is left"])
def test_what_a_call_awaits_in_its_clean_up_runs_to_its_end_on_asyncio(when: str) -> None:
    log: list[str] = []

    async def fn(value: int) -> int:
        begun = len(log)
        log.append("begins")
        try:
            await anyio.sleep(0.1 if begun and when == "the second wins" else 99)
        finally:
            await anyio.sleep(0.1)
            log.append("ends")
        return value

    async def main(_: SpinWatch) -> None:
        stand_ins = StandIns(fn, hedge=Hedge(after=0.2, at_most=1))
        limit = 1 if when == "its deadline passes" else None
        async with pool.ordered_wait([1], stand_ins, timeout=limit, on_error="skip") as results:
            with anyio.move_on_after(1 if when == "it is left" else None):
                assert [each async for each in results] == [1] * (when == "the second wins")

    run_virtual(main, "asyncio")
    assert log == ["begins", "begins", "ends", "ends"]


def test_a_cancellation_that_a_call_makes_up_is_its_error() -> None:
    calls = 0

    async def fn(value: int) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            await anyio.sleep(0.5)
            raise asyncio.CancelledError("somebody else's")
        await anyio.sleep(0.5)
        return value

    results = run(StandIns(fn, hedge=Hedge(after=0.25, at_most=1)), range(1))
    assert results == [0]


@LOOPS
def test_a_hedge_whose_turn_comes_too_late_is_not_made(loop: str) -> None:
    service = Service({0, 1, 2})
    fn = StandIns(service, hedge=Hedge(after=0.5, at_most=1))
    limits = [InFlight(1), Budget(3)]
    assert run(fn, range(3), loop, limits=limits) == [0, 1, 2]
    assert service.begun == [0, 1, 2]
    assert fn.figures() == HedgeFigures(calls=3)


def test_a_call_that_no_budget_pays_for_is_no_call_in_the_figures() -> None:
    first, mirror = Service(set()), Service(set())

    async def fails(value: int) -> int:
        await first(value)
        raise OSError(value)

    fn = StandIns(fails, mirror)
    with pytest.raises(BudgetSpent):
        run(fn, range(20), limits=[Budget(13)])
    figures = fn.figures()
    assert figures.calls == len(first.begun) + len(mirror.begun) == 13
    assert figures.fell_back == len(mirror.begun)


def test_a_function_with_stand_ins_travels() -> None:
    pickled = pickle.dumps(StandIns(Service(set()), hedge=Hedge(after=0.5)))
    fn = pickle.loads(pickled)  # noqa: S301 - it is our own
    assert run(fn, range(3)) == [0, 1, 2]


def test_stand_ins_inside_another_function_are_refused_with_limits() -> None:
    inner = StandIns(Service(set()), hedge=Hedge(after=0.5))

    async def fn(value: int) -> Any:
        return await inner(value)

    assert run(fn, range(3)) == [0, 1, 2]
    with pytest.raises(CallFailed, match="give the operator the StandIns itself"):
        run(fn, range(3), limits=[InFlight(1)])


def test_what_the_first_function_has_already_takes_no_turn() -> None:
    asked: list[str] = []

    class Journaled:
        def __init__(self, name: str, kept: range) -> None:
            self.name, self.kept = name, kept

        def is_paid(self, value: int) -> bool:
            return value in self.kept

        async def __call__(self, value: int) -> int:
            if value in self.kept and self.name == "a" and value >= 8:
                raise LookupError("a failure that is kept")
            if value not in self.kept:
                asked.append(f"{self.name}{value}")
            return value

    fn = StandIns(Journaled("a", range(2, 10)), Journaled("b", range(9, 10)))
    assert run(fn, range(10), limits=[Budget(3)]) == list(range(10))
    assert asked == ["a0", "a1", "b8"]
    fn = StandIns(Journaled("a", range(2, 10)), Journaled("b", range(9, 10)))
    with pytest.raises(BudgetSpent):
        run(fn, range(10), limits=[Budget(2)])


@LOOPS
@pytest.mark.parametrize("copy", [None, int], ids=["further attempts", "first attempts"])
def test_no_call_is_hedged_while_it_waits_for_its_turn(copy: Any, loop: str) -> None:
    failed: set[int] = set()

    async def fn(value: int) -> int:
        await anyio.sleep(0.1)
        if copy is None and value not in failed:
            failed.add(value)
            raise ConnectionError
        return value

    several = StandIns(fn, hedge=Hedge(after=0.5, at_most=1.0))
    options: Any = {"limits": [Limit(calls=2, per=10)], "retry": Retry(initial=0.01), "copy": copy}
    assert run(several, range(4), loop, **options) == [0, 1, 2, 3]
    assert several.figures() == HedgeFigures(calls=4 if copy else 8)


@LOOPS
@pytest.mark.parametrize("limits", [None, [InFlight(50)]], ids=["free", "limited"])
@pytest.mark.parametrize("after", ["p95", 0.05])
def test_what_a_journal_answers_is_no_call_and_takes_no_time(
    after: Any, limits: Any, loop: str
) -> None:
    service = Service(set())

    class Journaled:
        def is_paid(self, value: int) -> bool:
            return value < 200

        async def __call__(self, value: int) -> int:
            return value if self.is_paid(value) else await service(value)

    fn = StandIns(Journaled(), hedge=Hedge(after, at_most=0.05))

    assert run(fn, range(240), loop, limits=limits) == list(range(240))
    hedges = 2 if after == 0.05 else 0
    assert len(service.begun) == 40 + hedges
    assert fn.figures() == HedgeFigures(calls=40, hedges=hedges)


def test_limits_count_each_call_and_figures_one_for_a_value() -> None:
    service = Service({1})

    async def main(_: SpinWatch) -> Statistics:
        fn = StandIns(service, hedge=Hedge(after=0.5, at_most=1))
        limits = [InFlight(2), Budget(6)]
        async with pool.ordered_wait(range(5), fn, limits=limits, capacity=2) as results:
            assert [value async for value in results] == list(range(5))
            return results.statistics()

    told = run_virtual(main)
    assert (told.calls, told.retries, len(service.begun)) == (5, 0, 6)
