"""What type checkers make of lookups: mypy and basedpyright read this, nobody runs it.

Each line with an `ignore` is refused by both: an ignore that is of no use is an error, too.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, assert_type

from asyncwait.backends.lookup import Full, FunctionTable, OpenTable, lookup, open_table
from asyncwait.backends.spark import lookup_join, ordered_wait
from asyncwait.spec import Cache


async def towns(keys: Sequence[int]) -> Mapping[int, Sequence[str] | Exception]:
    return {key: [str(key)] for key in keys}


class NoTable:
    async def get_many(self, keys: Sequence[int]) -> list[str]:
        return [str(key) for key in keys]


async def streams(values: list[bytes], stream: AsyncIterator[str]) -> None:
    """A pair has the type of its value; the key is of that."""
    async with lookup(values, FunctionTable(towns), key=len, cache=Full()) as results:
        async for value, rows in results:
            assert_type(value, bytes)
            assert_type(rows, Sequence[Any])
    async with lookup(stream, FunctionTable(towns), key=str.split, how="inner") as pairs:
        assert_type(await anext(pairs), tuple[str, Sequence[Any]])
    lookup(values, FunctionTable(towns), key=str.split)  # type: ignore[arg-type]
    lookup(values, FunctionTable(towns), how="outer")  # type: ignore[arg-type]
    lookup(values, NoTable())  # type: ignore[arg-type]
    lookup(values, FunctionTable(towns), on_error=lambda value, error: [value[:1], error.attempts])
    lookup(values, FunctionTable(towns), on_error="raise")  # type: ignore[arg-type]


async def tables() -> None:
    async with open_table(FunctionTable(towns), cache=Cache(10, ttl=1)) as table:
        assert_type(table, OpenTable)
        assert_type(table.peek(1), Sequence[Any] | None)
        assert_type(await table.get_many([1]), list[Sequence[Any]])


def frames(df: Any) -> None:
    """A DataFrame is one, whatever is installed here; a table has to be one."""
    lookup_join(df, FunctionTable(towns), on="id", columns="id long, town string", cache=Full())
    lookup_join(df, FunctionTable(towns), on={"user": "id"}, columns="id long, town string")
    lookup_join(df, FunctionTable(towns), on="id", columns="", how=1)  # type: ignore[arg-type]
    lookup_join(df, FunctionTable(towns), on="id", columns="", on_error="log")  # type: ignore[arg-type]
    lookup_join(df, NoTable(), on="id", columns="")  # type: ignore[arg-type]
    ordered_wait(df, towns, "town string", cache=Cache(10, ttl=1, key=str))
    ordered_wait(df, towns, "town string", cache=Full())  # type: ignore[arg-type]
