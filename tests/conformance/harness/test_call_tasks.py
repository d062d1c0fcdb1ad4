"""What the harness sees of the tasks of calls, and of their contexts."""

import asyncio
from contextvars import copy_context
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from operators import seconds_now, virtual_loop

from asyncwait.conformance.harness._cancelling import CallTasks
from asyncwait.conformance.harness._contexts import Contexts

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", [virtual_loop("asyncio")], ids=["asyncio"])
on_trio = pytest.mark.parametrize("anyio_backend", [virtual_loop("trio")], ids=["trio"])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, on virtual clocks."""
    return virtual_loop(request.param)


@pytest.fixture
def found() -> list[tuple[str, str]]:
    """What was out of place."""
    return []


@pytest.fixture
def tasks(found: list[tuple[str, str]]) -> CallTasks:
    """The looks of one leg."""
    return CallTasks(lambda *what: found.append(what), lambda: False)


async def test_a_call_in_the_task_of_the_consumer_is_found(tasks: CallTasks, found: Any) -> None:
    """And so is one in the task of another call that runs, and not of one that has ended."""
    tasks.is_entered()

    async def calls() -> None:
        tasks.begins(0)
        tasks.ends(0)
        tasks.begins(1)
        tasks.begins(2)

    async with anyio.create_task_group() as group:
        group.start_soon(calls)
    tasks.begins(3)

    assert found == [
        ("task-of-others", "call 2 runs in the task of call 1"),
        ("task-of-others", "call 3 runs in the task of the consumer"),
    ]


@on_asyncio
async def test_a_call_in_no_task_is_found(tasks: CallTasks, found: Any) -> None:
    """A callback of the loop has none."""
    asyncio.get_running_loop().call_soon(tasks.begins, 0)
    await asyncio.sleep(1)

    assert found == [("task-of-others", "call 0 runs in no task")]


@on_asyncio
async def test_a_count_that_is_not_right_is_found(tasks: CallTasks, found: Any) -> None:
    """At the beginning of a call, and when it cleans up."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(1)
    tasks.begins(0)
    task.uncancel()
    await tasks.clean_up(0, 0)

    assert found == [
        ("task-of-others", "the task of call 0 was cancelled before"),
        ("task-of-others", "the task of call 0 counts 0 cancellations"),
    ]


@pytest.mark.parametrize("call", [0, 1], ids=["plain", "in a group"])
@on_asyncio
async def test_a_clean_up_that_is_cancelled_is_found(
    tasks: CallTasks, found: Any, call: int
) -> None:
    """It takes its time all the same."""
    ended: list[float] = []

    async def run() -> None:
        tasks.begins(call)
        try:
            await asyncio.sleep(9)
        finally:
            await tasks.clean_up(call, 5)
            ended.append(seconds_now())

    task = asyncio.create_task(run())
    for _ in range(2):
        await asyncio.sleep(1)
        task.cancel()
    await asyncio.wait([task])

    assert ended == [6]
    assert found == [("cancelled-otherwise", f"call {call} was cancelled again")]


@on_asyncio
async def test_nobody_is_to_blame_where_the_loop_ends(found: Any) -> None:
    """It cancels all tasks that there are."""
    tasks = CallTasks(lambda *what: found.append(what), lambda: True)

    async def run() -> None:
        tasks.begins(0)
        try:
            await asyncio.sleep(9)
        finally:
            await tasks.clean_up(0, 5)

    task = asyncio.create_task(run())
    for _ in range(3):
        await asyncio.sleep(1)
        task.cancel()
    await asyncio.wait([task])

    assert found == []


@on_trio
async def test_a_clean_up_that_is_not_cancelled_on_trio_is_found(
    tasks: CallTasks, found: Any
) -> None:
    """There each wait in a scope that is cancelled ends at once."""
    with anyio.CancelScope() as scope:
        tasks.begins(0)
        await tasks.clean_up(0, 1)
        tasks.ends(0)
        tasks.begins(1)
        scope.cancel()
        await tasks.clean_up(1, 1)

    assert found == [("cancelled-otherwise", "call 0 was cancelled, but not its scope")]
    assert seconds_now() == 2


async def test_a_deadline_that_nobody_outside_has_set_is_found(
    tasks: CallTasks, found: Any
) -> None:
    """That of whoever entered may be seen."""
    with anyio.fail_after(9):
        tasks.is_entered()

        async def call() -> None:
            tasks.begins(0)
            with anyio.fail_after(5):
                await anyio.sleep(1)
                tasks.goes_on(0)
            tasks.goes_on(0)

        async with anyio.create_task_group() as group:
            group.start_soon(call)

    assert found == [("scope-seen", "call 0 sees that it has 4 s left")]


def everybody_in_one_context(contexts: Contexts) -> None:
    """Have each piece of the user's code look, one after the other."""
    contexts.is_made()
    contexts.call_begins(0)
    contexts.is_entered()
    contexts.call_begins(1)
    contexts.call_begins(2)
    contexts.call_goes_on(1)
    contexts.is_asked("timeout handler")
    contexts.source_looks()
    contexts.consumer_begins()
    contexts.consumer_looks()
    contexts.source_closes()
    contexts.consumer_looks()
    contexts.belongs_to(2, "the supplier of ")
    contexts.call_begins(3)


def test_contexts_that_are_out_of_place_are_found(found: Any) -> None:
    """In one context for all, everybody sees the others."""
    contexts = Contexts(lambda *what: found.append(what))

    copy_context().run(everybody_in_one_context, contexts)

    assert found == [
        ("context-lost", "call 0 saw what was set before the operator was made"),
        ("context-of-a-call", "call 2 saw what call 1 has set"),
        ("context-of-a-call", "call 1, going on, saw what call 2 has set"),
        ("context-of-a-handler", "the timeout handler saw what call 2 has set"),
        ("context-of-the-source", "the source saw what the timeout handler has set"),
        ("context-of-the-consumer", "the consumer saw what the source has set"),
        ("context-of-the-source", "the source saw what the consumer has set"),
        ("context-of-the-consumer", "the consumer saw what the source has set"),
        ("context-of-a-call", "call 3 saw what the supplier of call 2 has set"),
    ]
