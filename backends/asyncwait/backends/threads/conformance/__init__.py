"""The operator with threads as a backend: real threads, on a clock that waits for them.

The outcome of a call is played on the loop, as in every backend; the function in a thread requests
it from the loop, as a client from its server, and blocks until it has the answer. Time stands still
while a thread is on its way to the server or back.
"""

from collections.abc import Callable, Mapping

from asyncwait.backends.threads.conformance._backend import FrontBackend, ThreadsBackend


def backend() -> ThreadsBackend:
    """Return the operator with threads."""
    return ThreadsBackend()


def plain_backend() -> FrontBackend:
    """Return the form for plain values, as a thread without a loop uses it."""
    return FrontBackend()


def family() -> Mapping[str, Callable[[], FrontBackend]]:
    """Return the backends that are verified by name alone."""
    return {"threads-plain": plain_backend}


__all__ = ["backend", "family", "plain_backend"]
