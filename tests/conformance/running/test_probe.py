"""What is no operator is told from one that is wrong, before anything is judged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from odd import ODD
from operators import Changed, changed

from asyncwait.backends.faulty import FAULTY, Variation
from asyncwait.conformance import stream_backend
from asyncwait.conformance.running._child import probe
from asyncwait.reference import open_operator
from asyncwait.spec import InvalidConfig


async def coroutine(*arguments: Any) -> Any:
    return open_operator(*arguments)


async def iterator(*arguments: Any) -> AsyncIterator[Any]:
    async with open_operator(*arguments) as results:
        async for element in results:
            yield element


@asynccontextmanager
async def without_statistics(*arguments: Any) -> AsyncIterator[Any]:
    yield iterator(*arguments)


def three(config: Any, fn: Any, elements: Any) -> Any:
    return open_operator(config, fn, elements)


class Lists(Changed):
    async def __anext__(self) -> Any:
        return [await super().__anext__()]


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (coroutine, "expected an async context manager"),
        (iterator, "expected an async context manager"),
        (without_statistics, "statistics()"),
        (three, "open_operator(config, fn, elements, restore)"),
        (changed(Lists), "expected one element"),
    ],
)
def test_what_is_no_operator_is_refused(adapter: Any, said: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        probe(stream_backend(adapter))

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_declared_is_not_asked_for() -> None:
    with pytest.raises(InvalidConfig, match="statistics"):
        probe(stream_backend(without_statistics))
    probe(stream_backend(without_statistics, profiles=["ordered"]))


@pytest.mark.parametrize("variation", [*FAULTY, *ODD], ids=lambda each: each.name)
def test_an_operator_that_is_wrong_is_one(variation: Variation) -> None:
    probe(variation.backend())
