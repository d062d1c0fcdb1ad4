"""One task reads a source, and closes it on every way out."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from asyncwait.spec import Record
from asyncwait.toolkit import SourceTask

FIRST, SECOND = Record(1), Record(2)
BUSY = OSError("busy")


async def source(log: list[Any], last: Any) -> AsyncIterator[Any]:
    """Give two elements, and wait behind them; raise on closing."""
    try:
        yield FIRST
        yield last
        await anyio.sleep_forever()
    finally:
        log.append("closed")
        raise BUSY


async def read(log: list[Any], last: Any) -> SourceTask:
    async def note(*element: Any) -> None:
        log.extend(element or ["begin"])

    task = SourceTask(source(log, last), note, log.append, note)
    async with anyio.create_task_group() as group:
        group.start_soon(task.run)
        await anyio.wait_all_tasks_blocked()
        task.stop()
    return task


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_a_cancelled_read_raises_is_kept_for_leaving(backend: str) -> None:
    log: list[Any] = []

    assert anyio.run(read, log, SECOND, backend=backend).trouble is BUSY
    assert log == ["begin", FIRST, SECOND, "closed"]


def test_what_is_no_element_ends_the_input_with_a_type_error() -> None:
    log: list[Any] = []

    assert anyio.run(read, log, None).trouble is BUSY
    assert [type(each) for each in log] == [str, Record, TypeError, str]
