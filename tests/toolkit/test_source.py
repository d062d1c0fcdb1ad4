"""One task reads a source, and closes it on every way out."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from asyncwait.spec import Record
from asyncwait.toolkit import SourceTask

FIRST, SECOND = Record(1), Record(2)
BUSY = OSError("busy")


async def source(log: list[Any], *elements: Any) -> AsyncIterator[Any]:
    """Give elements, and wait behind the last one for ever; raise on closing."""
    try:
        for element in elements:
            yield element
        await anyio.sleep_forever()
    finally:
        log.append("closed")
        raise BUSY


async def read(log: list[Any], *elements: Any, begins: bool = True) -> SourceTask:
    async def take(element: Any) -> None:
        log.append(element)

    async def begin() -> None:
        log.append("begin")
        if not begins:
            await anyio.sleep_forever()

    task = SourceTask(source(log, *elements), take, log.append, begin)
    async with anyio.create_task_group() as group:
        group.start_soon(task.run)
        await anyio.wait_all_tasks_blocked()
        task.stop()
    await task.close()
    return task


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_a_cancelled_read_raises_is_kept_for_leaving(backend: str) -> None:
    log: list[Any] = []

    task = anyio.run(read, log, FIRST, SECOND, backend=backend)

    assert log == ["begin", FIRST, SECOND, "closed"]
    assert task.trouble is BUSY


def test_nothing_is_read_that_is_stopped_before_it_begins() -> None:
    log: list[Any] = []

    async def main() -> SourceTask:
        return await read(log, FIRST, begins=False)

    assert anyio.run(main).trouble is None
    assert log == ["begin"]


def test_what_is_no_element_ends_the_input_with_a_type_error() -> None:
    log: list[Any] = []

    task = anyio.run(read, log, FIRST, None)

    assert log[:2] == ["begin", FIRST]
    assert isinstance(log[2], TypeError)
    assert task.trouble is BUSY
