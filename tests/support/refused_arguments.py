"""Arguments that lookups and watching refuse, and what they say, for `tests/golden/refused.txt`."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from inspect import isawaitable
from typing import Any

import anyio
import pytest
from lookups import Readable, Scripted, Values
from operators import virtual_loop
from watched import Collected, Played

from asyncwait.backends.lookup import (
    DbApiTable,
    Full,
    FunctionTable,
    RedisTable,
    SqliteTable,
    lookup,
    open_table,
)
from asyncwait.backends.spark.progress import Progress
from asyncwait.backends.watching import export_metrics, show_progress, statistics_of
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry

NAMES = {
    **{each.__name__: each for each in (Batch, Cache, Full, Played, Readable, Retry)},
    "anyio": anyio,
    "METER": Collected().meter,
}


async def _open(**options: Any) -> None:
    table = Scripted()
    try:
        async with open_table(**{"table": table, **options}):
            pass
    finally:
        assert table.log == []


async def _look_up(**options: Any) -> None:
    table, source = Scripted(), Values("a")
    try:
        async with lookup(source, table, **options):
            pass
    finally:
        assert (source.closed, source.read, table.log) == (1, 0, [])


def _watch(**options: Any) -> None:
    with Progress(**options):
        pass


FINE = {"connect": print, "statement": "SELECT id FROM u WHERE id IN ({keys})"}

CALLS: dict[str, Callable[..., Any]] = {
    "lookup": _look_up,
    "open_table": _open,
    "Full": Full,
    "FunctionTable": FunctionTable,
    "DbApiTable": lambda **options: DbApiTable(**{**FINE, **options}),
    "SqliteTable": partial(SqliteTable, "users.db", "users", key="id"),
    "RedisTable": partial(RedisTable, "redis://localhost"),
    "statistics_of": partial(statistics_of, Played()),
    "show_progress": partial(show_progress, Played()),
    "export_metrics": partial(export_metrics, Played()),
    "Progress": _watch,
}

REFUSED = """
lookup: key=5 | how="outer" | mode="any" | on_error="raise" | on_error=anyio.sleep
lookup: capacity=0 | cache=Full()
open_table: table=print | cache=5 | cache=Full() | cache=Full(), table=Readable(), timeout=3
open_table: timeout=0 | retry=3 | retry=Retry(on_result=any) | batch=3 | batch=Batch(split=True)
open_table: retry_missing=Retry(attempt_timeout=1) | retry_missing=Retry(), cache=Cache(1, 1, 1)
Full: reload=0 | max_age=-1
FunctionTable: fn=Played
DbApiTable: connect="users.db" | statement="SELECT 1" | paramstyle="named"
DbApiTable: statement="DELETE FROM u WHERE id IN ({keys})"
DbApiTable: statement=" update u SET name = 1 WHERE id IN ({keys})"
DbApiTable: statement="INSERT INTO u SELECT * FROM v WHERE id IN ({keys})"
SqliteTable: columns="town"
RedisTable: form="set" | fields=["a"] | name=str, prefix="a" | connections=0
statistics_of: every=0 | every=-1 | every=float("inf") | every=float("nan") | every=True
statistics_of: every="1" | every=None
show_progress: every=0
export_metrics: every=0 | attributes="fetch" | attributes={1: "x"} | attributes={"x": ["y"]}
export_metrics: meter=5
Progress: total=-1 | total=True | show="yes" | console="stderr" | session=object() | meter="tests"
Progress: attributes={"job": "fetch"} | attributes={"job": None}, meter=METER
"""
"""Functions with arguments, in Python, that each of them refuses."""


def told() -> str:
    return "\n".join([*_lines(), ""])


def _lines() -> Iterator[str]:
    for line in REFUSED.strip().splitlines():
        name, _, calls = line.partition(": ")
        for given in calls.split(" | "):
            yield f"{name}({given}): {_refusal(name, eval(f'dict({given})', NAMES))}"  # noqa: S307


def _refusal(name: str, options: dict[str, Any]) -> str:
    async def call() -> None:
        if isawaitable(made := CALLS[name](**options)):
            await made

    backend, settings = virtual_loop("asyncio")
    with pytest.raises(InvalidConfig) as refused:
        anyio.run(call, backend=backend, backend_options=settings)
    return re.sub(r" at 0x\w+", "", str(refused.value))
