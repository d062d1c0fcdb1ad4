"""A plain function that is called with several values in one thread."""

import threading
from typing import Any

import pytest
from blocking import await_event, ours
from remains import wait_until

from asyncwait.backends.services import Budget, Cost, InFlight
from asyncwait.backends.threads import ordered_wait
from asyncwait.spec import Batch, CallTimedOut
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
