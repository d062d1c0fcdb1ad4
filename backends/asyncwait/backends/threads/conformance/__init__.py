"""The operator with threads as a backend: real threads, on a clock that waits for them.

What a call does is played on the loop, as everywhere; the function that runs in a thread asks for
it there, as a client asks its server, and blocks until it has the answer. Time stands still while a
thread is on its way, to the server or back: it takes none. Some scenarios are played on the real
clock besides.
"""

from collections.abc import Callable, Mapping

from asyncwait.backends.threads.conformance._backend import FrontBackend, ThreadsBackend


def backend() -> ThreadsBackend:
    """Return the operator with threads."""
    return ThreadsBackend()


def plain_backend() -> FrontBackend:
    """Return the form for plain values, as a thread uses it that has no loop."""
    return FrontBackend()


def family() -> Mapping[str, Callable[[], FrontBackend]]:
    """Return what is verified by name alone."""
    return {"threads-plain": plain_backend}


__all__ = ["backend", "family", "plain_backend"]
