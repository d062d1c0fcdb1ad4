"""Hooks of a function, which run on the loop."""

import asyncio
import gc
import threading
from typing import Any

import pytest

from asyncwait.backends.threads import ordered_wait


class Client:
    def __init__(
        self, opening: BaseException | None = None, closing: BaseException | None = None
    ) -> None:
        self.log: list[str] = []
        self.opening = opening
        self.closing = closing

    def note(self, what: str) -> None:
        self.log.append(f"{what} in {threading.current_thread().name}")

    async def open(self) -> None:
        await asyncio.sleep(0)
        self.note("open")
        if self.opening is not None:
            raise self.opening

    def __call__(self, value: int) -> int:
        self.note(f"call of {value}")
        return value

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.note("close")
        if self.closing is not None:
            raise self.closing


def test_hooks_run_before_and_after_all_calls() -> None:
    client = Client()

    assert list(ordered_wait([1, 2], client, capacity=1)) == [1, 2]

    assert client.log == [
        "open in asyncwait-loop",
        "call of 1 in asyncwait-call",
        "call of 2 in asyncwait-call",
        "close in asyncwait-loop",
    ]


@pytest.mark.parametrize("kind", [OSError, SystemExit, KeyboardInterrupt])
def test_what_opening_raises_comes_out_of_the_entrance(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    error = kind()
    client = Client(opening=error)

    with pytest.raises(kind) as caught:
        list(ordered_wait([1], client))

    assert caught.value is error
    assert client.log == ["open in asyncwait-loop"]
    del client, caught, error
    gc.collect()
    assert caplog.messages == []


@pytest.mark.parametrize("error", [OSError("no"), SystemExit(3), KeyboardInterrupt()])
def test_what_closing_raises_comes_out_at_the_end(error: BaseException) -> None:
    came: list[int] = []
    results = iter(ordered_wait([1, 2], Client(closing=error)))

    with pytest.raises(type(error)) as caught:
        came.extend(results)

    assert caught.value is error
    assert came == [1, 2]


@pytest.mark.anyio
async def test_hooks_run_on_the_loop_of_the_caller() -> None:
    places: list[Any] = []

    class Placed:
        async def open(self) -> None:
            places.append(threading.current_thread())

        async def close(self) -> None:
            places.append(threading.current_thread())

        def __call__(self, value: int) -> int:
            places.append(threading.current_thread().name)
            return value

    async with ordered_wait([1], Placed()) as results:
        assert [result async for result in results] == [1]

    here = threading.current_thread()
    assert places == [here, "asyncwait-call", here]
