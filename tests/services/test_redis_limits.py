"""Limits that a Redis keeps, against a real one, which is killed and comes back.

It counts by its own clock, which nobody can move: windows are short, and it is waited for in fact.
"""

import asyncio
import subprocess
import sys
import time
from copy import copy
from textwrap import dedent
from typing import Any

import pytest
from lookups import RedisServer

from asyncwait.backends import pool
from asyncwait.backends.services import (
    Adaptive,
    Budget,
    BudgetSpent,
    Cost,
    InFlight,
    LedgerLost,
    Limit,
    RedisLimits,
)
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry
from asyncwait.toolkit import Told

SAID = '[{"kind":"budget","unit":"calls"}]'
"""Form of a budget of calls in Redis."""

WORKER = dedent(
    """
    import asyncio, os, sys, time
    from asyncwait.backends.pool import unordered_wait
    from asyncwait.backends.services import InFlight, Limit, RedisLimits

    url, count, per = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    tokens = lambda value: 1 + value % 7
    limits = RedisLimits(url, "model", [
        Limit(calls=40, per=per), Limit(cost=tokens, up_to=150, per=per), InFlight(12),
    ])

    async def ask(value):
        os.write(1, b"%r %d\\n" % (time.monotonic(), tokens(value)))
        await asyncio.sleep(0.002)

    async def task():
        async with unordered_wait(range(count), ask, limits=limits) as results:
            async for _ in results:
                pass

    async def main():
        await asyncio.gather(task(), task())

    asyncio.run(main())
    """
)


async def answer(value: int) -> int:
    return value


async def each_of(values: list[int]) -> list[int]:
    return values


async def results_of(limits: Any, count: int = 9, fn: Any = answer, **options: Any) -> list[int]:
    async with pool.ordered_wait(range(count), fn, limits=limits, **options) as results:
        return [value async for value in results]


def test_nothing_begins_while_the_server_is_gone_and_none_too_many_afterwards(
    own_redis: RedisServer,
) -> None:
    command = [sys.executable, "-c", WORKER, own_redis.url, "60", "0.5"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    time.sleep(0.7)
    own_redis.kill()
    time.sleep(0.3)
    own_redis.start()
    time.sleep(0.4)
    own_redis.client.flushall()
    lines = [line for each in processes for line in each.communicate()[0].splitlines()]
    assert [each.returncode for each in processes] == [0, 0]
    came = [(float(at), int(cost)) for at, cost in map(bytes.split, lines)]
    windows = [[cost for at, cost in came if start <= at < start + 0.5] for start, _ in came]
    assert len(came) == 240
    assert max(map(len, windows)) <= 40
    assert max(map(sum, windows)) <= 150
    assert own_redis.client.zcard("{asyncwait limits model} leaves 2") == 0


def test_a_server_that_can_not_be_reached_is_named() -> None:
    limits = RedisLimits("redis://127.0.0.1:1", "model", [InFlight(1)])
    with pytest.raises(ConnectionError):
        limits.ledger().exchange(Told([], [], None, []))


def test_a_budget_holds_for_all_and_remembers(redis_server: RedisServer) -> None:
    async def half(value: int) -> Cost[int]:
        return Cost(value, 0.5)

    def limits(amount: float) -> RedisLimits:
        return RedisLimits(
            redis_server.url, "model", [Adaptive(4), Budget(amount, "USD", lambda _: 1)]
        )

    said = "3.5 of a budget of 4 USD are spent, as the Redis has it"
    with pytest.raises(BudgetSpent, match=said):
        asyncio.run(results_of(limits(4), fn=half, capacity=1))
    with pytest.raises(BudgetSpent, match=said):
        asyncio.run(results_of(limits(4), fn=half))
    assert asyncio.run(results_of(limits(9), fn=half)) == list(range(9))


def test_a_budget_that_must_exist_is_not_begun_anew_by_a_later_program(
    redis_server: RedisServer,
) -> None:
    first = RedisLimits(redis_server.url, "model", [Budget(9, "USD", cost=float)])
    later = RedisLimits(redis_server.url, "model", [Budget(9, "USD", cost=float, exists=True)])
    connected = first.ledger()
    assert connected.exchange(Told([], [], None, [(1, [8.0])])).granted == [1]
    assert asyncio.run(results_of(later, 2)) == [0, 1]
    redis_server.client.flushall()
    with pytest.raises(LedgerLost, match="has lost its memory"):
        connected.exchange(Told([], [], None, []))
    with pytest.raises(LedgerLost, match="has lost its memory"):  # and again, if no call waited
        connected.exchange(Told([], [], None, []))
    said = r"'model' .* not hold the budget of 9 USD, .* what is left as a new Budget"
    for _ in range(2):
        with pytest.raises(LedgerLost, match=said):
            asyncio.run(results_of(later))
    connected.close()
    assert not redis_server.client.keys()
    assert asyncio.run(results_of(first, 2)) == [0, 1]


def test_a_server_that_is_another_ones_replica_for_a_moment_is_waited_for(
    redis_server: RedisServer,
) -> None:
    client = redis_server.client

    async def demotes(value: int) -> int:
        if value == 3:
            client.replicaof("127.0.0.1", "1")
            asyncio.get_running_loop().call_later(0.3, client.replicaof, "NO", "ONE")
        return value

    limits = RedisLimits(redis_server.url, "model", [Budget(99), InFlight(1)])
    assert asyncio.run(results_of(limits, 9, demotes)) == list(range(9))


ABOUT = "{asyncwait limits model}"


@pytest.mark.parametrize(
    ("forget", "said"),
    [
        (lambda client: client.flushall(), "has lost its memory: it is unknown what was spent"),
        (lambda client: client.hdel(ABOUT, "total 1"), "no number as total 1"),
    ],
    ids=["all", "total"],
)
def test_a_budget_that_the_server_has_forgotten_ends_with_an_error(
    redis_server: RedisServer, forget: Any, said: str
) -> None:
    async def forgets(value: int) -> int:
        if value == 3:
            forget(redis_server.client)
        return value

    limits = RedisLimits(redis_server.url, "model", [Budget(99)])
    with pytest.raises(LedgerLost, match=said):
        asyncio.run(results_of(limits, 99, forgets, capacity=2))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda client: client.set(ABOUT, "x"), "no hash"),
        (lambda client: client.hset(ABOUT, "a", "b"), "a hash of another kind"),
        *(
            (
                lambda client, text=text: client.hset(
                    ABOUT, mapping={"generation": "a 1", "limits": SAID, "total 1": text}
                ),
                "no number as total 1",
            )
            for text in ("", "abc", "nan", "-inf")
        ),
    ],
    ids=["string", "hash", "empty", "text", "nan", "infinite"],
)
def test_what_others_have_put_where_limits_are_kept_is_named(
    redis_server: RedisServer, does: Any, said: str
) -> None:
    does(redis_server.client)
    limits = RedisLimits(redis_server.url, "model", [Budget(9)])
    with pytest.raises(LedgerLost, match=f"holds {said} at its key '{ABOUT}': .*, or delete"):
        asyncio.run(results_of(limits))


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidConfig, match=r"^url must be like redis://host") as caught:
        RedisLimits("redis://user:secret@host:99999999", "model", [Budget(9)]).ledger()
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_others_with_other_limits_of_that_name_are_refused(redis_server: RedisServer) -> None:
    used = RedisLimits(redis_server.url, "model", [Limit(calls=9, per=0.3)])
    other = RedisLimits(redis_server.url, "model", [InFlight(3)])
    asyncio.run(results_of(used))
    with pytest.raises(LedgerLost, match=r"refuses.*\"most\":9.*give them another name"):
        asyncio.run(results_of(other))
    time.sleep(0.4)
    assert asyncio.run(results_of(other)) == list(range(9))
    spent = RedisLimits(redis_server.url, "money", [Budget(9)])
    asyncio.run(results_of(spent))
    with pytest.raises(LedgerLost, match="give them another name"):
        asyncio.run(results_of(RedisLimits(redis_server.url, "money", [InFlight(3)])))


@pytest.mark.parametrize("on_error", ["fail", "skip", lambda value, error: value])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fn": each_of, "batch": Batch(max_size=3)},
        {"cache": Cache(9, ttl=9)},
        {"copy": copy},
        {"retry": Retry(max_attempts=3), "copy": copy},
    ],
    ids=["plain", "batch", "cache", "copy", "retry"],
)
def test_who_is_not_let_in_is_told_at_once(
    options: dict[str, Any], on_error: Any, redis_server: RedisServer
) -> None:
    redis_server.client.config_set("requirepass", "secret")
    limits = RedisLimits(redis_server.url, "model", [InFlight(3)])
    try:
        with pytest.raises(LedgerLost, match=r"refuses, so nothing is called: "):
            asyncio.run(results_of(limits, on_error=on_error, **options))
    finally:
        redis_server.client.config_set("requirepass", "")


def test_a_turn_whose_owner_is_gone_is_free_when_its_lease_is_over(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asyncwait.backends.services._redis._LEASE", 0.2)
    limits = RedisLimits(redis_server.url, "model", [InFlight(1)])
    gone, other = limits.ledger(), limits.ledger()
    asks = Told([], [], None, [(1, [1.0])])
    assert gone.exchange(asks).granted == [1]
    assert gone.exchange(asks).granted == [1], "said twice, it counts once"
    for _ in range(5):
        time.sleep(0.1)
        gone.exchange(Told([], [], [(1, True, [1.0])], []))
        assert other.exchange(asks).granted == []
    time.sleep(0.3)
    assert other.exchange(asks).granted == [1]
    gone.close()
    other.close()


def test_what_a_killed_program_had_in_flight_is_spent_when_its_lease_is_over(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asyncwait.backends.services._redis._LEASE", 0.2)
    monkeypatch.setattr("asyncwait.backends.services._redis._SILENT", 0.05)
    limits = RedisLimits(redis_server.url, "model", [Budget(2, "USD", cost=float)])
    gone, other = limits.ledger(), limits.ledger()
    assert gone.exchange(Told([], [], None, [(1, [1.0])])).granted == [1]
    asks = Told([], [], None, [(1, [1.0]), (2, [1.0])])
    said = other.exchange(asks)
    assert (said.granted, said.refused) == ([1], {})
    for _ in range(3):  # One and a half leases, by the clock of the real server.
        time.sleep(0.1)
        said = other.exchange(Told([], [], [(1, True, [1.0])], [(2, [1.0])]))
    assert (said.granted, said.refused) == ([], {})
    other.exchange(Told([(1, True, [1.0])], [], None, []))
    said = other.exchange(Told([], [], None, [(2, [1.0])]))
    assert said.refused[2].startswith("2 of a budget of 2 USD are spent")

    gone.exchange(Told([], [], [(1, True, [1.0])], []))
    gone.exchange(Told([(1, True, [0.5])], [], None, []))
    assert other.exchange(Told([], [], None, [(2, [0.5])])).granted == [2]
    gone.close()
    other.close()


def test_who_leaves_as_a_turn_comes_gives_it_back(redis_server: RedisServer) -> None:
    limits = RedisLimits(redis_server.url, "leaving", [InFlight(1), Budget(100)])
    asked: list[int] = []

    async def ask(value: int) -> int:
        asked.append(value)
        await asyncio.sleep(0.003)
        return value

    async def leave() -> None:
        async with pool.ordered_wait(range(20), ask, capacity=4, limits=limits) as results:
            await anext(results)
            # A real Redis grants the next turn meanwhile; no clock of ours can be moved for that.
            time.sleep(0.006)  # noqa: ASYNC251 - the consumer works, and keeps the loop
            await asyncio.sleep(0)

    async def main() -> None:
        for _ in range(3):
            await asyncio.wait_for(leave(), 10)

    asyncio.run(main())
    spent: Any = redis_server.client.hget("{asyncwait limits leaving}", "total 2")
    assert float(spent) == len(asked)
