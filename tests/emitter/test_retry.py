"""Retries: when a record is called again, what counts then, and what ends that."""

import gc
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest
from operators import (
    SIDE_BY_SIDE,
    Callbacks,
    Source,
    block,
    failure_of,
    in_threads,
    read_all,
    read_timed,
    seconds_now,
)

from asyncwait.backends.emitter import open_operator
from asyncwait.spec import (
    Barrier,
    CallFailed,
    CallTimedOut,
    Mode,
    OperatorConfig,
    Record,
    ResultFuture,
    Retry,
    RetryAfter,
    Snapshot,
    Statistics,
    TooManyAbandonedCalls,
)

pytestmark = pytest.mark.anyio

ODD = ValueError("odd")


class Script:
    """A function whose calls do what they are told, the last thing again and again.

    Each sleeps for a number, raises an exception, and else returns; a list does several of these.

    Args:
        calls: of each value.

    Attributes:
        began: time and value of each call.
        cancelled: the same of each cancellation.
        clean_up: how many seconds a cancelled call goes on.
    """

    def __init__(self, **calls: list[Any]) -> None:
        self._calls = calls
        self.began: list[tuple[float, str]] = []
        self.cancelled: list[tuple[float, str]] = []
        self.clean_up = 0.0

    async def __call__(self, value: str) -> Any:
        """Do what is next."""
        self.began.append((seconds_now(), value))
        steps = self._calls[value]
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        for action in step if isinstance(step, list) else [step]:
            if isinstance(action, BaseException):
                raise action
            if not isinstance(action, int | float):
                return action
            await self._sleep(action, value)
        raise AssertionError(step)

    async def _sleep(self, seconds: float, value: str) -> None:
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append((seconds_now(), value))
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.clean_up)
            raise


def config(mode: Mode = "ordered", timeout: float | None = None, **retry: Any) -> OperatorConfig:
    """Set an operator up with retries, the first of them after a second."""
    return OperatorConfig(mode, 4, timeout, Retry(**{"initial": 1, **retry}))


async def run(setup: OperatorConfig, fn: Any, *script: Any) -> tuple[list[Any], Statistics]:
    """Read an operator to its end; return its timed output, and its figures."""
    async with open_operator(setup, fn, Source(*script)) as results:
        return await read_timed(results), results.statistics()


async def error_of(setup: OperatorConfig, fn: Any, *script: Any) -> BaseException:
    """Read an operator until it fails; return its error."""
    async with open_operator(setup, fn, Source(*script)) as results:
        return await failure_of(results)


async def test_each_record_backs_off_by_its_own_attempts() -> None:
    """What fails beside it changes nothing, nor the end of input, nor the limit of a call."""
    fn = Script(a=[ODD, ODD, ODD, ("a1",)], b=[[0.5, ODD], ("b1",)])

    setup = config("unordered", max_attempts=4, attempt_timeout=0.7)

    out, figures = await run(setup, fn, "a", "b")

    assert fn.began == [(0, "a"), (0, "b"), (1, "a"), (1.5, "b"), (3, "a"), (7, "a")]
    assert out == [(1.5, "b1"), (7, "a1")]
    assert (figures.calls, figures.retries, figures.max_in_flight) == (6, 4, 2)


async def test_first_calls_keep_their_order_beside_repeated_ones() -> None:
    """A record that backs off holds its slot, and those behind it are called as there is room."""
    fn = Script(a=[ODD, ODD, ("a1",)], b=[[1, ("b1",)]], c=[("c1",)], d=[("d1",)])
    setup = OperatorConfig("unordered", 2, retry=Retry(initial=1))

    out, _ = await run(setup, fn, "a", "b", "c", "d")

    assert [value for _, value in fn.began if value != "a"] == ["b", "c", "d"]
    assert [at for at, value in fn.began if value == "a"] == [0, 1, 3]
    assert out == [(1, "b1"), (1, "c1"), (1, "d1"), (3, "a1")]


async def test_refused_results_do_not_come_out() -> None:
    """Those of the last attempt do, whatever they are."""
    fn = Script(a=[("a1",), ("a2",)], b=[("a1",)])

    out, figures = await run(
        config(max_attempts=2, on_result=lambda results: "a1" in results), fn, "a", "b"
    )

    assert out == [(1, "a2"), (1, "a1")]
    assert figures.retries == 2


async def test_a_call_can_say_when_it_is_to_be_repeated() -> None:
    """Once, whatever errors are repeated and however the back-off has grown."""
    fn = Script(a=[RetryAfter(5), KeyError("k"), RetryAfter(0), ("a1",)])

    out, _ = await run(config(max_attempts=4, on_error=KeyError), fn, "a")

    assert fn.began == [(0, "a"), (5, "a"), (7, "a"), (7, "a")]
    assert out == [(7, "a1")]


@pytest.mark.parametrize(
    ("retry", "calls", "text"),
    [
        ({"max_attempts": 2}, 2, "the call failed: ValueError('odd') (after 2 attempts)"),
        ({"on_error": KeyError}, 1, "the call failed: ValueError('odd')"),
        ({"on_error": lambda _: {}["gone"]}, 1, "on_error raised KeyError('gone')"),
        ({"max_attempts": 1}, 1, "the call failed: ValueError('odd')"),
    ],
    ids=["last", "no reason", "broken", "only"],
)
async def test_a_failure_that_stands_is_told_at_once(
    retry: dict[str, Any], calls: int, text: str
) -> None:
    """With the number of calls, if there were several."""
    fn = Script(a=[ODD], b=[9])

    error = await error_of(config(**retry), fn, "b", "a")

    assert type(error) is CallFailed
    assert str(error) == f"Record 'a': {text}"
    assert [value for _, value in fn.began].count("a") == error.attempts == calls


async def test_an_attempt_that_takes_too_long_is_cancelled_and_repeated() -> None:
    """The next one begins when the back-off is over; the last one fails with a TimeoutError."""
    fn = Script(a=[[2, ("late",)]])

    error = await error_of(config(attempt_timeout=1, max_attempts=2), fn, "a", 9)

    assert fn.began == [(0, "a"), (2, "a")]
    assert str(error) == (
        "Record 'a': the call failed: TimeoutError('no results after 1 s') (after 2 attempts)"
    )
    assert seconds_now() == 3


@pytest.mark.parametrize(
    ("clean_up", "again", "abandoned"), [(0, 1.001, 0), (0.006, 1.006, 0), (0.5, 1.008, 1)]
)
async def test_a_record_is_not_called_again_while_its_last_call_may_end(
    clean_up: float, again: float, abandoned: int
) -> None:
    """But in the instant in which it has ended, or is known to run on."""
    fn = Script(a=[9, ("a1",)])
    fn.clean_up = clean_up

    out, figures = await run(config(attempt_timeout=1, initial=0.001), fn, "a")

    assert fn.began == [(0, "a"), (again, "a")]
    assert out == [(again, "a1")]
    assert figures.abandoned == abandoned


async def test_repeated_calls_that_run_on_are_counted_against_the_capacity() -> None:
    """Also if all of them are for one record; there is no further one."""
    fn = Script(a=[99])
    fn.clean_up = 9
    setup = OperatorConfig("ordered", 1, retry=Retry(initial=0.001, attempt_timeout=1))

    operator: Any = open_operator(setup, fn, Source("a"))
    async with operator as results:
        error = await failure_of(results)

    assert type(error) is TooManyAbandonedCalls
    assert fn.began == [(0, "a"), (1.008, "a")]
    assert not operator._parts.calls._waiting


async def test_a_call_that_runs_on_has_no_part_in_what_comes_after_it() -> None:
    """It ends beside the next one, which is cancelled at its own limit, and counts once."""
    fn: Any = Script(a=[9])
    fn.clean_up = 0.5
    fn.timeout = lambda _: ["instead"]
    setup = config(timeout=3.2, initial=0.1, attempt_timeout=1, max_attempts=9)

    out, figures = await run(setup, fn, "a", 9)

    assert fn.began == [(0, "a"), (1.1, "a"), (2.3, "a")]
    assert fn.cancelled == [(1, "a"), (2.1, "a"), (3.2, "a")]
    assert out == [(3.2, "instead")]
    assert figures.abandoned == 3


async def test_a_call_is_not_cancelled_again_at_the_deadline() -> None:
    """It was at its limit, and is counted as abandoned once."""
    fn: Any = Script(a=[9])
    fn.clean_up = 5
    fn.timeout = lambda _: ["instead"]

    out, figures = await run(config(timeout=1.5, attempt_timeout=1), fn, "a", 9)

    assert fn.cancelled == [(1, "a")]
    assert out == [(1.5, "instead")]
    assert (figures.calls, figures.timeouts, figures.abandoned) == (1, 1, 1)


@pytest.mark.parametrize("mode", SIDE_BY_SIDE)
async def test_the_deadline_decides_in_a_back_off(mode: Mode) -> None:
    """It began with the first call; the handler is asked, and nothing is called later."""
    fn: Any = Script(a=[ODD], b=[6, ("b1",)])
    fn.timeout = lambda value: [f"no {value}"]

    out, figures = await run(config(mode, 2.5, multiplier=9, max_attempts=9), fn, "a", "b", 50)

    assert fn.began == [(0, "a"), (0, "b"), (1, "a")]
    assert out == [(2.5, "no a"), (2.5, "no b")]
    assert (figures.timeouts, figures.retries, figures.abandoned) == (2, 1, 0)


async def test_a_deadline_without_results_tells_the_attempts() -> None:
    """Those that had begun."""
    fn = Script(a=[ODD, ODD, 9])

    error = await error_of(config(timeout=3.5), fn, "a")

    assert type(error) is CallTimedOut
    assert str(error) == (
        "Record 'a': no results after 3.5 s, and there is no timeout handler (after 3 attempts)"
    )


class Value:
    """A value that can be watched."""


async def test_a_record_that_was_decided_is_not_kept_by_its_back_off() -> None:
    """However long that would last."""

    class Fn:
        async def __call__(self, value: Any) -> list[Any]:
            raise RetryAfter(99)

        def timeout(self, value: Any) -> list[Any]:
            return ["instead"]

    values = [Value()]
    watched = weakref.ref(values[0])
    source = Source(values.pop(), 50)

    async with open_operator(config(timeout=1), Fn(), source) as results:
        assert await anext(results) == Record("instead")
        await anyio.sleep(1)
        gc.collect()
        assert watched() is None


class Invoked(Callbacks):
    """A function in callback form; keeps the futures of all attempts.

    Args:
        invoke: called with the number of the attempt, and its future.

    Attributes:
        all: the futures.
        began: when each attempt did.
    """

    def __init__(self, invoke: Callable[[int, ResultFuture], object] = lambda *_: None) -> None:
        super().__init__(lambda _, future: self._begin(future))
        self._attempt = invoke
        self.all: list[ResultFuture] = []
        self.began: list[float] = []

    def _begin(self, future: ResultFuture) -> None:
        self.began.append(seconds_now())
        self.all.append(future)
        self._attempt(len(self.all), future)


def blocks(number: int) -> None:
    """Raise; the third call blocks the loop, and gives nothing."""
    if number < 3:
        raise ODD
    block(9)


@pytest.mark.parametrize("form", ["coroutine", "callback"])
async def test_no_attempt_begins_behind_a_deadline_that_passed_unseen(form: str) -> None:
    """The first of two records that are called again blocks the loop past both deadlines."""
    began: list[float] = []

    async def coroutine(_: str) -> None:
        began.append(seconds_now())
        blocks(len(began))
        await anyio.sleep_forever()

    fn: Any = coroutine if form == "coroutine" else Invoked(lambda number, _: blocks(number))
    fn.timeout = lambda _: ["instead"]

    out, figures = await run(config(timeout=2), fn, "a", "b", 20)

    assert (began if form == "coroutine" else fn.began) == [0, 0, 1]
    assert out == [(10, "instead"), (10, "instead")]
    assert (figures.calls, figures.retries) == (3, 1)


async def test_completions_of_older_attempts_are_ignored() -> None:
    """From any thread, whether the record backs off, is called or is decided."""
    fn = Invoked()
    needless: list[str] = []

    async with open_operator(config(), fn, Source("a", 9)) as results:
        await anyio.sleep(1)
        fn.all[0].complete_exceptionally(ODD)
        fn.all[0].complete_with(lambda: needless.append("in its instant"))
        await anyio.sleep(0.5)
        in_threads(lambda: fn.all[0].complete_with(lambda: needless.append("in its back-off")))
        await anyio.sleep(1)
        in_threads(lambda: fn.all[0].complete_exceptionally(KeyError("late")))
        fn.all[0].complete_with(lambda: needless.append("beside the next"))
        await anyio.sleep(1)
        fn.all[1].complete(["a1"])
        fn.all[0].complete(["late"])
        out = await read_all(results)

    assert fn.began == [0, 2]
    assert out == ["a1"]
    assert needless == []


async def test_an_attempt_that_overran_unseen_does_not_answer_for_the_next() -> None:
    """It blocks the loop past its limit and past its back-off, and is completed twice."""

    def invoke(number: int, future: ResultFuture) -> None:
        if number == 1:
            block(5)
            future.complete(["late"])
            future.complete(["again"])

    fn = Invoked(invoke)

    async with open_operator(config(attempt_timeout=1), fn, Source("a", 9)) as results:
        await anyio.sleep(5.5)
        fn.all[1].complete(["a1"])
        out = await read_timed(results)

    assert fn.began == [0, 5]
    assert out == [(5.5, "a1")]


async def test_a_snapshot_holds_a_record_that_backs_off() -> None:
    """And restored it has all its attempts again, and no back-off before the first."""
    fn = Script(a=[ODD, ODD, ("a1",)])
    out, _ = await run(config(), fn, "a", 0.5, Barrier(1))

    assert out == [(0.5, Snapshot(1, (Record("a"),))), (3, "a1")]
    assert isinstance(out[0][1], Snapshot)
    again = Script(a=[ODD, ODD, ("a1",)])
    async with open_operator(config(), again, Source(), out[0][1]) as results:
        assert await read_timed(results) == [(6, "a1")]
    assert again.began == [(3, "a"), (4, "a"), (6, "a")]


async def test_leaving_ends_back_offs_at_once() -> None:
    """Also one that would last for ever; nothing is called any more, and nothing is in flight."""
    fn = Script(a=[RetryAfter(float("inf"))], b=[ODD])

    async with open_operator(config(), fn, Source("a", "b", 99)) as results:
        await anyio.sleep(0.5)
        before = results.statistics()
    await anyio.sleep(9)

    assert (before.in_flight, before.held) == (2, 0)
    assert results.statistics().in_flight == 0
    assert fn.began == [(0, "a"), (0, "b")]
    assert seconds_now() == 9.5


async def test_nothing_is_asked_about_what_a_call_comes_to_after_leaving() -> None:
    """Neither the predicates nor the results."""
    asked: list[object] = []

    async def fn(value: str) -> Any:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep(9)
        if value == "a":
            raise ODD
        return (asked.append(each) for each in "b")

    setup = config(on_error=asked.append)
    async with open_operator(setup, fn, Source("a", "b", 99)):
        await anyio.sleep(1)

    assert asked == []
