"""Metrics for OpenTelemetry, if it is installed."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from asyncwait.backends.watching._watched import Watched, WhileOpen, require_watched
from asyncwait.spec import InvalidConfig, MissingExtra

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

    from asyncwait.backends.watching._instruments import Export


def export_metrics(
    results: Watched[Any],
    attributes: Mapping[str, str | bool | float] | None = None,
    *,
    every: float = 1.0,
    meter: "Meter | None" = None,
) -> AbstractAsyncContextManager[None]:
    """Report the figures of an operator to OpenTelemetry while the body of the context runs.

    Each figure has one instrument: `asyncwait.records.in_flight`, `.held`, `.oldest` (in
    seconds), `.max_in_flight`, `.max_held`, `.waiting_for_permits`, `.timeouts` and
    `.failures_handled`; `asyncwait.elements.waiting`; `asyncwait.calls.started`, `.batches`,
    `.retries` and `.abandoned`; `asyncwait.cache.hits`, `.shared`, `.loads`, `.stale`,
    `.null_keys`, `.refreshes` and `.evictions`. A lookup has `asyncwait.records.in_flight` and
    `.failures_handled`; the figures of the cache, and `asyncwait.cache.keys`;
    `asyncwait.lookup.rows`, `.misses`, `.requests`, `.failed_requests`, `.mean_batch`,
    `.max_batch`, `.latency_p50`, `.latency_p99` and `.age` (in seconds).

    Attributes distinguish operators. Operators with equal attributes, at the same time or one after
    the other, share their figures: counts are added; of times, sizes and high-water marks the
    greatest counts.
    After leaving, counts and high-water marks stay, and figures of records in flight, waiting or
    held fall to 0: an operator leaves behind one number for each figure and set of attributes, and
    no reference.

    Args:
        results: the object that `async with` of an operator returns.
        attributes: attributes of each figure, for example `{"operator": "fetch"}`.
        every: seconds, by the clock of the loop, from one reading to the next. Exporters mostly
            collect in a thread of their own, and only the loop may read, so their figures are up to
            this old. An exporter that collects on the loop, or after leaving, gets present figures.
        meter: the meter of OpenTelemetry that makes the instruments; None for the meter "asyncwait"
            of the global provider, which may be set later.

    Returns:
        An async context manager; leave it before the operator: `async with ordered_wait(...) as
        results, export_metrics(results): ...`

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: OpenTelemetry is not installed.
    """
    require_watched(results, every)
    return WhileOpen(export_of(results.statistics, attributes, meter), every)


def export_of(
    read: Callable[[], Any], attributes: Any, meter: Any, *, anywhere: bool = False
) -> "Export":
    """Return an export that reports figures to OpenTelemetry from its `begin` to its `end`.

    Args:
        read: returns the figures.
        attributes: see `export_metrics`, as for `meter`.
        meter: makes the instruments.
        anywhere: any thread may read the figures.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: OpenTelemetry is not installed.
    """
    _require_attributes(attributes)
    try:
        from asyncwait.backends.watching._instruments import Export, instruments_of
    except ImportError as error:
        raise MissingExtra("opentelemetry-api", "otel") from error
    return Export(read, attributes or {}, instruments_of(meter), anywhere=anywhere)


def _require_attributes(attributes: Any) -> None:
    if attributes is None:
        return
    expected = "a mapping of texts to texts, numbers or truth values"
    if not isinstance(attributes, Mapping):
        raise InvalidConfig.of("attributes", attributes, expected)
    for name, value in attributes.items():
        if not isinstance(name, str) or not isinstance(value, str | bool | int | float):
            raise InvalidConfig.of("attributes", attributes, expected)
