"""What is refused at the door, with one error that says what is wrong; nothing was started then."""

import asyncio
import inspect
from functools import partial
from typing import Any

import pytest
from blocking import ours

from asyncwait.backends.threads import key_ordered_wait, open_operator, ordered_wait
from asyncwait.spec import InvalidConfig, OperatorConfig


async def on_a_loop(value: Any) -> Any:
    """A coroutine function."""
    return value


class OnALoop:
    """An object that is one."""

    async def __call__(self, value: Any) -> Any:
        """Give it back."""
        return value


class Client:
    """A function with hooks, which has to be made first."""

    async def open(self) -> None:
        """Connect."""

    def __call__(self, value: Any) -> Any:
        """Give it back."""
        return value


async def values() -> Any:
    """An async source."""
    yield 1


PLAIN = "fn must be a plain function, to be called in threads; the pool takes the others, got "


def refusal_of(*args: Any, **options: Any) -> str:
    """The text of the error with which a stream is refused."""
    with pytest.raises(InvalidConfig) as caught, ordered_wait(*args, **options):
        pass
    assert ours() == []
    return str(caught.value)


@pytest.mark.parametrize("wrong", [on_a_loop, partial(on_a_loop), OnALoop()])
def test_a_coroutine_function_is_refused(wrong: Any) -> None:
    """The other operators are for that."""
    assert refusal_of([1], wrong).startswith(PLAIN)


def test_a_class_with_hooks_is_refused_and_any_other_is_a_function() -> None:
    """Somebody has forgotten to make an object of it."""
    assert refusal_of([1], Client).startswith("fn must be an object of that class: ")
    assert list(ordered_wait(["1", "2"], int)) == [1, 2]


def test_an_async_source_needs_a_loop() -> None:
    """And `async with`, which the error names."""
    text = refusal_of(values(), str)
    assert text.startswith("source must be an iterable, or `async with` for an async one, got ")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"capacity": 0}, "capacity must be a whole number >= 1, got 0 (int)"),
        (
            {"timeout": -1},
            "timeout must be a number of seconds > 0, or None for none, got -1 (int)",
        ),
        ({"on_error": "drop"}, 'on_error must be "fail", "skip" or a plain function, got \'drop\''),
        ({"copy": on_a_loop}, "copy must be a plain function of a value, or None, got <function"),
        ({"key": len}, "key must be None: only key_ordered_wait has keys, got <built-in function"),
        ({"retry": 3}, "retry must be a Retry or None, got 3 (int)"),
        ({"max_held": -1}, "max_held must be "),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_a_wrong_argument_is_refused(options: dict[str, Any], text: str) -> None:
    """By name, with what it should be."""
    assert refusal_of([1], str, **options).startswith(text)


def test_what_can_not_be_iterated_is_refused() -> None:
    """As everywhere."""
    source: Any = 5
    assert refusal_of(source, str) == "source must be an iterable or async iterable, got 5 (int)"


def test_key_ordered_mode_needs_a_key() -> None:
    """A plain function."""
    wait: Any = key_ordered_wait
    with pytest.raises(InvalidConfig, match=r"^key must be a plain function that gives the key"):
        list(wait([1], str))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"time_out": 1}, r"^got an unexpected keyword argument 'time_out'$"),
        ({"source": []}, r"^multiple values for argument 'source'$"),
    ],
)
def test_an_argument_that_there_is_not_is_refused_at_once(
    options: dict[str, Any], text: str
) -> None:
    """Before anything is opened."""
    wait: Any = ordered_wait
    with pytest.raises(TypeError, match=text):
        wait([1], str, **options)


@pytest.mark.anyio
async def test_refusals_on_a_loop_are_the_same() -> None:
    """In both forms."""
    wait: Any = ordered_wait
    with pytest.raises(InvalidConfig, match=f"^{PLAIN}"):
        async with wait([1], on_a_loop):
            pass
    with pytest.raises(InvalidConfig, match=f"^{PLAIN}"):
        async with open_operator(OperatorConfig(), on_a_loop, values()):
            pass


def test_help_tells_of_every_argument() -> None:
    """As of the other operators, with what is different here."""
    signature = inspect.signature(ordered_wait)
    doc = ordered_wait.__doc__ or ""

    assert list(signature.parameters)[:3] == ["source", "fn", "timeout"]
    assert all(f"    {name}: " in doc for name in signature.parameters)
    assert "which may block, in threads" in doc
    assert "coroutine" not in doc


def test_a_stream_that_was_refused_can_not_be_left() -> None:
    """There is nothing to leave."""
    stream = ordered_wait([1], str)

    with pytest.raises(RuntimeError, match=r"^the operator was left and not entered: "):
        stream.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match=r"^the operator was left and not entered: "):
        asyncio.run(_leave(stream))


async def _leave(stream: Any) -> None:
    await stream.__aexit__(None, None, None)
