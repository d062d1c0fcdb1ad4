"""What no scenario says of retries: figures, the very errors, and huge numbers."""

from typing import Any

import anyio
import pytest
from operators import Source, failure_of, seconds_now

from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    OpenOperator,
    OperatorConfig,
    Record,
    ResultFuture,
    Retry,
    RetryAfter,
    Statistics,
)

pytestmark = pytest.mark.anyio


class Flaky:
    """A function that raises what it is told, one by one, and then answers.

    Args:
        errors: raised by its first calls.
    """

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.called: list[float] = []

    async def __call__(self, value: str) -> list[str]:
        """Raise the next error, or give the value back."""
        self.called.append(seconds_now())
        if self.errors:
            raise self.errors.pop(0)
        return [value]


async def test_the_figures_of_a_record_that_backs_off(open_operator: OpenOperator) -> None:
    """It is in flight, and neither held nor waiting; what repeats a call is counted twice over."""
    fn: Any = Flaky(ValueError(), ValueError())
    config = OperatorConfig(retry=Retry(initial=1))

    async with open_operator(config, fn, Source("a", 99)) as results:
        figures = []
        for at in (0.5, 1.5, 3.5):
            await anyio.sleep_until(at)
            figures.append(results.statistics())

    assert fn.called == [0, 1, 3]
    assert figures == [
        Statistics(in_flight=1, calls=1, max_in_flight=1, oldest=0.5),
        Statistics(in_flight=1, calls=2, retries=1, max_in_flight=1, oldest=1.5),
        Statistics(
            in_flight=1, held=1, calls=3, retries=2, max_in_flight=1, max_held=1, oldest=3.5
        ),
    ]


async def test_the_last_error_is_the_cause(open_operator: OpenOperator) -> None:
    """The very object, and the text tells how often it was tried."""
    first, last = ValueError("first"), ValueError("last")
    config = OperatorConfig(retry=Retry(max_attempts=2))

    with pytest.raises(CallFailed) as caught:
        async with open_operator(config, Flaky(first, last), Source("a")) as results:
            await anext(results)

    assert caught.value.__cause__ is last
    assert caught.value.attempts == 2
    assert str(caught.value).endswith("the call failed: ValueError('last') (after 2 attempts)")


async def test_a_timeout_in_a_back_off_tells_the_attempts(open_operator: OpenOperator) -> None:
    """It is the timeout that failed, not the call."""
    config = OperatorConfig(timeout=3, retry=Retry(initial=10))

    with pytest.raises(CallTimedOut) as caught:
        async with open_operator(config, Flaky(ValueError()), Source("a", 9)) as results:
            await anext(results)

    assert caught.value.attempts == 1
    assert seconds_now() == 3


async def test_a_predicate_is_given_the_very_error(open_operator: OpenOperator) -> None:
    """As the call raised it, and once for each outcome while attempts are left."""
    errors = [KeyError("a"), RetryAfter(1), KeyError("b")]
    given: list[BaseException] = []

    def always(error: BaseException) -> bool:
        given.append(error)
        return True

    config = OperatorConfig(retry=Retry(max_attempts=3, on_error=always))
    with pytest.raises(CallFailed):
        async with open_operator(config, Flaky(*errors), Source("a")) as results:
            await anext(results)

    # RetryAfter speaks for itself, and nothing is asked after the last attempt.
    assert [error is errors[0] for error in given] == [True]


async def test_a_pause_without_end_ends_with_the_operator(open_operator: OpenOperator) -> None:
    """No number is too large to wait for, and nobody waits for it on leaving."""
    fn = Flaky(RetryAfter(10**400))
    config = OperatorConfig(retry=Retry(initial=10**400, cap=10**400, attempt_timeout=10**400))

    async with open_operator(config, fn, Source("a", 99)) as results:
        with anyio.move_on_after(1e6):
            await anext(results)

    assert fn.called == [0]
    assert seconds_now() == 1e6


async def test_each_attempt_completes_a_handle_of_its_own(open_operator: OpenOperator) -> None:
    """One that is over is dead, however often it is completed."""
    handles: list[ResultFuture] = []

    class Callbacks:
        def async_invoke(self, value: str, result: ResultFuture) -> None:
            handles.append(result)

    config = OperatorConfig(retry=Retry(initial=1, attempt_timeout=2))
    async with open_operator(config, Callbacks(), Source("a", 99)) as results:
        await anyio.sleep_until(3.5)
        handles[0].complete(["old"])
        handles[0].complete_exceptionally(ValueError("old"))
        await anyio.sleep(0.5)
        handles[1].complete(["new"])
        came = await anext(results)

    assert came == Record("new")
    assert len(handles) == 2


class Throttled(RetryAfter):
    """Forgets to say when to come again."""

    def __init__(self, response: Any) -> None:
        self.response = response


@pytest.mark.parametrize("seconds", [None, "soon", -1, float("nan")])
async def test_a_retry_after_without_seconds_fails_its_record(
    open_operator: OpenOperator, seconds: Any
) -> None:
    """And says what is missing."""

    async def fn(value: str) -> list[str]:
        error = Throttled(value)
        if seconds is not None:
            error.seconds = seconds
        raise error

    config = OperatorConfig(retry=Retry())
    async with open_operator(config, fn, Source("a")) as results:
        error = await failure_of(results)

    assert type(error) is CallFailed
    assert type(error.__cause__) is Throttled
    assert str(error).endswith("does its __init__ call super().__init__(seconds)?")
    assert error.record == Record("a")
