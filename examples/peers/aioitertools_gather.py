"""`aioitertools.asyncio.gather`, which takes all coroutines, and has a limit.

asyncwait verify aioitertools_gather:backend
"""

from collections.abc import AsyncIterator
from functools import partial

from aioitertools.asyncio import gather

from asyncwait.conformance.adapting import Function, Source, peer_backend
from asyncwait.spec import Record


async def gathered(
    records: Source, function: Function, capacity: int
) -> AsyncIterator[list[Record]]:
    """Read everything, gather, and give the results."""
    listed = [record async for record in records]
    for results in await gather(*map(function.call, listed), limit=capacity):
        yield results


backend = partial(peer_backend, gathered, "ordered")
