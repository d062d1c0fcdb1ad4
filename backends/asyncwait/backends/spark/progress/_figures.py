"""The figures of a task, those of a whole job, and their words: in a bar, and as a summary."""

from datetime import timedelta
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from asyncwait.backends.services._causes import most_frequent, tell_causes
from asyncwait.backends.watching._figures import told
from asyncwait.spec import Statistics
from asyncwait.spec.texts import one_line

NAMED = 8
"""Number of causes that figures name."""

LOOKED_UP = ("hits", "shared", "loads", "stale", "null_keys")
"""Kinds of rows that a lookup join has looked up: each row has one of these kinds. If rows share
calls by a cache, each attempt of a row has one, too.
"""


class TaskName(Struct, frozen=True):
    """The name of an attempt at a part of a job.

    Args:
        stage: Spark's number of the stage.
        partition: of that stage, from 0.
        attempt: at this partition, from 0; Spark repeats failed attempts.
        action: the action of SQL; empty outside of SQL.
    """

    stage: int
    partition: int
    attempt: int
    action: str = ""

    @classmethod
    def here(cls) -> "TaskName":
        """Return the name of the present task; zeros outside of Spark."""
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            return cls(0, 0, 0)
        action = context.getLocalProperty("spark.sql.execution.id") or ""
        return cls(context.stageId(), context.partitionId(), context.attemptNumber(), action)


class TaskFigures(Statistics, frozen=True, kw_only=True):
    """Present figures of the operator in a task, since it was opened.

    In a lookup join `calls` are requests, and each of its rows is one of `LOOKED_UP`. With a cache
    `calls` are calls of the function, and each attempt of a row is one of `LOOKED_UP`.
    """

    rows_in: int = 0
    """Rows that the operator has taken from its source, waiting rows included."""
    rows_out: int = 0
    """Rows that were handed on."""
    errors: int = 0
    """Rows that finally failed, whatever their treatment."""
    causes: dict[str, int] = field(default_factory=dict)
    """Failed rows by cause: the class of the error, and its HTTP status if it has one. The eight
    most frequent; the rest is "other".
    """
    costs: dict[str, float] = field(default_factory=dict)
    """Cost of the calls, failed ones included, by the units of limits and budgets."""
    found: int = 0
    """Rows whose results were in the journal, or stored by `once`: they needed no call."""

    @classmethod
    def of(cls, statistics: Statistics, **own: Any) -> "TaskFigures":
        """Combine the task's own figures with the operator's."""
        return cls(**asdict(statistics), **own)

    @property
    def rows_done(self) -> int:
        """Rows whose results are decided."""
        return max(0, self.rows_in - self.waiting - self.undecided)


class JobFigures(Struct, frozen=True, kw_only=True):
    """Figures of all tasks together, as far as they have reported.

    For each partition the rows of one attempt count: the latest that was not given up; and of one
    evaluation, if an action has several; and so do their errors, with the errors of failed
    attempts. Calls count in every attempt, because each call has cost something.
    """

    rows_in: int = 0
    """Rows that the operators have taken."""
    rows_out: int = 0
    """Rows that were handed on."""
    rows_done: int = 0
    """Rows whose results are decided."""
    found: int = 0
    """Rows whose results were in the journal, or stored by `once`."""
    hits: int = 0
    """Rows of a lookup join, or attempts of rows with a cache, that got cached results."""
    shared: int = 0
    """Rows or attempts that wait, or waited, for a request or call which another row has begun."""
    loads: int = 0
    """Rows or attempts that have begun a request or call for their key."""
    stale: int = 0
    """Rows or attempts that got stale results, because the table or the call failed."""
    null_keys: int = 0
    """Rows or attempts with a null key: no row of a table has it, and no call is shared."""
    in_flight: int = 0
    """Rows admitted and not yet handed on."""
    waiting: int = 0
    """Rows that were taken and wait for room."""
    held: int = 0
    """Rows in flight that are decided."""
    calls: int = 0
    """Calls started, in all attempts."""
    batches: int = 0
    """Batches that were called, in all attempts."""
    calls_in_vain: int = 0
    """Calls in attempts that failed."""
    retries: int = 0
    """Calls that were not the first of their row, in all attempts."""
    timeouts: int = 0
    """Rows decided by their deadline, in all attempts."""
    failures_handled: int = 0
    """Rows for which the failure handler had results, failed attempts included."""
    abandoned: int = 0
    """Calls that ran on after they were cancelled, in all attempts."""
    errors: int = 0
    """Rows that finally failed, failed attempts included."""
    causes: dict[str, int] = {}
    """Failed rows by cause, for example `{"HTTPStatusError 400": 12, "TimeoutError": 3}`: the class
    of the error, and its HTTP status if it has one. The eight most frequent; the rest is "other".
    """
    costs: dict[str, float] = {}
    """Cost of the calls in all attempts, by the units of limits and budgets."""
    limits: str = ""
    """The keeper of the limits of the job; empty without limits."""
    tasks_running: int = 0
    """Tasks that have reported, and not yet their end."""
    tasks_done: int = 0
    """Tasks that have ended."""
    tasks_failed: int = 0
    """Tasks without a running or ended attempt; Spark may still repeat them."""
    attempts_failed: int = 0
    """Attempts that failed, broke off, or were repeated by Spark. The last half second of a killed
    worker is in no figure.
    """
    tasks_again: int = 0
    """Tasks whose rows the same action had evaluated before; see `EvaluatedTwice`."""
    reported: bool = False
    """Whether any task has reported; otherwise the figures are unknown."""
    total: int | None = None
    """Number of rows of the input, if the user has set it."""
    seconds: float = 0.0
    """Time since the first report, or since the progress was entered without one."""
    rows_per_second: float = 0.0
    """Rows done per second of this time."""
    seconds_left: float | None = None
    """Time to the total at this pace; None if unknown."""


_SAID = 3
"""Number of causes in a line."""


def words(figures: JobFigures, silence: str) -> list[str]:
    """Return the words of the progress bar."""
    if not figures.reported:
        return ["tasks unknown", silence]
    left = figures.seconds_left
    failed = figures.attempts_failed
    causes = ", ".join(tell_causes(most_frequent(figures.causes, _SAID)))
    return [
        *([f"{timedelta(seconds=round(left))} left"] if left else []),
        f"{figures.in_flight:,} in flight",
        *([f"{figures.found:,} found, not called for"] if figures.found else []),
        *_events(figures, f" ({causes})" if causes else ""),
        *_costs(figures),
        f"tasks: {_tasks(figures)}",
        *([f"{_many(failed, 'attempt')} failed"] if failed else []),
    ]


def summary(figures: JobFigures, silence: str) -> str:
    took = f"{figures.seconds:,.1f} s"
    if not figures.reported:
        return f"tasks   unknown, {silence}\ntime    {took}"
    of = "" if figures.total is None else f" of {figures.total:,}"
    table = {
        "rows": f"{figures.rows_done:,}{of} done, {figures.rows_in:,} in, {figures.rows_out:,} out",
        "calls": _calls(figures),
        "costs": ", ".join(_costs(figures)),
        "limits": f"kept by {figures.limits}" if figures.limits else "",
        "events": ", ".join(_events(figures)),
        "causes": ", ".join(tell_causes(figures.causes)),
        "tasks": _tasks(figures),
        "time": f"{took}, {figures.rows_per_second:,.1f} rows/s",
    }
    return "\n".join(f"{name:6}  {text}" for name, text in table.items() if text)


def _events(figures: JobFigures, causes: str = "") -> list[str]:
    return [*told(figures), *([_many(figures.errors, "error") + causes] if figures.errors else [])]


def _costs(figures: JobFigures) -> list[str]:
    return [f"{cost:,.10g} {one_line(unit)}" for unit, cost in figures.costs.items()]


def _tasks(figures: JobFigures) -> str:
    counts = {
        "running": figures.tasks_running,
        "done": figures.tasks_done,
        "failed, their rows not counted": figures.tasks_failed,
        "evaluated twice": figures.tasks_again,
    }
    return ", ".join(
        f"{count:,} {name}" for name, count in counts.items() if count or name == "done"
    )


def _calls(figures: JobFigures) -> str:
    calls = _many(figures.calls, "call")
    if figures.attempts_failed:
        attempts = _many(figures.attempts_failed, "attempt")
        calls += f", of which {figures.calls_in_vain:,} in {attempts} that failed"
    if figures.found:
        calls += f"; {_many(figures.found, 'row')} found, not called for"
    return calls


def _many(count: int, one: str) -> str:
    return f"{count:,} {one if count == 1 else one + 's'}"
