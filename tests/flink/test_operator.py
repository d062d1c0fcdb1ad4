"""Flink's own operators behind the contract: what they let out, take in, store and fail with.

A page draws their departures (`test_departures`).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from asyncwait.backends.flink import (
    FlinkFailed,
    FlinkUnavailable,
    _jvm,
    open_keyed_operator,
    open_operator,
)
from asyncwait.backends.flink._state import restorable_by_key
from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    Element,
    InvalidConfig,
    InvalidKey,
    InvalidResult,
    OpenOperator,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.usefixtures("flink")


async def stream(*elements: Element) -> AsyncIterator[Element]:
    for element in elements:
        yield element


def outputs(
    fn: Any,
    *elements: Element,
    restore: Snapshot | None = None,
    opens: OpenOperator = open_operator,
    **config: Any,
) -> list[Element]:
    options: dict[str, Any] = {"mode": "ordered", "capacity": 3, "timeout": None, **config}

    async def main() -> list[Element]:
        opened = opens(OperatorConfig(**options), fn, stream(*elements), restore)
        async with opened as results:
            return [element async for element in results]

    return asyncio.run(main())


def keyed_outputs(fn: Any, *elements: Element, **options: Any) -> list[Element]:
    keyed = {"opens": open_keyed_operator, "mode": "key-ordered", "capacity": 6}
    return outputs(fn, *elements, **(keyed | options))


async def at_once(value: Any) -> list[Any]:
    return [value]


async def late(value: Any) -> list[Any]:
    await asyncio.sleep(0.02 - 0.005 * value)
    return [10 * value, 10 * value + 1]


RECORDS = tuple(Record(n, n, key=[n]) for n in range(3))


def test_what_flink_can_not_restore_is_read_as_input() -> None:
    stored = (RECORDS[0], WatermarkStatus(idle=True), RECORDS[1])
    found = outputs(late, restore=Snapshot(1, stored))
    assert sorted(e.value for e in found if isinstance(e, Record)) == [0, 1, 10, 11]
    assert found.count(WatermarkStatus(idle=True)) == 1


class Failing:
    """Fails in a way of which there are several.

    Args:
        how: it fails.
    """

    def __init__(self, how: str) -> None:
        self.how = how

    async def __call__(self, value: int) -> Any:
        if self.how == "raises":
            raise LookupError(value)
        if self.how == "hangs":
            await asyncio.sleep(3600)
        return "text" if self.how == "text" else None


@pytest.mark.parametrize(
    ("how", "error", "told"),
    [
        ("raises", CallFailed, r"^Record 5 @ 3: Flink: LookupError\(5\)"),
        ("hangs", CallTimedOut, "^Record 5 @ 3: Flink: "),
        ("text", InvalidResult, "^Record 5 @ 3: .*'text'"),
        ("none", FlinkFailed, "NullPointerException"),  # CO-7
    ],
)
def test_failures_name_their_records_where_flink_does(how: str, error: Any, told: str) -> None:
    with pytest.raises(error, match=told) as raised:
        outputs(Failing(how), Record(5, 3), timeout=0.01)
    assert (repr(raised.value.__cause__) == "LookupError(5)") == (how == "raises")


@pytest.mark.parametrize(
    ("called", "config", "name"),
    [
        (outputs, {"mode": "key-ordered"}, "mode"),
        (outputs, {"max_held": 5}, "max_held"),
        (outputs, {"retry": Retry(jitter=0.5)}, r"retry\.jitter"),
        (outputs, {"retry": Retry(attempt_timeout=1)}, r"retry\.attempt_timeout"),
        (keyed_outputs, {"mode": "ordered"}, "mode"),
        (keyed_outputs, {"max_held": 5}, "max_held"),
        (keyed_outputs, {"retry": Retry()}, "retry"),
    ],
)
def test_what_flink_has_no_word_for_is_refused(called: Any, config: Any, name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        called(late, **config)


# The key-ordered one

LEAST = Watermark(-(2**63))
A, B, C = (Record(value, when, "x") for when, value in enumerate("abc"))
D, E = (Record(value, key="y") for value in "de")


@pytest.mark.parametrize(
    ("stored", "place"),
    [
        ((), 0),
        ((A, D, Watermark(3), B, Watermark(5), E), 6),
        ((Watermark(3), A), 2),
        ((A, Watermark(3)), 1),
        ((A, Watermark(3), Watermark(5), B), 1),
        ((A, Watermark(3), B, Watermark(3), C), 3),
        ((A, Watermark(3), B, Watermark(2), C), 3),
        ((LEAST, A), 0),
        ((A, WatermarkStatus(idle=True), B), 1),
        ((A, Watermark(3), WatermarkStatus(idle=True), B), 1),
    ],
)
def test_what_flink_can_not_store_by_keys(stored: Any, place: int) -> None:
    assert restorable_by_key(stored) == (stored[:place], stored[place:])


def test_what_flink_can_not_store_is_read_as_input() -> None:
    stored = (A, Watermark(3), Watermark(5), D)
    assert keyed_outputs(at_once, restore=Snapshot(1, stored)) == list(stored)


class Odd:
    def __hash__(self) -> int:
        raise ValueError("odd")


@pytest.mark.parametrize("stored", [(), (Record(1, key=Odd()),)])
def test_a_key_that_can_not_be_looked_up(stored: Any) -> None:
    with pytest.raises(InvalidKey) as raised:
        keyed_outputs(at_once, Record(1, key=Odd()), restore=Snapshot(1, stored))
    assert raised.value.record.value == 1
    assert repr(raised.value.__cause__) == "ValueError('odd')"


def test_a_flink_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        raise TypeError(name)

    monkeypatch.setattr(_jvm, "flink", nothing)
    with pytest.raises(FlinkUnavailable, match=r"flink-table-runtime-2\.3\.0\.jar"):
        _jvm.require_tables()
