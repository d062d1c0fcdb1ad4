"""Adapter for a stream operator of another library, here called a peer, to the suite.

    def gate() -> StreamBackend:
        return peer_backend(map_in_order, "ordered")

The adapter calls the function with records, turns results into elements, runs the hooks of the
function, and closes the source. The peer alone decides when to read, call, emit, cancel and wait.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, Self, TypeAlias

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import CallTimedOut, OperatorConfig, Record, Snapshot, Statistics
from asyncwait.spec.exports import claim_exports
from asyncwait.toolkit import (
    FunctionParts,
    awaitable_of,
    call_failed,
    check_arguments,
    close_source,
    collect_results,
    join_errors,
    reraise_fatal,
    run_hook,
)


class Function:
    """The function of the operator, as a peer calls it.

    Args:
        parts: of the function.
        timeout: seconds for each call, for peers that have deadlines; None for none.
    """

    def __init__(self, parts: FunctionParts, timeout: float | None) -> None:
        self._parts = parts
        self.timeout = timeout

    async def call(self, record: Record) -> list[Record]:
        """Call the function for one record; an error names it."""
        assert self._parts.call is not None
        try:
            returned = await awaitable_of(record, self._parts.call(record.value))
        except Exception as error:
            raise call_failed(record, error) from error
        return _records(record, returned)

    def late(self, record: Record) -> list[Record]:
        """Return the substitute results of a record whose time is over, or raise CallTimedOut."""
        try:
            results = None if self._parts.timeout is None else self._parts.timeout(record.value)
        except BaseException as error:
            reraise_fatal(error)
            raise CallTimedOut(record, f"too late, and its handler raised {error!r}") from error
        if results is None:
            raise CallTimedOut(record, "too late, and nothing stands in for it")
        return _records(record, results)


def _records(record: Record, returned: Any) -> list[Record]:
    results = collect_results(record, returned)
    return [Record(result, record.timestamp, record.key) for result in results]


class Source:
    """The input, as a peer reads it; `open_peer` closes it."""

    def __init__(self, iterator: AsyncIterator[Any]) -> None:
        self._elements = iterator

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        return await anext(self._elements)


class Results:
    """The output of a peer, one result after the other."""

    def __init__(self, results: AsyncIterator[list[Record]]) -> None:
        self._results = aiter(results)
        self._begun = deque[Record]()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        while not self._begun:
            self._begun.extend(await anext(self._results))
        return self._begun.popleft()

    def statistics(self) -> Statistics:
        """Return no figures."""
        return Statistics()


Peer: TypeAlias = Callable[[Source, Function, int], Any]
"""Gives an async generator of the results of each record, or a context of an async iterator; the
number is the number of calls at a time."""


@asynccontextmanager
async def open_peer(
    peer: Peer, config: OperatorConfig, fn: Any, elements: Any, restore: Snapshot | None = None
) -> AsyncGenerator[Results]:
    """Open a peer, and close the parts that it leaves to its users."""
    parts = check_arguments(config, fn, elements, restore, "a peer")
    opened = [elements]
    async with _at_last(lambda: _close(*opened)):
        await run_hook(parts.open)
        async with _at_last(lambda: run_hook(parts.close)):
            opened.insert(0, aiter(elements))
            given = peer(Source(opened[0]), Function(parts, config.timeout), config.capacity)
            async with given if hasattr(given, "__aenter__") else aclosing(given) as results:
                yield Results(results)


@asynccontextmanager
async def _at_last(work: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """Do `work` on the way out; its error is a note on the error of the body."""
    raised: BaseException | None = None
    try:
        yield
    except BaseException as error:
        raised = error
        raise
    finally:
        try:
            await work()
        except Exception as error:
            if join_errors(raised, error) is error:
                raise


async def _close(*opened: Any) -> None:
    if (error := await close_source(*opened)) is not None:
        raise error


def peer_backend(peer: Peer, *profiles: str) -> StreamBackend:
    """Return a peer as a backend.

    Args:
        peer: see `Peer`.
        profiles: its profiles besides the core, as it declares them.
    """
    return stream_backend(partial(open_peer, peer), profiles=profiles)


__all__ = ["Function", "Peer", "Results", "Source", "open_peer", "peer_backend"]

claim_exports(__name__)
