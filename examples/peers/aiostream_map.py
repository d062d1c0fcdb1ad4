"""`aiostream.stream.map`, in order and as results are there.

asyncwait verify aiostream_map:ordered aiostream_map:unordered
"""

from functools import partial
from typing import Any

from aiostream import stream

from asyncwait.conformance.adapting import Function, Source, peer_backend


def mapped(records: Source, function: Function, capacity: int, *, in_order: bool) -> Any:
    """Map a stream; the streamer is the context that its results are read in."""
    return stream.map(records, function.call, ordered=in_order, task_limit=capacity).stream()


ordered = partial(peer_backend, partial(mapped, in_order=True), "ordered")
unordered = partial(peer_backend, partial(mapped, in_order=False), "unordered")
