"""Played operators, metrics as OpenTelemetry collects them, and consoles of rich."""

import io
import re
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData
from rich.console import Console

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


class Played:
    def __init__(self, **figures: Any) -> None:
        self.figures: Any = Statistics(**figures)
        self.trouble: Exception | None = None

    def statistics(self) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return self.figures


def terminal(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def log(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=width)


def written(console: Console) -> str:
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def drawn(console: Console) -> list[str]:
    text = re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", written(console))
    lines = (re.sub("[━╸╺ ]+", " ", line).strip() for line in re.split("[\r\n]+", text))
    return [line for line in lines if line]
