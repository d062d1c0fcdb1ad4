"""What is refused at the door, with one error that says what is wrong; nothing was started then."""

import asyncio
import inspect
from typing import Any

import pytest
from blocking import ours

from asyncwait.backends.threads import open_operator, ordered_wait
from asyncwait.spec import Cache, InvalidConfig, OperatorConfig


async def on_a_loop(value: Any) -> Any:
    return value


async def values() -> Any:
    yield 1


def refusal_of(*args: Any, **options: Any) -> str:
    with pytest.raises(InvalidConfig) as caught, ordered_wait(*args, **options):
        pass
    assert ours() == []
    return str(caught.value)


def test_a_source_is_an_iterable_and_an_async_one_needs_a_loop() -> None:
    """And `async with`, which the error names."""
    assert "`async with`" in refusal_of(values(), str)
    assert refusal_of(5, str).endswith(" got 5 (int)")


def test_a_cache_is_refused() -> None:
    assert refusal_of([1], str, cache=Cache(1, 1)).startswith("cache must be ")


@pytest.mark.anyio
async def test_records_need_a_plain_function_too() -> None:
    with pytest.raises(InvalidConfig, match=r"^fn must be a plain "):
        async with open_operator(OperatorConfig(), on_a_loop, values()):
            pass


def test_help_tells_of_every_argument() -> None:
    signature = inspect.signature(ordered_wait)
    doc = ordered_wait.__doc__ or ""

    assert list(signature.parameters)[:3] == ["source", "fn", "timeout"]
    assert all(f"    {name}: " in doc for name in signature.parameters)
    assert "coroutine" not in doc


def test_a_stream_that_was_refused_can_not_be_left() -> None:
    stream = ordered_wait([1], str)

    with pytest.raises(RuntimeError, match="left and not entered"):
        stream.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="left and not entered"):
        asyncio.run(_leave(stream))


async def _leave(stream: Any) -> None:
    await stream.__aexit__(None, None, None)
