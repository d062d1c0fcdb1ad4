"""Emitted values and results are freed, also while the operator waits."""

import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from blocking import WAITS, await_event
from remains import wait_until

pytestmark = pytest.mark.usefixtures("no_collector")


class Value:
    def __init__(self, number: int) -> None:
        self.number = number


class Watched:
    def __init__(self) -> None:
        self.may_end = threading.Event()
        self._alive: list[weakref.ref[Value]] = []

    def make(self, number: int) -> Value:
        value = Value(number)
        self._alive.append(weakref.ref(value))
        return value

    def values(self, count: int) -> Iterator[Value]:
        yield from map(self.make, range(count))
        await_event(self.may_end)

    def __call__(self, value: Value) -> Value:
        return self.make(value.number)

    def alive(self) -> list[int]:
        values = [reference() for reference in self._alive]
        return [value.number for value in values if value is not None]


def drop(results: Any, count: int) -> None:
    for _ in range(count):
        next(results)


@pytest.mark.parametrize("limit", [None, 99], ids=["no timeout", "timeout"])
def test_what_was_emitted_dies_while_the_source_is_silent(mode: str, limit: float | None) -> None:
    watched = Watched()
    with WAITS[mode](
        map(watched.make, range(1, 200)), watched.__call__, timeout=limit, capacity=9
    ) as results:
        drop(results, 199)
        wait_until(lambda: watched.alive() == [])

    with WAITS[mode](watched.values(1), lambda value: None, timeout=limit) as results:
        drop(results, 1)
        wait_until(lambda: watched.alive() == [])
        watched.may_end.set()


def test_a_stream_that_was_left_keeps_nothing() -> None:
    watched = Watched()
    stream = WAITS["ordered"](map(watched.make, range(1, 99)), watched.__call__, capacity=9)
    with stream as results:
        drop(results, 5)

    wait_until(lambda: watched.alive() == [])
    with pytest.raises(RuntimeError, match="left before the end"):
        next(results)
