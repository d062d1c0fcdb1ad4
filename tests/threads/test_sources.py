"""Sources of values that block, that fail, that never end, and where they are read."""

import inspect
import threading
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from blocking import WAITS, Gated, await_event, ours
from remains import wait_until

from asyncwait.backends.threads import ordered_wait

request: ContextVar[str] = ContextVar("request", default="none")


def test_results_come_out_while_the_source_blocks(mode: str) -> None:
    may_go_on = threading.Event()

    def values() -> Iterator[int]:
        yield 1
        await_event(may_go_on)
        yield 2

    with WAITS[mode](values(), str) as results:
        assert next(results) == "1"
        may_go_on.set()
        assert list(results) == ["2"]


def test_a_source_is_read_in_one_thread_of_its_own() -> None:
    threads: set[threading.Thread] = set()

    def values() -> Iterator[int]:
        for value in range(200):
            threads.add(threading.current_thread())
            yield value

    assert list(ordered_wait(values(), int)) == list(range(200))
    assert [thread.name for thread in threads] == ["asyncwait-source"]
    with ordered_wait(range(3), int):
        assert "asyncwait-source" not in ours()


def test_a_generator_is_closed_by_the_thread_that_reads_it() -> None:
    closed_in: list[str] = []

    def values() -> Iterator[int]:
        try:
            yield from range(10**6)
        finally:
            closed_in.append(threading.current_thread().name)

    source = values()
    with ordered_wait(source, int) as results:
        assert next(results) == 0
    assert closed_in == ["asyncwait-source"]
    assert inspect.getgeneratorstate(source) == inspect.GEN_CLOSED


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_what_closing_a_source_raises_comes_out_of_leaving(*, fails: bool, is_asked: bool) -> None:
    left, asked = threading.Event(), threading.Event()

    def values() -> Iterator[int]:
        try:
            yield 0
            if is_asked:
                asked.set()
                await_event(left)
            yield from range(10**6)
        finally:
            raise OSError("not committed")

    with (  # noqa: PT012 - of leaving
        pytest.raises((OSError, KeyError)) as caught,
        ordered_wait(values(), int) as results,
    ):
        assert next(results) == 0
        if is_asked:
            await_event(asked)
        threading.Timer(0.05, left.set).start()
        if fails:
            raise KeyError("body")
    said = "closing raised OSError('not committed')"
    if fails:
        assert (type(caught.value), caught.value.__notes__) == (KeyError, [said])
    else:
        assert repr(caught.value) == "OSError('not committed')"


def test_a_source_sees_the_context_of_the_opening() -> None:
    def values() -> Iterator[str]:
        yield request.get()
        request.set("inside")
        yield request.get()

    token = request.set("outside")
    try:
        out = list(ordered_wait(values(), lambda value: (value, request.get())))
        assert out == [("outside", "outside"), ("inside", "outside")]
        assert request.get() == "outside"
    finally:
        request.reset(token)


class Falsy(Exception):
    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("error", [OSError("line"), KeyError("k"), GeneratorExit("g"), Falsy("f")])
def test_what_a_source_raises_comes_last(mode: str, error: BaseException) -> None:
    def values() -> Iterator[int]:
        yield from range(3)
        raise error

    with WAITS[mode](values(), int) as results:
        assert sorted(next(results) for _ in range(3)) == [0, 1, 2]
        for _ in range(2):
            with pytest.raises(type(error)) as caught:
                next(results)
            assert caught.value is error


class Values:
    """A source that can't be begun, or ends as an async one does."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def __iter__(self) -> Iterator[int]:
        if self._error is not None:
            raise self._error
        return self  # type: ignore[return-value]

    def __next__(self) -> int:
        raise StopAsyncIteration


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [(Values(), RuntimeError, "StopAsync"), (Values(OSError("no")), OSError, "^no$")],
)
def test_a_source_that_can_not_be_begun_or_read_has_failed(
    source: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        list(ordered_wait(source, int))


def test_a_source_without_end_is_read_only_some_way_ahead(fn: Gated) -> None:
    given: list[int] = []

    def values() -> Iterator[int]:
        while True:
            given.append(len(given))
            yield given[-1]

    fn.open_all()
    with ordered_wait(values(), fn, capacity=5) as results:
        assert next(results) == 0
    wait_until(lambda: "asyncwait-source" not in ours())
    count = len(given)

    assert 1 <= count < 300
    threading.Event().wait(0.01)
    assert len(given) == count


def test_a_source_that_is_silent_keeps_nobody() -> None:
    may_go_on, given = threading.Event(), list[int]()

    def values() -> Iterator[int]:
        yield 1
        await_event(may_go_on)
        for value in range(9):
            given.append(value)
            yield value

    with ordered_wait(values(), str) as results:
        assert next(results) == "1"
    assert ours().count("asyncwait-source") == 1
    may_go_on.set()
    wait_until(lambda: not ours())

    assert given == [0]


@pytest.mark.parametrize("error", [SystemExit(4), KeyboardInterrupt()])
def test_an_interruption_in_a_source_is_for_the_program(error: BaseException) -> None:
    def values() -> Iterator[int]:
        yield 1
        raise error

    with pytest.raises(type(error)) as caught:
        list(ordered_wait(values(), int))

    assert caught.value is error


class Value:
    """A value that can be watched."""


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("limit", [None, 99], ids=["no timeout", "timeout"])
def test_what_was_emitted_dies_while_the_source_is_silent(mode: str, limit: float | None) -> None:
    alive, may_end = weakref.WeakSet[Value](), threading.Event()

    def make(_: object) -> Value:
        value = Value()
        alive.add(value)
        return value

    def values() -> Iterator[Value]:
        yield make(0)
        await_event(may_end)

    with WAITS[mode](map(make, range(199)), make, timeout=limit, capacity=9) as results:
        for _ in range(199):
            next(results)
        wait_until(lambda: not alive)

    with WAITS[mode](values(), lambda value: None, timeout=limit) as results:
        next(results)
        wait_until(lambda: not alive)
        may_end.set()
