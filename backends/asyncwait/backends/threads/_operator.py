"""Opening and closing an operator whose calls run in threads: the pool with such a function."""

import warnings
from collections.abc import AsyncIterable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from msgspec.structs import replace

from asyncwait.backends import pool
from asyncwait.backends.threads._function import BatchesInThreads, InThreads, Threaded
from asyncwait.backends.threads._thread_pool import ThreadPool
from asyncwait.spec import Element, OperatorConfig, OperatorResults, Snapshot
from asyncwait.spec.texts import shown
from asyncwait.toolkit import (
    FunctionParts,
    PlainFunction,
    PlainResults,
    PlainSource,
    check_arguments,
    require_kind,
)

R = TypeVar("R")

_KNOWN = "retry", "max_held", "batch", "limits", "on_failure"
"""Settings that not every operator supports."""

_MOST_NAMED = 5
"""Largest number of running calls whose values a warning names."""


def open_operator(
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> AbstractAsyncContextManager[OperatorResults]:
    """Open an operator that calls `fn` in threads; see `asyncwait.spec.OpenOperator`.

    A call never blocks the loop. A call cannot be ended: at its deadline its record is decided,
    and the call runs on and counts as abandoned. Leaving waits for each call until its time is
    over, without a timeout to its end; a RuntimeWarning names the calls that run on then.

    Args:
        config: mode, capacity, timeout and the rest; each concurrent call has a thread.
        fn: a plain function, which returns an iterable of results, or with `config.batch` a list
            or mapping of them, which is read in its thread. Its handlers and hooks run on the loop.
            A function in callback form runs on the loop, too, as in every operator.
        elements: the input.
        restore: snapshot of an earlier operator.

    Raises:
        InvalidConfig: an argument is invalid, for example a coroutine function.
    """
    return open_with(ThreadPool, config, fn, elements, restore)


def open_with(
    hire: Callable[[], ThreadPool],
    config: OperatorConfig,
    fn: Any,
    elements: AsyncIterable[Element],
    restore: Snapshot | None = None,
) -> AbstractAsyncContextManager[OperatorResults]:
    """Open an operator with threads made by `hire`; see `open_operator`."""
    parts = check_arguments(config, fn, elements, restore, "threads", *_KNOWN)
    if parts.invoke is not None:
        return pool.open_operator(config, fn, elements, restore)
    require_kind(fn, blocks=True, many=True, batched=config.batch is not None)
    function, config = _in_threads(config, FunctionParts.of(fn), hire=hire)
    return _Threads(function, pool.open_operator(config, function, elements, restore))


def open_plain(
    config: OperatorConfig,
    function: PlainFunction,
    source: PlainSource,
    *,
    hire: Callable[[], ThreadPool] = ThreadPool,
) -> AbstractAsyncContextManager[PlainResults[Any]]:
    """Open an operator for plain values in threads of `hire`; see `asyncwait.toolkit.OpenPlain`."""
    config.require_only("threads", *_KNOWN)
    batched = config.batch is not None
    require_kind(function.call, blocks=True, many=not function.single, batched=batched)
    parts = replace(FunctionParts.of(function), call=function.call)
    # With many results, a dict is an error, not a collection.
    wrap = None if function.single else function.wrap
    single = function.single
    in_threads, config = _in_threads(config, parts, single=single, wrap=wrap, hire=hire)
    in_threads.is_free, in_threads.spent = function.is_free, function.spent
    return _Threads(in_threads, pool.open_plain(config, in_threads, source))


def _in_threads(
    config: OperatorConfig, parts: FunctionParts, **options: Any
) -> tuple[Any, OperatorConfig]:
    """Return the function as the pool calls it, and the form of the call.

    A value is copied in its thread; the pool copies the values of a batch, because it must know
    which copy has failed.
    """
    if config.batch is not None:
        return BatchesInThreads(parts, config, **options), config
    copying = parts.with_copies(config.copy)
    return InThreads(copying, config, **options), replace(config, copy=None)


class _Threads(AbstractAsyncContextManager[R]):
    def __init__(self, function: Threaded, opened: AbstractAsyncContextManager[R]) -> None:
        self._function = function
        self._opened = opened

    async def __aenter__(self) -> R:
        return await self._opened.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        self._function.leave()
        try:
            return await self._opened.__aexit__(*raised)
        finally:
            if running := self._function.end():
                warnings.warn(_run_on(running), RuntimeWarning, stacklevel=2)


def _run_on(values: list[Any]) -> str:
    named = ", ".join(map(shown, values[:_MOST_NAMED]))
    more = f" and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
    calls = "1 call runs on in a thread, and nothing can end it"
    if len(values) > 1:
        calls = f"{len(values)} calls run on in threads, and nothing can end them"
    return f"{calls}: of {named}{more}; give the client in there a timeout of its own"
