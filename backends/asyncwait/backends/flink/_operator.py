"""The two operators of Flink, and the Java objects around them.

They are `AsyncWaitOperator`, and `TableKeyedAsyncWaitOperator` in key-ordered mode.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._retries import MAX_INT, deadline
from asyncwait.backends.flink._state import (
    Naming,
    Reading,
    Restorable,
    read_keyed_state,
    read_state,
    restorable,
    restorable_by_key,
    written_keyed_state,
    written_state,
)
from asyncwait.backends.flink._values import key_selector
from asyncwait.spec import OperatorConfig
from asyncwait.spec.snapshots import Stored


class Kind(Struct, frozen=True):
    """Functions of one of the two operators.

    Args:
        factory: makes Flink's factory for a function and a retry strategy.
    """

    factory: Callable[[OperatorConfig, Any, Any], Any]
    has_keys: bool
    read: Callable[[Any, Reading], tuple[Stored, ...]]
    written: Callable[[Iterable[Restorable], Naming], Any]
    restorable: Callable[[tuple[Stored, ...]], tuple[tuple[Restorable, ...], tuple[Stored, ...]]]


def _factory(config: OperatorConfig, function: Any, strategy: Any) -> Any:
    output_mode = flink("streaming.api.datastream.AsyncDataStream$OutputMode")
    return flink("streaming.api.operators.async.AsyncWaitOperatorFactory")(
        function, *_bounds(config), output_mode.valueOf(config.mode.upper()), strategy
    )


def _keyed_factory(config: OperatorConfig, function: Any, _: Any) -> Any:
    return flink("table.runtime.operators.TableKeyedAsyncWaitOperatorFactory")(
        function, key_selector(), *_bounds(config)
    )


def _bounds(config: OperatorConfig) -> tuple[Any, int]:
    from jpype import JLong

    return JLong(deadline(config)), min(config.capacity, MAX_INT)


_KIND = Kind(_factory, False, read_state, written_state, restorable)
_KEYED = Kind(_keyed_factory, True, read_keyed_state, written_keyed_state, restorable_by_key)


def kind_of(mode: str) -> Kind:
    """Return the operator that has a mode."""
    return _KEYED if mode == "key-ordered" else _KIND


class Clock:
    """Flink's own clock for tests, which is set before Flink reads it."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._shown = now()
        self._milliseconds = java("java.util.concurrent.TimeUnit").MILLISECONDS
        self.java = flink("util.clock.ManualClock")(self._shown * 1_000_000)

    def set(self) -> None:
        """Set it to the time of the task."""
        now = self._now()
        if now != self._shown:
            self.java.advanceTime(now - self._shown, self._milliseconds)
            self._shown = now


def set_running(container: Any) -> None:
    """Mark the task as running, because it reports errors of timers only while it runs."""
    field = flink("streaming.runtime.tasks.StreamTask").class_.getDeclaredField("isRunning")
    field.setAccessible(True)
    field.set(container, java("java.lang.Boolean").TRUE)


def supplier(thing: Any) -> Any:
    """Return a supplier of an object."""
    from jpype import JProxy

    return JProxy("java.util.function.Supplier", dict={"get": lambda: thing})


def java_timer(cancel: Callable[[], object]) -> Any:
    """Return a timer for Java, which can only be cancelled."""
    from jpype import JProxy

    def cancelled(_: Any) -> bool:
        cancel()
        return True

    methods = {"cancel": cancelled, "isDone": lambda: False, "isCancelled": lambda: False}
    return JProxy("java.util.concurrent.ScheduledFuture", dict=methods)


def java_marker() -> Any:
    """Return a latency marker: the operator only passes it on."""
    from jpype import JLong

    operator_id = flink("runtime.jobgraph.OperatorID")(0, 0)
    return flink("streaming.runtime.streamrecord.LatencyMarker")(JLong(0), operator_id, 0)
