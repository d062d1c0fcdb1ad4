"""A table in Redis; it requires the extra `redis`, and an asyncio loop."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from asyncwait.backends.lookup._table import Answers
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.checks import is_plain_function, require_whole
from asyncwait.spec.texts import shown
from asyncwait.toolkit import running_trio

Form: TypeAlias = Literal["text", "bytes", "json", "hash"]


class RedisTable:
    """Values in Redis, one row for each key.

    MGET reads strings, and returns nothing for a key of another type. So EXISTS checks all keys
    without a value in one more request; only if one of them exists after all, a GET reads each of
    them. A key of another type fails alone. In a cluster all keys are read by GET at once, which is
    correct also for a slot that is half moved to another server.

    Args:
        server: an address, `redis://host:port/db`, `rediss://` or `unix://path`; or an open client
            of `redis.asyncio`, or a `RedisCluster`, which is left open.
        form: the form of a row: a string as "text" (UTF-8) or "bytes", a string that is parsed as
            "json", or a "hash".
        fields: of a hash, whose row is the tuple of their values, with None for a missing one;
            a hash without any of them has no row. None for all, as a dict.
        prefix: beginning of the names of keys; an int or str follows it.
        name: returns the name of a key, if `prefix` is not enough, for example for tuples.
        connections: largest number, if `server` is an address; each serves one request at a time.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: redis is not installed.
    """

    def __init__(
        self,
        server: Any,
        *,
        form: Form = "text",
        fields: Sequence[str] | None = None,
        prefix: str = "",
        name: Callable[[Any], str | bytes] | None = None,
        connections: int = 10,
    ) -> None:
        if form not in _ROWS:
            raise InvalidConfig.of("form", form, "'text', 'bytes', 'json' or 'hash'")
        if fields is not None and (form != "hash" or isinstance(fields, str) or not fields):
            raise InvalidConfig.of(
                "fields", fields, "a sequence of names, and form 'hash'; or None"
            )
        if name is not None and (prefix or not is_plain_function(name)):
            raise InvalidConfig.of(
                "name", name, "a plain function of a key, without prefix; or None"
            )
        require_whole("connections", connections)
        self.columns = None if fields is None else tuple(fields)
        self._errors: Any = _redis_module().exceptions
        self._server = server
        self._is_ours = isinstance(server, str)
        self._client: Any = None if self._is_ours else server
        self._form = form
        self._row = _ROWS[form]
        self._command = ["GET"] if form != "hash" else ["HMGET", *fields] if fields else ["HGETALL"]
        self._name: Callable[[Any], Any] = name or _with_prefix(prefix)
        self._connections = connections

    async def open(self) -> None:
        """Prepare; the first request connects.

        Raises:
            RuntimeError: the loop is trio's.
            InvalidConfig: the address is invalid.
        """
        if running_trio() is not None:
            raise RuntimeError("redis.asyncio needs a loop of asyncio, and this one is trio's")
        if self._is_ours:
            self._client = self._connected()

    def _connected(self) -> Any:
        """Return a client whose requests wait for a free connection.

        A connection that the server has closed meanwhile is replaced at once; the lookup makes all
        other retries, because it knows deadlines.
        """
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        try:
            pool = BlockingConnectionPool.from_url(
                self._server,
                max_connections=self._connections,
                timeout=None,
                retry=Retry(NoBackoff(), 1),
                retry_on_error=[self._errors.ConnectionError],
            )
        except ValueError as error:
            raise InvalidConfig.of("server", self._server, f"an address ({error})") from error
        return Redis.from_pool(pool)

    async def close(self) -> None:
        """Close the connections, unless the user opened the client."""
        if self._is_ours and self._client is not None:
            await self._client.aclose()

    async def get_many(self, keys: Sequence[Any]) -> Answers:
        """Read the values of `keys`.

        Raises:
            redis.RedisError: the server can't be asked, or refuses.
        """
        answers: dict[Any, Any] = {}
        names: dict[Any, Any] = {}
        for key in keys:
            try:
                names[key] = self._name(key)
            except Exception as error:
                answers[key] = error
        values = await self._read(list(names.values())) if names else []
        for key, value in zip(names, values, strict=True):
            if _is_nothing(value):
                continue
            try:
                answers[key] = value if isinstance(value, Exception) else (self._row(value),)
            except ValueError as error:
                answers[key] = error
        return answers

    async def _read(self, names: list[Any]) -> list[Any]:
        """Return the string or the fields, nothing or an error for each name."""
        if self._form == "hash" or hasattr(self._client, "mget_nonatomic"):  # or in a cluster
            return await self._read_each(names)
        values = list(await self._client.mget(names))
        absent = [place for place, value in enumerate(values) if value is None]
        if absent and await self._client.exists(*(names[place] for place in absent)):
            # A GET for each key returns the server's error; or the key is new.
            found = await self._read_each([names[place] for place in absent])
            for place, value in zip(absent, found, strict=True):
                values[place] = value
        return values

    async def _read_each(self, names: list[Any]) -> list[Any]:
        command, *fields = self._command
        async with self._client.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.execute_command(command, name, *fields)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        of_one_key = self._errors.ResponseError, self._errors.ClusterError
        for answer in answers:
            if isinstance(answer, Exception) and not isinstance(answer, of_one_key):
                raise answer
        return answers


def _redis_module() -> Any:
    try:
        import redis.asyncio
    except ImportError as error:
        raise MissingExtra("redis", "redis") from error
    return redis


def _with_prefix(prefix: str) -> Callable[[Any], bytes]:
    def name(key: Any) -> bytes:
        if type(key) in {int, str}:
            return f"{prefix}{key}".encode()
        raise TypeError(
            f"expected a key that is an int or a str, got {shown(key)} ({type(key).__name__}); "
            "RedisTable(name=...) takes a function that makes the name of any key"
        )

    return name


def _is_nothing(value: Any) -> bool:
    if isinstance(value, list):  # of HMGET
        return all(each is None for each in value)
    return value is None or value == {}


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _fields(values: Any) -> Any:
    if isinstance(values, dict):
        return {_text(name): _text(value) for name, value in values.items()}
    return tuple(map(_text, values))


def _json(value: bytes) -> Any:
    try:
        return msgspec.json.decode(value)
    except RecursionError as error:
        raise ValueError(f"its JSON is too deep: {error}") from error


_ROWS: dict[Form, Callable[[Any], Any]] = {
    "text": _text,
    "bytes": bytes,
    "json": _json,
    "hash": _fields,
}
"""Functions that make a row of a value; a ValueError fails its key."""
