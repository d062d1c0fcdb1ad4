"""Kinds of functions, and checks for unfinished work, the result of a function of a wrong kind."""

from collections.abc import AsyncGenerator, Awaitable, Iterable
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, contextmanager
from inspect import isawaitable
from itertools import islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import kind_of, takes
from asyncwait.spec.limits import Cost
from asyncwait.spec.texts import shown


class WrongFunction(AsyncWaitError, TypeError):
    """A function of the wrong kind, or a function that returns unfinished work such as a coroutine.

    Every further call would end the same way. The operator therefore neither retries the call nor
    asks a failure handler.
    """


MOST_COLLECTED = 10_000
"""Largest number of results of one call of an async generator function."""

_nothing: Any = tuple
_TO_LIST = "return a list instead, with `many=True` for several results"
_TO_ENTER = "enter it inside the function, and return the result of the call"

_TO_DO: dict[type, str] = {
    CoroutineType: "is an `await` missing?",
    **dict.fromkeys((GeneratorType, map, filter, zip), _TO_LIST),
    AsyncGeneratorType: "instead of `yield`, collect a list and return it, with `many=True`",
    type(contextmanager(_nothing)()): _TO_ENTER,
    type(asynccontextmanager(_nothing)()): _TO_ENTER,
    Cost: "return one Cost round all results of the call, from the function itself",
}


def is_value(kind: type) -> bool:
    """Return whether objects of this type are results, and not unfinished work or a `Cost`."""
    return not (kind in _TO_DO or hasattr(kind, "__await__") or issubclass(kind, Future))


def is_holder(kind: type) -> bool:
    """Return whether objects of this type hold values, which may be unfinished work."""
    return issubclass(kind, tuple | list | dict) or hasattr(kind, "__dataclass_fields__")


def is_result(value: Any) -> bool:
    """Return whether an object is a value, and its first parts are not coroutines."""
    kind = type(value)
    return is_value(kind) and not (is_holder(kind) and CoroutineType in map(type, _parts(value)))


def _parts(value: Any) -> Iterable[Any]:
    if not isinstance(value, tuple | list | dict):
        return [getattr(value, name, None) for name in type(value).__dataclass_fields__]
    # A mistake shows in the first parts: the result may hold millions.
    return islice(value.values() if isinstance(value, dict) else value, 16)


def settled(name: str, value: Any) -> Any:
    """Return the value that a function returned, or refuse unfinished work.

    Args:
        name: name of the function, for the message.
        value: value that the function returned, without a `Cost` round it.

    Raises:
        WrongFunction: the value is a generator, an awaitable, a context manager or a future; or it
            holds a coroutine.
    """
    if is_result(value):
        return value
    kind = type(value)
    if is_value(kind):
        unfinished = [part for part in _parts(value) if type(part) is CoroutineType]
        text = f"expected results alone in what {name} returns, got {shown(value)}"
        for part in unfinished:
            part.close()
        raise WrongFunction(f"{text}; {_TO_DO[CoroutineType]}")
    hint = _TO_DO.get(kind, "wait for its result, and return that")
    if name != "fn" and hasattr(kind, "__await__"):
        hint = "it has to be a plain function, as nothing awaits it: `await` inside fn"
    error = WrongFunction(f"expected a result from {name}, got {shown(value)}; {hint}")
    if kind in (CoroutineType, GeneratorType):
        value.close()  # Else Python would warn that it was never awaited.
    raise error


def uncosted(returned: Any) -> Any:
    """Return the answer of a call without the `Cost` round it."""
    return returned.result if type(returned) is Cost else returned


async def collected(results: AsyncGenerator[Any, Any]) -> list[Any]:
    """Return the results of an async generator, closed.

    Raises:
        WrongFunction: the generator yields more than `MOST_COLLECTED` results.
    """
    found: list[Any] = []
    async with aclosing(results):
        async for result in results:
            if len(found) == MOST_COLLECTED:
                raise WrongFunction(
                    f"expected at most {MOST_COLLECTED:,} results of one call, got more from "
                    f"{shown(results)}; have each call return a part of them"
                )
            found.append(result)
    return found


def awaited(returned: Any, name: str = "fn") -> Awaitable[Any]:
    """Return the awaitable that a function in coroutine form returned.

    Raises:
        WrongFunction: the object can't be awaited.
    """
    if type(returned) is CoroutineType or isawaitable(returned):
        return returned
    hint = "is it an `async def`? asyncwait.backends.threads calls plain functions"
    hint = _TO_DO.get(type(returned), hint)
    raise WrongFunction(f"expected an awaitable from {name}, got {shown(returned)}; {hint}")


def defines(cls: type, name: str) -> bool:
    """Return whether a class, other than `object`, defines an attribute."""
    return any(name in vars(each) for each in cls.__mro__[:-1])


def is_context(kind: type) -> bool:
    """Return whether objects of a class are context managers."""
    return hasattr(kind, "__aenter__") or hasattr(kind, "__enter__")


def invents(fn: Any) -> bool:
    """Return whether an object is a mock, which has every attribute."""
    is_mock = "_mock_children" in getattr(fn, "__dict__", ())
    return is_mock or hasattr(fn, "asyncwait_asks_for_an_attribute_that_does_not_exist")


def part_of(fn: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of a user's function, or `default`; ignore what a mock invents."""
    return vars(fn).get(name, default) if invents(fn) else getattr(fn, name, default)


def require_kind(fn: Any, *, blocks: bool, many: bool, batched: bool) -> None:
    """Refuse a function whose declaration shows that its calls would give no results.

    Args:
        fn: the user's function.
        blocks: whether threads call the function; else an event loop awaits its calls.
        many: whether a call gives several results.
        batched: whether a call is for several values.

    Raises:
        InvalidConfig: the function is of the wrong kind.
    """
    kind = kind_of(fn)
    expected = None
    if blocks and kind in ("coroutine", "async generator"):
        expected = "a plain function, to be called in threads; the pool takes the others"
    elif blocks and kind == "generator" and not (many or batched):
        expected = "a function that returns its one result; `yield` needs many=True"
    elif not blocks and kind == "generator":
        expected = "an `async def`; asyncwait.backends.threads calls plain functions"
    elif kind == "async generator" and (batched or not many):
        expected = "a coroutine function; an async generator function needs many=True, and no batch"
    elif not takes(fn, 1):
        what = "a list of values" if batched else "one value"
        expected = f"a function of {what}; functools.partial gives it other arguments"
    if expected is not None:
        raise InvalidConfig.of("fn", fn, expected)
