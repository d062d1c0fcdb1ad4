"""Peers that take all values at once and run in threads of their own, on the real clock.

A peer is given numbers in place of values, so that anything can cross. Its calls run on the loop of
the suite, and it waits for them wherever it calls.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future
from typing import Any, TypeAlias

from adapting import Function, Source, open_peer
from functools import partial

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import Record

Blocking: TypeAlias = Callable[[int, Callable[[int], Future[Any]], int], Iterable[int]]
"""Maps so many numbers, from 0 on: `call` begins the call for one. Gives the numbers that are done;
the last argument is how many calls may run at a time."""

LACKS = ("virtual-time", "timed-input", "one-loop", "planned-ends", "cancel-calls", "cancellation-seen")


async def run(
    blocking: Blocking, records: Source, function: Function, capacity: int
) -> AsyncIterator[list[Record]]:
    """Read everything, have a thread map it, and give what that gives; wait for it on leaving."""
    loop, told = asyncio.get_running_loop(), asyncio.Queue[Any]()
    listed = [record async for record in records]
    results: dict[int, list[Record]] = {}

    async def called(number: int) -> None:
        results[number] = await function.call(listed[number])

    def work() -> None:
        for number in blocking(
            len(listed), lambda n: asyncio.run_coroutine_threadsafe(called(n), loop), capacity
        ):
            loop.call_soon_threadsafe(told.put_nowait, number)

    thread = asyncio.ensure_future(asyncio.to_thread(work))
    thread.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (number := await told.get()) is not None:
            yield results[number]
        await thread
    finally:
        await asyncio.wait([thread])


def elsewhere(blocking: Blocking, *profiles: str) -> StreamBackend:
    """Return such a peer as the suite takes it."""
    opened = partial(open_peer, partial(run, blocking))
    return stream_backend(opened, profiles=profiles, lacks=LACKS)
