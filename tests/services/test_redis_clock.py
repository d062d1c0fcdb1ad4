"""The clock of limits that a Redis keeps, when the clock of its machine is set.

The script of these tests reads the time of the server from a key, and the clients read their
monotonic clocks from the test; one test calls in real time instead, and moves the server's clock.
"""

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from lookups import RedisServer

from asyncwait.backends import pool
from asyncwait.backends.services import LedgerLost, Limit, RedisLimits
from asyncwait.backends.services import _redis as module
from asyncwait.toolkit import Ledger, Reply, Told

PER = 10.0
FIVE = Limit(calls=5, per=PER, latency=0)

TIME = "redis.call('TIME')"
SHIFTED = (
    f"(function() local t = {TIME}; t[1] = t[1] + (redis.call('GET', 'ahead') or 0) return t end)()"
)
FAKE = "{redis.call('GET', 'seconds'), 0}"


def read_instead(monkeypatch: pytest.MonkeyPatch, clock: str) -> None:
    register = redis.Redis.register_script

    def replaced(client: Any, script: str) -> Any:
        assert script.count(TIME) == 1
        return register(client, script.replace(TIME, clock))

    monkeypatch.setattr(redis.Redis, "register_script", replaced)


class World:
    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self.now = self.ahead = 1000.0
        self.calls: list[float] = []
        self._numbers: dict[int, int] = {}

    def client(self) -> Ledger:
        return RedisLimits(self._server.url, "model", [FIVE]).ledger()

    def exchange(self, client: Ledger, told: Told) -> Reply:
        self.now += 0.01
        self._server.client.set("seconds", f"{self.now + self.ahead:.6f}")
        return client.exchange(told)

    def call(self, client: Ledger) -> int:
        first = self._numbers.get(id(client), 0) + 1
        asked = [(first + each, [1.0], None, False) for each in range(6)]
        granted = len(self.exchange(client, Told([], [], None, asked)).granted)
        self._numbers[id(client)] = first + granted
        self.now += 0.01
        numbers = range(first, first + granted)
        self.calls += [self.now] * granted
        if granted:
            self.exchange(client, Told([(each, True, []) for each in numbers], [], None, []))
        return granted

    def run(self, seconds: float, *clients: Ledger) -> int:
        end, made = self.now + seconds, 0
        while self.now < end:
            self.now += 0.2
            made += sum(map(self.call, clients))
        return made

    def most(self) -> int:
        return max(
            sum(start <= at < start + PER - 0.1 for at in self.calls) for start in self.calls
        )


@pytest.fixture
def world(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    found = World(redis_server)
    read_instead(monkeypatch, FAKE)
    monkeypatch.setattr(module, "monotonic", lambda: found.now)
    yield found
    assert found.most() <= 5


def test_a_new_program_calls_once_a_connected_one_has_confirmed_the_time(world: World) -> None:
    silent = Told([], [], None, [])
    old, new = world.client(), world.client()
    world.exchange(old, silent)
    world.now += 4.9
    assert world.call(new) == 0
    world.exchange(old, silent)
    world.ahead += 100
    assert world.call(new) == 0
    world.exchange(old, silent)
    assert world.call(new) == 5
    world.exchange(old, silent)
    assert world.run(9, new) == 0


def test_calls_continue_while_a_clock_is_set_back(world: World) -> None:
    old = world.client()
    assert world.run(15, old) == 10
    world.ahead -= 30
    new = world.client()
    assert world.run(30, new, old) == 15
    old.close()
    assert world.run(30, new) == 15


def test_a_clock_that_was_set_back_while_no_program_ran_ends_with_an_error(world: World) -> None:
    old = world.client()
    assert world.call(old) == 5
    old.close()
    world.ahead -= 30
    said = "clock is 30 s behind .* set that clock right, or wait 10 s and give the limits another"
    for _ in range(2):
        with pytest.raises(LedgerLost, match=said):
            world.call(world.client())
    world.ahead += 30
    assert world.run(30, world.client()) >= 10


def test_time_in_which_no_program_ran_counts_at_once(world: World) -> None:
    old = world.client()
    assert world.call(old) == 5
    old.close()
    world.now += 11
    assert world.call(world.client()) == 5


@pytest.mark.parametrize("jump", [0, -100])
def test_the_clock_of_the_server_counts_when_those_who_could_confirm_it_are_silent(
    jump: float, world: World
) -> None:
    killed = world.client()
    assert world.call(killed) == 5
    world.now += 11
    world.ahead += jump
    new = world.client()
    assert world.run(7, new) == 0
    if jump:
        with pytest.raises(LedgerLost, match="behind"):
            world.run(2, new)
    else:
        assert world.run(2, new) == 5
    # The silent program was only stopped: what its clock says still holds.
    assert world.run(9, killed) == (5 if jump else 0)


@pytest.mark.parametrize("seed", range(5))
def test_no_window_holds_too_many_whatever_clocks_and_programs_do(seed: int, world: World) -> None:
    rng = random.Random(seed)
    clients = [world.client()]
    world.run(3, *clients)
    does: list[Callable[[], object]] = [
        lambda: clients.append(world.client()),
        lambda: clients.pop() if len(clients) > 1 else None,
        lambda: clients.pop().close() if len(clients) > 1 else None,
        lambda: setattr(world, "ahead", world.ahead + rng.choice([-40, -3, -0.3, 0.3, 3, 40])),
        lambda: setattr(world, "now", world.now + rng.random() * 4),
    ]
    for _ in range(40):
        rng.choice(does)()
        others = rng.sample(clients[1:], len(clients) // 2)
        world.run(rng.random() * 4, *others)
        world.run(rng.random() * 2, *others, clients[0])
    assert len(world.calls) > 5 * (world.now - 1000) / PER / 1.5


@pytest.mark.parametrize("jump", [10, -30])
def test_operators_keep_to_limits_in_real_time_while_the_clock_is_set(
    jump: float, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_instead(monkeypatch, SHIFTED)
    limits: Any = RedisLimits(redis_server.url, "model", [Limit(calls=40, per=0.5)])
    calls: list[float] = []

    async def ask(value: int) -> int:
        calls.append(time.monotonic())
        if len(calls) == 60:
            redis_server.client.set("ahead", jump)
        await asyncio.sleep(0.002)
        return value

    async def operate(after: int) -> None:
        while len(calls) < after:
            await asyncio.sleep(0.001)
        async with pool.unordered_wait(range(60), ask, limits=limits) as results:
            assert len([value async for value in results]) == 60

    async def main() -> None:
        await asyncio.wait_for(asyncio.gather(operate(0), operate(0), operate(60)), 10)

    asyncio.run(main())
    assert max(sum(start <= at < start + 0.5 for at in calls) for start in calls) <= 40
