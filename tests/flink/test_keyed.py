"""Flink's key-ordered operator behind the contract: its order, its state, and where it departs."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest

from asyncwait.backends.flink import FlinkUnavailable, _jvm, open_keyed_operator
from asyncwait.backends.flink._state import restorable_by_key
from asyncwait.spec import (
    Barrier,
    Element,
    InvalidConfig,
    InvalidKey,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.usefixtures("flink")

LEAST = Watermark(-(2**63))


async def stream(*elements: Element) -> AsyncIterator[Element]:
    """The elements, one after the other."""
    for element in elements:
        yield element


async def outputs_of(
    fn: Any, elements: AsyncIterator[Element], restore: Snapshot | None = None, **config: Any
) -> list[Element]:
    """What comes out of a stream, in order."""
    options: dict[str, Any] = {"mode": "key-ordered", "capacity": 6, "timeout": None, **config}
    async with open_keyed_operator(OperatorConfig(**options), fn, elements, restore) as results:
        return [element async for element in results]


def outputs(fn: Any, *elements: Element, **options: Any) -> list[Element]:
    """What comes out for some elements, in order."""
    return asyncio.run(outputs_of(fn, stream(*elements), **options))


async def at_once(value: Any) -> list[Any]:
    """Answer at once."""
    return [value]


class Gated:
    """Answers when it is let; of each value it can be told when it is called.

    Args:
        shut: values whose calls wait to be let.
    """

    def __init__(self, *shut: Any) -> None:
        self.called: dict[Any, asyncio.Event] = defaultdict(asyncio.Event)
        self.gates = {value: asyncio.Event() for value in shut}

    async def __call__(self, value: Any) -> list[Any]:
        """Wait, and answer."""
        self.called[value].set()
        if value in self.gates:
            await self.gates[value].wait()
        return [value]

    def let(self, *values: Any) -> None:
        """Let calls answer."""
        for value in values:
            self.gates[value].set()


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
    """From a watermark on that opens no epoch of its own, or a status."""
    assert restorable_by_key(stored) == (stored[:place], stored[place:])


def test_what_flink_can_not_store_is_read_as_input() -> None:
    """A watermark behind the last record, and what is stored behind it."""
    stored = (A, Watermark(3), Watermark(5), D)
    assert outputs(at_once, restore=Snapshot(1, stored)) == list(stored)


class Odd:
    """A key that can't be looked up."""

    def __hash__(self) -> int:
        raise ValueError("odd")


@pytest.mark.parametrize("stored", [(), (Record(1, key=Odd()),)])
def test_a_key_that_can_not_be_looked_up(stored: Any) -> None:
    """It fails the operator, as input or restored, and the record is named."""
    with pytest.raises(InvalidKey) as raised:
        outputs(at_once, Record(1, key=Odd()), restore=Snapshot(1, stored))
    assert raised.value.record.value == 1
    assert repr(raised.value.__cause__) == "ValueError('odd')"


@pytest.mark.parametrize(
    "config",
    [{"mode": "ordered"}, {"retry": Retry()}, {"max_held": 5}],
    ids=["mode", "retry", "held"],
)
def test_what_flink_has_no_word_for_is_refused(config: Any) -> None:
    """By name, before anything is read."""
    (name,) = config
    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        outputs(at_once, **config)


def test_a_flink_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said where the operator should be."""

    def nothing(name: str) -> Any:
        raise TypeError(name)

    monkeypatch.setattr(_jvm, "flink", nothing)
    with pytest.raises(FlinkUnavailable, match=r"flink-table-runtime-2\.3\.0\.jar"):
        _jvm.require_tables()


# Where it departs


def test_a_snapshot_has_a_key_in_another_order_and_a_second_one_has_it_twice() -> None:
    """What runs comes before what is finished; and to look at both changes them (KO-12)."""
    fn = Gated("d", "b")

    async def elements() -> AsyncIterator[Element]:
        for element in (D, Watermark(1), A, B, C):
            yield element
        await fn.called["b"].wait()
        yield Barrier(1)
        yield Barrier(2)
        fn.let("d", "b")

    found = asyncio.run(outputs_of(fn, elements()))
    assert found[:2] == [
        Snapshot(1, (D, Watermark(1), B, A, C)),
        Snapshot(2, (D, Watermark(1), B, B, A, C, C)),
    ]
    assert found[2:] == [D, Watermark(1), A, B, C]


def test_what_is_out_is_stored_until_its_key_is_there_again() -> None:
    """The state of a key that is idle is never cleared, nor that of one restored (KO-12)."""
    fn = Gated("b")

    async def elements() -> AsyncIterator[Element]:
        yield B
        await fn.called["b"].wait()
        yield Barrier(2)
        fn.let("b")
        yield E
        await fn.called["e"].wait()
        yield Barrier(3)

    found = asyncio.run(outputs_of(fn, elements(), restore=Snapshot(1, (A, D)), capacity=1))
    assert found == [D, A, Snapshot(2, (D, B)), B, E, Snapshot(3, (D, B))]


def test_watermarks_that_are_restored_may_run_backwards() -> None:
    """Its keys have no order; even the least of all watermarks comes out (KO-11, KO-12)."""
    found = outputs(at_once, restore=Snapshot(1, (A, Watermark(3), D)))
    assert found == [Watermark(3), D, LEAST, A]


def test_a_watermark_that_is_out_is_stored_again_and_one_that_waits_is_not() -> None:
    """What is stored is the one before each record, and no other (KO-11)."""
    fn = Gated("a")

    async def elements() -> AsyncIterator[Element]:
        for element in (Watermark(1), A, Watermark(2), Barrier(3)):
            yield element
        fn.let("a")

    found = asyncio.run(outputs_of(fn, elements()))
    assert found == [Watermark(1), Snapshot(3, (Watermark(1), A)), A, Watermark(2)]
