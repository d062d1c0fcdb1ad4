"""The user's function: its kind, its parts, and checks of its results."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import Context
from functools import partial
from inspect import isawaitable
from itertools import islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from asyncwait.spec import (
    AsyncWaitError,
    FailureHandler,
    InvalidConfig,
    OperatorConfig,
    OperatorError,
    ResultFuture,
    Snapshot,
)
from asyncwait.spec.checks import FunctionKind, kind_of, takes
from asyncwait.spec.limits import Cost
from asyncwait.spec.snapshots import Stored
from asyncwait.spec.texts import shown
from asyncwait.toolkit._loop import HomeLoop, isolated, reraise_fatal


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


Results: TypeAlias = Iterable[Any]


def skip(_value: Any, _error: OperatorError) -> Results:
    """Handle a failure by no results: the record is left out."""
    return ()


class FunctionParts(Struct, frozen=True):
    """The parts of a user's function, found once when the operator opens.

    Exactly one of `call` and `invoke` is set. In batches, `call` takes a list, and its caller
    copies the values, so that a copy that fails concerns its record alone.
    """

    call: Callable[[Any], Awaitable[Results]] | None
    invoke: Callable[[Any, ResultFuture], None] | None
    timeout: Callable[[Any], Results | None] | None
    failure: FailureHandler | None
    open: Callable[[], Any] | None
    close: Callable[[], Any] | None
    copy: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, fn: Any) -> "FunctionParts":
        """Take `fn` apart.

        Raises:
            InvalidConfig: `fn` is neither callable nor has `async_invoke`, or one of its parts is
                not a function of the right kind.
        """
        if isinstance(fn, type) and any(map(partial(defines, fn), ("__call__", *_PARTS))):
            raise InvalidConfig.of("fn", fn, "an object of that class: it has methods to be called")
        if callable(fn) and not isinstance(fn, type) and is_context(type(fn)) and not invents(fn):
            expected = (
                "no context manager, which the operator would not enter: give it `open` and "
                "`close`, or enter it round the stream and give one of its methods"
            )
            raise InvalidConfig.of("fn", fn, expected)
        invoke = _part(fn, "async_invoke", "plain")
        call: Any = fn if invoke is None else None
        if invoke is None and not callable(fn):
            raise InvalidConfig.of("fn", fn, "a coroutine function or have async_invoke()")
        return cls(
            call=call,
            invoke=invoke,
            timeout=_part(fn, "timeout", "plain", "generator"),
            failure=_part(fn, "failure", "plain", "generator"),
            open=_part(fn, "open", "plain", "coroutine"),
            close=_part(fn, "close", "plain", "coroutine"),
        )

    def with_copies(
        self, copy: Callable[[Any], Any] | None, *, batched: bool = False
    ) -> "FunctionParts":
        """Return the same parts, each of which receives its own copy of the value (COPY-1).

        If `copy` raises, the part raises: the call fails, or the handler gives no results.

        Args:
            copy: the configured function; None for no copies.
            batched: whether the function takes a list of values.
        """
        if copy is None:
            return self

        def copied(value: Any) -> Any:
            return settled("copy", copy(value))

        def given_a_copy(part: Callable[..., Any] | None) -> Callable[..., Any] | None:
            if part is None or part is skip:
                return part
            return lambda value, *others: part(copied(value), *others)

        asked = ("timeout", "failure") if batched else ("call", "invoke", "timeout", "failure")
        copying = {name: given_a_copy(getattr(self, name)) for name in asked}
        return replace(self, copy=copied if batched else None, **copying)

    def within(self, context: Context) -> "FunctionParts":
        """Return the same parts, but each plain part runs in a fresh copy of `context`.

        No other code sees the variables that it sets (CTX-2, CTX-3), and it sees only the
        variables of `context`. A call in coroutine form needs a task in such a copy.

        Args:
            context: context of the operator after `open`.
        """
        plain = {name: getattr(self, name) for name in ("invoke", "timeout", "failure")}
        copied = {name: isolated(part, context) for name, part in plain.items() if part is not None}
        return replace(self, **copied)


_PARTS = ("async_invoke", "timeout", "failure", "open", "close")


def _part(fn: Any, name: str, *kinds: FunctionKind) -> Callable[..., Any] | None:
    part: Callable[..., Any] | None = part_of(fn, name)
    if part is not None and not callable(part):
        raise InvalidConfig.of(f"fn.{name}", part, "a function, or not be there")
    if part is not None and kind_of(part) not in kinds:
        expected = "a plain function: nothing waits for it"
        if "coroutine" in kinds:
            expected = "a plain function or a coroutine function, without `yield`"
        raise InvalidConfig.of(f"fn.{name}", part, expected)
    return part


def _refused_with(config: OperatorConfig, fn: Any, invoke: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield name, value and expected value of each argument in conflict with the function."""
    on_result = None if config.retry is None else config.retry.on_result
    if on_result is not None and part_of(fn, "keeps_all", False):
        expected = "None where paid_once keeps each result, so that it is never called for again"
        yield "Retry.on_result", on_result, f"{expected}; or paid_once(..., keeps=...)"
    if invoke is not None and config.batch is not None:
        called = "called in batches: a function of a list of values"
        yield "fn", fn, f"in coroutine form, as it is {called}"
    if invoke is not None and config.cache is not None:
        yield "fn", fn, "in coroutine form, as what it gives is cached"


def check_arguments(
    config: Any, fn: Any, elements: Any, restore: Any, operator: str, *supported: str
) -> FunctionParts:
    """Refuse invalid arguments of an operator, and return the parts of `fn`.

    The parts receive copies of values, if `config.copy` is set.

    Args:
        config: argument of `OpenOperator`, like the next three.
        fn: see `AsyncFunction`.
        elements: the input.
        restore: a snapshot, or None.
        operator: name of the operator, for messages.
        supported: names of the optional settings that the operator supports.

    Raises:
        InvalidConfig: one of the four arguments is invalid, or `config` has an optional setting
            that is not among `supported`.
    """
    if not isinstance(config, OperatorConfig):
        raise InvalidConfig.of("config", config, "an OperatorConfig")
    config.require_only(operator, *supported)
    if not isinstance(elements, AsyncIterable):
        raise InvalidConfig.of("elements", elements, "an async iterable of elements")
    check_restore(restore)
    parts = FunctionParts.of(fn)
    for refused in _refused_with(config, fn, parts.invoke):
        raise InvalidConfig.of(*refused)
    return parts.with_copies(config.copy, batched=config.batch is not None)


def check_restore(restore: Any) -> None:
    """Refuse an invalid snapshot.

    Args:
        restore: argument of `OpenOperator`.

    Raises:
        InvalidConfig: `restore` is neither None nor a Snapshot of records, watermarks and statuses.
    """
    if restore is None:
        return
    if not isinstance(restore, Snapshot):
        raise InvalidConfig.of("restore", restore, "a Snapshot or None")
    name, held = "restore.in_flight", restore.in_flight
    if not isinstance(held, tuple):
        raise InvalidConfig.of(name, held, "a tuple of elements")
    for element in held:
        if not isinstance(element, Stored):
            raise InvalidConfig.of(name, element, "records, watermarks and statuses")


async def close_source(*sources: Any) -> BaseException | None:
    """Close the source of a stream, if it can be closed.

    The caller shields it from cancellation: each error here counts as an error of the source.

    Args:
        sources: the iterator, and the iterable that made it; the same object is closed once. A
            plain generator is closed by `close()`, any other object by `aclose()`, if it has it.

    Returns:
        The first error of closing, with notes of the others; None without an error.
    """
    errors: list[BaseException] = []
    for place, source in enumerate(sources):
        if any(source is earlier for earlier in sources[:place]):
            continue
        try:
            if isinstance(source, Generator):
                source.close()
            elif (aclose := getattr(source, "aclose", None)) is not None:
                await aclose()
        except BaseException as error:
            reraise_fatal(error)
            errors.append(error)
    return join_errors(*errors)


def join_errors(*errors: BaseException | None) -> BaseException | None:
    """Return the first error, with a note of each other error on it; None without an error.

    Args:
        errors: errors of leaving an operator, in their order.
    """
    first: BaseException | None = None
    for error in errors:
        if first is None:
            first = error
        elif error is not None and error is not first:
            first.add_note(f"Closing the operator raised, too: {shown(error)}")
    return first


class SingleEntry:
    """Allows one entry of a context: a second entry would silently find a source already read.

    A refused entry does not affect the first entry.
    """

    def __init__(self) -> None:
        self._was_entered = self._was_left = False
        self._home: HomeLoop | None = None

    def enter(self, *, on_loop: bool = True) -> None:
        """Note that the context is being entered.

        Args:
            on_loop: whether an event loop enters the context, which then has to leave it, too.

        Raises:
            RuntimeError: the context was entered before.
        """
        if self._was_entered:
            raise RuntimeError("an operator is entered once: open another one for another stream")
        self._was_entered = True
        self._home = HomeLoop() if on_loop else None

    def leave(self) -> None:
        """Note that the context is being left.

        Raises:
            RuntimeError: the context was left before, was never entered, or was entered in another
                event loop.
        """
        if self._was_left or not self._was_entered:
            how = "before" if self._was_left else "and not entered"
            raise RuntimeError(f"the operator was left {how}: use `async with`")
        if self._home is not None:
            self._home.require("left")
        self._was_left = True
