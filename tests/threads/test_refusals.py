"""What is refused at the door, with one error that says what is wrong; nothing was started then."""

import asyncio
import inspect
from functools import partial
from typing import Any

import pytest
from blocking import ours

from asyncwait.backends.threads import key_ordered_wait, open_operator, ordered_wait
from asyncwait.spec import Cache, InvalidConfig, OperatorConfig


async def on_a_loop(value: Any) -> Any:
    return value


class OnALoop:
    async def __call__(self, value: Any) -> Any:
        return value


class Client:
    """A function with hooks, which has to be made first."""

    async def open(self) -> None:
        """Connect."""

    def __call__(self, value: Any) -> Any:
        return value


async def values() -> Any:
    yield 1


def refusal_of(*args: Any, **options: Any) -> str:
    with pytest.raises(InvalidConfig) as caught, ordered_wait(*args, **options):
        pass
    assert ours() == []
    return str(caught.value)


@pytest.mark.parametrize("wrong", [on_a_loop, partial(on_a_loop), OnALoop()])
def test_a_coroutine_function_is_refused(wrong: Any) -> None:
    assert refusal_of([1], wrong).startswith("fn must be a plain function, ")


def test_a_class_with_hooks_is_refused_and_any_other_is_a_function() -> None:
    assert refusal_of([1], Client).startswith("fn must be an object ")
    assert list(ordered_wait(["1", "2"], int)) == [1, 2]


def test_a_source_is_an_iterable_and_an_async_one_needs_a_loop() -> None:
    """And `async with`, which the error names."""
    assert "`async with`" in refusal_of(values(), str)
    assert refusal_of(5, str).endswith(" got 5 (int)")


@pytest.mark.parametrize(
    "wrong",
    [
        {"capacity": 0},
        {"timeout": -1},
        {"on_error": "drop"},
        {"copy": on_a_loop},
        {"key": len},
        {"retry": 3},
        {"max_held": -1},
        {"cache": Cache(1, 1)},
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    text = refusal_of([1], str, **wrong)
    assert text.startswith(f"{name} must be ")
    assert f"got {value!r}" in text


def test_key_ordered_mode_needs_a_key() -> None:
    wait: Any = key_ordered_wait
    with pytest.raises(InvalidConfig, match=r"^key must be "):
        list(wait([1], str))


@pytest.mark.parametrize("wrong", [{"time_out": 1}, {"source": []}], ids=str)
def test_an_argument_that_there_is_not_is_refused_at_once(wrong: dict[str, Any]) -> None:
    wait: Any = ordered_wait
    with pytest.raises(TypeError):
        wait([1], str, **wrong)


@pytest.mark.anyio
async def test_refusals_on_a_loop_are_the_same() -> None:
    wait: Any = ordered_wait
    with pytest.raises(InvalidConfig, match=r"^fn must be a plain "):
        async with wait([1], on_a_loop):
            pass
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
