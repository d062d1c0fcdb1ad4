"""Flink's two asynchronous operators, and the functions that differ between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from asyncwait.backends.flink._jvm import flink
from asyncwait.backends.flink._state import (
    read_keyed_state,
    read_state,
    restorable,
    restorable_by_key,
    written_keyed_state,
    written_state,
)
from asyncwait.backends.flink._values import key_selector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from asyncwait.backends.flink._state import Naming, Reading, Restorable
    from asyncwait.spec.snapshots import Stored


class Settings(Struct, frozen=True):
    """Settings with which an operator is made.

    Args:
        mode: "ordered", "unordered" or "key-ordered".
        timeout: in milliseconds; 0 for none.
        state: the snapshot to restore from, in Flink's form; None for none.
    """

    function: Any
    mode: str
    capacity: int
    timeout: int
    strategy: Any
    state: Any


class Kind(Struct, frozen=True):
    """Functions of one of the two operators."""

    factory: Callable[[Settings], Any]
    has_keys: bool
    read: Callable[[Any, Reading], tuple[Stored, ...]]
    written: Callable[[Iterable[Restorable], Naming], Any]
    restorable: Callable[[tuple[Stored, ...]], tuple[tuple[Restorable, ...], tuple[Stored, ...]]]


def _factory(settings: Settings) -> Any:
    from jpype import JLong

    output_mode = flink("streaming.api.datastream.AsyncDataStream$OutputMode")
    return flink("streaming.api.operators.async.AsyncWaitOperatorFactory")(
        settings.function,
        JLong(settings.timeout),
        settings.capacity,
        output_mode.valueOf(settings.mode.upper()),
        settings.strategy,
    )


def _keyed_factory(settings: Settings) -> Any:
    from jpype import JLong

    return flink("table.runtime.operators.TableKeyedAsyncWaitOperatorFactory")(
        settings.function, key_selector(), JLong(settings.timeout), settings.capacity
    )


_KIND = Kind(_factory, False, read_state, written_state, restorable)
_KEYED = Kind(_keyed_factory, True, read_keyed_state, written_keyed_state, restorable_by_key)


def kind_of(mode: str) -> Kind:
    """Return the operator that has a mode."""
    return _KEYED if mode == "key-ordered" else _KIND
