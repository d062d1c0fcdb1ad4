"""Limits that the processes of a machine share; some processes are killed."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Budget,
    InFlight,
    LedgerLost,
    Limit,
    MachineLimits,
    PermitTimedOut,
    _machine,
)
from asyncwait.spec import InvalidConfig, OperatorError
from asyncwait.toolkit import Told

WORKER = dedent(
    """
    import asyncio, sys, time
    from asyncwait.backends.pool import unordered_wait
    from asyncwait.backends.services import InFlight, Limit, MachineLimits

    limits, count, takes = eval(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

    async def ask(value):
        print(began := time.monotonic(), 0, flush=True)
        await asyncio.sleep(takes)
        print(began, time.monotonic(), flush=True)

    async def main():
        async with unordered_wait(range(count), ask, limits=limits) as results:
            async for _ in results:
                pass

    asyncio.run(main())
    """
)


def worker(limits: MachineLimits, count: int, takes: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WORKER, repr(limits), str(count), str(takes)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def together(limits: MachineLimits, count: int, takes: float) -> list[tuple[float, float]]:
    workers = [worker(limits, count, takes) for _ in range(2)]
    text = "".join(each.communicate()[0] for each in workers)
    calls = [line.split() for line in text.splitlines()]
    return [(float(began), float(ended)) for began, ended in calls if ended != "0"]


class Operator:
    now = 1000.0

    def __init__(self, limits: list[Any], folder: Path, name: str = "") -> None:
        self.ledger: Any = MachineLimits(limits, name, str(folder / "limits")).ledger()
        self.ledger._clock = lambda: Operator.now
        self.wait = 0.0

    def ask(self, *asked: int, amount: float = 1, key: str = "", **told: Any) -> list[int]:
        places = range(2)
        requests: list[Any] = [
            (n, [amount for _ in places], [key for _ in places], False) for n in asked
        ]
        reply = self.ledger.exchange(
            Told(told.get("ended", []), told.get("begun", []), None, requests)
        )
        self.wait = reply.wait
        return list(reply.granted)

    def end(self, *numbers: int, cost: float | None = None) -> None:
        self.ask(ended=[(n, True, [cost, cost]) for n in numbers], begun=numbers)


@pytest.fixture(autouse=True)
def _clock() -> None:
    Operator.now = 1000.0


def test_two_processes_never_exceed_a_window_and_use_it(tmp_path: Path) -> None:
    limits = [Limit(calls=20, per=0.2, latency=0.01)]
    starts = sorted(
        began for began, _ in together(MachineLimits(limits, "", f"{tmp_path}/a"), 60, 0)
    )
    assert len(starts) == 120
    assert max(sum(at <= x < at + 0.2 for x in starts) for at in starts) <= 20
    assert starts[-1] - starts[0] <= 5 * 0.21 / 0.9 + 0.4


def test_two_processes_never_exceed_calls_in_flight_and_use_them(tmp_path: Path) -> None:
    calls = together(MachineLimits([InFlight(4)], "", f"{tmp_path}/a"), 10, 0.15)
    assert max(sum(x < at + 0.001 < y for x, y in calls) for at, _ in calls) == 4
    starts, ends = zip(*calls, strict=True)
    assert sum(ends) - sum(starts) >= 0.8 * 4 * (max(ends) - min(starts))


def test_calls_of_a_process_that_was_killed(tmp_path: Path) -> None:
    limits = [Limit(calls=3, per=60), InFlight(2)]
    here = Operator(limits, tmp_path)
    here.ledger._clock = time.monotonic
    with worker(MachineLimits(limits, "", f"{tmp_path}/limits"), 9, 60) as killed:
        try:
            assert killed.stdout is not None
            assert [killed.stdout.readline().split()[1] for _ in range(2)] == ["0", "0"]
            assert here.ask(1) == []
        finally:
            killed.kill()
        until = time.monotonic() + 10
        while not here.ask(1, 2):  # The process is dead, and nothing has waited for it yet.
            assert time.monotonic() < until
            time.sleep(0.02)  # The server learns of the death of a process, and tells no other.
    here.end(1)
    assert here.ask(2) == []
    assert 40 < here.wait < 62


def test_calls_leave_a_window_also_after_the_end_of_their_operator(tmp_path: Path) -> None:
    limits = [Limit(cost=len, up_to=10, per=10, latency=1)]
    one, other = Operator(limits, tmp_path), Operator(limits, tmp_path)
    assert one.ask(1, 2, amount=5) == [1, 2]
    one.end(1, cost=2)
    assert other.ask(1, amount=4) == []
    assert other.ask(2, amount=3) == [2]
    one.ask(begun=[2])
    one.ledger.close()
    Operator.now += 10.5
    assert other.ask(3, amount=2.5) == []
    assert other.wait == pytest.approx(0.5, abs=0.02)
    Operator.now += 1
    assert other.ask(3, amount=7) == [3]


def test_keys_bursts_and_weights(tmp_path: Path) -> None:
    by = [Limit(calls=4, per=10, burst=2, by=str, latency=0), InFlight(9, weight=len)]
    one, other = Operator(by, tmp_path), Operator(by, tmp_path)
    assert one.ask(1, 2, 3, key="a") == [1, 2]
    assert other.ask(1, key="a") == []
    assert other.ask(2, key="b") == [2]
    one.end(1, 2)
    Operator.now += 5.1
    assert other.ask(3, 4, 5, key="a") == [3, 4]
    weights = [InFlight(4, weight=len), InFlight(9)]
    heavy, light = Operator(weights, tmp_path), Operator(weights, tmp_path)
    assert heavy.ask(1, amount=3) == [1]
    assert light.ask(1, amount=2) == []
    assert light.ask(2, amount=1) == [2]


def test_a_request_without_room_goes_before_later_ones(tmp_path: Path) -> None:
    limits = [InFlight(1)]
    one, other = Operator(limits, tmp_path), Operator(limits, tmp_path)
    assert one.ask(1) == [1]
    assert other.ask(1) == []
    for _ in range(3):
        Operator.now += 0.4
        assert other.ask(1) == []
    assert one.ask(2, ended=[(1, True, [])]) == []
    assert other.ask(1) == [1]
    large = Operator([InFlight(3, weight=len)], tmp_path)
    told = Told([], [], None, [(n, [amount], None, False) for n, amount in enumerate((2, 2, 1))])
    assert large.ledger.exchange(told).granted == [0]


def test_limits_that_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Operator([Limit(cost=len, up_to=1, per=9)], tmp_path)
    assert one.ask(1) == [1]
    assert Operator([Limit(cost=len, up_to=1, per=9, max_wait=1)], tmp_path).ask(1) == []
    assert Operator([Limit(cost=len, up_to=1, per=9)], tmp_path, "b").ask(1) == [1]
    assert Operator([Limit(cost=abs, up_to=1, per=9)], tmp_path).ask(1) == [1]
    (tmp_path / "boot").write_text("another")
    monkeypatch.setattr(_machine, "_BOOT", tmp_path / "boot")
    assert Operator([Limit(cost=len, up_to=1, per=9)], tmp_path).ask(1) == [1]


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\x93", "damaged"), (b"", "damaged"), (b"\x93\xa1x\x80\x80", "version"), (None, "removed")],
)
def test_a_file_that_is_lost(tmp_path: Path, content: bytes | None, text: str) -> None:
    one = Operator([InFlight(1)], tmp_path)
    assert one.ask(1) == [1]
    (file,) = (tmp_path / "limits").glob("*.limits")
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(LedgerLost, match=text):
        one.ask(2)


def test_a_process_that_was_killed_while_it_wrote_loses_nothing(tmp_path: Path) -> None:
    one = Operator([InFlight(1)], tmp_path)
    assert one.ask(1) == [1]
    (file,) = (tmp_path / "limits").glob("*.limits")
    file.rename(file.with_suffix(".new"))
    assert Operator([InFlight(1)], tmp_path).ask(1) == []
    file.with_suffix(".new").write_bytes(b"a part")
    assert one.ask(2) == []


def test_a_wait_that_is_too_long_fails_its_record(tmp_path: Path) -> None:
    limits = MachineLimits([Limit(calls=1, per=60, max_wait=0.1)], "", f"{tmp_path}/limits")

    async def main() -> None:
        async with pool.ordered_wait(
            [1, 2], lambda value: asyncio.sleep(0, value), limits=limits
        ) as results:
            async for _ in results:
                pass

    with pytest.raises(OperatorError) as failed:
        asyncio.run(main())
    assert isinstance(failed.value.__cause__, PermitTimedOut)


def test_limits_that_no_file_counts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="no Budget"):
        MachineLimits([Budget(3)])
    tmp_path.chmod(0o755)
    with pytest.raises(InvalidConfig, match="that only this user can enter"):
        MachineLimits([InFlight(1)], "", f"{tmp_path}").ledger()
