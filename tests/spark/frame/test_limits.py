"""Limits of the calls of a job: who keeps them, and what a task makes of its own."""

import asyncio
import pickle
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pyspark import cloudpickle

from asyncwait.backends.pool import unordered_wait
from asyncwait.backends.services import Adaptive, Budget, InFlight, Limit, Limits, MachineLimits
from asyncwait.backends.spark.frame._limits import (
    Ceilings,
    DriverLimits,
    Kept,
    limits_of_rows,
    needs_no_permit,
    serve,
)
from asyncwait.backends.spark.frame._rows import InputRow
from asyncwait.backends.spark.progress._progress import Reach
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.spec import InvalidConfig
from asyncwait.toolkit import Told


class Rows:
    def __init__(self, count: int) -> None:
        self._rows = iter([InputRow(number, None, number, str) for number in range(count)])
        self.closed = False

    def __aiter__(self) -> AsyncIterator[InputRow]:
        return self

    async def __anext__(self) -> InputRow:
        for row in self._rows:
            return row
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


async def called(fn: Any, limits: Any, rows: Rows, **options: Any) -> list[Any]:
    kept = limits if isinstance(limits, Kept) else Kept(tuple(limits))
    fn.is_paid = needs_no_permit
    given: Any = {"limits": limits_of_rows(kept), "many": True, **options}
    async with unordered_wait(rows, fn, **given) as results:
        return [value async for value in results]


def run(*args: Any, **options: Any) -> list[Any]:
    async def main(_: SpinWatch) -> list[Any]:
        return await called(*args, **options)

    return run_virtual(main)


def test_a_row_costs_what_its_value_does() -> None:
    begun: list[float] = []

    async def fn(row: InputRow) -> list[Any]:
        begun.append(asyncio.get_running_loop().time())
        return [row.value]

    rows = Rows(6)
    run(fn, [Limit(cost=lambda value: value, up_to=5, per=1, latency=0)], rows, timeout=0.1)
    assert begun == pytest.approx([0, 0, 0, 1, 2, 3])
    assert rows.closed


def test_the_driver_keeps_the_limits_of_all_tasks() -> None:
    lock = threading.Lock()
    came: list[float] = []

    async def fn(row: InputRow) -> list[Any]:
        with lock:
            came.append(time.monotonic())
        await asyncio.sleep(0.001)
        return [row.value]

    _, kept = Ceilings([Limit(calls=30, per=0.3)], 8, None, False, None).kept(
        None, 100, on_hosts=False
    )
    assert kept.together.limits == (Limit(calls=30, per=0.3), InFlight(8))
    travelled = pickle.loads(cloudpickle.dumps(kept))  # noqa: S301 - ours
    tasks = [
        threading.Thread(target=lambda n=n: asyncio.run(called(fn, travelled, Rows(n))))  # type: ignore[misc]
        for n in (5, 115)
    ]
    began = time.monotonic()
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
    assert len(came) == 120
    assert max(sum(start <= at < start + 0.3 for at in came) for start in came) <= 30
    assert time.monotonic() - began < 2 * 0.3 * 120 / 30


def test_tasks_of_a_process_use_their_share_one_after_the_other() -> None:
    came: list[float] = []

    async def fn(row: InputRow) -> list[Any]:
        came.append(time.monotonic())
        return [row.value]

    _, kept = Ceilings([Limit(calls=20, per=0.4)], None, None, False, 2).kept(
        None, 100, on_hosts=False
    )
    travelled = cloudpickle.dumps(kept)
    for _ in range(4):
        asyncio.run(called(fn, pickle.loads(travelled), Rows(8)))  # noqa: S301 - ours
    assert all(later - at >= 0.4 for at, later in zip(came, came[10:], strict=False))


def test_a_task_that_dies_gives_its_turns_back() -> None:
    at = serve(Limits([InFlight(1)]), Reach())
    dead = at.ledger()
    told = pickle.loads(pickle.dumps(at)).ledger()  # noqa: S301 - ours
    assert dead.exchange(Told([], [], None, [(1, [1.0], None, False)])).granted == [1]
    assert told.exchange(Told([], [], None, [(1, [1.0], None, False)])).granted == []
    dead.close()
    give_up = time.monotonic() + 20
    while not told.exchange(Told([], [], None, [(1, [1.0], None, False)])).granted:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    told.close()


def test_whoever_does_not_know_the_secret_is_not_answered() -> None:
    at = serve(Limits([InFlight(1)]), Reach())
    stranger = DriverLimits(type(at.endpoint)(at.endpoint.host, at.endpoint.port, bytes(16)))
    with pytest.raises(ConnectionError):
        stranger.ledger().exchange(Told([], [], None, []))


def test_tasks_that_can_not_reach_the_driver_share_limits_out() -> None:
    shared = Ceilings([Limit(cost=len, up_to=10, per=1)], 20, 30, True, 4)
    capacity, kept = shared.kept(None, 100, on_hosts=False)
    assert capacity == 5
    assert kept.keeper == "4 tasks, which have a share each"
    assert kept.limits[1:] == (InFlight(5), Limit(calls=7, per=1), Adaptive())
    assert kept.limits[0].up_to == 2.5  # type: ignore[union-attr]
    assert Ceilings(None, None, None, True, None).kept(None, 7, on_hosts=False) == (
        7,
        Kept((Adaptive(),), keeper="each task for itself"),
    )
    assert Ceilings(None, None, None, False, None).kept(None, 7, on_hosts=False) == (7, Kept())


@pytest.mark.parametrize("kind", [list, Limits])
def test_call_hosts_of_a_machine_have_limits_together(kind: Any) -> None:
    limits = (Limit(calls=7, per=1), InFlight(3))
    kept = Ceilings(kind(limits), None, None, False, None).kept(None, 9, on_hosts=True)
    keeper = "each machine, for all queries"
    assert kept == (9, Kept(limits, MachineLimits(limits), keeper))
    assert pickle.loads(cloudpickle.dumps(kept)) == kept  # noqa: S301 - ours


@pytest.mark.parametrize(
    ("ceilings", "name"),
    [
        ((None, 3, None, False, 4), "max_in_flight"),
        ((None, 0, None, False, 4), "max_in_flight"),
        ((None, True, None, False, 4), "max_in_flight"),
        ((None, None, 0, False, 4), "calls_per_second"),
        ((None, None, 5, False, 0), "max_tasks"),
        ((None, None, 5, 1, 4), "adaptive"),
        (([Limit(calls=3, per=1)], None, None, False, 4), "limits"),
        (([Budget(3)], None, None, False, 4), "limits"),
        (([Budget(3, then="stop")], None, None, False, None), "limits"),
        ((InFlight(3), None, None, False, None), "limits"),
        ((Limits([InFlight(3)]), 3, None, False, None), "limits"),
        ((Limits([InFlight(3)]), None, None, False, 2), "limits"),
    ],
    ids=str,
)
def test_a_ceiling_that_is_none_is_refused(ceilings: Any, name: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{name} must be "):
        Ceilings(*ceilings).kept(None, 100, on_hosts=False)
