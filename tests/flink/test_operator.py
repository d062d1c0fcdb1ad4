"""Flink's own operator behind the contract: what it lets out, takes in, stores and fails with."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from asyncwait.backends.flink import FlinkFailed, open_operator
from asyncwait.spec import (
    Barrier,
    CallFailed,
    CallTimedOut,
    Element,
    InvalidConfig,
    InvalidResult,
    LatencyMarker,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Watermark,
    WatermarkStatus,
)

pytestmark = pytest.mark.usefixtures("flink")


async def stream(*elements: Element) -> AsyncIterator[Element]:
    """The elements, one after the other."""
    for element in elements:
        yield element


def outputs(
    fn: Any, *elements: Element, restore: Snapshot | None = None, **config: Any
) -> list[Element]:
    """What comes out, in order."""
    options: dict[str, Any] = {"mode": "ordered", "capacity": 3, "timeout": None, **config}

    async def main() -> list[Element]:
        opened = open_operator(OperatorConfig(**options), fn, stream(*elements), restore)
        async with opened as results:
            return [element async for element in results]

    return asyncio.run(main())


async def late(value: Any) -> list[Any]:
    """Answer the later, the smaller the number is."""
    await asyncio.sleep(0.02 - 0.005 * value)
    return [10 * value, 10 * value + 1]


RECORDS = tuple(Record(n, n, key=[n]) for n in range(3))


def test_results_come_in_order_with_timestamp_and_key() -> None:
    """Values and keys may be anything: Java sees tokens."""
    assert outputs(late, *RECORDS) == [
        Record(10 * n + more, n, [n]) for n in range(3) for more in (0, 1)
    ]


def test_unordered_results_come_as_they_are_ready() -> None:
    """And none of them crosses a watermark."""
    found = outputs(late, *RECORDS[:2], Watermark(7), RECORDS[2], mode="unordered")
    expected = [Record(10, 1, [1]), Record(11, 1, [1]), Record(0, 0, [0]), Record(1, 0, [0])]
    assert found == [*expected, Watermark(7), Record(20, 2, [2]), Record(21, 2, [2])]


def test_statuses_and_markers_overtake() -> None:
    """A status, too: that is Flink's LM-2."""
    found = outputs(late, RECORDS[0], WatermarkStatus(idle=True), LatencyMarker(5))
    assert found[:2] == [WatermarkStatus(idle=True), LatencyMarker(5)]


def test_a_snapshot_holds_what_is_in_flight_and_restores() -> None:
    """It is written and read by Flink's own state backend."""
    stored = (RECORDS[0], Watermark(1), RECORDS[1])
    found = outputs(late, *stored, Barrier(4))
    assert found[0] == Snapshot(4, stored)
    again = outputs(late, restore=Snapshot(4, stored), capacity=1)
    assert again == found[1:]


def test_what_flink_can_not_restore_is_read_as_input() -> None:
    """A status, and what is stored behind it."""
    stored = (RECORDS[0], WatermarkStatus(idle=True), RECORDS[1])
    found = outputs(late, restore=Snapshot(1, stored))
    assert sorted(e.value for e in found if isinstance(e, Record)) == [0, 1, 10, 11]
    assert found.count(WatermarkStatus(idle=True)) == 1


def test_more_than_there_is_room_for_waits() -> None:
    """Flink blocks its thread, and the loop goes on."""
    running = most = 0

    async def fn(value: int) -> list[int]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return [value]

    records = [Record(n) for n in range(50)]
    assert outputs(fn, *records, capacity=4) == records
    assert most == 4


def test_functions_in_callback_form_are_flinks_own_kind() -> None:
    """Their handle is Flink's; a supplier is asked in its thread, and runs on the loop."""

    class Function:
        def async_invoke(self, value: int, result: Any) -> None:
            loop = asyncio.get_running_loop()
            if value == 1:
                result.complete_with(lambda: [asyncio.get_running_loop() is loop])
            else:
                loop.call_later(0.001, result.complete, [value])

    found = [e.value for e in outputs(Function(), *RECORDS) if isinstance(e, Record)]
    assert found == [0, True, 2]


class Failing:
    """Fails in a way of which there are several.

    Args:
        how: it fails.
    """

    def __init__(self, how: str) -> None:
        self.how = how

    async def __call__(self, value: int) -> Any:
        """Fail."""
        if self.how == "raises":
            raise LookupError(value)
        if self.how == "hangs":
            await asyncio.sleep(3600)
        return "text" if self.how == "text" else None


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ("raises", CallFailed, "Record 5 @ 3: Flink: LookupError(5)"),
        ("hangs", CallTimedOut, "Record 5 @ 3: Flink: Could not complete the stream element"),
        ("text", InvalidResult, "Record 5 @ 3: expected an iterable of results, got 'text' (str)"),
        ("none", FlinkFailed, "java.lang.NullPointerException"),  # CO-7
    ],
)
def test_failures_name_their_records_where_flink_does(how: str, error: Any, text: str) -> None:
    """What a call has raised is the cause."""
    with pytest.raises(error) as raised:
        outputs(Failing(how), Record(5, 3), timeout=0.01)
    assert str(raised.value).startswith(text)
    if how == "raises":
        assert repr(raised.value.__cause__) == "LookupError(5)"


def test_calls_are_repeated_by_flinks_own_strategies() -> None:
    """Their limit counts repetitions; ours counts calls."""
    calls: list[int] = []

    async def fn(value: int) -> list[int]:
        calls.append(value)
        if len(calls) < 3:
            raise LookupError
        return [value]

    async def slowly() -> AsyncIterator[Element]:
        yield Record(1)
        await asyncio.sleep(0.05)  # at the end of the input Flink repeats no more

    async def main() -> list[Element]:
        config = OperatorConfig("ordered", 2, 1.0, Retry(max_attempts=3, initial=0.001))
        async with open_operator(config, fn, slowly()) as results:
            return [element async for element in results]

    assert asyncio.run(main()) == [Record(1)]
    assert calls == [1, 1, 1]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"mode": "key-ordered"}, 'mode must be "ordered" or "unordered"; Flink has another'),
        ({"max_held": 5}, "max_held must be None: Flink's operator does not support it, got 5"),
        ({"retry": Retry(jitter=0.5)}, "retry.jitter must be 0: Flink's strategies have none"),
        (
            {"retry": Retry(attempt_timeout=1)},
            "retry.attempt_timeout must be None: Flink has one deadline for all attempts",
        ),
    ],
)
def test_what_flink_has_no_word_for_is_refused(config: Any, text: str) -> None:
    """Before anything is read."""
    with pytest.raises(InvalidConfig) as raised:
        outputs(late, **config)
    assert text in str(raised.value)
