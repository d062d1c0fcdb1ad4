"""A real Redis: what it holds, how it is asked, and what becomes of rows when it goes away."""

import re
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import redis.asyncio
from lookups import Cluster, RedisServer, failure_of, rows_of
from pages import blocks_of, run

from asyncwait.backends.lookup import RedisTable, lookup, open_table
from asyncwait.spec import Cache, InvalidConfig, Retry

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_strings_are_read_as_text_bytes_or_json(redis_server: RedisServer) -> None:
    deep = "[" * 100_000
    redis_server.client.mset({"a:1": "ä", "a:x": '{"n": [1, null]}', "a:deep": deep})
    url = redis_server.url

    assert await rows_of(RedisTable(url, prefix="a:"), 1, 2, "x") == [
        ["ä"],
        [],
        ['{"n": [1, null]}'],
    ]
    assert await rows_of(RedisTable(url, form="bytes"), "a:1") == [["ä".encode()]]
    assert await rows_of(RedisTable(url, form="json", prefix="a:"), "x") == [[{"n": [1, None]}]]
    json = RedisTable(url, form="json", prefix="a:")
    assert "key 1: the call failed: DecodeError(" in await failure_of(json, 1)
    assert "its JSON is too deep" in await failure_of(json, "deep")


async def test_hashes_are_read_whole_or_by_fields(redis_server: RedisServer) -> None:
    redis_server.client.hset("u:1", mapping={"name": "Ann", "town": "Rome"})
    url = redis_server.url

    whole = RedisTable(url, form="hash", prefix="u:")
    assert await rows_of(whole, 1, 2) == [[{"name": "Ann", "town": "Rome"}], []]
    some = RedisTable(url, form="hash", prefix="u:", fields=["town", "zip"])
    assert await rows_of(some, 1, 2) == [[("Rome", None)], []]
    assert await rows_of(RedisTable(url, form="hash", fields=["zip"]), "u:1") == [[]]


@pytest.mark.parametrize("form", ["text", "hash"])
async def test_a_key_of_another_type_fails_alone(redis_server: RedisServer, form: Any) -> None:
    redis_server.client.rpush("list", 1)
    redis_server.client.set("text", "a")
    redis_server.client.hset("hash", "a", "b")
    table = RedisTable(redis_server.url, form=form)

    await table.open()
    answers = await table.get_many(["list", "text", "hash", "none"])
    await table.close()

    found, wrong = (form, "text" if form == "hash" else "hash")
    assert set(answers) == {"list", "text", "hash"}
    assert not isinstance(answers[found], Exception)
    for key in ("list", wrong):
        assert isinstance(answers[key], redis.ResponseError)
    assert "key 'list': the call failed: ResponseError(" in await failure_of(table, "list")


async def test_a_chunk_is_one_command(redis_server: RedisServer) -> None:
    client = redis_server.client
    client.mset({f"{n}": "v" for n in range(900)})
    client.config_resetstat()

    await rows_of(RedisTable(redis_server.url), *range(900))
    first = _calls(client)
    await rows_of(RedisTable(redis_server.url), *range(1000))

    assert first == {"mget": 1}
    assert _calls(client) == {"mget": 2, "exists": 1}


def _calls(client: Any) -> dict[str, int]:
    stats = client.info("commandstats")
    reading = ("mget", "get", "exists", "hmget", "hgetall")
    return {
        name: stats[f"cmdstat_{name}"]["calls"] for name in reading if f"cmdstat_{name}" in stats
    }


async def test_names_are_made_for_keys_that_are_no_plain_value(redis_server: RedisServer) -> None:
    redis_server.client.set("Rome/7", "x")
    named = RedisTable(redis_server.url, name=lambda key: f"{key[0]}/{key[1]}")

    assert await rows_of(named, ("Rome", 7), ("Rome", 8)) == [["x"], []]
    expected = "RedisTable(name=...) takes a function that makes the name of any key"
    assert expected in await failure_of(RedisTable(redis_server.url), ("Rome", 7))


async def test_a_client_of_ones_own_is_left_open(redis_server: RedisServer) -> None:
    redis_server.client.set("a", "1")
    async with redis.asyncio.Redis.from_url(redis_server.url, decode_responses=True) as client:
        assert await rows_of(RedisTable(client), "a") == [["1"]]
        assert await rows_of(RedisTable(client, form="json"), "a") == [[1]]
        assert await client.get("a") == "1"


AGAIN = Retry(max_attempts=10_000, initial=0.01, cap=0.05, attempt_timeout=0.2)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    yield made
    made.close()


@pytest.mark.parametrize("form", ["text", "hash"])
async def test_slots_of_a_cluster_that_move_meanwhile_lose_no_row(
    cluster: Cluster, form: Any
) -> None:
    names = [f"{{{key % 10}}}{key}" for key in range(100)]
    table_of = partial(RedisTable, form=form, fields=["v"] if form == "hash" else None)
    moved = anyio.Event()
    given: list[str] = []

    async def move() -> None:
        for slot in range(10):
            for _ in cluster.moving(names[slot::10]):
                await anyio.sleep(0.01)
        moved.set()

    async def source() -> AsyncIterator[str]:
        while not moved.is_set() or len(given) < 500:
            await anyio.sleep(0.001)
            given.extend(names)
            for name in names:
                yield name

    async with cluster.client() as client:
        for name in names:
            if form == "text":
                await client.set(name, f"v{name}")
            else:
                await client.hset(name, mapping={"v": f"v{name}"})
        retry = Retry(max_attempts=99, initial=0.01, cap=0.1)
        join = lookup(source(), table_of(client), retry=retry, capacity=200)
        async with anyio.create_task_group() as group, join as results:
            group.start_soon(move)
            found = [(name, *rows) async for name, rows in results]
        await client.rpush("list", 1)
        assert await rows_of(table_of(client), "none", names[0]) == [[], [found[0][1]]]
        assert "ResponseError(" in await failure_of(table_of(client), "list")

    row = "v{}".format if form == "text" else lambda name: (f"v{name}",)
    assert found == [(name, row(name)) for name in given]


async def _dies(server: RedisServer) -> None:
    server.kill()


async def _is_gone_for_a_while(server: RedisServer) -> None:
    server.kill()
    await anyio.sleep(0.1)
    server.start()


async def _hangs(server: RedisServer) -> None:
    server.client.client_pause(60_000)


async def _hangs_for_a_while(server: RedisServer) -> None:
    server.client.client_pause(300)


async def _is_full(server: RedisServer) -> None:
    server.client.config_set("maxmemory", 1)
    with pytest.raises(redis.OutOfMemoryError):
        server.client.set("500", "a")


async def _has_another_type(server: RedisServer) -> None:
    server.client.delete("7")
    server.client.rpush("7", 1)


OLD = Cache(999, ttl=0.001, stale_if_error=60)


OTHER: dict[str, Any] = {"on_error": lambda _, error: [str(error)]}


@pytest.mark.parametrize(
    ("befalls", "options", "rows"),
    [
        (_is_gone_for_a_while, {"retry": AGAIN}, "v{0}"),
        (_dies, {"cache": OLD}, "v{0}"),
        (_dies, OTHER, r"key {0}: the call failed: ConnectionError\(.*"),
        (_hangs_for_a_while, {"retry": AGAIN}, "v{0}"),
        (_hangs, {"cache": OLD, "timeout": 1}, "v{0}"),
        (_hangs, {**OTHER, "timeout": 1}, r"key {0}: the table gave no answer within 1 s"),
        (_is_full, {}, "v{0}"),
        (_has_another_type, OTHER, r"v{0}|key 7: the call failed: ResponseError\(.*"),
    ],
)
async def test_whatever_befalls_a_server_no_row_is_lost_and_none_comes_twice(
    own_redis: RedisServer, befalls: Any, options: dict[str, Any], rows: str
) -> None:
    own_redis.client.mset({f"{key}": f"v{key}" for key in range(500)})
    half = anyio.Event()

    async def source() -> AsyncIterator[int]:
        for value in range(1000):
            if value == 500:
                await half.wait()
                group.start_soon(befalls, own_redis)
            if value % 50 == 0:
                await anyio.sleep(0.001)
            yield value

    found: list[tuple[int, Any]] = []
    join = lookup(
        source(), RedisTable(own_redis.url), key=lambda v: v % 500, capacity=300, **options
    )
    async with anyio.create_task_group() as group, join as results:
        async for value, (row,) in results:
            found.append((value, row))
            if value == 499:
                half.set()

    assert found[:500] == [(key, f"v{key}") for key in range(500)]
    assert [value for value, _ in found] == list(range(1000))
    assert all(re.fullmatch(rows.format(value % 500), row) for value, row in found[500:])
    assert results.statistics().rows == 1000


async def test_a_server_with_too_many_clients_is_tried_again(own_redis: RedisServer) -> None:
    own_redis.client.set("a", "1")
    own_redis.client.config_set("maxclients", 1)
    table = RedisTable(own_redis.url)

    assert "key 'a': the call failed: " in await failure_of(table, "a")
    retry = Retry(max_attempts=100, initial=0.01, multiplier=1)
    async with open_table(table, retry=retry) as opened, anyio.create_task_group() as group:
        group.start_soon(_have_more_clients, own_redis)
        assert await opened.get("a") == ("1",)


async def _have_more_clients(server: RedisServer) -> None:
    await anyio.sleep(0.05)
    server.client.config_set("maxclients", 100)


async def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(InvalidConfig, match=r"^server must be an address \("):
        await rows_of(RedisTable("localhost:6379"), 1)


def test_the_page_prints_what_it_says(redis_server: RedisServer) -> None:
    redis_server.client.set("user:7", '{"town": "Rome"}')
    page = Path(__file__).resolve().parents[2] / "docs/lookup.md"
    (block,) = blocks_of(page)[""]
    block.code = block.code.replace("redis://localhost", redis_server.url)

    assert run(block, page, {}) == block.printed


def test_a_loop_of_trio_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"needs a loop of asyncio, and this one is trio's$"):
        anyio.run(rows_of, RedisTable("redis://localhost"), 1, backend="trio")
