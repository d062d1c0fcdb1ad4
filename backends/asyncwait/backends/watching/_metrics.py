"""Metrics, if there is OpenTelemetry to take them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from asyncwait.backends.watching._watched import Watched, require_watched
from asyncwait.backends.watching._while_open import WhileOpen
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
    """Give the figures of an operator to OpenTelemetry, while the body of the context runs.

    There is one instrument for each figure: `asyncwait.records.in_flight`, `.held`, `.oldest` (in
    seconds), `.max_in_flight`, `.max_held`, `.waiting_for_permits`, `.timeouts` and
    `.failures_handled`; `asyncwait.elements.waiting`; `asyncwait.calls.started`, `.batches`,
    `.retries` and `.abandoned`; `asyncwait.cache.hits`, `.shared`, `.loads`, `.stale`,
    `.null_keys`, `.refreshes` and `.evictions`. Of a lookup there are `asyncwait.records.in_flight`
    and `.failures_handled`; those of the cache, and `asyncwait.cache.keys`;
    `asyncwait.lookup.rows`, `.misses`, `.requests`, `.failed_requests`, `.mean_batch`,
    `.max_batch`, `.latency_p50`, `.latency_p99` and `.age` (in seconds).

    Operators are told apart by their attributes. Of several with the same ones, side by side or
    one after the other, figures are added up; of times, sizes and high-water marks it is the
    greatest.
    After leaving what was counted stays, and nothing is in flight, waits or is held any more: an
    operator leaves behind one number for each figure and set of attributes, and no reference.

    Args:
        results: what `async with` of an operator gives.
        attributes: what each figure is reported with, for example `{"operator": "fetch"}`.
        every: seconds, by the clock of the loop, from one reading to the next. Exporters mostly
            collect in a thread of their own, and only the loop may read; so what they get is up to
            so old. Whoever collects on the loop, and whoever does after leaving, gets the present.
        meter: of OpenTelemetry, where the instruments are made; None for the one named "asyncwait"
            of the global provider, which may be set later.

    Returns:
        An async context manager; leave it before the operator: `async with ordered_wait(...) as
        results, export_metrics(results): ...`

    Raises:
        InvalidConfig: an argument is not what it should be.
        MissingExtra: OpenTelemetry is not installed.
    """
    require_watched(results, every)
    return WhileOpen(export_of(results.statistics, attributes, meter), every)


def export_of(
    read: Callable[[], Any], attributes: Any, meter: Any, *, anywhere: bool = False
) -> "Export":
    """Return what gives figures to OpenTelemetry from its `begin` to its `end`.

    Args:
        read: gives the figures.
        attributes: see `export_metrics`, and so is the next.
        meter: where the instruments are made.
        anywhere: any thread may read them.

    Raises:
        InvalidConfig: an argument is not what it should be.
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
