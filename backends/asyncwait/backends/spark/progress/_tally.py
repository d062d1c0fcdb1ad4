"""The sum of the reports of all tasks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Literal

from asyncwait.backends.services._causes import most_frequent
from asyncwait.backends.spark.progress._figures import (
    LOOKED_UP,
    NAMED,
    JobFigures,
    TaskFigures,
    TaskName,
)
from asyncwait.backends.spark.progress._wire import Report, State

_WHATEVER_BECAME_OF_IT = (
    "calls",
    "batches",
    "retries",
    "timeouts",
    "abandoned",
)
_BUT_FOR_OTHER_EVALUATIONS = ("failures_handled", "errors")
_OF_ROWS = ("rows_in", "rows_out", "rows_done", "found", *LOOKED_UP)
_PRESENT = ("in_flight", "waiting", "held")
_COUNTS = (
    *_WHATEVER_BECAME_OF_IT,
    *_BUT_FOR_OTHER_EVALUATIONS,
    *_OF_ROWS,
    *_PRESENT,
    "calls_in_vain",
    "tasks_running",
    "tasks_done",
    "tasks_failed",
    "attempts_failed",
    "tasks_again",
)


@dataclass(eq=False)
class _Attempt:
    """An attempt at a partition, after its last report."""

    name: TaskName
    operator: bytes
    state: State | Literal["lost"] = "running"
    number: int = -1
    link: object = None
    figures: TaskFigures = field(default_factory=TaskFigures)

    @property
    def stands(self) -> bool:
        return self.state in ("running", "ended")

    @property
    def where(self) -> tuple[bytes, str | int, int]:
        """The rows and their action; outside of SQL the stage replaces the action."""
        return self.operator, self.name.action or self.name.stage, self.name.partition


@dataclass(eq=False)
class _Partition:
    """The attempts at the rows of a partition, and their sums, in the order of `_COUNTS`."""

    attempts: list[_Attempt] = field(default_factory=list)
    counts: tuple[int, ...] = (0,) * len(_COUNTS)
    causes: Counter[str] = field(default_factory=Counter)


class Tally:
    """Adds reports up, in a time that does not grow with their number.

    If several stages of one action evaluate the same rows of an operator, the rows count once.

    An attempt is given up when it reports its failure, when its connection breaks before it has
    reported its end, and when a later attempt at the same partition reports. Two attempts with the
    same number count both: they are operators that follow each other in one task.
    """

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        self._changed = Condition()
        self._attempts: dict[bytes, _Attempt] = {}
        self._links: dict[object, _Attempt] = {}
        self._partitions: dict[tuple[bytes, str | int, int], _Partition] = {}
        self._counts = [0] * len(_COUNTS)
        self._causes = Counter[str]()
        self._costs: Counter[str] = Counter()
        self.limits = ""
        """The keeper of the limits of the job."""
        self._began = monotonic()
        self._heard: float | None = None
        self._ended: float | None = None

    def heard(self, link: object, report: Report) -> None:
        """Process a report of a connection; drop it if it is older than the known one."""
        with self._changed:
            if self._heard is None:
                self._heard = monotonic()
            attempt = self._attempt(report)
            if report.number <= attempt.number:
                return
            self._costs.subtract(attempt.figures.costs)
            self._costs.update(report.figures.costs)
            attempt.number, attempt.figures = report.number, report.figures
            attempt.state, attempt.link = report.state, link
            self._links[link] = attempt
            self._count(attempt)

    def broken(self, link: object) -> None:
        """Give up the attempt that reported last on a connection, unless it has ended."""
        with self._changed:
            attempt = self._links.pop(link, None)
            if attempt is None or attempt.link != link or attempt.state != "running":
                return
            attempt.state = "lost"
            self._count(attempt)

    def end(self) -> None:
        with self._changed:
            self._ended = monotonic()

    def figures(self) -> JobFigures:
        """Return the present figures; for any thread."""
        with self._changed:
            return self._figures()

    def wait_for(self, is_so: Callable[[JobFigures], bool], seconds: float) -> bool:
        """Wait for figures that fulfil a condition; return whether they came in time."""
        with self._changed:
            return self._changed.wait_for(lambda: is_so(self._figures()), seconds)

    def _attempt(self, report: Report) -> _Attempt:
        if report.run not in self._attempts:
            attempt = self._attempts[report.run] = _Attempt(report.name, report.operator)
            self._partitions.setdefault(attempt.where, _Partition()).attempts.append(attempt)
        return self._attempts[report.run]

    def _count(self, attempt: _Attempt) -> None:
        """Count its partition anew; all other partitions are unchanged."""
        partition = self._partitions[attempt.where]
        before = partition.counts
        self._causes.subtract(partition.causes)
        partition.counts, partition.causes = _counts(partition.attempts)
        self._causes.update(partition.causes)
        changes = zip(self._counts, before, partition.counts, strict=True)
        self._counts = [count - old + new for count, old, new in changes]
        self._changed.notify_all()

    def _figures(self) -> JobFigures:
        now = monotonic() if self._ended is None else self._ended
        counts = dict(zip(_COUNTS, self._counts, strict=True))
        seconds = now - (self._began if self._heard is None else self._heard)
        pace = counts["rows_done"] / seconds if seconds > 0 else 0.0
        return JobFigures(
            **counts,
            causes=most_frequent(self._causes, NAMED),
            costs={unit: cost for unit, cost in self._costs.items() if cost},
            limits=self.limits,
            reported=self._heard is not None,
            total=self._total,
            seconds=seconds,
            rows_per_second=pace,
            seconds_left=_seconds_left(self._total, counts["rows_done"], pace),
        )


def _seconds_left(total: int | None, done: int, pace: float) -> float | None:
    if total is None or not pace:
        return None
    return max(0, total - done) / pace


def _counts(attempts: list[_Attempt]) -> tuple[tuple[int, ...], Counter[str]]:
    stages = {
        stage: _latest([each for each in attempts if each.name.stage == stage])
        for stage in {each.name.stage: None for each in attempts}
    }
    stand = [each for standing in stages.values() for each in standing]
    furthest = max(stages.values(), key=lambda standing: sum(a.figures.rows_in for a in standing))
    given_up = [each for each in attempts if each not in stand]
    running = [each for each in stand if each.state == "running"]
    counted = [each for each in attempts if each in furthest or each in given_up]
    causes = sum((Counter(each.figures.causes) for each in counted), Counter[str]())
    return (
        *(sum(getattr(a.figures, name) for a in attempts) for name in _WHATEVER_BECAME_OF_IT),
        *(sum(getattr(a.figures, name) for a in counted) for name in _BUT_FOR_OTHER_EVALUATIONS),
        *(sum(getattr(each.figures, name) for each in furthest) for name in _OF_ROWS),
        *(sum(getattr(each.figures, name) for each in running) for name in _PRESENT),
        sum(each.figures.calls for each in given_up),
        len(running),
        len(stand) - len(running),
        int(not stand),
        len(given_up),
        max(0, sum(map(bool, stages.values())) - 1),
    ), causes


def _latest(attempts: list[_Attempt]) -> list[_Attempt]:
    latest = max((each.name.attempt for each in attempts if each.stands), default=-1)
    return [each for each in attempts if each.stands and each.name.attempt == latest]
