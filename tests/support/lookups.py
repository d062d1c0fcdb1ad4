"""What tests of lookups look up in: a table that does what it is told, and a real Redis."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
import redis
import redis.asyncio
from operators import seconds_now

from asyncwait.backends.lookup import LookupResults, OpenTable, Table, open_table
from asyncwait.spec import CallFailed


class Scripted:
    """A table that takes a second for each request.

    Attributes:
        rows: of some keys, None for none; all others have themselves as their one row.
        trouble: raised in place of an answer by requests that begin while it is there.
        takes: seconds of a request that begins now.
        clean_up: seconds that one takes to end that is cancelled.
        log: "open", "close"; when it was asked for what, and "cancelled" for each time it was.
    """

    def __init__(self, **rows: Any) -> None:
        self.rows: dict[Any, Any] = rows
        self.trouble: BaseException | None = None
        self.takes = 1.0
        self.clean_up = 0.0
        self.log: list[Any] = []

    async def open(self) -> None:
        self.log.append("open")

    async def close(self) -> None:
        self.log.append("close")

    async def get_many(self, keys: Sequence[Any]) -> dict[Any, Any]:
        self.log.append((seconds_now(), list(keys)))
        trouble = self.trouble
        try:
            await anyio.sleep(self.takes)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.clean_up)
            self.log.append("cancelled")
            raise
        if trouble is not None:
            raise trouble
        answers = {key: self.rows.get(key, [key]) for key in keys}
        return {key: rows for key, rows in answers.items() if rows is not None}

    @property
    def asked(self) -> list[Any]:
        return [entry for entry in self.log if isinstance(entry, tuple)]


class Values:
    """Gives values, and sleeps for a float; calls a function, raises an exception."""

    def __init__(self, *script: Any) -> None:
        self._script = iter(script)
        self.read = self.closed = 0

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for item in self._script:
            if isinstance(item, float):
                await anyio.sleep(item)
            elif isinstance(item, Exception):
                raise item
            elif callable(item):
                item()
            else:
                self.read += 1
                return item
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed += 1


async def read(results: LookupResults[Any]) -> list[Any]:
    return [(seconds_now(), value, list(rows)) async for value, rows in results]


async def outcome(opened: OpenTable, key: Any) -> Any:
    """Return when a lookup ends, and its rows or its error; a list has several keys."""
    try:
        if isinstance(key, list):
            rows: Any = [list(each) for each in await opened.get_many(key)]
        else:
            rows = list(await opened.get(key))
    except Exception as error:
        rows = str(error)
    return seconds_now(), rows


class Readable(Scripted):
    """A table that can be read whole, and fails at the beginning or at the end of a reading."""

    def __init__(self, **rows: Any) -> None:
        super().__init__(**rows)
        self.trouble_at_end: BaseException | None = None

    async def load_all(self) -> AsyncIterator[tuple[Any, Any]]:
        self.log.append(seconds_now())
        try:
            if self.trouble is not None:
                raise self.trouble
            for key, rows in list(self.rows.items()):
                for row in rows:
                    yield key, row
            await anyio.sleep(self.takes)
            if self.trouble_at_end is not None:
                raise self.trouble_at_end
        finally:
            self.log.append("read")


class RedisServer:
    """A private Redis server, with nothing on disk, on a socket in its own folder."""

    def __init__(self, *options: str) -> None:
        beside = str(Path(sys.executable).parent)
        found = shutil.which("redis-server") or shutil.which("redis-server", path=beside)
        assert found, "there is no redis-server on PATH; .ci/redis ENVIRONMENT brings one"
        # Not below pytest's folder: the path of a socket has a hundred characters.
        self._folder = Path(tempfile.mkdtemp(prefix="redis-"))
        socket = self._folder / "socket"
        self.url = f"unix://{socket}"
        self._command = [found, "--port", "0", "--unixsocket", str(socket), "--save", ""]
        self._command += ["--dir", str(self._folder), *options]
        self.client = redis.Redis(unix_socket_path=str(socket), decode_responses=True)
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        while True:
            assert self._process.poll() is None, "redis-server has not started"
            try:
                self.client.ping()
            except redis.ConnectionError:
                continue
            return

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.client.close()
        self.kill()
        shutil.rmtree(self._folder)


class Cluster:
    """Two servers, each of which has half of the slots; a node's bus is on a port of its own."""

    def __init__(self) -> None:
        with ExitStack() as stack:
            free = [stack.enter_context(socket.socket()) for _ in range(4)]
            for each in free:
                each.bind(("127.0.0.1", 0))
            self._ports = [each.getsockname()[1] for each in free]
        self._nodes = [self._node(*self._ports[:2]), self._node(*self._ports[2:])]
        self._ids = [node.client.execute_command("CLUSTER MYID") for node in self._nodes]
        for place, node in enumerate(self._nodes):
            node.client.execute_command("CLUSTER SET-CONFIG-EPOCH", place + 1)
            first = 8192 * place
            node.client.execute_command("CLUSTER ADDSLOTSRANGE", first, first + 8191)
        self._nodes[0].client.execute_command("CLUSTER MEET", "127.0.0.1", *self._ports[2:])
        while not all(map(self._is_ready, self._nodes)):
            time.sleep(0.01)  # nothing tells when a cluster is

    @staticmethod
    def _node(port: int, bus: int) -> RedisServer:
        options = ["--port", str(port), "--cluster-enabled", "yes", "--cluster-port", str(bus)]
        return RedisServer(*options)

    @staticmethod
    def _is_ready(node: RedisServer) -> bool:
        return bool(node.client.cluster("INFO")["cluster_state"] == "ok")

    def client(self) -> redis.asyncio.RedisCluster:
        return redis.asyncio.RedisCluster(host="127.0.0.1", port=self._ports[0])

    def moving(self, names: Sequence[str]) -> Iterator[None]:
        """Move the slot of these keys to the other server, and pause when half of them are there.

        It pauses once more when all of them are, and the slot is not.
        """
        slot = self._nodes[0].client.cluster("KEYSLOT", names[0])
        has_it = [node.client.cluster("COUNTKEYSINSLOT", slot) > 0 for node in self._nodes]
        to = has_it.index(False)
        here, there = self._nodes[1 - to].client, self._nodes[to].client
        there.cluster("SETSLOT", slot, "IMPORTING", self._ids[1 - to])
        here.cluster("SETSLOT", slot, "MIGRATING", self._ids[to])
        for part in (names[::2], names[1::2]):
            address = "127.0.0.1", self._ports[2 * to]
            here.execute_command("MIGRATE", *address, "", 0, 5000, "KEYS", *part)
            yield
        for client in (there, here):
            client.cluster("SETSLOT", slot, "NODE", self._ids[to])

    def close(self) -> None:
        for node in self._nodes:
            node.close()


async def rows_of(table: Table, *keys: Any) -> list[Any]:
    async with open_table(table) as opened:
        return [list(rows) for rows in await opened.get_many(keys)]


async def failure_of(table: Table, key: Any) -> str:
    with pytest.raises(CallFailed) as caught:
        await rows_of(table, key)
    return str(caught.value)


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture
def redis_server(shared_redis: RedisServer) -> RedisServer:
    shared_redis.client.flushall()
    return shared_redis


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer("--appendonly", "yes")
    yield server
    server.close()
