"""The emitter operator as a backend, on either loop."""

from asyncwait.backends.emitter import open_operator
from asyncwait.conformance import StreamBackend, stream_backend


def asyncio_backend() -> StreamBackend:
    """Return the emitter operator on asyncio."""
    return stream_backend(open_operator)


def trio_backend() -> StreamBackend:
    """Return the emitter operator on trio."""
    return stream_backend(open_operator, loop="trio")


__all__ = ["asyncio_backend", "trio_backend"]
