"""From some operators to others: what was in flight goes on elsewhere, and nothing comes twice."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, get_args

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import OPERATORS, virtual_loop

from asyncwait.spec import (
    Barrier,
    Element,
    Mode,
    OpenOperator,
    OperatorConfig,
    Record,
    Snapshot,
    Watermark,
)
from asyncwait.spec.snapshots import merge_snapshots, split_snapshot

KEYS = ("x", "y", "z")
ELEMENTS = st.lists(
    st.tuples(st.sampled_from(KEYS), st.integers(0, 3)) | st.just(None), min_size=1, max_size=12
)
"""The key of each record and how many seconds its call takes, or a watermark."""


def stream(drawn: list[tuple[str, int] | None]) -> list[Element]:
    """Return the elements; no two records have the same value."""
    return [
        Watermark(number) if each is None else Record((number, each[1]), number, each[0])
        for number, each in enumerate(drawn)
    ]


def part_of(record: Record, parts: int) -> int:
    return KEYS.index(record.key) % parts


def dealt(elements: list[Element], part: int, parts: int) -> list[Element]:
    return [e for e in elements if not isinstance(e, Record) or part_of(e, parts) == part]


async def feed(elements: list[Element], *, ends: bool) -> AsyncIterator[Element]:
    """Give these; then end, or give nothing more."""
    for element in elements:
        yield element
    if not ends:
        await anyio.sleep_forever()


async def call(value: tuple[int, int]) -> list[Any]:
    await anyio.sleep(value[1])
    return [(value[0], "a"), (value[0], "b")]


async def until_snapshot(
    open_operator: OpenOperator, config: OperatorConfig, elements: list[Element]
) -> tuple[list[Element], Snapshot]:
    came: list[Element] = []
    source = feed([*elements, Barrier(1)], ends=False)
    async with open_operator(config, call, source) as results:
        while not isinstance(element := await anext(results), Snapshot):
            came.append(element)
    return came, element


async def to_the_end(
    open_operator: OpenOperator, config: OperatorConfig, elements: list[Element], restore: Snapshot
) -> list[Element]:
    async with open_operator(config, call, feed(elements, ends=True), restore) as results:
        return [element async for element in results]


async def rescaled(
    open_operator: OpenOperator, elements: list[Element], at: int, modes: Any, parts: Any
) -> list[list[Element]]:
    before, after = (OperatorConfig(mode, 3) for mode in modes)
    first = [
        await until_snapshot(open_operator, before, dealt(elements[:at], part, parts[0]))
        for part in range(parts[0])
    ]
    whole = merge_snapshots([snapshot for _, snapshot in first])
    shares = split_snapshot(whole, parts[1], to=lambda record: part_of(record, parts[1]))
    later = [
        await to_the_end(open_operator, after, dealt(elements[at:], part, parts[1]), share)
        for part, share in enumerate(shares)
    ]
    return [*(came for came, _ in first), *later]


def values_of(outputs: list[list[Element]]) -> list[Any]:
    return [each.value for came in outputs for each in came if isinstance(each, Record)]


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=25, deadline=None)
@given(
    drawn=ELEMENTS,
    at=st.integers(0, 12),
    modes=st.tuples(st.sampled_from(get_args(Mode)), st.sampled_from(get_args(Mode))),
    parts=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_all_operators_together_put_out_everything_once_and_in_time(
    name: str, loop: str, *, drawn: list[Any], at: int, modes: tuple[Mode, Mode], parts: Any
) -> None:
    elements = stream(drawn)
    backend, options = virtual_loop(loop)

    outputs = anyio.run(
        rescaled,
        OPERATORS[name],
        elements,
        at,
        modes,
        parts,
        backend=backend,
        backend_options=options,
    )

    records = [element for element in elements if isinstance(element, Record)]
    due = [(record.value[0], part) for record in records for part in "ab"]
    assert Counter(values_of(outputs)) == Counter(due)
    if "unordered" not in modes:
        for key in KEYS:
            came = [[e for e in part if isinstance(e, Record) and e.key == key] for part in outputs]
            wanted = [(r.value[0], part) for r in records if r.key == key for part in "ab"]
            assert values_of(came) == wanted
    assert not any(map(has_late, outputs))


def has_late(came: list[Element]) -> bool:
    highest = -1
    for element in came:
        if isinstance(element, Watermark):
            highest = element.timestamp
        elif isinstance(element, Record) and (element.timestamp or 0) < highest:
            return True
    return False
