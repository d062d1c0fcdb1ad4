"""PyFlink's own operation as a backend."""

from asyncwait.backends.flink.conformance import expected_failures_of
from asyncwait.backends.pyflink import open_operator
from asyncwait.backends.pyflink._expected_failures import KNOWN
from asyncwait.backends.pyflink._load import require_pyflink
from asyncwait.conformance import StreamBackend, stream_backend

_PROFILES = ("ordered", "unordered", "timeouts", "retry", "contexts")
_LACKS = ("cancel-calls", "attempt-timeout", "retry-after", "jitter")


def backend() -> StreamBackend:
    """Return PyFlink's operation on asyncio.

    Raises:
        MissingExtra: the extra `pyflink` is not installed.
        PyFlinkUnavailable: another release of PyFlink is installed.
    """
    require_pyflink()
    return stream_backend(
        open_operator,
        profiles=_PROFILES,
        lacks=_LACKS,
        expected_failures=expected_failures_of(KNOWN),
    )


__all__ = ["backend"]
