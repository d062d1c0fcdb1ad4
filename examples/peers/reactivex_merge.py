"""RxPY: calls as observables, so many of which `merge` subscribes to, with a `timeout` each.

asyncwait verify reactivex_merge:backend
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import reactivex
from reactivex import operators as ops
from reactivex.disposable import Disposable
from reactivex.scheduler.eventloop import AsyncIOScheduler

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


def observed(records: Source) -> Any:
    """Return the input as an observable, which a task reads."""

    def subscribe(observer: Any, _: Any) -> Any:
        async def read() -> None:
            try:
                async for record in records:
                    observer.on_next(record)
            except Exception as error:
                observer.on_error(error)
            else:
                observer.on_completed()

        return Disposable(asyncio.create_task(read()).cancel)

    return reactivex.create(subscribe)


def called(function: Function, record: Record) -> Any:
    """Return the call for a record as an observable; it begins when that is subscribed to."""

    def begin(_: Any) -> Any:
        return reactivex.from_future(asyncio.create_task(function.call(record)))

    one = reactivex.defer(begin)
    if function.timeout is None:
        return one
    late = reactivex.defer(lambda _: reactivex.of(function.late(record)))
    return one.pipe(ops.timeout(function.timeout, late))


async def merged(records: Source, function: Function, capacity: int) -> AsyncIterator[list[Record]]:
    """Put what the observable gives into a queue, and read that."""
    queue = asyncio.Queue[Any]()
    calls = observed(records).pipe(
        ops.map(lambda record: called(function, record)),
        ops.merge(max_concurrent=capacity),
        ops.materialize(),
    )
    scheduler = AsyncIOScheduler(asyncio.get_running_loop())
    with calls.subscribe(queue.put_nowait, scheduler=scheduler):
        while (told := await queue.get()).kind == "N":
            yield told.value
        if told.kind == "E":
            raise told.exception


backend = partial(peer_backend, merged, "unordered", "timeouts")
