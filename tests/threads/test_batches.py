"""A plain function that is called with several values in one thread."""

import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from blocking import Gated, await_event, ours
from remains import wait_until

from asyncwait.backends.services import Budget, Cost, InFlight
from asyncwait.backends.threads import ordered_wait
from asyncwait.spec import Batch, CallTimedOut, InvalidResult, TooManyAbandonedCalls
from asyncwait.spec.limits import PermitTimedOut

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


def test_a_set_is_no_answers() -> None:
    with (
        pytest.raises(InvalidResult, match="expected a list or a mapping"),
        ordered_wait([*"ab"], lambda values: {*values}, batch=PAIRS) as results,
    ):
        list(results)


@pytest.mark.filterwarnings("ignore:.*run.? on in .*thread:RuntimeWarning")
def test_a_batch_that_runs_on_is_counted(fn: Gated) -> None:
    is_open = threading.Event()

    def values() -> Iterator[str]:
        yield from "ab"
        await_event(is_open)
        wait_until(lambda: results.statistics().abandoned == 1)
        yield from "cd"

    def answer(values: list[str]) -> Any:
        return fn(tuple(values))

    fn.open_for(("c", "d"))
    batch = Batch(max_size=2, max_wait=10, in_flight=1)
    with ordered_wait(values(), answer, timeout=SHORT, on_error="skip", batch=batch) as results:
        is_open.set()
        assert list(results) == ["c", "d"]
        figures = results.statistics()

    assert (figures.timeouts, figures.batches, figures.calls) == (2, 2, 4)


def test_too_many_batches_that_run_on_end_the_stream(fn: Gated) -> None:
    batch = Batch(max_size=2, in_flight=1)
    with (
        pytest.raises(TooManyAbandonedCalls, match=r"^\d calls .* at most 1 may run at a time; "),
        ordered_wait(
            range(99),
            lambda values: fn(tuple(values)),
            timeout=SHORT,
            on_error="skip",
            capacity=50,
            batch=batch,
        ) as results,
    ):
        list(results)

    # The third had the place of the second; on a busy machine it may be late as well.
    assert fn.began[:3] == [(0, 1), (2, 3), (4, 5)]


def test_leaving_tells_of_a_batch_that_runs_on(fn: Gated) -> None:
    told = r"^1 call runs on in a thread, and nothing can end it: of \['a', 'b'\]; give"
    with (
        pytest.warns(RuntimeWarning, match=told),
        ordered_wait(
            [*"ab"], lambda values: fn(tuple(values)), timeout=SHORT, on_error="skip", batch=PAIRS
        ) as results,
    ):
        assert list(results) == []


@pytest.mark.anyio
async def test_leaving_waits_for_a_batch_whose_time_is_not_over(fn: Gated) -> None:
    with fn.opened_later(lambda: bool(fn.began)):
        async with ordered_wait([*"ab"], lambda values: fn(tuple(values)), batch=PAIRS):
            while not fn.began:
                await anyio.sleep(0.001)

    assert fn.ended == [("a", "b")]


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
