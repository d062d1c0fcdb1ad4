"""Adapters between an operator and plain values: its function, its source, its results."""

import inspect
from abc import abstractmethod
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import contextmanager
from typing import (
    Any,
)

from asyncwait.spec import (
    FailureHandler,
    InvalidConfig,
    OperatorResults,
    Record,
    Statistics,
)
from asyncwait.spec.limits import Cost
from asyncwait.spec.texts import shown
from asyncwait.toolkit._calls import answers_of, is_collection, is_whole
from asyncwait.toolkit._function import (
    FunctionParts,
    awaited,
    close_source,
    collected,
    part_of,
    require_kind,
    settled,
)
from asyncwait.toolkit._loop import HomeLoop, LeftEarly


class WholeDict:
    """Wrapper of a dict that can't be iterated: a dict read as results would lose its values."""

    def __init__(self, given: Mapping[Any, Any]) -> None:
        self._given = given

    def __repr__(self) -> str:
        return repr(self._given)


WholeDict.__name__ = "dict"  # name of the type in error messages


class PlainFunction:
    """The user's function in the form for records: it returns collections, and refuses dicts.

    Args:
        fn: the user's function.
        batched: whether it is called with a list of values.
        limited: whether limits use a returned `Cost`; otherwise only the result inside the
            `Cost` is used.
        blocks: whether threads call it.

    Raises:
        InvalidConfig: `fn` is not in coroutine form, or of a kind whose calls give no results.
    """

    single = False
    """Whether the answer of a call is a single result, not a collection."""

    def __init__(
        self, fn: Any, *, batched: bool = False, limited: bool = False, blocks: bool = False
    ) -> None:
        self._batched, self._limited = batched, limited
        self.is_free = part_of(fn, "is_paid")
        """Function: whether a call for a value needs no permit; None if all calls need permits."""
        self.makes_several: bool = part_of(fn, "makes_several", False)
        """Whether a call makes several calls, each with a permit of its own."""
        self.spent: Counter[str] | None = None
        """Counter of the costs of calls, by unit."""
        self.keeps_all = part_of(fn, "keeps_all", False)
        """Whether a journal keeps all results of the function."""
        if blocks and not callable(fn):
            raise InvalidConfig.of("fn", fn, "a plain function, to be called in threads")
        parts = FunctionParts.of(fn)
        if parts.call is None:
            raise InvalidConfig.of("fn", fn, "a coroutine function here; open_operator takes both")
        require_kind(fn, blocks=blocks, many=not self.single, batched=batched)
        self.call = parts.call
        """The user's own function."""
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        if (handler := parts.timeout) is not None:
            self.timeout = lambda value: self._wrap_fallback(handler(value), "fn.timeout")
        self.failure: FailureHandler | None = None
        if (failed := parts.failure) is not None:
            self.failure = lambda v, error: self._wrap_fallback(failed(v, error), "fn.failure")

    async def __call__(self, value: Any) -> Any:
        # A batch function receives a copy of the list, and may change the copy.
        returned = self.call(list(value) if self._batched else value)
        if inspect.isasyncgen(returned) and not (self.single or self._batched):
            given: Any = await collected(returned)
        else:
            given = await awaited(returned)
        if isinstance(given, Cost):
            read = self._read(value, given.result)
            return Cost(read, given.used) if self._limited else read
        return self._read(value, given)

    def _read(self, value: Any, given: Any) -> Any:
        if not self._batched:
            return self.wrap(given)
        answers = answers_of(value, given, single=self.single)
        return [each if isinstance(each, BaseException) else self.wrap(each) for each in answers]

    def wrap(self, result: Any, name: str = "fn") -> Any:
        """Return the answer of a function; a collection stays a collection.

        Args:
            result: answer of the function.
            name: name of the function, for the error if the answer is unfinished work.
        """
        if isinstance(result, list | tuple) and not is_whole(result):
            return [settled(name, each) for each in result]
        if isinstance(result, Mapping):
            return WholeDict(result)
        return result if is_collection(result) else settled(name, result)

    def _wrap_fallback(self, result: Any, name: str) -> Any:
        return self.wrap(result, name)


class PlainOne(PlainFunction):
    """The user's function with one result for each value; a handler's None means no result."""

    single = True

    def wrap(self, result: Any, name: str = "fn") -> Any:
        """Return the one result as a collection."""
        return (settled(name, result),)

    def _wrap_fallback(self, result: Any, name: str) -> Any:
        return None if result is None else self.wrap(result, name)


class Value(Record, frozen=True):
    """A plain value as a record; its text is "value ...", because the user passed no record."""

    def __str__(self) -> str:
        return f"value {super().__str__().removeprefix('Record ')}"


class ValuesAhead(AsyncIterator[Any]):
    """An async iterator of values that may hold values in advance."""

    @abstractmethod
    def at_hand(self, most: int) -> list[Any]:
        """Return the next values without a wait, `most` at most; possibly an empty list."""


def require_source(source: Any) -> None:
    """Refuse an object that is not a source of values, or a source that has ended already.

    Raises:
        InvalidConfig: the source can't be iterated, is a text, or is a generator that has ended.
    """
    if isinstance(source, type) or not isinstance(source, AsyncIterable | Iterable):
        raise InvalidConfig.of("source", source, "an iterable or async iterable of values")
    if isinstance(source, str | bytes):
        expected = "an iterable of values: [text] for one text, list(text) for its characters"
        raise InvalidConfig.of("source", source, expected)
    frames = [getattr(source, name, source) for name in ("gi_frame", "ag_frame")]
    if isinstance(source, Generator | AsyncGenerator) and None in frames:
        expected = "a generator that has not ended: make a new one for each stream"
        raise InvalidConfig.of("source", source, expected)


class PlainSource:
    """The values of a source as records.

    It is not a generator, because closing it before its start must also close the source.

    Args:
        source: the user's source.

    Raises:
        InvalidConfig: the source is invalid; see `require_source`.
    """

    def __init__(self, source: Iterable[Any] | AsyncIterable[Any]) -> None:
        require_source(source)
        self._source = source
        self.record: Callable[[Any], Record] = Value
        """Function that makes the record of a value; its error is an error of the source."""
        self._values: Iterator[Any] | AsyncIterator[Any] | None = None
        self._closed = False

    def values(self) -> Iterator[Any] | AsyncIterator[Any]:
        """Return the only iterator of the values; iterate this iterator, or the source."""
        if self._values is None:  # An error of `iter` here counts as an error of the source.
            source = self._source
            self._values = aiter(source) if isinstance(source, AsyncIterable) else iter(source)
        return self._values

    def __aiter__(self) -> AsyncIterator[Record]:
        return self

    async def __anext__(self) -> Record:
        return self.record_of(await self.next_value())

    async def next_value(self) -> Any:
        """Return the next value, whether the source is async or not."""
        values = self.values()
        if isinstance(values, AsyncIterator):
            return await anext(values)
        with no_end_in_disguise():
            for value in values:
                return value
        raise StopAsyncIteration

    @property
    def making(self) -> Callable[[Any], Record]:
        """Function that makes the record of a value, as `record_of` does."""
        return Value if self.record is Value else self.record_of

    def record_of(self, value: Any) -> Record:
        """Return a value as a record; StopIteration of the key function becomes RuntimeError."""
        try:
            return self.record(value)
        except (StopIteration, StopAsyncIteration) as error:
            raise RuntimeError(f"the key of {shown(value)} raised {shown(error)}") from error

    async def aclose(self) -> None:
        closed, self._closed = self._closed, True
        error = None if closed else await close_source(self._values, self._source)
        if error is not None:
            raise error


@contextmanager
def no_end_in_disguise() -> Generator[None]:
    """Turn a plain source's StopAsyncIteration into a RuntimeError: it does not mean the end."""
    try:
        yield
    except StopAsyncIteration as error:
        raise RuntimeError("a source that is not async raised StopAsyncIteration") from error


class PlainValues:
    """The values of the emitted records.

    It is not a generator, which would end when a wait for its next value is cancelled.
    """

    def __init__(self, results: OperatorResults) -> None:
        self._results = results
        self._home = HomeLoop()
        self._has_ended = self._is_left = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        self._home.require("read")
        while True:
            try:
                element = await self._results.__anext__()
            except StopAsyncIteration:
                if self._is_left and not self._has_ended:
                    raise LeftEarly from None
                self._has_ended = True
                raise
            if isinstance(element, Record):
                return element.value

    def leave(self) -> None:
        """Let later reads raise an error, unless all results were read before."""
        self._is_left = True

    def statistics(self) -> Statistics:
        """Return the figures of the operator."""
        return self._results.statistics()
