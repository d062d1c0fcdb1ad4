"""The pool's way for plain values as an operator of elements, so that the suite can judge it."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

from msgspec.structs import replace

from asyncwait.backends.pool import open_plain
from asyncwait.spec import (
    Element,
    FunctionParts,
    OperatorConfig,
    OperatorError,
    OperatorResults,
    PlainSource,
    Record,
    Snapshot,
    is_collection,
)
from asyncwait.spec._plain_parts import PlainFunction, PlainOne, Value
from asyncwait.spec.scenario import PROFILES as ALL_PROFILES

_OF_ELEMENTS = {"callbacks", "event-time", "snapshots", "restore"}

PROFILES = [each for each in ALL_PROFILES if each not in _OF_ELEMENTS]
"""What plain values can have."""


class _OfRecords:
    """A function of values as one whose values are records, and so are its results.

    Args:
        fn: of values; gives collections.
        single: it is to give the one result instead.
    """

    def __init__(self, fn: Any, *, single: bool) -> None:
        parts = FunctionParts.of(fn)
        assert parts.call is not None
        self._call = parts.call
        self._single = single
        for name in ("open", "close"):
            if (hook := getattr(parts, name)) is not None:
                setattr(self, name, hook)
        for name in ("timeout", "failure"):
            if (handler := getattr(parts, name)) is not None:
                setattr(self, name, self._handling(handler))

    async def __call__(self, record: Record) -> Any:
        return self._records(record, await self._call(record.value))

    def _handling(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        return lambda record, *error: self._records(record, handler(record.value, *error))

    def _records(self, record: Record, results: Any) -> Any:
        if results is None or not is_collection(results):
            return results
        found = (Record(result, record.timestamp, record.key) for result in results)
        return next(found) if self._single else found


class _Results:
    """What comes out: records, as values."""

    def __init__(self, results: Any) -> None:
        self._results = results

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        try:
            record: Element = await anext(self._results)
        except OperatorError as error:
            if type(error.record) is Value:
                error.record = error.record.value
            raise
        return record

    def statistics(self) -> Any:
        return self._results.statistics()


class _Opened(AbstractAsyncContextManager[Any]):
    def __init__(self, opened: AbstractAsyncContextManager[Any]) -> None:
        self._opened = opened

    async def __aenter__(self) -> Any:
        return _Results(await self._opened.__aenter__())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._opened.__aexit__(kind, error, traceback)


def opener(*, single: bool) -> Any:
    """Return what opens the pool on records as values.

    Args:
        single: each call gives exactly one result.
    """

    def open_operator(
        config: OperatorConfig,
        fn: Any,
        elements: AsyncIterable[Element],
        _restore: Snapshot | None = None,
    ) -> AbstractAsyncContextManager[OperatorResults]:
        of_records = _OfRecords(fn, single=single)
        function = PlainOne(of_records) if single else PlainFunction(of_records)
        source = PlainSource(elements)
        if config.mode == "key-ordered":
            source.record = lambda record: Value(record, key=record.key)
        if (copy := config.copy) is not None:
            config = replace(config, copy=lambda each: replace(each, value=copy(each.value)))
        return _Opened(open_plain(config, function, source))

    return open_operator
