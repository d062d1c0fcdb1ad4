"""PyFlink's own operation as a backend."""

from asyncwait.backends.pyflink import open_operator
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.conformance import StreamBackend, stream_backend

_PROFILES = ("ordered", "unordered", "timeouts", "retry", "contexts", "snapshots")
_LACKS = ("cancel-calls", "on-demand-snapshot", "attempt-timeout", "retry-after", "jitter")


def backend() -> StreamBackend:
    """Return PyFlink's operation on asyncio.

    Raises:
        MissingExtra: the extra `pyflink` is not installed.
        PyFlinkUnavailable: it is another release of PyFlink.
    """
    require_pyflink()
    return stream_backend(
        open_operator, profiles=_PROFILES, lacks=_LACKS, drains_at_barrier=True
    )


__all__ = ["backend"]
