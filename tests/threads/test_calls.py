"""Calls in threads: their values, results, errors and contexts."""

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from blocking import await_event
from remains import wait_until

from asyncwait.backends.threads import ordered_wait, unordered_wait
from asyncwait.spec import CallFailed

request: ContextVar[str] = ContextVar("request", default="none")


def here() -> str:
    return threading.current_thread().name


@pytest.mark.parametrize("form", ["with", "for", "async"])
def test_calls_see_the_context_of_the_opening_and_change_it_for_nobody(form: str) -> None:
    def call(value: str) -> tuple[str, str]:
        seen = request.get()
        request.set(value)
        return seen, request.get()

    async def main(stream: Any) -> list[Any]:
        async with stream as results:
            return [result async for result in results]

    def run() -> list[Any]:
        request.set("outside")
        stream = ordered_wait([*"abc"], call, capacity=1)
        if form == "async":
            return asyncio.run(main(stream))
        if form == "for":
            return list(stream)
        with stream as results:
            return list(results)

    context = copy_context()
    assert context.run(run) == [("outside", value) for value in "abc"]
    assert context[request] == "outside"


def test_results_are_read_where_the_call_runs() -> None:
    def call(value: int) -> Iterator[str]:
        yield here()
        if value:
            raise OSError(value)
        yield here()

    with ordered_wait([0, 1], call, many=True, capacity=1) as results:
        assert [next(results), next(results)] == ["asyncwait-call"] * 2
        with pytest.raises(CallFailed, match=r"^value 1: .*OSError\(1\)$"):
            next(results)


def test_copies_are_made_where_they_are_used() -> None:
    places: list[str] = []

    def copy(value: list[int]) -> list[int]:
        places.append(here())
        return list(value)

    def call(value: list[int]) -> int:
        value.append(1)
        return len(value)

    values: list[list[int]] = [[], [7]]
    assert list(ordered_wait(values, call, copy=copy)) == [1, 2]
    assert values == [[], [7]]
    assert places == ["asyncwait-call"] * 2


def test_handlers_run_on_the_loop_and_may_ask_for_figures() -> None:
    refused: list[str] = []
    is_open = threading.Event()

    def handler(value: str, error: Exception) -> str:
        try:
            next(results)
        except RuntimeError as wrong:
            refused.append(str(wrong))
        return f"{here()} {results.statistics().calls}"

    def call(value: str) -> str:
        await_event(is_open)
        raise OSError(value)

    with unordered_wait(["a"], call, on_error=handler) as results:
        is_open.set()
        wait_until(lambda: bool(refused))
        out = list(results)

    assert out == ["asyncwait-loop 1"]
    assert "on the loop" in refused[0]
