"""Flink's key-ordered operator behind the contract: its order, its state, and where it departs."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

import pytest
from flink_runs import SCENARIOS, broken_by

from asyncwait.backends.flink import FlinkFailed, FlinkUnavailable, _jvm, open_keyed_operator
from asyncwait.backends.flink._state import restorable_by_key
from asyncwait.backends.flink.conformance import keyed_backend
from asyncwait.conformance.running import adapted
from asyncwait.spec import (
    Barrier,
    CallFailed,
    CallTimedOut,
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
from asyncwait.spec.scenario import id_of

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


# What it does as it is specified


def test_a_key_has_one_call_at_a_time_and_its_order() -> None:
    """A slow one of one key holds up no other key."""
    fn = Gated("a")
    called: list[str] = []

    async def elements() -> AsyncIterator[Element]:
        for record in (A, D, B, E, C):
            yield record
        await fn.called["e"].wait()
        called.extend(sorted(fn.called))
        fn.let("a")

    assert asyncio.run(outputs_of(fn, elements())) == [D, E, A, B, C]
    assert called == ["a", "d", "e"]


def test_keys_are_the_same_if_they_are_in_python() -> None:
    """Of different types, or without a hash; Java sees tokens."""
    fn = Gated(0, 10)
    ones = [Record(n, key=key) for n, key in enumerate([1, 1.0, True])]
    lists = [Record(10 + n, key=[n // 2]) for n in range(3)]
    called: list[int] = []

    async def elements() -> AsyncIterator[Element]:
        for record in (*ones, *lists):
            yield record
        await fn.called[12].wait()
        called.extend(sorted(fn.called))
        fn.let(0, 10)

    found = asyncio.run(outputs_of(fn, elements()))
    assert called == [0, 10, 12]
    assert sorted(found, key=lambda r: r.value) == [*ones, *lists]  # type: ignore[union-attr]


def test_a_watermark_holds_results_and_no_calls() -> None:
    """Behind it, a key is free as soon as its record is decided."""
    fn = Gated("d")

    async def elements() -> AsyncIterator[Element]:
        for element in (D, Watermark(1), A, B):
            yield element
        await fn.called["b"].wait()
        fn.let("d")

    assert asyncio.run(outputs_of(fn, elements())) == [D, Watermark(1), A, B]


def test_a_snapshot_holds_what_waits_for_its_key() -> None:
    """It is written and read by Flink's own keyed state backend."""
    stored = (A, B, Watermark(3), C)
    fn = Gated("a")

    async def elements() -> AsyncIterator[Element]:
        for element in (*stored, Barrier(4)):
            yield element
        fn.let("a")

    found = asyncio.run(outputs_of(fn, elements()))
    assert found == [Snapshot(4, stored), *stored]
    again = outputs(at_once, restore=Snapshot(4, stored), capacity=1)
    assert again == list(stored)


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


async def fails(value: Any) -> Any:
    """Fail."""
    raise LookupError(value)


async def hangs(_: Any) -> Any:
    """Take an hour."""
    await asyncio.sleep(3600)


@pytest.mark.parametrize(
    ("fn", "error", "text"),
    [
        (fails, CallFailed, "Record 'b' @ 1 (key 'x'): Flink: LookupError('b')"),
        (hangs, CallTimedOut, "Record 'b' @ 1 (key 'x'): Flink: Could not complete the stream"),
    ],
)
def test_failures_name_their_records(fn: Any, error: Any, text: str) -> None:
    """Flink names them within a wrapper of its own."""
    with pytest.raises(error) as raised:
        outputs(fn, B, timeout=0.01)
    assert str(raised.value).startswith(text)


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
    ("config", "text"),
    [
        ({"mode": "ordered"}, 'mode must be "key-ordered"; open_operator has the other modes'),
        ({"retry": Retry()}, "retry must be None: Flink's key-ordered operator does not support"),
        ({"max_held": 5}, "max_held must be None: Flink's key-ordered operator does not support"),
    ],
)
def test_what_flink_has_no_word_for_is_refused(config: Any, text: str) -> None:
    """Before anything is read."""
    with pytest.raises(InvalidConfig) as raised:
        outputs(at_once, **config)
    assert text in str(raised.value)


def test_a_flink_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said where the operator should be."""

    def nothing(name: str) -> Any:
        raise TypeError(name)

    monkeypatch.setattr(_jvm, "flink", nothing)
    with pytest.raises(FlinkUnavailable) as raised:
        _jvm.require_tables()
    assert str(raised.value).startswith(
        "the key-ordered operator is in flink-table-runtime-2.3.0.jar, which lies not beside "
    )


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


def test_suppliers_are_refused() -> None:
    """At whoever hands them over, and the record is undecided (KO-9)."""
    errors: list[str] = []

    class Function:
        def async_invoke(self, value: Any, result: Any) -> None:
            try:
                result.complete_with(lambda: [value])
            except Exception as error:
                errors.append(type(error).__name__)
                result.complete(["instead"])

    assert outputs(Function(), Record(1)) == [Record("instead")]
    assert errors == ["java.lang.UnsupportedOperationException"]


@pytest.mark.parametrize("values", [["a"], ["b", "a"]])
def test_a_function_that_raises_fails_the_task_in_a_wrapper(values: list[str]) -> None:
    """The first of its key or a later one, it is not named (KO-10)."""

    class Function:
        def async_invoke(self, value: Any, result: Any) -> None:
            if value == "a":
                raise LookupError(value)
            result.complete([value])

    with pytest.raises(FlinkFailed) as raised:
        outputs(Function(), *map(Record, values))
    assert "Failed to async invoke the record" in str(raised.value)
    assert repr(raised.value.__cause__) == "LookupError('a')"


# What the suite finds


@pytest.mark.parametrize(
    ("example", "rule"),
    [
        ("three-keys-and-room-for-4", "CAP-5"),  # KO-7
        ("supplier-that-raises", "RES-4"),  # KO-9
        ("callback-raises-at-once", "FAIL-1"),  # KO-10
        ("restored-with-four-keys", "SNAP-4"),  # KO-11
        ("crash-after-crash", "SNAP-2"),  # KO-11
        ("snapshot-before-a-watermark-behind-it", "SNAP-3"),  # KO-11
        ("stored-watermarks-come-out-again", "REST-6"),  # KO-11
        ("not-twice-after-it-was-idle", "REST-6"),  # KO-12
        ("restored-into-order-by-key", "WM-3"),  # KO-12
        ("restored-into-order-by-key", "REST-3"),  # KO-12
        ("statuses-behind-a-slow-record", "WM-5"),  # LM-2
        ("a-call-gives-none", "RES-3"),  # CO-7
        ("deadline-in-millions-of-years", "TIME-1"),  # TO-3
        ("handler-gives-none", "FAIL-2"),  # TO-9
        ("handler-raises", "TIME-4"),  # TO-10
    ],
)
def test_a_departure_is_convicted(example: str, rule: str) -> None:
    """By the rule that says what holds here instead."""
    assert rule in broken_by(keyed_backend(), example)


@pytest.mark.parametrize(
    "example",
    [
        "one-call-after-another",
        "called-behind-a-watermark",
        "finished-and-held-by-a-watermark",
        "late-one-after-the-other",
        "keys-that-look-alike",
        "waiting-takes-room",
        "a-snapshot-of-a-line",
        "as-many-keys-as-records",
        "one-key-and-a-watermark",
        "a-long-stream-is-let-go",
    ],
)
def test_what_flink_does_as_it_is_specified_is_not_convicted(example: str) -> None:
    """No rule is broken."""
    assert broken_by(keyed_backend(), example) == set()


def test_a_run_is_the_same_each_time() -> None:
    """The order in which Flink has its keys, too."""
    flink = keyed_backend()
    scenario = adapted(SCENARIOS["restored-with-four-keys"], flink.capabilities)
    traces = [trace for _ in range(5) for trace in flink.run([scenario])]
    assert all(trace == traces[0] for trace in traces), id_of(scenario)
