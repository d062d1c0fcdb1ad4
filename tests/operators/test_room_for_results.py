"""Room for finished results on every shipped operator: how many calls run beside a slow one."""

from collections.abc import AsyncIterator

import anyio
import pytest

from asyncwait.spec import OpenOperator, OperatorConfig, Record, Watermark

pytestmark = pytest.mark.anyio


async def feed(*elements: Record | Watermark) -> AsyncIterator[Record | Watermark]:
    """Give these, and then nothing for a long time."""
    for element in elements:
        yield element
    await anyio.sleep(1_000)


class OneIsSlow:
    """Answers after a second; 0 after a hundred."""

    def __init__(self) -> None:
        self.began: list[int] = []

    async def __call__(self, value: int) -> list[int]:
        """Note when it is called."""
        self.began.append(value)
        await anyio.sleep(1 if value else 100)
        return [value]


@pytest.mark.parametrize(("max_held", "calls"), [(None, 3), (1, 4), (2, 5), (20, 10)])
async def test_calls_go_on_beside_a_slow_one(
    open_operator: OpenOperator, max_held: int | None, calls: int
) -> None:
    """With room for three, and for so many results."""
    fn = OneIsSlow()
    config = OperatorConfig("ordered", 3, max_held=max_held)

    async with open_operator(config, fn, feed(*map(Record, range(10)))) as results:
        with anyio.move_on_after(50):
            await anext(results)
        figures = results.statistics()

    assert fn.began == list(range(calls))
    assert (figures.in_flight, figures.held) == (calls, calls - 1)


async def test_what_a_watermark_holds_up_makes_room_too(open_operator: OpenOperator) -> None:
    """In unordered mode; the watermark itself is the first that is held."""
    fn = OneIsSlow()
    config = OperatorConfig("unordered", 2, max_held=2)
    records = map(Record, range(1, 9))

    async with open_operator(config, fn, feed(Record(0), Watermark(1), *records)) as results:
        with anyio.move_on_after(50):
            await anext(results)

    assert fn.began == [0, 1, 2]


async def test_what_is_held_comes_out_in_its_turn(open_operator: OpenOperator) -> None:
    """All of it, as soon as the slow one is there."""
    config = OperatorConfig("ordered", 2, max_held=5)

    async with open_operator(config, OneIsSlow(), feed(*map(Record, range(5)))) as results:
        values = [(await anext(results)) for _ in range(5)]

    assert values == [Record(value) for value in range(5)]
    assert anyio.current_time() >= 100
