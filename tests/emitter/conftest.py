"""The tests of the emitter run on both loops, on virtual clocks."""

from operators import anyio_backend

__all__ = ["anyio_backend"]
