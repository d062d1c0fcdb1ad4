"""Copies of values on every shipped operator: what a function does to its argument stays there."""

from copy import deepcopy
from typing import Any

import anyio
import pytest
from operators import PLAIN_FORMS, Source, read_all

from asyncwait.spec import (
    Barrier,
    CallFailed,
    InvalidConfig,
    OpenOperator,
    OperatorConfig,
    OperatorError,
    Record,
    Retry,
    Snapshot,
)

pytestmark = pytest.mark.anyio

Order = dict[str, Any]


class Emptying:
    """Takes a voucher out of each order, and fails so many times before that is of use.

    Args:
        failures: calls that raise.
        takes: seconds.
    """

    def __init__(self, failures: int = 0, takes: float = 0) -> None:
        self.seen: list[Order] = []
        self._failures = failures
        self._takes = takes

    async def __call__(self, order: Order) -> list[Any]:
        """Note what it was given, and change it."""
        self.seen.append(dict(order))
        voucher = order.pop("voucher", None)
        await anyio.sleep(self._takes)
        if len(self.seen) <= self._failures:
            raise ValueError("try again")
        return [voucher]


def order() -> Order:
    """An order with a voucher."""
    return {"item": "tea", "voucher": 5}


async def test_each_attempt_has_the_value_as_it_was_read(open_operator: OpenOperator) -> None:
    """Whatever the one before has done to its own."""
    fn, read = Emptying(failures=2), order()
    config = OperatorConfig(retry=Retry(max_attempts=3, initial=1), copy=deepcopy)

    async with open_operator(config, fn, Source(Record(read))) as results:
        out = await read_all(results)

    assert out == [5]
    assert fn.seen == [order()] * 3
    assert read == order()


async def test_without_copies_all_share_the_very_object(open_operator: OpenOperator) -> None:
    """The slip that copies are for: the second attempt finds no voucher."""
    fn, read = Emptying(failures=1), order()

    async with open_operator(
        OperatorConfig(retry=Retry(max_attempts=3, initial=1)), fn, Source(Record(read))
    ) as results:
        out = await read_all(results)

    assert out == [None]
    assert fn.seen == [order(), {"item": "tea"}]
    assert read == {"item": "tea"}


async def test_a_snapshot_holds_the_very_value_that_was_read(open_operator: OpenOperator) -> None:
    """It is never a copy, and never changed."""
    read = order()
    config = OperatorConfig(copy=deepcopy)

    async with open_operator(
        config, Emptying(takes=5), Source(Record(read), 1, Barrier(1), 9)
    ) as results:
        snapshot = await anext(results)

    assert isinstance(snapshot, Snapshot)
    (record,) = snapshot.in_flight
    assert isinstance(record, Record)
    assert record.value is read
    assert read == order()


async def test_handlers_are_given_copies_of_their_own(open_operator: OpenOperator) -> None:
    """At a deadline, and in place of a failure."""
    seen: list[Order] = []

    def late(given: Order) -> None:
        seen.append(dict(given))
        given.clear()

    def failed(given: Order, _error: OperatorError) -> list[str]:
        seen.append(dict(given))
        given.clear()
        return ["sorry"]

    fn: Any = Emptying(takes=5)
    fn.timeout, fn.failure = late, failed
    read = order()

    async with open_operator(
        OperatorConfig(timeout=1, copy=deepcopy), fn, Source(Record(read))
    ) as results:
        out = await read_all(results)

    assert out == ["sorry"]
    assert seen == [order(), order()]
    assert read == order()


async def test_a_value_that_can_not_be_copied_fails_its_call(open_operator: OpenOperator) -> None:
    """The error names the record, and its cause is what the copy has raised."""

    def refuse(value: Any) -> Any:
        raise TypeError(f"no copy of {value}")

    async with open_operator(OperatorConfig(copy=refuse), Emptying(), Source("a1")) as results:
        with pytest.raises(CallFailed, match="no copy of a1") as caught:
            await anext(results)

    assert caught.value.record == Record("a1")
    assert isinstance(caught.value.__cause__, TypeError)


async def test_a_copy_that_fails_is_made_anew_for_the_next_attempt(
    open_operator: OpenOperator,
) -> None:
    """It is an outcome like any other."""
    made: list[Order] = []

    def copy(value: Order) -> Order:
        made.append(value)
        if len(made) == 1:
            raise MemoryError
        return deepcopy(value)

    config = OperatorConfig(retry=Retry(max_attempts=3, initial=1), copy=copy)

    async with open_operator(config, Emptying(), Source(Record(order()))) as results:
        out = await read_all(results)
        figures = results.statistics()

    assert out == [5]
    assert (figures.calls, figures.retries) == (2, 1)


async def test_functions_in_callback_form_are_given_copies(open_operator: OpenOperator) -> None:
    """With their place for the outcome."""

    class Callback:
        def async_invoke(self, value: Order, result: Any) -> None:
            result.complete([value.pop("voucher")])

    read = order()

    async with open_operator(
        OperatorConfig(copy=deepcopy), Callback(), Source(Record(read))
    ) as results:
        out = await read_all(results)

    assert out == [5]
    assert read == order()


@pytest.mark.parametrize("operator", PLAIN_FORMS)
async def test_the_plain_form_makes_copies(operator: str) -> None:
    """For each attempt."""

    async def fail_once(values: list[int]) -> int:
        values.append(1)
        if len(values) > 1:
            return len(values)
        raise AssertionError

    shared: list[int] = []
    async with PLAIN_FORMS[operator]["ordered"](
        [shared], fail_once, retry=Retry(max_attempts=3, initial=1), on_error="skip", copy=list
    ) as results:
        apart = [value async for value in results]
    async with PLAIN_FORMS[operator]["ordered"](
        [shared], fail_once, retry=Retry(max_attempts=3, initial=1)
    ) as results:
        together = [value async for value in results]

    assert apart == []
    assert together == [2]


def test_what_makes_copies_is_a_function() -> None:
    """Not a flag."""
    with pytest.raises(InvalidConfig) as caught:
        OperatorConfig(copy=True)  # type: ignore[arg-type]

    assert str(caught.value) == "copy must be a plain function of a value, or None, got True (bool)"
