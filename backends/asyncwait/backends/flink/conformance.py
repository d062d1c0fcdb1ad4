"""Flink's own operator as a backend."""

from collections.abc import Iterable

from asyncwait.backends.flink import open_keyed_operator, open_operator, start_java
from asyncwait.backends.flink._expected_failures import KNOWN, KNOWN_KEYED, Known
from asyncwait.backends.flink._jvm import require_tables
from asyncwait.conformance import ExpectedFailure, StreamBackend, stream_backend

_PROFILES = ("ordered", "unordered", "timeouts", "retry", "contexts", "callbacks", "event-time")
_KEYED = ("key-ordered", "timeouts", "contexts", "callbacks", "event-time")
_MORE = ("snapshots", "restore", "copies")
_LACKS = ("cancel-calls", "on-demand-snapshot", "attempt-timeout", "retry-after", "jitter")


def backend() -> StreamBackend:
    """Return Flink's operator on asyncio.

    Raises:
        FlinkUnavailable: Flink cannot run here.
        MissingExtra: the extra `flink` is not installed.
        MissingJava: no Java is installed.
    """
    start_java()
    return stream_backend(
        open_operator,
        profiles=(*_PROFILES, *_MORE),
        lacks=_LACKS,
        expected_failures=expected_failures_of(KNOWN),
    )


def keyed_backend() -> StreamBackend:
    """Return Flink's key-ordered operator on asyncio; it has no retries (KO-9).

    Raises:
        FlinkUnavailable: Flink cannot run here.
        MissingExtra: the extra `flink` is not installed.
        MissingJava: no Java is installed.
    """
    start_java()
    require_tables()
    lacks = ("cancel-calls", "on-demand-snapshot")
    return stream_backend(
        open_keyed_operator,
        profiles=(*_KEYED, *_MORE),
        lacks=lacks,
        expected_failures=expected_failures_of(KNOWN_KEYED),
    )


def expected_failures_of(known: Iterable[Known]) -> dict[str, tuple[ExpectedFailure, ...]]:
    """Return departures in the suite's form: by the rules that they break."""
    found: dict[str, tuple[ExpectedFailure, ...]] = {}
    for each in known:
        for rule in (*each.rules, *each.seldom):
            failure = ExpectedFailure(each.theirs, strict=rule not in each.seldom)
            found[rule] = (*found.get(rule, ()), failure)
    return found


__all__ = ["backend", "expected_failures_of", "keyed_backend"]
