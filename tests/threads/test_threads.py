"""Threads of an operator: their number, their order, and the calls and batches in them."""

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from blocking import WAITS, Gated, await_event, ours
from remains import wait_until

from asyncwait.backends.services import Budget, Cost, InFlight
from asyncwait.backends.threads import ordered_wait, unordered_wait
from asyncwait.spec import Batch, CallFailed, CallTimedOut, Retry
from asyncwait.spec.limits import PermitTimedOut


def test_there_are_as_many_threads_as_calls_at_a_time(fn: Gated, mode: str) -> None:
    with WAITS[mode](range(20), fn, capacity=7) as results:
        fn.until_began(7)
        assert ours() == ["asyncwait-call"] * 7 + ["asyncwait-loop"]
        assert fn.began == list(range(7))
        fn.open_all()
        assert sorted(results) == list(range(20))

    assert fn.most == 7


def test_a_thread_is_not_started_for_a_call_that_another_one_is_free_for(fn: Gated) -> None:
    def values() -> Iterator[int]:
        for value in range(10):
            yield value
            fn.open_for(value)

    fn.open_all()
    with ordered_wait(values(), fn, capacity=1) as results:
        assert list(results) == list(range(10))

    assert len(fn.threads) == 1


@pytest.mark.usefixtures("hasty_switches")
@pytest.mark.parametrize("capacity", [1, 3])
def test_there_are_never_more_threads_than_calls_may_run(mode: str, capacity: int) -> None:
    for count in [1, 2, 5, 9] * 25:
        threads = set[int]()

        def call(value: int, threads: set[int] = threads) -> int:
            threads.add(threading.get_ident())
            return value

        with WAITS[mode](range(count), call, capacity=capacity) as results:
            assert sorted(results) == list(range(count))
        assert 1 <= len(threads) <= capacity


class Scarce:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self.name = "asyncwait-call"
        start = threading.Thread.start

        def start_if_any_is_left(thread: threading.Thread) -> None:
            if thread.name.startswith(self.name):
                if not self.left:
                    raise RuntimeError("can't start new thread")
                self.left -= 1
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_if_any_is_left)


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Scarce:
    return Scarce(monkeypatch)


def test_the_threads_that_there_are_have_to_do(scarce: Scarce, fn: Gated, mode: str) -> None:
    scarce.left = 2
    fn.open_all()

    with WAITS[mode](range(20), fn, capacity=7) as results:
        assert sorted(results) == list(range(20))

    assert len(fn.threads) <= 2


def test_a_call_for_which_there_is_no_thread_at_all_has_failed(scarce: Scarce) -> None:
    assert scarce.left == 0
    with ordered_wait(["a"], str) as results, pytest.raises(CallFailed) as caught:
        next(results)

    assert repr(caught.value.__cause__) == 'RuntimeError("can\'t start new thread")'


def test_a_call_that_has_failed_for_want_of_a_thread_is_not_run_later(
    scarce: Scarce, fn: Gated
) -> None:
    fn.open_all()

    def again(error: BaseException) -> bool:
        scarce.left = 99
        return isinstance(error, RuntimeError)

    retry = Retry(max_attempts=2, initial=0.001, on_error=again)
    with ordered_wait(["a"], fn, retry=retry) as results:
        assert list(results) == ["a"]

    assert fn.began == ["a"]


@pytest.mark.parametrize("name", ["asyncwait-loop", "asyncwait-source"])
def test_a_stream_that_gets_no_thread_for_itself_fails_plainly(scarce: Scarce, name: str) -> None:
    scarce.name = name
    values: Any = iter("ab")

    with pytest.raises(RuntimeError, match=r"^can't start new thread$"):
        list(ordered_wait(values, str))


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


SHORT = 0.03
"""Seconds that a call is given which does not end."""

PAIRS = Batch(max_size=2, max_wait=10)


def test_what_is_iterated_is_read_in_the_thread() -> None:
    read_by: list[threading.Thread] = []

    def parts(value: int) -> Any:
        read_by.append(threading.current_thread())
        yield value
        if value == 1:
            raise OSError("gone")

    def answer(values: list[int]) -> list[Any]:
        return [parts(value) for value in values]

    with ordered_wait(
        range(4), answer, batch=PAIRS, many=True, on_error=lambda value, _: [-value]
    ) as results:
        assert list(results) == [0, -1, 2, 3]

    assert len(read_by) == 4
    assert threading.current_thread() not in read_by


def test_a_function_may_change_the_list_that_it_is_given() -> None:
    def answer(values: list[int]) -> dict[int, int]:
        values.sort()
        found = {value: 10 * value for value in values}
        values.clear()
        return found

    with ordered_wait([3, 1, 2], answer, batch=Batch(max_size=3), capacity=3) as results:
        assert list(results) == [30, 10, 20]


@pytest.mark.parametrize(("limits", "out"), [([Budget(4, "USD", then="stop")], 2), (None, 4)])
def test_a_batch_may_tell_its_cost(limits: Any, out: int) -> None:
    with ordered_wait(
        range(4), lambda values: Cost(values, {"USD": 3}), batch=PAIRS, limits=limits
    ) as results:
        assert list(results) == [*range(out)]


def test_a_batch_that_runs_on_keeps_its_permit() -> None:
    goes_on, slots = threading.Event(), InFlight(1, max_wait=SHORT)
    options: Any = {"batch": PAIRS, "limits": [slots], "on_error": lambda _, error: error}

    def hang(values: list[int]) -> list[int]:
        await_event(goes_on)
        return values

    with pytest.warns(RuntimeWarning), ordered_wait([1], hang, timeout=SHORT, **options) as results:
        assert [type(each) for each in results] == [CallTimedOut]
    with ordered_wait([2], lambda values: values, **options) as results:
        assert [type(each.__cause__) for each in results] == [PermitTimedOut]
    goes_on.set()
    wait_until(lambda: not ours())
    with ordered_wait([3], lambda values: values, **options) as results:
        assert list(results) == [3]
