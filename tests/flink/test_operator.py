"""Flink's own operator behind the contract: what it lets out, takes in, stores and fails with."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from asyncwait.backends.flink import FlinkFailed, open_operator
from asyncwait.spec import (
    CallFailed,
    CallTimedOut,
    Element,
    InvalidConfig,
    InvalidResult,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
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


def test_what_flink_can_not_restore_is_read_as_input() -> None:
    """A status, and what is stored behind it."""
    stored = (RECORDS[0], WatermarkStatus(idle=True), RECORDS[1])
    found = outputs(late, restore=Snapshot(1, stored))
    assert sorted(e.value for e in found if isinstance(e, Record)) == [0, 1, 10, 11]
    assert found.count(WatermarkStatus(idle=True)) == 1


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
    ("how", "error", "told"),
    [
        ("raises", CallFailed, r"^Record 5 @ 3: Flink: LookupError\(5\)"),
        ("hangs", CallTimedOut, "^Record 5 @ 3: Flink: "),
        ("text", InvalidResult, "^Record 5 @ 3: .*'text'"),
        ("none", FlinkFailed, "NullPointerException"),  # CO-7
    ],
)
def test_failures_name_their_records_where_flink_does(how: str, error: Any, told: str) -> None:
    """What a call has raised is the cause."""
    with pytest.raises(error, match=told) as raised:
        outputs(Failing(how), Record(5, 3), timeout=0.01)
    assert (repr(raised.value.__cause__) == "LookupError(5)") == (how == "raises")


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"mode": "key-ordered"}, "mode"),
        ({"max_held": 5}, "max_held"),
        ({"retry": Retry(jitter=0.5)}, r"retry\.jitter"),
        ({"retry": Retry(attempt_timeout=1)}, r"retry\.attempt_timeout"),
    ],
)
def test_what_flink_has_no_word_for_is_refused(config: Any, name: str) -> None:
    """Before anything is read."""
    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        outputs(late, **config)
