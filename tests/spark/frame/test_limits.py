"""Limits of the calls of a job: who keeps them, and what a task makes of its own."""

import asyncio
import pickle
import threading
import time
from typing import Any

import pyarrow as pa
import pytest
from frames import rows_of, work_of
from pyspark import cloudpickle

from asyncwait.backends.services import Adaptive, InFlight, Limit, Limits, MachineLimits
from asyncwait.backends.spark.frame._limits import (
    Ceilings,
    DriverLimits,
    Kept,
    serve,
)
from asyncwait.backends.spark.progress._progress import Reach
from asyncwait.toolkit import Told


def run(fn: Any, travelled: bytes, rows: int) -> None:
    """Run a task in mode "unordered" whose limits have come from the driver."""
    kept = pickle.loads(travelled)  # noqa: S301 - ours
    work = work_of(fn, {"n": pa.int64()}, kept=kept, mode="unordered", capacity=100)
    assert len(rows_of(work, pa.table({"id": range(rows)}))) == rows


def test_the_driver_keeps_the_limits_of_all_tasks() -> None:
    lock = threading.Lock()
    came: list[float] = []

    async def fn(value: int) -> tuple[int]:
        with lock:
            came.append(time.monotonic())
        await asyncio.sleep(0.001)
        return (value,)

    _, kept = Ceilings([Limit(calls=30, per=0.3)], 8).kept(None, 100)
    assert kept.together.limits == (Limit(calls=30, per=0.3), InFlight(8))
    travelled = cloudpickle.dumps(kept)
    tasks = [threading.Thread(target=run, args=(fn, travelled, n)) for n in (5, 115)]
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

    async def fn(value: int) -> tuple[int]:
        came.append(time.monotonic())
        return (value,)

    _, kept = Ceilings([Limit(calls=20, per=0.4)], max_tasks=2).kept(None, 100)
    travelled = cloudpickle.dumps(kept)
    for _ in range(4):
        run(fn, travelled, 8)
    assert all(later - at >= 0.4 for at, later in zip(came, came[10:], strict=False))


ONE = Told([], [], None, [(1, [1.0], None, False)])
"""A request of a call."""


def test_a_task_that_dies_gives_its_turns_back() -> None:
    at = serve(Limits([InFlight(1)]), Reach())
    dead, other = at.ledger(), pickle.loads(pickle.dumps(at)).ledger()  # noqa: S301 - ours
    assert (dead.exchange(ONE).granted, other.exchange(ONE).granted) == ([1], [])
    dead.close()
    give_up = time.monotonic() + 20
    while not other.exchange(ONE).granted:
        assert time.monotonic() < give_up
        time.sleep(0.01)  # The server reads the closed connection in a thread of its own.
    other.close()


def test_a_stranger_without_the_secret_is_not_answered() -> None:
    at = serve(Limits([InFlight(1)]), Reach())
    stranger = DriverLimits(type(at.endpoint)(at.endpoint.host, at.endpoint.port, bytes(16)))
    with pytest.raises(ConnectionError):
        stranger.ledger().exchange(ONE)


def test_tasks_that_can_not_reach_the_driver_share_limits_out() -> None:
    shared = Ceilings([Limit(cost=len, up_to=10, per=1)], 20, 30, True, 4)
    capacity, kept = shared.kept(None, 100)
    assert capacity == 5
    assert kept.keeper == "4 tasks, which have a share each"
    assert kept.limits[1:] == (InFlight(5), Limit(calls=7, per=1), Adaptive())
    assert kept.limits[0].up_to == 2.5  # type: ignore[union-attr]
    alone = Kept((Adaptive(),), keeper="each task for itself")
    assert Ceilings(adaptive=True).kept(None, 7) == (7, alone)
    assert Ceilings().kept(None, 7) == (7, Kept())


@pytest.mark.parametrize("kind", [list, Limits])
def test_call_hosts_of_a_machine_have_limits_together(kind: Any) -> None:
    limits = (Limit(calls=7, per=1), InFlight(3))
    kept = Ceilings(kind(limits)).kept(None, 9, on_hosts=True)
    keeper = "each machine, for all queries"
    assert kept == (9, Kept(limits, MachineLimits(limits), keeper))
    assert pickle.loads(cloudpickle.dumps(kept)) == kept  # noqa: S301 - ours
