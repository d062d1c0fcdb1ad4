"""Flink's own operator as a backend."""

from asyncwait.backends.flink import open_operator, start_java
from asyncwait.conformance import StreamBackend, stream_backend

_PROFILES = ("ordered", "unordered", "timeouts", "retry", "contexts", "callbacks", "event-time")
_MORE = ("snapshots", "restore")
_LACKS = ("cancel-calls", "on-demand-snapshot", "attempt-timeout", "retry-after", "jitter")


def backend() -> StreamBackend:
    """Return Flink's operator on asyncio.

    Raises:
        FlinkUnavailable: Flink can't be run here.
        MissingExtra: the extra `flink` is not installed.
        MissingJava: there is no Java.
    """
    start_java()
    return stream_backend(open_operator, profiles=(*_PROFILES, *_MORE), lacks=_LACKS)


__all__ = ["backend"]
