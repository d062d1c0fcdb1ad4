"""The ways to open a stream (`with`, `for`, `async with`), and hooks on the loop."""

import asyncio
import gc
import threading
import traceback
from typing import Any

import anyio.lowlevel
import pytest
from blocking import WAITS, Gated, ours
from remains import wait_until

from asyncwait.backends import pool
from asyncwait.backends.threads import LoopThread, OperatorHost, ordered_wait
from asyncwait.spec import CallFailed


def double(value: int) -> int:
    return 2 * value


def fail(value: Any) -> Any:
    raise OSError(value)


def ours_of(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    return [each.name for each in frames if "/asyncwait/" in each.filename]


def test_what_people_read_of_a_value_that_has_failed_is_hardly_ours() -> None:
    async def main() -> None:
        async def fails(value: Any) -> Any:
            return fail(value)

        async with pool.ordered_wait([1, 2], fails) as results:
            for _ in range(3):
                with pytest.raises(CallFailed, match="value 1: the call failed") as told:
                    await anext(results)
                assert len(ours_of(told.value)) <= 3

    asyncio.run(main())
    with ordered_wait([1, 2], fail) as results:
        for _ in range(3):
            with pytest.raises(CallFailed, match="value 1: the call failed") as told:
                next(results)
            assert len(ours_of(told.value)) <= 3


def test_with_gives_an_iterator_of_the_results(mode: str) -> None:
    with WAITS[mode]([1, 2, 3], double) as results:
        assert iter(results) is results
        assert sorted(results) == [2, 4, 6]
        assert next(results, None) is None
    assert next(results, None) is None


def test_with_may_be_used_where_a_loop_runs() -> None:
    async def main() -> list[int]:
        with ordered_wait([1, 2], double) as results:
            return list(results)

    assert asyncio.run(main()) == [2, 4]


def test_a_stream_may_be_opened_in_a_call_of_another() -> None:
    def inner(value: int) -> list[int]:
        return list(ordered_wait([value, 7], double))

    assert list(ordered_wait([1, 2], inner)) == [[2, 14], [4, 14]]


def test_a_loop_that_is_broken_off_leaves_the_stream(fn: Gated) -> None:
    fn.open_for(0)

    for value in ordered_wait(range(99), fn, capacity=2):
        assert value == 0
        fn.open_all()
        break

    assert "asyncwait-loop" not in ours()
    assert len(fn.began) < 10


def test_nothing_runs_before_the_stream_is_opened(fn: Gated) -> None:
    ordered_wait([*"ab"], fn)
    iter(ordered_wait([*"ab"], fn))

    assert fn.began == ours() == []


@pytest.mark.parametrize("error", [KeyError("body"), StopIteration("body"), SystemExit(3)])
def test_the_error_of_the_body_comes_out_plainly(fn: Gated, error: BaseException) -> None:
    fn.open_all()
    with pytest.raises(type(error)) as caught, ordered_wait([*"ab"], fn):
        raise error

    assert caught.value is error
    assert error.__cause__ is error.__context__ is None
    assert not hasattr(error, "__notes__")


def test_a_stream_is_entered_once() -> None:
    stream = ordered_wait([1], double)
    assert list(stream) == [2]

    with pytest.raises(RuntimeError, match="entered once"):
        list(stream)
    with pytest.raises(RuntimeError, match="entered once"), stream:
        pass


def test_there_is_one_consumer(fn: Gated) -> None:
    refused: list[str] = []
    with ordered_wait([*"ab"], fn) as results:

        def read_too() -> None:
            fn.until_began(2)
            wait_until(results._reading.locked)  # type: ignore[attr-defined]
            try:
                next(results)
            except RuntimeError as error:
                refused.append(str(error))
            fn.open_all()

        thread = threading.Thread(target=read_too)
        thread.start()
        assert list(results) == ["a", "b"]
        thread.join()

    assert "one consumer" in refused[0]


def test_a_host_tells_its_figures_where_its_loop_is_asked() -> None:
    host = OperatorHost(lambda: ordered_wait([1, 2], double))
    loop = LoopThread(asyncio.new_event_loop)
    try:
        loop.ask(host.open())
        assert [loop.ask(host.take(1)) for _ in "ab"] == [[2], [4]]
        assert host.figures().calls == 2
        loop.ask(host.close())
    finally:
        loop.stop()


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
        await anyio.lowlevel.checkpoint()
        self.note("open")
        if self.opening is not None:
            raise self.opening

    def __call__(self, value: int) -> int:
        self.note(f"call of {value}")
        return value

    async def close(self) -> None:
        await anyio.lowlevel.checkpoint()
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
    client = Client()
    async with ordered_wait([1], client) as results:
        assert [result async for result in results] == [1]

    assert client.log == [
        "open in MainThread",
        "call of 1 in asyncwait-call",
        "close in MainThread",
    ]
