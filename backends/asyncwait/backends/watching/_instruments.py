"""The instruments of OpenTelemetry, which only this module imports."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib.metadata import version
from threading import Lock, get_ident
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from opentelemetry.metrics import CallbackOptions, Meter, Observation, get_meter

from asyncwait.backends.watching._figures import METRICS, Metric
from asyncwait.spec import InvalidConfig

Attributes: TypeAlias = frozenset[tuple[str, str | bool | float]]


class Export:
    """Reads the figures of one operator for exporters.

    Exporters collect in threads of their own, where an operator must not be read. They can't wait
    for the loop either: OpenTelemetry holds a lock while they collect, for which the loop may wait.

    Args:
        read: returns the figures.
        attributes: attributes with which the figures are reported.
        instruments: instruments that report the figures.
        anywhere: any thread may read the figures.
    """

    def __init__(
        self,
        read: Callable[[], Any],
        attributes: Mapping[str, str | bool | float],
        instruments: "Instruments",
        *,
        anywhere: bool = False,
    ) -> None:
        self._read = read
        self._anywhere = anywhere
        self._instruments = instruments
        self._counted: dict[str, float] = {}
        self.attributes: Attributes = frozenset(attributes.items())

    def begin(self) -> None:
        """Start to report figures."""
        self._thread = get_ident()
        self.look()
        self._instruments.add(self)

    def look(self) -> None:
        """Read the figures."""
        self._figures = self._read()

    def end(self, error: BaseException | None) -> None:  # noqa: ARG002 - figures stay true
        """Read for the last time, and stop to report figures."""
        self.look()
        self._instruments.remove(self)

    def value(self, metric: Metric) -> float | None:
        """Return a figure as last read; in a thread that may read, the present figure.

        The value is None for a figure that the operator or lookup does not have. A counter never
        falls, although a failed task of a Spark job undoes its rows.
        """
        if self._anywhere or get_ident() == self._thread:
            self.look()
        value = metric.read(self._figures)
        if value is not None and metric.kind == "counter":
            value = self._counted[metric.figure] = max(value, self._counted.get(metric.figure, 0))
        return value


class Instruments:
    """The instruments of one meter, made once: a meter ignores a second one of the same name.

    Args:
        meter: makes the instruments. It is not stored here, because it holds the instruments.
    """

    def __init__(self, meter: Meter) -> None:
        self._lock = Lock()
        self._open: WeakSet[Export] = WeakSet()
        self._past: dict[Attributes, dict[str, float]] = {}
        for metric in METRICS:
            create = getattr(meter, f"create_observable_{metric.kind}")
            create(metric.name, [partial(self._observe, metric)], metric.unit, metric.description)

    def add(self, export: Export) -> None:
        """Report the figures of an operator."""
        with self._lock:
            self._open.add(export)
            self._past.setdefault(export.attributes, {})

    def remove(self, export: Export) -> None:
        """Keep the figures that stay after an operator has closed, and drop the others."""
        with self._lock:
            self._open.discard(export)
            past = self._past[export.attributes]
            for metric in METRICS:
                value = export.value(metric)
                if value is not None:
                    so_far = past.get(metric.figure, 0)
                    past[metric.figure] = metric.merge(so_far, value) if metric.stays else 0

    def _observe(self, metric: Metric, _: CallbackOptions) -> Iterable[Observation]:
        with self._lock:
            values = {
                attributes: past[metric.figure]
                for attributes, past in self._past.items()
                if metric.figure in past
            }
            for export in self._open:
                value = export.value(metric)
                if value is not None:
                    so_far = values.get(export.attributes, 0)
                    values[export.attributes] = metric.merge(so_far, value)
        return [Observation(value, dict(key)) for key, value in values.items()]


_INSTRUMENTS: WeakKeyDictionary[Meter, Instruments] = WeakKeyDictionary()
_MAKING = Lock()


def instruments_of(meter: Any) -> Instruments:
    """Return the instruments of a meter, made on the first call."""
    if meter is None:
        meter = _global_meter()
    if not isinstance(meter, Meter):
        raise InvalidConfig.of("meter", meter, "what `get_meter(name)` of OpenTelemetry gives")
    with _MAKING:
        if meter not in _INSTRUMENTS:
            _INSTRUMENTS[meter] = Instruments(meter)
        return _INSTRUMENTS[meter]


@cache
def _global_meter() -> Meter:
    """Return one cached meter: before a provider is set, each call would return a new one."""
    return get_meter("asyncwait", version("asyncwait"))
