"""The instruments of OpenTelemetry, which is imported here and nowhere else."""

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
    """Reads the figures of one operator, for whoever asks.

    Exporters ask in threads of their own, where an operator must not be read. They can't wait for
    the loop either: OpenTelemetry holds a lock while they ask, for which the loop may wait.

    Args:
        read: gives the figures.
        attributes: what they are reported with.
        instruments: that report them.
        anywhere: any thread may read them.
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
        """Be asked from now on."""
        self._thread = get_ident()
        self.look()
        self._instruments.add(self)

    def look(self) -> None:
        """Read."""
        self._figures = self._read()

    def end(self, error: BaseException | None) -> None:  # noqa: ARG002 - figures stay true
        """Read for the last time, and be asked no more."""
        self.look()
        self._instruments.remove(self)

    def value(self, metric: Metric) -> float | None:
        """Return a figure as it was read last; the present one in a thread that may read.

        None where there is none: of operators and of lookups different things are told. A counter
        never falls, though of a job rows are undone where a task fails.
        """
        if self._anywhere or get_ident() == self._thread:
            self.look()
        value = metric.read(self._figures)
        if value is not None and metric.kind == "counter":
            value = self._counted[metric.figure] = max(value, self._counted.get(metric.figure, 0))
        return value


class Instruments:
    """The instruments of one meter: a second one of the same name would never be asked.

    Args:
        meter: where they are made. It is not kept, as it keeps the instruments.
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
        """Keep what an operator has counted, and nothing else of it."""
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
    """Return the instruments of a meter, which are made once."""
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
    """Return one for all: before a provider is set, each that is asked for is another one."""
    return get_meter("asyncwait", version("asyncwait"))
