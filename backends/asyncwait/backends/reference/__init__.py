"""The reference operator as a backend, on either loop."""

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.reference import open_operator


def asyncio_backend() -> StreamBackend:
    """Return the reference on asyncio."""
    return stream_backend(open_operator)


def trio_backend() -> StreamBackend:
    """Return the reference on trio."""
    return stream_backend(open_operator, loop="trio")


__all__ = ["asyncio_backend", "trio_backend"]
