"""What tests of metrics collect, as the SDK of OpenTelemetry does."""

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData

from asyncwait.backends.watching._figures import METRICS
from asyncwait.spec import Statistics

OF_OPERATORS = {m.name for m in METRICS if m.figure in Statistics.__struct_fields__}


class Collected:
    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader])
        self.meter = self.provider.get_meter("tests")

    def metrics(self) -> list[Any]:
        data = self._reader.get_metrics_data()
        if not isinstance(data, MetricsData):
            return []
        return [
            metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]

    def figures(self, **attributes: Any) -> dict[str, float]:
        return {
            metric.name: point.value
            for metric in self.metrics()
            for point in metric.data.data_points
            if dict(point.attributes) == attributes
        }

    def told(self, **attributes: Any) -> str:
        figures = self.figures(**attributes)
        assert figures.keys() == OF_OPERATORS
        told = (metric.name for metric in METRICS if metric.name in figures)
        named = ((name.partition(".")[2], figures[name]) for name in told)
        return ", ".join(f"{name} {figure:g}" for name, figure in named if figure)

    def some(self, *names: str, **attributes: Any) -> list[float]:
        figures = self.figures(**attributes)
        return [figures[f"asyncwait.{name}"] for name in names]
