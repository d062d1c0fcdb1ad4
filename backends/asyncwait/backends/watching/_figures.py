"""What is told of each figure: name, unit and kind, in the manner of OpenTelemetry."""

import operator
from collections.abc import Callable
from typing import Literal

from msgspec import Struct


class Metric(Struct, frozen=True):
    """What is told of a figure.

    Args:
        figure: its name in `Statistics`.
        name: of the instrument.
        unit: of OpenTelemetry.
        description: for people.
        kind: of the instrument. Counters of several operators are added up; of gauges the greatest
            counts.
        stays: whether it is kept when the operator is gone.
    """

    figure: str
    name: str
    unit: str
    description: str
    kind: Literal["counter", "up_down_counter", "gauge"]
    stays: bool

    @property
    def merge(self) -> Callable[[float, float], float]:
        """What the figures of two operators come to."""
        return max if self.kind == "gauge" else operator.add


def _now(figure: str, name: str, unit: str, description: str) -> Metric:
    return Metric(figure, f"asyncwait.{name}", unit, description, "up_down_counter", stays=False)


def _count(figure: str, name: str, unit: str, description: str) -> Metric:
    return Metric(figure, f"asyncwait.{name}", unit, description, "counter", stays=True)


def _share(figure: str, name: str, unit: str, description: str) -> Metric:
    """Of calls that may still turn out to be something else."""
    return Metric(figure, f"asyncwait.{name}", unit, description, "up_down_counter", stays=True)


def _most(figure: str, name: str, unit: str, description: str, *, stays: bool = True) -> Metric:
    return Metric(figure, f"asyncwait.{name}", unit, description, "gauge", stays)


METRICS = (
    _now("in_flight", "records.in_flight", "{record}", "Records admitted and not yet emitted."),
    _now("waiting", "elements.waiting", "{element}", "Elements that wait for room."),
    _now("held", "records.held", "{record}", "Records in flight that are decided."),
    _count("calls", "calls.started", "{call}", "Calls started."),
    _count("batches", "calls.batches", "{call}", "Batches called."),
    _count("hits", "calls.hits", "{call}", "Calls that were given what a cache kept."),
    _share("shared", "calls.shared", "{call}", "Calls that share a load of another call."),
    _share("loads", "calls.loads", "{call}", "Calls that have begun a load."),
    _count("stale", "calls.stale", "{call}", "Calls that were given old results."),
    _count("null_keys", "calls.null_keys", "{call}", "Calls without a key of a cache."),
    _count("refreshes", "cache.refreshes", "{load}", "Loads begun in the background."),
    _count("evictions", "cache.evictions", "{key}", "Keys that made room for others."),
    _count("retries", "calls.retries", "{call}", "Calls that were not the first of their record."),
    _count("timeouts", "records.timeouts", "{record}", "Records decided by their deadline."),
    _count(
        "failures_handled",
        "records.failures_handled",
        "{record}",
        "Records for which the failure handler gave results.",
    ),
    _count("abandoned", "calls.abandoned", "{call}", "Calls that ran on when cancelled."),
    _most("max_in_flight", "records.max_in_flight", "{record}", "Most records in flight so far."),
    _most("max_held", "records.max_held", "{record}", "Most records held so far."),
    _most(
        "oldest",
        "records.oldest",
        "s",
        "Time since the first call of the record in flight that was called first.",
        stays=False,
    ),
)
