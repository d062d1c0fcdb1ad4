"""The sum of the reports of all tasks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Any, Literal

from asyncwait.backends.services._causes import most_frequent
from asyncwait.backends.spark.progress._figures import (
    LOOKED_UP,
    NAMED,
    JobFigures,
    TaskFigures,
    TaskName,
)
from asyncwait.backends.spark.progress._wire import Report, State

_OF_ATTEMPTS = ("calls", "batches", "retries", "timeouts", "abandoned")
"""Figures to which each attempt adds."""

_OF_ROWS = ("rows_in", "rows_out", "rows_done", "found", *LOOKED_UP)
_PRESENT = ("in_flight", "waiting", "held")


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
    def where(self) -> tuple[bytes, str | int, int]:
        """The rows and their action; outside of SQL the stage replaces the action."""
        return self.operator, self.name.action or self.name.stage, self.name.partition


class _Sums:
    """Sums of the figures of attempts, of the causes of their errors, and of their costs."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self.causes = Counter[str]()
        self.costs: Counter[str] = Counter()

    def add(self, names: tuple[str, ...], attempts: list[_Attempt]) -> None:
        for each in attempts:
            self.counts.update({name: getattr(each.figures, name) for name in names})

    def replace(self, before: "_Sums", after: "_Sums") -> None:
        for name, own in vars(self).items():
            own.subtract(getattr(before, name))
            own.update(getattr(after, name))


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
        self._partitions: dict[Any, list[_Attempt]] = {}
        self._sums: dict[Any, _Sums] = {}
        self._whole = _Sums()
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
            if (attempt := self._attempts.get(report.run)) is None:
                attempt = self._attempts[report.run] = _Attempt(report.name, report.operator)
                self._partitions.setdefault(attempt.where, []).append(attempt)
            if report.number <= attempt.number:
                return
            attempt.number, attempt.figures = report.number, report.figures
            attempt.state, attempt.link = report.state, link
            self._links[link] = attempt
            self._count(attempt)

    def broken(self, link: object) -> None:
        """Give up the attempt that reported last on a connection, unless it has ended."""
        with self._changed:
            attempt = self._links.pop(link, None)
            if attempt is not None and attempt.link == link and attempt.state == "running":
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

    def _count(self, attempt: _Attempt) -> None:
        """Count its partition anew; all other partitions are unchanged."""
        where, after = attempt.where, _sums_of(self._partitions[attempt.where])
        self._whole.replace(self._sums.get(where, _Sums()), after)
        self._sums[where] = after
        self._changed.notify_all()

    def _figures(self) -> JobFigures:
        now = monotonic() if self._ended is None else self._ended
        seconds = now - (self._began if self._heard is None else self._heard)
        done, total = self._whole.counts["rows_done"], self._total
        pace = done / seconds if seconds > 0 else 0.0
        left = max(0, total - done) / pace if total is not None and pace else None
        return JobFigures(
            **self._whole.counts,
            causes=most_frequent(self._whole.causes, NAMED),
            costs={unit: cost for unit, cost in self._whole.costs.items() if cost},
            limits=self.limits,
            reported=self._heard is not None,
            total=total,
            seconds=seconds,
            rows_per_second=pace,
            seconds_left=left,
        )


def _sums_of(attempts: list[_Attempt]) -> _Sums:
    """Return the sums of the attempts at the rows of a partition."""
    stages: dict[int, list[_Attempt]] = {}
    for each in attempts:
        stages.setdefault(each.name.stage, []).append(each)
    standing = [_latest(stage) for stage in stages.values()]
    furthest = max(standing, key=lambda stage: sum(each.figures.rows_in for each in stage))
    stand = [each for stage in standing for each in stage]
    given_up = [each for each in attempts if each not in stand]
    running = [each for each in stand if each.state == "running"]
    counted = [*furthest, *given_up]
    sums = _Sums()
    sums.add(_OF_ATTEMPTS, attempts)
    sums.add(("failures_handled", "errors"), counted)
    sums.add(_OF_ROWS, furthest)
    sums.add(_PRESENT, running)
    for each in counted:
        sums.causes.update(each.figures.causes)
    for each in attempts:
        sums.costs.update(each.figures.costs)
    sums.counts.update(
        calls_in_vain=sum(each.figures.calls for each in given_up),
        tasks_running=len(running),
        tasks_done=len(stand) - len(running),
        tasks_failed=int(not stand),
        attempts_failed=len(given_up),
        tasks_again=max(0, sum(map(bool, standing)) - 1),
    )
    return sums


def _latest(attempts: list[_Attempt]) -> list[_Attempt]:
    stand = [each for each in attempts if each.state in ("running", "ended")]
    latest = max((each.name.attempt for each in stand), default=-1)
    return [each for each in stand if each.name.attempt == latest]
