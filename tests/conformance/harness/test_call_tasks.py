"""What the harness sees of tasks and contexts of calls, where no operator of the gallery goes."""

import asyncio
from contextvars import copy_context

import anyio
import pytest
from judged import each_loop

from asyncwait.conformance.harness import LoopName, run_virtual
from asyncwait.conformance.harness._cancelling import CallTasks
from asyncwait.conformance.harness._contexts import Contexts


@pytest.fixture
def found() -> list[tuple[str, str]]:
    return []


@each_loop
def test_a_call_in_a_task_that_has_to_do_is_found(
    loop: LoopName, found: list[tuple[str, str]]
) -> None:
    tasks = CallTasks(lambda *what: found.append(what), lambda: False)

    async def calls(_spin: object) -> None:
        tasks.begins(0)
        tasks.ends(0)
        tasks.begins(1)
        tasks.begins(2)
        if loop == "asyncio":
            asyncio.get_running_loop().call_soon(tasks.begins, 3)
        await anyio.sleep(1)

    run_virtual(calls, loop)

    said = ["call 2 runs in the task of call 1", "call 3 runs in no task"]
    assert [text for _, text in found] == said[: 1 + (loop == "asyncio")]


def everybody_in_one_context(contexts: Contexts) -> None:
    contexts.is_made()
    contexts.call_begins(0)
    contexts.is_entered()
    contexts.call_begins(1)
    contexts.call_begins(2)
    contexts.call_goes_on(1)
    contexts.belongs_to(2, "the supplier of ")
    contexts.call_begins(3)


def test_a_context_of_others_is_found(found: list[tuple[str, str]]) -> None:
    contexts = Contexts(lambda *what: found.append(what))

    copy_context().run(everybody_in_one_context, contexts)

    assert found == [
        ("context-lost", "call 0 saw what was set before the operator was made"),
        ("context-of-a-call", "call 2 saw what call 1 has set"),
        ("context-of-a-call", "call 1, going on, saw what call 2 has set"),
        ("context-of-a-call", "call 3 saw what the supplier of call 2 has set"),
    ]
