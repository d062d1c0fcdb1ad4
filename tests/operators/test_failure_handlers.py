"""Failure handlers on every shipped operator: errors, figures, and the plain form."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import OPERATORS, PLAIN_FORMS

from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    InvalidConfig,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
)
from asyncwait.toolkit import PlainWait

pytestmark = pytest.mark.anyio


async def feed(*values: int) -> AsyncIterator[Record]:
    """Records with these values."""
    for value in values:
        yield Record(value)


class Halving:
    """Halves even numbers; 0 takes for ever, 3 has no results.

    Args:
        given: what the failure handler gives.
    """

    def __init__(self, given: Any = ()) -> None:
        self.given = given
        self.asked: list[tuple[int, OperatorError]] = []

    async def __call__(self, value: int) -> list[int]:
        """Halve it."""
        if value == 0:
            await anyio.sleep_forever()
        if value == 3:
            return None  # type: ignore[return-value]
        if value % 2:
            raise ValueError(value)
        return [value // 2]

    def failure(self, value: int, error: OperatorError) -> Any:
        """Note it."""
        self.asked.append((value, error))
        return self.given


async def test_each_kind_of_failure_is_handled_with_its_own_error(
    open_operator: OpenOperator,
) -> None:
    """One `match` tells them apart; the record is named, and what was raised is the cause."""
    fn = Halving(["?"])
    config = OperatorConfig("ordered", 4, 1)

    async with open_operator(config, fn, feed(4, 1, 0, 3, 6)) as results:
        values = [each.value async for each in results if isinstance(each, Record)]
        figures = results.statistics()

    assert values == [2, "?", "?", "?", 3]
    errors = dict(fn.asked)
    assert {value: type(error) for value, error in errors.items()} == {
        1: CallFailed,
        0: CallTimedOut,
        3: InvalidResult,
    }
    assert all(error.record == Record(value) for value, error in errors.items())
    assert isinstance(errors[1].__cause__, ValueError)
    assert (figures.failures_handled, figures.timeouts, figures.calls) == (3, 1, 5)


async def test_the_handler_is_told_of_all_attempts(open_operator: OpenOperator) -> None:
    """So it can say how much was tried."""
    fn = Halving([])
    config = OperatorConfig("ordered", retry=Retry(max_attempts=3, initial=1))

    async with open_operator(config, fn, feed(1)) as results:
        assert [each async for each in results] == []

    assert [(value, error.attempts) for value, error in fn.asked] == [(1, 3)]
    assert str(fn.asked[0][1]).endswith("(after 3 attempts)")


async def test_the_error_of_a_handler_that_gives_none_is_the_one_that_it_was_given(
    open_operator: OpenOperator,
) -> None:
    """The very object."""
    fn = Halving(None)

    async with open_operator(OperatorConfig("ordered"), fn, feed(1)) as results:
        with pytest.raises(CallFailed) as caught:
            await anext(results)

    assert caught.value is fn.asked[0][1]


async def test_a_handler_may_raise_what_it_was_given(open_operator: OpenOperator) -> None:
    """That is as good as None, be it the error or its cause."""
    fn: Any = Halving()

    def reraise(_: int, error: OperatorError) -> None:
        assert error.__cause__ is not None
        raise error.__cause__

    fn.failure = reraise
    async with open_operator(OperatorConfig("ordered"), fn, feed(1)) as results:
        with pytest.raises(CallFailed, match=r"the call failed: ValueError\(1\)$") as caught:
            await anext(results)

    assert repr(caught.value.__cause__) == "ValueError(1)"


async def test_the_error_of_a_handler_that_raises_tells_of_both(
    open_operator: OpenOperator,
) -> None:
    """The cause is what the handler raised, and behind that stands what it was asked about."""
    fn: Any = Halving()

    def breaks(_: int, __: OperatorError) -> None:
        raise KeyError("no such queue")

    fn.failure = breaks
    async with open_operator(OperatorConfig("ordered"), fn, feed(1)) as results:
        with pytest.raises(CallFailed) as caught:
            await anext(results)

    assert str(caught.value) == (
        "Record 1: the call failed: ValueError(1), and the failure handler raised "
        "KeyError('no such queue')"
    )
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    assert isinstance(cause.__context__, CallFailed)


@pytest.fixture(params=OPERATORS)
def ordered_wait(request: pytest.FixtureRequest) -> PlainWait:
    """The plain form of every shipped operator."""
    return PLAIN_FORMS[request.param]["ordered"]


async def halve(value: int) -> int:
    """Halve an even number."""
    if value % 2:
        raise ValueError(value)
    return value // 2


@pytest.mark.parametrize(
    ("on_error", "expected"),
    [
        ("skip", [1, 3]),
        (lambda value, _: -value, [1, -3, 3]),
        (lambda value, error: (value, repr(error.__cause__)), [1, (3, "ValueError(3)"), 3]),
        (lambda *_: None, [1, None, 3]),
    ],
)
async def test_in_plain_form_failures_are_skipped_or_replaced(
    ordered_wait: PlainWait, on_error: Any, expected: list[Any]
) -> None:
    """By one result for each value, whatever it is."""
    async with ordered_wait([2, 3, 6], halve, on_error=on_error) as results:
        assert [each async for each in results] == expected


async def test_in_plain_form_many_results_may_take_the_place(ordered_wait: PlainWait) -> None:
    """As the function gives them, then."""

    async def both(value: int) -> list[int]:
        return [await halve(value), value]

    def instead(value: int, _: OperatorError) -> list[int]:
        return [value] * 3

    async with ordered_wait([2, 3], both, on_error=instead, many=True) as results:
        assert [each async for each in results] == [1, 2, 3, 3, 3]


async def test_in_plain_form_a_failure_ends_the_stream_unless_one_says_otherwise(
    ordered_wait: PlainWait,
) -> None:
    """With "fail" even where the function has a handler of its own."""

    async def fn(value: int) -> int:
        return await halve(value)

    with pytest.raises(CallFailed):
        async with ordered_wait([3], fn) as results:
            await anext(results)
    fn.failure = lambda value, _: -value  # type: ignore[attr-defined]
    async with ordered_wait([3], fn) as results:
        assert [each async for each in results] == [-3]
    with pytest.raises(CallFailed):
        async with ordered_wait([3], fn, on_error="fail") as results:
            await anext(results)


@pytest.mark.parametrize("wrong", ["ignore", 3, halve])
async def test_what_on_error_can_not_be_is_refused(ordered_wait: PlainWait, wrong: Any) -> None:
    """Nothing waits for a coroutine function there."""
    with pytest.raises(InvalidConfig, match=r'^on_error must be "fail", "skip" or a plain funct'):
        async with ordered_wait([3], halve, on_error=wrong):
            pass
