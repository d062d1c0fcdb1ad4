"""Retries: which calls are repeated, when, and what ends that."""

import asyncio
from typing import Any

import anyio
import pytest

from asyncwait.backends.pool import open_operator
from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    InvalidResult,
    OperatorConfig,
    Record,
    ResultFuture,
    Retry,
    RetryAfter,
    Snapshot,
    Statistics,
    Watermark,
)

pytestmark = pytest.mark.anyio

LINE = OSError("line")


def retrying(mode: Any = "ordered", capacity: int = 100, **retry: Any) -> OperatorConfig:
    """Retries with back-offs of 1, 2, 4 seconds; `timeout` is that of the records."""
    timeout = retry.pop("timeout", None)
    return OperatorConfig(mode, capacity, timeout, Retry(**{"initial": 1, **retry}))


class Flaky:
    """Does at each call of a value what is next in its script; what is last, again and again.

    Each is an error to raise or results to return; a number before them is slept for.

    Attributes:
        began: time and value of each call.
        cancelled: the times of cancellations.
        clean_up: how many seconds a cancelled call goes on; after that it answers all the same.
    """

    def __init__(self, **scripts: list[Any]) -> None:
        self._scripts = scripts
        self.began: list[tuple[float, str]] = []
        self.cancelled: list[float] = []
        self.clean_up = 0.0

    def next(self, value: str) -> list[Any]:
        """Note a call; return how long it takes, and what it comes to."""
        self.began.append((round(anyio.current_time(), 6), value))
        script = self._scripts[value]
        step = script.pop(0) if len(script) > 1 else script[0]
        return step if isinstance(step, list) and len(step) == 2 else [0, step]

    async def __call__(self, value: str) -> list[str]:
        """Do it."""
        seconds, outcome = self.next(value)
        try:
            await anyio.sleep(seconds)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(anyio.current_time())
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.clean_up)
        if isinstance(outcome, Exception):
            raise outcome
        return list(outcome)


class Held:
    """Keeps the result futures of all calls, in order, for the test to complete."""

    def __init__(self) -> None:
        self.futures: list[ResultFuture] = []

    def async_invoke(self, value: str, result: ResultFuture) -> None:
        """Keep it."""
        self.futures.append(result)


async def failure_of(results: Any) -> Any:
    """Read until the operator fails."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it closely
        async for _ in results:
            pass
    return caught.value


async def test_a_failed_call_is_repeated_after_back_offs_that_grow_up_to_their_cap(
    feed: Any, read: Any
) -> None:
    """Nothing else has to happen for that, and the end of input changes nothing."""
    flaky = Flaky(a=[LINE, LINE, LINE, LINE, ["A"]])

    async with open_operator(retrying(max_attempts=5, cap=3), flaky, feed("a")) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(9, "A")]
    assert flaky.began == [(0, "a"), (1, "a"), (3, "a"), (6, "a"), (9, "a")]
    assert figures == Statistics(calls=5, retries=4, max_in_flight=1, max_held=1)


async def test_a_back_off_begins_when_the_call_has_failed(feed: Any, read: Any) -> None:
    """Not when it began."""
    flaky = Flaky(a=[[5, LINE], ["A"]])

    async with open_operator(retrying(), flaky, feed("a")) as results:
        assert await read(results) == [(6, "A")]


async def test_the_last_failure_stands_and_tells_the_attempts(feed: Any) -> None:
    """It comes at once, with the error of the last call."""
    reason = OSError("last")
    flaky = Flaky(a=[LINE, reason])

    async with open_operator(retrying(max_attempts=2), flaky, feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert str(error) == "Record 'a': the call failed: OSError('last') (after 2 attempts)"
    assert error.attempts == 2
    assert error.__cause__ is reason
    assert flaky.began == [(0, "a"), (1, "a")]


@pytest.mark.parametrize(
    ("outcome", "kind", "message"),
    [
        (KeyError("k"), CallFailed, "Record 'a': the call failed: KeyError('k')"),
        ("ab", InvalidResult, "Record 'a': expected an iterable of results, got 'ab' (str); "),
    ],
)
async def test_what_is_no_reason_for_another_attempt_stands(
    feed: Any, outcome: Any, kind: type, message: str
) -> None:
    """Another error than those that were named, and what is no collection of results."""

    async def fn(value: str) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async with open_operator(retrying(on_error=OSError), fn, feed("a")) as results:
        error = await failure_of(results)
        figures = results.statistics()

    assert type(error) is kind
    assert str(error).startswith(message)
    assert "attempts" not in str(error)
    assert figures.calls == 1


async def test_refused_results_never_come_out(feed: Any, read: Any) -> None:
    """The call is repeated, and those of the last attempt stand whatever they are."""
    flaky = Flaky(a=[[], ["A"]], b=[[]])
    config = retrying(on_result=lambda results: not results)

    async with open_operator(config, flaky, feed("a", "b")) as results:
        assert await read(results) == [(1, "A")]

    assert flaky.began == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (3, "b")]


async def test_retry_after_sets_one_back_off(feed: Any, read: Any) -> None:
    """Whatever `on_error` says; the next one is as long as if there had been no such thing."""
    flaky = Flaky(a=[RetryAfter(7), LINE, RetryAfter(0), ["A"]])
    config = retrying(max_attempts=4, on_error=OSError)

    async with open_operator(config, flaky, feed("a")) as results:
        await read(results)

    assert flaky.began == [(0, "a"), (7, "a"), (9, "a"), (9, "a")]


async def test_a_predicate_that_raises_fails_the_operator_at_once(feed: Any) -> None:
    """The error names the record, and what was raised is its cause."""

    def predicate(outcome: Any) -> bool:
        raise ZeroDivisionError(outcome)

    for asked in ("on_error", "on_result"):
        flaky = Flaky(a=[LINE if asked == "on_error" else ["A"]])
        settings: Any = {asked: predicate}
        async with open_operator(retrying(**settings), flaky, feed("a")) as results:
            error = await failure_of(results)

        assert type(error) is CallFailed
        assert str(error).startswith(f"Record 'a': {asked} raised ZeroDivisionError(")
        assert type(error.__cause__) is ZeroDivisionError
    assert anyio.current_time() == 0


async def test_a_record_that_backs_off_holds_its_slot_and_no_call(feed: Any, read: Any) -> None:
    """Others are called meanwhile as far as there is room, and go out as the mode says."""
    flaky = Flaky(a=[LINE, ["A"]], b=[[2, ["B"]]], c=[["C"]])

    async with open_operator(
        retrying("unordered", 2, initial=3), flaky, feed("a", "b", "c", Watermark(1))
    ) as results:
        await anyio.sleep(1)
        figures = results.statistics()
        out = await read(results)

    assert flaky.began == [(0, "a"), (0, "b"), (2, "c"), (3, "a")]
    assert out == [(2, "B"), (2, "C"), (3, "A"), (3, Watermark(1))]
    assert figures == Statistics(in_flight=2, waiting=1, calls=2, max_in_flight=2, oldest=1)


async def test_the_deadline_decides_a_record_in_its_back_off(feed: Any, read: Any) -> None:
    """It began with the first call; no attempt begins later, and nothing waits for one."""
    flaky: Any = Flaky(a=[LINE])
    flaky.timeout = lambda value: [f"no {value}"]

    async with open_operator(retrying(timeout=2), flaky, feed("a", 9)) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(2, "no a")]
    assert flaky.began == [(0, "a"), (1, "a")]
    assert figures == Statistics(calls=2, retries=1, timeouts=1, max_in_flight=1, max_held=1)


async def test_the_deadline_decides_a_record_in_a_later_call(feed: Any, read: Any) -> None:
    """The call is cancelled then; that it would also have had a limit is forgotten."""
    flaky: Any = Flaky(a=[LINE, [9, []]], b=[[4, ["B"]]])
    flaky.timeout = lambda value: [f"no {value}"]
    config = retrying(timeout=5, attempt_timeout=4.5)

    async with open_operator(config, flaky, feed("a", 1, "b", 9)) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(5, "no a"), (5, "B")]
    assert flaky.cancelled == [5]
    assert figures == Statistics(calls=3, retries=1, timeouts=1, max_in_flight=2, max_held=2)


async def test_the_error_of_a_deadline_tells_the_attempts(feed: Any) -> None:
    """Those that have begun."""
    async with open_operator(retrying(timeout=2.5), Flaky(a=[LINE]), feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallTimedOut
    assert str(error) == (
        "Record 'a': no results after 2.5 s, and there is no timeout handler (after 2 attempts)"
    )
    assert anyio.current_time() == 2.5


async def test_an_attempt_that_takes_too_long_is_cancelled_and_repeated(
    feed: Any, read: Any
) -> None:
    """Its record goes on with what is left of its time."""
    flaky = Flaky(a=[[9, ["late"]], [1, ["A"]]], b=[[2, ["B"]]])
    config = retrying(timeout=8, attempt_timeout=3)

    async with open_operator(config, flaky, feed("a", "b")) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(5, "A"), (5, "B")]
    assert flaky.cancelled == [3]
    assert flaky.began == [(0, "a"), (0, "b"), (4, "a")]
    assert figures == Statistics(calls=3, retries=1, max_in_flight=2, max_held=2)


@pytest.mark.parametrize(("named", "told"), [(TimeoutError, " (after 2 attempts)"), (KeyError, "")])
async def test_an_attempt_that_takes_too_long_has_failed_with_a_timeout_error(
    feed: Any, named: Any, told: str
) -> None:
    """Which `on_error` may name, or not."""
    config = retrying(max_attempts=2, attempt_timeout=3, on_error=named)

    async with open_operator(config, Flaky(a=[[9, []]]), feed("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert type(error.__cause__) is TimeoutError
    reason = "the call failed: TimeoutError('no results after 3 s')"
    assert str(error) == f"Record 'a': {reason}{told}"


@pytest.mark.parametrize(
    ("clean_up", "again", "abandoned"),
    [(0.004, 1.004, 0), (0.02, 1.005, 1), (0, 1.002, 0)],
)
async def test_no_attempt_begins_while_a_cancelled_call_may_still_end(
    feed: Any, read: Any, clean_up: float, again: float, abandoned: int
) -> None:
    """It does when that has ended or is abandoned; what it comes to does not count."""
    flaky = Flaky(a=[[9, ["old"]], [0.9, ["A"]]])
    flaky.clean_up = clean_up
    config = retrying(initial=0.002, attempt_timeout=1)

    async with open_operator(config, flaky, feed("a")) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(round(again + 0.9, 6), "A")]
    assert flaky.began == [(0, "a"), (again, "a")]
    assert figures.abandoned == abandoned


async def test_a_blocked_loop_lets_no_attempt_begin_after_the_deadline(
    feed: Any, read: Any, pass_time: Any
) -> None:
    """Both back-offs are over at 1, and the second call of b keeps that of a waiting."""

    class Blocking(Held):
        def async_invoke(self, value: str, result: ResultFuture) -> None:
            super().async_invoke(value, result)
            if len(self.futures) <= 2:
                raise LINE
            pass_time(9)

        def timeout(self, value: str) -> list[str]:
            return [value.upper()]

    held = Blocking()

    async with open_operator(retrying(timeout=5), held, feed("b", "a")) as results:
        out = await read(results)

    assert out == [(10, "B"), (10, "A")]
    assert len(held.futures) == 3


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (1.5, "Record 'b': the call failed: TimeoutError('no results after 1.5 s')"),
        (3, "Record 'a': no results after 5 s, and there is no timeout handler"),
    ],
)
async def test_what_was_due_while_the_loop_was_blocked_is_done_in_its_order(
    feed: Any, pass_time: Any, limit: float, message: str
) -> None:
    """The deadline of a is at 5, the limit of the call of b before or after that."""

    async def fn(value: str) -> list[str]:
        if value == "a":
            raise LINE
        await anyio.sleep(9 if value == "b" else 0)
        pass_time(5)
        return [value]

    retry = Retry(initial=50, attempt_timeout=limit, on_error=lambda error: error is LINE)
    source = feed("a", 3, "b", 1, "c")

    async with open_operator(OperatorConfig(timeout=5, retry=retry), fn, source) as results:
        error = await failure_of(results)

    assert str(error) == message


async def test_a_call_that_blocks_the_loop_beyond_its_limit_has_failed_at_that(
    feed: Any, read: Any, pass_time: Any
) -> None:
    """There is nothing to cancel, and its back-off counts from then."""
    flaky = Flaky(a=[["late"], ["A"]])

    async def blocking(value: str) -> list[str]:
        outcome = await flaky(value)
        pass_time(2.5 if outcome == ["late"] else 0)
        return outcome

    async with open_operator(retrying(attempt_timeout=2), blocking, feed("a")) as results:
        out = await read(results)
        figures = results.statistics()

    assert out == [(3, "A")]
    assert figures == Statistics(calls=2, retries=1, max_in_flight=1, max_held=1)


async def test_each_attempt_has_a_result_future_of_its_own(feed: Any) -> None:
    """What older ones are completed with, or one a second time, does not count."""
    held = Held()

    async with open_operator(retrying(max_attempts=9), held, feed("a")) as results:
        await anyio.sleep(1)
        held.futures[0].complete_exceptionally(LINE)
        held.futures[0].complete(["second"])
        await anyio.sleep(0.5)
        held.futures[0].complete(["in the back-off"])
        await anyio.sleep(1)
        held.futures[0].complete_exceptionally(LINE)
        held.futures[0].complete_with(lambda: ["in the next call"])
        await anyio.sleep(1)
        assert len(held.futures) == 2
        held.futures[1].complete(["A"])
        assert await anext(results) == Record("A")
        figures = results.statistics()

    assert figures == Statistics(calls=2, retries=1, max_in_flight=1, max_held=1)


async def test_a_back_off_counts_from_the_completion(feed: Any, read: Any, pass_time: Any) -> None:
    """Even if the operator comes to look at it later."""
    held = Held()

    async with open_operator(retrying(initial=3), held, feed("a")) as results:
        await anyio.sleep(1)
        held.futures[0].complete_exceptionally(LINE)
        pass_time(2)
        await anyio.sleep(0.5)
        assert len(held.futures) == 1
        await anyio.sleep(0.75)
        held.futures[1].complete(["A"])
        assert await read(results) == [(4.25, "A")]


async def test_a_call_in_callback_form_that_raises_is_repeated_if_its_record_is_undecided(
    feed: Any,
) -> None:
    """One that raises although it has given results that stand fails the operator."""

    class Throwing(Held):
        def async_invoke(self, value: str, result: ResultFuture) -> None:
            super().async_invoke(value, result)
            result.complete([value] * (len(self.futures) - 1))
            raise LINE

    held = Throwing()
    config = retrying(on_result=lambda results: not results)

    async with open_operator(config, held, feed("a")) as results:
        error = await failure_of(results)

    assert len(held.futures) == 2
    assert str(error) == "Record 'a': the call failed: OSError('line') (after 2 attempts)"
    assert anyio.current_time() == 1


async def test_attempts_begin_anew_after_a_restore(feed: Any, read: Any) -> None:
    """A record in its back-off is in the snapshot, and is called at once from there."""
    flaky = Flaky(a=[LINE, LINE, LINE, ["A"]])

    async with open_operator(retrying(max_attempts=2), flaky, feed("a")) as results:
        await anyio.sleep(0.5)
        results.request_snapshot(1)
        (snapshot,) = results.take_ready(1)
    assert isinstance(snapshot, Snapshot)
    async with open_operator(retrying(max_attempts=3), flaky, feed(), snapshot) as results:
        out = await read(results)

    assert snapshot.in_flight == (Record("a"),)
    assert flaky.began == [(0, "a"), (0.5, "a"), (1.5, "a"), (3.5, "a")]
    assert out == [(3.5, "A")]


async def test_leaving_or_failing_ends_back_offs_at_once_and_leaves_nothing(
    anyio_backend_name: str, feed: Any
) -> None:
    """No call, no task, no timer; in a call's clean-up after its limit, too."""
    before = asyncio.all_tasks() if anyio_backend_name == "asyncio" else set()
    config = retrying(initial=50, timeout=90, attempt_timeout=4, on_error=(OSError, TimeoutError))
    for others in ([], ["b"]):
        flaky = Flaky(a=[LINE], b=[[1, KeyError("b")]], c=[[9, []]])
        flaky.clean_up = 2
        async with open_operator(config, flaky, feed("a", "c", *others, 99)) as results:
            await anyio.sleep(5)
            results.take_ready(9)
        assert [value for _, value in flaky.began] == ["a", "c", *others]

    assert anyio.current_time() == 11
    if anyio_backend_name == "asyncio":
        assert asyncio.all_tasks() == before
        assert asyncio.get_running_loop().pending_timers() == 0  # type: ignore[attr-defined]
