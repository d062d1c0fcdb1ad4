"""The figures of operators, lookups and Spark jobs: their metrics, and their words in a bar."""

import operator
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from asyncwait.spec import Statistics


class Metric(Struct, frozen=True):
    """Description of a figure as a metric, and in the progress bar.

    Args:
        figure: its name in `Statistics`, or in the figures of a lookup.
        name: of the instrument.
        unit: of OpenTelemetry.
        description: for people.
        kind: of the instrument. Counters of several operators are added; the greatest gauge counts.
        stays: whether the figure is kept after the operator has closed.
        told: the words behind the figure in the progress bar; None to omit it there.
    """

    figure: str
    name: str
    unit: str
    description: str
    kind: Literal["counter", "up_down_counter", "gauge"]
    stays: bool
    told: str | None

    def read(self, figures: Any) -> float | None:
        """Return the figure, summed over all limits; None if `figures` lacks it."""
        value = getattr(figures, self.figure, None)
        return sum(value) if isinstance(value, tuple) else value

    @property
    def merge(self) -> Callable[[float, float], float]:
        """Function that combines the figures of two operators."""
        return max if self.kind == "gauge" else operator.add


_KINDS: dict[str, tuple[Literal["counter", "up_down_counter", "gauge"], bool]] = {
    "now": ("up_down_counter", False),
    "count": ("counter", True),
    "share": ("up_down_counter", True),
    "most": ("gauge", True),
    "present": ("gauge", False),
}
"""Instrument of each kind, and whether its figure stays; shared calls may become stale later."""


def _told(kind: str, name: str, unit: str, description: str, told: str | None = None) -> Metric:
    figure = "calls" if name == "calls.started" else name.rpartition(".")[2]
    return Metric(figure, f"asyncwait.{name}", unit, description, *_KINDS[kind], told)


_HANDLED = "Records for which the failure handler gave results."
_OLDEST = "Time since the first call of the record in flight that was called first."
_RETRIES = "Calls that were not the first of their record."
_PERMITS = "Records that wait for permits, summed over all limits."
_TIMEOUTS = "Records decided by their deadline."

METRICS = (
    _told("now", "records.in_flight", "{record}", "Records admitted, not yet emitted."),
    _told("now", "elements.waiting", "{element}", "Elements that wait for room."),
    _told("now", "records.held", "{record}", "Records in flight that are decided.", "held"),
    _told("now", "records.waiting_for_permits", "{record}", _PERMITS, "waiting for permits"),
    _told("count", "calls.started", "{call}", "Calls started."),
    _told("count", "calls.batches", "{call}", "Batches called.", "batches"),
    _told("count", "calls.retries", "{call}", _RETRIES, "retried"),
    _told("count", "records.timeouts", "{record}", _TIMEOUTS, "timed out"),
    _told("count", "records.failures_handled", "{record}", _HANDLED, "handled"),
    _told("count", "calls.abandoned", "{call}", "Calls that ran on when cancelled.", "abandoned"),
    _told("most", "records.max_in_flight", "{record}", "Most records in flight."),
    _told("most", "records.max_held", "{record}", "Most records held."),
    _told("present", "records.oldest", "s", _OLDEST),
    _told("count", "lookup.rows", "{row}", "Rows that were looked up."),
    _told("count", "cache.hits", "{call}", "Calls that were given what was kept.", "hits"),
    _told("share", "cache.shared", "{call}", "Calls that share a load.", "shared"),
    _told("share", "cache.loads", "{call}", "Calls that have begun a load.", "loads"),
    _told("count", "cache.stale", "{call}", "Calls that were given what is old.", "stale"),
    _told("count", "cache.null_keys", "{call}", "Calls with a null key.", "null keys"),
    _told("count", "lookup.misses", "{row}", "Rows with a key without rows.", "misses"),
    _told("count", "cache.refreshes", "{key}", "Keys loaded before they are old."),
    _told("count", "cache.evictions", "{key}", "Keys that made room.", "evictions"),
    _told("now", "cache.keys", "{key}", "Keys that are kept."),
    _told("count", "lookup.requests", "{request}", "Requests to the table."),
    _told("count", "lookup.failed_requests", "{request}", "Requests that failed."),
    _told("present", "lookup.mean_batch", "{key}", "Keys in a request.", "keys a request"),
    _told("present", "lookup.max_batch", "{key}", "Keys in the largest of them."),
    _told("present", "lookup.latency_p50", "s", "Half take no longer.", "s p50"),
    _told("present", "lookup.latency_p99", "s", "99 in 100 take no longer.", "s p99"),
    _told("present", "lookup.age", "s", "Time since the copy of the table was read."),
)
"""Metrics of operators and of lookups; each reports only the figures that it has."""


class Shown(NamedTuple):
    """The content of a progress bar: decided records, if known, seconds, and words."""

    done: int | None
    seconds: float
    told: list[str]


def told(figures: Any) -> list[str]:
    """Return the figures that are not 0 in words, without the records in flight."""
    found = ((metric.read(figures), metric.told) for metric in METRICS)
    return [f"{_short(figure)} {name}" for figure, name in found if figure and name]


def _short(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.3g}"


def done(figures: Any) -> int:
    """Return the number of decided records, or of decided rows of a lookup."""
    if isinstance(figures, Statistics):
        # Records that wait for their keys are undecided too, and were never called.
        return figures.calls - figures.retries - figures.undecided
    rows: int = figures.rows - figures.in_flight
    return rows
