"""The emitter operator as a backend, on either loop."""

from functools import partial

from asyncwait.backends.emitter import open_operator
from asyncwait.conformance import stream_backend

LACKS = (
    *("key-ordered", "retry", "failure-handler", "max-held", "statistics"),
    *("batches", "cache", "limits", "callbacks"),
)
"""Profiles that the emitter omits, so that its code shows only the original design."""

asyncio_backend = partial(stream_backend, open_operator, lacks=LACKS)
"""Returns the emitter's operator on asyncio."""

trio_backend = partial(stream_backend, open_operator, loop="trio", lacks=LACKS)
"""Returns the emitter's operator on trio."""


__all__ = ["LACKS", "asyncio_backend", "trio_backend"]
