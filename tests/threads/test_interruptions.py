"""KeyboardInterrupt and SystemExit in a call are for the whole program."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest
import trio
from blocking import await_event

from asyncwait.backends.threads import ordered_wait, unordered_wait
from asyncwait.backends.threads._blocking import LoopThread

INTERRUPTIONS: list[Callable[[], BaseException]] = [
    KeyboardInterrupt,
    lambda: SystemExit(3),
    lambda: BaseExceptionGroup("several", [OSError(), KeyboardInterrupt()]),
]
"""Errors of a call; a group counts as the error in it that is meant for the program."""


def expected(error: BaseException) -> type[BaseException]:
    return KeyboardInterrupt if isinstance(error, BaseExceptionGroup) else type(error)


@pytest.fixture(params=INTERRUPTIONS, ids=["KeyboardInterrupt", "SystemExit", "group"])
def error(request: pytest.FixtureRequest) -> BaseException:
    raised: BaseException = request.param()
    return raised


class Raising:
    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.began, self.may_raise = threading.Event(), threading.Event()

    def __call__(self, value: Any) -> Any:
        self.began.set()
        await_event(self.may_raise)
        raise self.error


@pytest.mark.parametrize("form", ["with", "for"])
def test_an_interruption_comes_out_where_the_results_are_read(
    error: BaseException, form: str
) -> None:
    fn, asked = Raising(error), list[Any]()
    fn.may_raise.set()
    stream = ordered_wait(["a"], fn, on_error=lambda *given: asked.append(given))

    def read() -> None:
        if form == "for":
            list(stream)
        else:
            with stream as results:
                next(results)

    with pytest.raises(expected(error)) as caught:
        read()

    assert not hasattr(caught.value, "__notes__")
    assert asked == []


def test_the_first_of_several_interruptions_comes_out() -> None:
    first, second = Raising(SystemExit(3)), Raising(KeyboardInterrupt())

    def fn(value: str) -> None:
        if value == "a":
            await_event(second.began)
            first(value)
        second(value)

    with pytest.raises(SystemExit), ordered_wait([*"ab"], fn) as results:  # noqa: PT012
        first.may_raise.set()  # While it is opened, it would wait for the second call.
        try:
            next(results)
        finally:
            second.may_raise.set()


class Closing(Raising):
    def close(self) -> None:
        raise OSError("no line")


@pytest.mark.parametrize("kind", [Raising, Closing])
def test_an_interruption_while_the_stream_is_left_comes_out_then(
    error: BaseException, kind: type[Raising]
) -> None:
    fn = kind(error)

    def leave() -> None:
        with ordered_wait(["a"], fn):
            await_event(fn.began)
            threading.Timer(0.01, fn.may_raise.set).start()

    with pytest.raises(expected(error)) as caught:
        leave()

    notes = getattr(caught.value, "__notes__", [])
    assert ["OSError('no line')" in note for note in notes] == [True] * (kind is Closing)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("when", ["read", "left"])
def test_an_interruption_ends_the_loop_of_the_caller(
    error: BaseException, loop: str, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fn = Raising(error)

    async def main() -> None:
        async with ordered_wait(["a"], fn) as results:
            while not fn.began.is_set():
                await anyio.sleep(0.001)
            if when == "read":
                fn.may_raise.set()
                await anext(results)
            threading.Timer(0.01, fn.may_raise.set).start()

    def run() -> None:
        if loop == "asyncio":
            asyncio.run(main())
        else:
            trio.run(main)

    with pytest.raises(expected(error)):
        run()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("hasty_switches")
def test_an_interruption_comes_out_wherever_the_consumer_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def call(value: int) -> int:
        if value == 5:
            raise SystemExit(value)
        return value

    for _ in range(50):
        with pytest.raises(SystemExit, match=r"^5$"):
            list(unordered_wait(range(9), call, capacity=3))

    assert capfd.readouterr().err == ""


class _Hasty(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self.is_to_break, self.goes_on = False, threading.Event()

    def run_forever(self) -> None:
        self.goes_on.set()
        super().run_forever()

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Have it called; break out of the loop at once where that is wanted, and wait for it."""
        handle = super().call_soon_threadsafe(callback, *args, context=context)
        if self.is_to_break:
            self.is_to_break = False
            self.goes_on.clear()
            super().call_soon_threadsafe(_interrupt)
            await_event(self.goes_on)
        return handle


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_an_interruption_ends_a_wait_that_has_hardly_begun() -> None:
    made: list[_Hasty] = []
    thread = LoopThread(lambda: made.append(_Hasty()) or made[0])  # type: ignore[func-returns-value]
    await_event(made[0].goes_on)
    made[0].is_to_break = True

    with pytest.raises(KeyboardInterrupt):
        thread.ask(asyncio.sleep(99))

    assert thread.was_broken
    assert thread.ask(asyncio.sleep(0, "still here")) == "still here"
    thread.stop()
